r"""How default solves end, and whether that is true.

Every gallery model and every model of models.py is solved at default options. For each the table
gives the ending, the CPU time, the scenarios drawn, the largest true error of a number in units of
its own size, and what was certified.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import pyomo.environ as pyo

from benchmarks.trust.models import REGISTRY

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: a number is right within this share of itself (three times the tolerance, and a margin for
#: duals), a variable within its certified displacement, too: a flat objective may leave more
RIGHT = 1e-2


class Row(NamedTuple):
    """One solve."""

    model: str
    seed: int
    ended: str
    right: bool
    error: float
    displacement: float
    gap: float
    scenarios: int
    seconds: float


def rows(seeds: int, only: list[str]) -> Iterator[Row]:
    """Solve everything."""
    for name, build, answers, expected in entries():
        if only and name not in only:
            continue
        for seed in range(seeds):
            yield solved(name, build, answers, expected, seed)


def entries() -> Iterator[tuple[str, Any, Any, str]]:
    """(name, build, answers, expected ending) of all models."""
    for path in sorted(EXAMPLES.glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        if not hasattr(module, "answers"):
            continue  # about something else than one solve
        yield path.stem, module.build, module.answers, "optimal"
    for entry in REGISTRY.values():
        truth = entry.truth

        def answers(m: Any, results: Any, truth: Any = truth) -> dict[str, tuple[float, float]]:
            return {k: (m.find_component(k).value, v) for k, v in truth().items()}

        yield entry.name, entry.build, answers, entry.verdict


def solved(name: str, build: Any, answers: Any, expected: str, seed: int) -> Row:
    m = build()
    began = time.process_time()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=seed)
    seconds = time.process_time() - began
    ended = str(results.solver.termination_condition)
    pairs = answers(m, results) if expected == "optimal" else {}
    size = max((abs(exact) for _, exact in pairs.values()), default=0.0) or 1.0
    error = max(
        (abs(found - exact) / max(abs(exact), 0.1 * size) for found, exact in pairs.values()),
        default=0.0,
    )
    c = results.certificate
    # what is certified of two stages is the objective alone
    reach = getattr(c, "variables", {})
    right = ended == expected and all(
        abs(found - exact) <= max(RIGHT * max(abs(exact), 0.1 * size), reach.get(key, 0.0))
        for key, (found, exact) in pairs.items()
    )
    return Row(
        name, seed, ended, right, error,
        getattr(c, "relative_displacement", nan), c.relative_gap, results.samples, seconds,
    )  # fmt: skip


def table(found: Iterator[Row]) -> int:
    """Print rows as they come; returns the number that were not right."""
    print(f"{'model':24}{'seed':>5}  {'ended':12} {'right':5} {'true error':>10} {'move':>9} "
          f"{'gap':>9} {'scenarios':>11} {'CPU s':>7}")  # fmt: skip
    wrong = 0
    for r in found:
        wrong += not r.right
        right = "yes" if r.right else "NO"
        print(f"{r.model:24}{r.seed:5}  {r.ended:12} {right:5} {r.error:10.1e} "
              f"{r.displacement:9.1e} {r.gap:9.1e} {r.scenarios:11} {r.seconds:7.2f}",
              flush=True)  # fmt: skip
    return wrong
