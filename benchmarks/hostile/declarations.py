r"""Bad data and bad models: each must be refused with an error that names the component, or end
clearly; never a raw exception, never an answer as if nothing were wrong.

    refused     an error of this package that names the component
    unnamed     an error of this package that does not
    ended       a termination condition other than optimal
    by Pyomo    the declaration itself was refused, before this package saw it
    accepted    an optimal end: the bad value was misread
    raw         any other exception
"""

from __future__ import annotations

import logging
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

import pyomo_stochsqp
from benchmarks.hostile import bad_models, bad_recourse, bad_values
from pyomo_stochsqp.errors import StochSQPError

PACKAGE = str(Path(pyomo_stochsqp.__file__).parent)
WRONG = ("raw", "accepted", "unnamed")
VERDICTS = ("refused", "ended", "by Pyomo", *WRONG)


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings, no log."""
    loggers = [logging.getLogger(name) for name in ("pyomo", "pyomo_stochsqp")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def cases(seed: int) -> Iterator[tuple[str, Callable[[], Any], str]]:
    """(what is wrong, builder, name of the component at fault) of all bad declarations."""
    for name, build in bad_values.cases(np.random.default_rng(seed)):
        yield name, build, "w"
    for name, (build, component) in bad_models.CASES.items():
        yield name, build, component
    yield from bad_recourse.cases(np.random.default_rng(seed))


def verdict(build: Callable[[], Any], component: str) -> tuple[str, str]:
    """What became of a bad declaration, and what was said."""
    try:
        m = build()
        results = pyo.SolverFactory("stochsqp").solve(m, seed=1, time_limit=2, jit=False)
    except StochSQPError as error:
        return ("refused" if component in str(error) else "unnamed"), str(error)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = any(frame.filename.startswith(PACKAGE) for frame in frames)
        said = f"{type(error).__name__}: {error}"
        return ("raw" if ours else "by Pyomo"), said
    condition = results.solver.termination_condition
    optimal = condition == pyo.TerminationCondition.optimal
    return ("accepted" if optimal else "ended"), str(results.solver.message)


def run(seed: int, every: int = 1, verbose: bool = False) -> Counter[str]:
    """All bad declarations, or one of ``every``; prints those that went wrong."""
    counts: Counter[str] = Counter()
    with quiet():
        for number, (name, build, component) in enumerate(cases(seed)):
            if (number + seed) % every:
                continue
            found, said = verdict(build, component)
            counts[found] += 1
            if found in WRONG or verbose:
                print(f"  {found:9} {name}: {said[:160]}")
    return counts


def report(seed: int, verbose: bool = False) -> int:
    """Print the figures of one seed; how many went wrong."""
    counts = run(seed, verbose=verbose)
    figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
    print(f"seed {seed}: {sum(counts.values())} bad declarations: {figures}", flush=True)
    return sum(counts[v] for v in WRONG)
