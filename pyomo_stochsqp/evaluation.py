r"""Out-of-sample values of a model at its present point, with their uncertainty.

The objective and each constraint with an expectation are estimated on independent replicates, which
give a standard error and a confidence interval (certify/replicates.py). If all randomness is finite
and no larger than the sample, the values are exact. The scenarios come from a stream that no solve
reads, so they are fresh even for equal seeds.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .certify.replicates import estimated, quantile, standard_error
from .compile import compile_program
from .declare import StochasticProgram, read_model
from .errors import ModelError, OptionError
from .oracle import CLOSELY, EVALUATION_STREAM, EvaluationIssue, Sample, whole_sample
from .oracles import model_oracle
from .sample import Sampler

REPLICATES = 32


@dataclass(frozen=True)
class Value:
    """An expectation at one point: estimate, standard error, confidence interval, requirement."""

    name: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    #: what the model asks of it: 'minimize', 'maximize', '= 0', '<= 3', ...
    required: str


@dataclass(frozen=True)
class Evaluation:
    """The values of a model; prints as a table, and finds a value by component or name."""

    values: tuple[Value, ...]
    #: scenarios per source (all of them if exact)
    samples: int
    exact: bool
    seed: int
    confidence: float

    def __getitem__(self, component: Any) -> Value:
        name = component if isinstance(component, str) else component.name
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"'{name}' is neither the objective nor a constraint with an expectation.")

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __str__(self) -> str:
        if self.exact:
            title = f"Exact values over all {self.samples} scenarios"
        else:
            title = f"Estimates from {self.samples} fresh scenarios per source (seed {self.seed})"
        header = ("", "value", "std. error", f"{self.confidence:.0%} interval", "required")
        lines = [header]
        for v in self.values:
            low, high = v.interval
            error = "exact" if v.standard_error == 0.0 else f"{v.standard_error:.2e}"
            interval = f"[{low:.6g}, {high:.6g}]"
            lines.append((v.name, f"{v.value:.6g}", error, interval, v.required))
        widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
        rows = [
            "  ".join(
                text.ljust(width) if k in (0, 4) else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([title, rows[0], "-" * max(map(len, rows)), *rows[1:]])

    __repr__ = __str__


def evaluate(
    model: Any, samples: int = 100_000, seed: int | None = None, confidence: float = 0.95
) -> Evaluation:
    """Values of the objective and of every constraint with an expectation, at the present point.

    ``samples`` scenarios are drawn from each source. Finite data with no more rows is averaged
    exactly instead.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam, evaluate
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> print(evaluate(m))
    Exact values over all 2 scenarios
         value  std. error  95% interval  required
    ----------------------------------------------
    obj      2       exact        [2, 2]  minimize
    """
    if samples < 2 * REPLICATES:
        raise OptionError(f"samples={samples} is too few for error estimates; give at least 64.")
    if not 0.0 < confidence < 1.0:
        raise OptionError(f"confidence={confidence} is not between 0 and 1.")
    seed = secrets.randbits(32) if seed is None else seed
    program = read_model(model, as_written=True)
    unset = [v.name for v in program.variables if v.value is None]
    if unset:
        raise ModelError(
            f"Variable '{unset[0]}' has no value, so there is no point to evaluate. Solve the "
            "model first, or set its variables."
        )
    oracle = model_oracle(program, compile_program(program), Sampler(program.sources, seed))
    oracle.narrow(CLOSELY)
    rows = _rows_of_a_full_pass(program)
    exact = rows is not None and rows <= samples
    if exact:
        whole = whole_sample(oracle)
        assert whole is not None
        parts: Sequence[Sample] = [whole]
    else:
        batch = [samples // REPLICATES] * len(oracle.sources)
        parts = oracle.draw_replicates(EVALUATION_STREAM, 0, batch, REPLICATES).parts
    estimates = estimated(oracle, program.start, parts)
    if isinstance(estimates, EvaluationIssue):
        raise ModelError(
            f"The model cannot be evaluated at the present point: {estimates}. Set the variables "
            "to values where all functions are defined."
        )
    sampled = [row.body.sampled for row in program.rows]
    found = np.column_stack((program.sign * estimates.f, estimates.c[:, sampled]))
    mean, error = found.mean(axis=0), standard_error(found)
    reach = quantile(confidence, len(found)) * error
    values = tuple(
        Value(name, float(v), float(s), (float(v - r), float(v + r)), required)
        for (name, required), v, s, r in zip(_titles(program), mean, error, reach, strict=True)
    )
    drawn = rows if exact and rows is not None else samples // REPLICATES * REPLICATES
    return Evaluation(values, drawn, exact, seed, confidence)


def _rows_of_a_full_pass(program: StochasticProgram) -> int | None:
    sizes = [source.size for source in program.sources]
    if any(size is None for size in sizes):
        return None
    return sum(size for size in sizes if size is not None)


def _titles(program: StochasticProgram) -> list[tuple[str, str]]:
    objective = program.objective_component
    sense = "minimize" if program.sign > 0 else "maximize"
    titles = [("no objective" if objective is None else objective.name, sense)]
    for row in program.rows:
        if row.body.sampled:
            titles.append((row.name, _requirement(row.lower, row.upper)))
    return titles


def _requirement(lower: float, upper: float) -> str:
    if lower == upper:
        return f"= {lower:g}"
    if np.isinf(lower):
        return f"<= {upper:g}"
    return f">= {lower:g}" if np.isinf(upper) else f"in [{lower:g}, {upper:g}]"
