r"""From a model with Recourse to an outcome: read, choose the way, run."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from math import inf
from typing import Any

from ..declare.recourse import AffineTwoStage, affine, read_two_stage
from ..errors import OptionError
from .exact import is_small, solve_exactly
from .outcome import TwoStageOutcome
from .programs import PyomoSampledSolver, SampledSolver
from .shared_work import SharedWork
from .staged import Settings, Staged, Watcher

#: relative gap that is certified unless somebody says otherwise
GAP = 1e-3
#: options of runs without recourse that would be expected to do something
WITHOUT = ("checkpoint", "resume", "callback")


def read_recourse(model: Any, options: Mapping[str, Any]) -> AffineTwoStage:
    """The matrices of a model, after a look at the options."""
    for name in WITHOUT:
        if options.get(name) is not None:
            raise OptionError(f"{name}= is not available for models with Recourse; leave it out.")
    if options["algorithm"] != "stages":
        raise OptionError(
            f"algorithm='{options['algorithm']}' cannot solve models with Recourse; leave it out."
        )
    return affine(read_two_stage(model))


def solve_recourse(
    program: AffineTwoStage,
    options: Mapping[str, Any],
    work: SharedWork,
    watcher: Watcher | None = None,
) -> TwoStageOutcome:
    """The best first-stage decision, with its certified gap."""
    wanted = options["gap"] or options["tol_opt"] or GAP
    seed = work.agreed(options["seed"] if options["seed"] is not None else secrets.randbits(32))
    name, gap = options["exact_solver"], 0.1 * wanted
    direct = name in ("auto", "highs")
    solver = SampledSolver(program, gap) if direct else PyomoSampledSolver(program, gap, name)
    if is_small(program):
        return solve_exactly(program, solver, seed, wanted, work)
    most = inf if options["max_samples"] is None else options["max_samples"]
    settings = Settings(wanted, seed, options["sampling"], most)
    return Staged(program, settings, solver, work, watcher).run()
