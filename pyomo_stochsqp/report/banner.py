r"""The head of the log: what is being solved, and with what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from ..run import Progress
from ..solve import Setup
from ..version import VERSION


def banner(
    setup: Setup,
    options: Mapping[str, Any],
    progress: Progress,
    without_effect: Sequence[str] = (),
) -> str:
    """Model size, sources, method, seed, tolerances, limits."""
    program, problem = setup.program, setup.oracle.problem
    sampled = int((~problem.exact_rows).sum())
    sense = "minimise" if program.sign > 0 else "maximise"
    drawn = " (drawn)" if options["seed"] is None else ""
    lines = [
        f"stochsqp {VERSION}: optimisation under uncertainty",
        "",
        f"Model        {program.model.name}: {sense}, {_count(problem.n, 'variable')}, "
        f"{_count(problem.m, 'constraint')} ({sampled} with expectations)",
        f"Sources      {_sources(setup)}",
        f"Method       {setup.description}",
        f"Seed         {setup.seed}{drawn}",
    ]
    lines.append(
        f"Tolerances   {setup.tolerances.feasibility:g} (constraints), "
        f"{setup.tolerances.optimality:g} (objective)"
    )
    lines.append(f"Limits       {_limits(setup)}")
    unset = sum(v.value is None for v in program.variables)
    if unset:
        lines.append(
            f"Start        {_count(unset, 'variable')} without a value: 0 within the bounds"
        )
    if without_effect:
        lines.append(
            f"Note         of Algorithm 1, without effect on stages: {', '.join(without_effect)}"
        )
    if progress.state.k:
        lines.append(f"Resumed      after iteration {progress.state.k}")
    return "\n".join(lines)


def _sources(setup: Setup) -> str:
    kinds = (
        f"{s.name} (drawn)" if s.size is None else f"{s.name} ({s.size} scenarios)"
        for s in setup.oracle.sources
    )
    return ", ".join(kinds) or "none, the model is deterministic"


def _limits(setup: Setup) -> str:
    """Until when a run goes on."""
    budget, said = setup.budget, []
    if budget.max_iter < inf:
        said.append(_count(int(budget.max_iter), "iteration"))
    if budget.max_samples < inf and (budget.max_samples_given or setup.oracle.sources):
        said.append(f"{budget.max_samples:.4g} scenarios")
    if budget.time_limit < inf:
        said.append(f"{budget.time_limit:.4g} seconds")
    return ", ".join(said) or "none"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
