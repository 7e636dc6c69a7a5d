"""Solve the model of a Python file; every option of the solver is an option here."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition

from ...errors import OptionError
from ..options.legacy_options import value_from_text
from ..options.table import check_name
from ..solver.solver import StochSQP
from ..solver.together import Together, world
from .json_report import json_report
from .model_file import load_model
from .outputs import attempt, check_paths, check_picture, say, write_text

FAILED = (
    TerminationCondition.locallyInfeasible,
    TerminationCondition.unbounded,
    TerminationCondition.error,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Files and the time limit; options of the solver are read by :func:`run`."""
    parser.add_argument("file", help="Python file that defines the model")
    parser.add_argument("--model", help="name of the model, or of a function that returns it")
    parser.add_argument("--time-limit", type=float, help="seconds")
    parser.add_argument("--plot", metavar="FILE", help="draw the run (.png, .svg, .pdf)")
    parser.add_argument("--json", metavar="FILE", help="write solution and history")
    parser.add_argument("--quiet", action="store_true", help="no log")
    parser.add_argument("--mpi", action="store_true", help="by all ranks that mpiexec has started")
    parser.usage = f"{parser.prog} FILE [--model NAME] [--plot FILE] [--json FILE] [--option value]"
    parser.epilog = "--batch-size 64 --seed 1: see 'python -m pyomo_stochsqp options'."


def run(args: argparse.Namespace) -> int:
    """Solve, print the solution, write what was asked for; of several ranks, rank 0 does."""
    options = solver_options(args.solver_options)
    if args.mpi:
        options["comm"] = world()
    with Together(options.get("comm")) as ranks, ranks.faults():
        if ranks.leads:
            files = {"--json": args.json, "--plot": args.plot}
            check_paths(args.file, {**files, "--checkpoint": options.get("checkpoint")})
            if args.plot:
                check_picture(args.plot)
        model = load_model(args.file, args.model)
    results = StochSQP().solve(
        model, tee=ranks.leads and not args.quiet, time_limit=args.time_limit,
        load_solutions=False, raise_exception_on_nonoptimal_result=False, **options,
    )  # fmt: skip
    told = _tell(args, results) if ranks.leads else True
    condition = results.termination_condition
    if condition is TerminationCondition.interrupted:
        return 130
    return 1 if condition in FAILED or _found_nothing(results) or not told else 0


def _found_nothing(results: Any) -> bool:
    return bool(results.solution_status is SolutionStatus.noSolution)


def _tell(args: argparse.Namespace, results: Any) -> bool:
    """Write what was asked for: first what must not be lost. Whether all could be written."""
    if _found_nothing(results):
        print(f"error: {results.extra_info.message}", file=sys.stderr)
        return True
    results.solution_loader.load_solution()
    written = True
    if args.json:
        report = json.dumps(json_report(results), indent=1)
        written &= attempt(f"--json {args.json}", lambda: write_text(args.json, report))
    found = results.solution_loader.get_vars().items()
    say("\n".join(["\nSolution", *(f"  {v.name} = {number:.8g}" for v, number in found)]))
    if args.plot:
        title = f"{args.file}: {results.message}"
        written &= attempt(f"--plot {args.plot}", lambda: results.plot(args.plot, title=title))
    return written


def solver_options(rest: Sequence[str]) -> dict[str, Any]:
    """``--batch-size 64``, ``--batch_size=64`` -> {'batch_size': 64}."""
    found = {}
    words = list(rest)
    while words:
        word = words.pop(0)
        if not word.startswith("--"):
            raise OptionError(f"'{word}': options are written --name value.")
        name, equals, value = word[2:].partition("=")
        name = name.replace("-", "_")
        check_name(name)
        if not equals:
            if not words:
                raise OptionError(f"--{name} needs a value.")
            value = words.pop(0)
        found[name] = value_from_text(value)
    return found
