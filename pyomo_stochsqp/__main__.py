"""``python -m pyomo_stochsqp``."""

import sys

from .interface.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
