r"""The head of the log: what is being solved, and with what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..report import Progress
from .pipeline import Setup
from .version import VERSION


def banner(setup: Setup, options: Mapping[str, Any], progress: Progress) -> str:
    """Model size, sources, back end, seed, Lipschitz constants."""
    program, problem = setup.program, setup.oracle.problem
    sampled = int((~problem.exact_rows).sum())
    sense = "minimise" if program.sign > 0 else "maximise"
    drawn = " (drawn)" if options["seed"] is None else ""
    lines = [
        f"stochsqp {VERSION}: stochastic l1-SQP for expectation-constrained models",
        "",
        f"Model        {program.model.name}: {sense}, {_count(problem.n, 'variable')}, "
        f"{_count(problem.m, 'constraint')} ({sampled} with expectations)",
        f"Sources      {_sources(setup)}",
        f"Back end     {setup.backend}",
        f"Seed         {setup.seed}{drawn}",
    ]
    constants = getattr(progress.state, "constants", None)
    if constants is not None and constants.L == constants.L:
        lines.append(f"Lipschitz    L = {constants.L:.3g}, Gamma = {constants.Gamma:.3g}")
    if progress.state.k:
        lines.append(f"Resumed      after iteration {progress.state.k}")
    return "\n".join(lines)


def _sources(setup: Setup) -> str:
    kinds = (
        f"{s.name} (drawn)" if s.size is None else f"{s.name} ({s.size} scenarios)"
        for s in setup.oracle.sources
    )
    return ", ".join(kinds) or "none, the model is deterministic"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
