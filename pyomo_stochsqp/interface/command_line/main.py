r"""``python -m pyomo_stochsqp demo | solve | inspect | options | version | doctor``.

Exit codes: 0 a point was found, 1 the model could not be solved or a result could not be written,
2 a mistake in the command, the options or the model, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ...errors import StochSQPError
from . import demo, doctor, inspect_model, list_options, show_version, solve_model
from .outputs import hush

COMMANDS = {
    "demo": demo,
    "solve": solve_model,
    "inspect": inspect_model,
    "options": list_options,
    "version": show_version,
    "doctor": doctor,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pyomo_stochsqp", description="Stochastic SQP for Pyomo models."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").strip().splitlines()[0]
        # Options of the solver are not abbreviated: they are compared with the table of options.
        sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        command.arguments(sub)
        sub.set_defaults(command=command, parser=sub)
    args, rest = parser.parse_known_args(arguments)
    if rest and args.command is not solve_model:
        args.parser.error(f"unknown argument {rest[0]}")
    args.solver_options = rest
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # names in any terminal
    try:
        code = int(args.command.run(args))
        sys.stdout.flush()
    except StochSQPError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except BrokenPipeError:  # of a command that does nothing but print
        hush(sys.stdout)
        code = 1
    return code
