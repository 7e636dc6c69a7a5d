r"""The command line: ``python -m pyomo_stochsqp demo | solve | inspect | options | version``.

Exit codes: 0 a point was found, 1 the model could not be solved, 2 a mistake in the command, the
options or the model, 130 interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ..errors import StochSQPError
from .commands import demo, inspect, options, solve, version

COMMANDS = (demo, solve, inspect, options, version)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pyomo_stochsqp", description="Stochastic SQP for Pyomo models."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in COMMANDS:
        name = command.__name__.rsplit(".", 1)[1]
        summary = (command.__doc__ or "").strip().splitlines()[0]
        # Options of the solver are not abbreviated: they are compared with the table of options.
        sub = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        command.arguments(sub)
        sub.set_defaults(command=command, parser=sub)
    args, rest = parser.parse_known_args(arguments)
    if rest and args.command is not solve:
        args.parser.error(f"unknown argument {rest[0]}")
    try:
        return args.command.run(args, rest) if args.command is solve else args.command.run(args)
    except StochSQPError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
