"""History, certificates, the driver loop, log and plots: what a run tells about itself."""

from .certificate import Certificate, Certifier
from .driver import Budget, Outcome, Tolerances, run
from .history import History
from .termination import Stop

__all__ = ["Budget", "Certificate", "Certifier", "History", "Outcome", "Stop", "Tolerances", "run"]
