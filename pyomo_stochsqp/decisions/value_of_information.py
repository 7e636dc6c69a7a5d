r"""What is it worth to know the future, and what to take uncertainty seriously?

For a minimisation (a maximisation likewise, with the signs that make both numbers positive):

    RP     the optimum of the model: a decision for all scenarios
    WS     wait and see: the mean of the optima of single scenarios, each known beforehand
    EV     the expected value problem: all random numbers replaced by their means
    EEV    what the decision of EV costs when the random numbers are what they are

    EVPI = RP - WS   the expected value of perfect information: no forecast is worth more
    VSS  = EEV - RP  the value of the stochastic solution: what ignoring uncertainty costs

(Birge and Louveaux, Introduction to Stochastic Programming, chapter 4.) Where scenarios are drawn,
each difference is taken scenario by scenario before it is averaged, and has an interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..errors import OptionError
from ..text_table import Printed, Shown, TextTable
from . import one_stage, two_stage

Interval = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """A difference of two problems: value, standard error (0: exact), confidence interval."""

    value: float
    standard_error: float
    interval: Interval


@dataclass(frozen=True, repr=False)
class ValueOfInformation(Printed):
    """The four problems and their two differences; prints as a table."""

    recourse_problem: float
    wait_and_see: float
    expected_value: float
    expected_value_solution: float
    evpi: Difference
    vss: Difference
    #: values of the variables decided first: of the model's optimum, and of the mean's
    decision: dict[str, float]
    mean_decision: dict[str, float]
    #: scenarios that were solved one by one
    scenarios: int
    confidence: float
    #: what should be known before the numbers are believed
    cautions: tuple[str, ...] = ()

    def table(self) -> TextTable:
        """The numbers."""
        rows = [
            ("RP", "the optimum under uncertainty", f"{self.recourse_problem:.6g}", ""),
            ("WS", "wait and see, mean of the scenarios' optima", f"{self.wait_and_see:.6g}", ""),
            ("EV", "optimum for mean numbers", f"{self.expected_value:.6g}", ""),
            (
                "EEV",
                "... its decision, under uncertainty",
                f"{self.expected_value_solution:.6g}",
                "",
            ),
            ("EVPI", "value of perfect information", *_cells(self.evpi)),
            ("VSS", "value of the stochastic solution", *_cells(self.vss)),
        ]
        header = ("", "", "value", f"{self.confidence:.0%} interval")
        title = f"From {self.scenarios} scenarios"
        return TextTable(header, rows, left=(0, 1), title=title)

    def shown(self) -> list[Shown]:
        return [self.table(), *self.cautions]


def value_of_information(
    model: Any,
    *,
    scenarios: int = 100,
    samples: int | None = None,
    seed: int = 0,
    confidence: float = 0.95,
    mean_scenario: Any = None,
    solver: Any = "stochsqp",
    options: Mapping[str, Any] | None = None,
) -> ValueOfInformation:
    """EVPI and VSS of a model with random parameters or scenario blocks.

    ``scenarios`` single scenarios are solved at most (all of finite data, if there are no more),
    and expectations estimated from ``samples`` (as by ``evaluate``). Scenario blocks are averaged
    if they are linear; otherwise ``mean_scenario`` is the key of the block that stands for the
    mean. ``solver`` and its ``options`` solve every problem. The model's optimum is loaded
    afterwards.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam, value_of_information
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2 + m.w**3 * (m.x - 2) / 10))
    >>> v = value_of_information(m)
    >>> round(v.evpi.value, 4), round(v.vss.value, 4)
    (0.1225, 0.09)
    """
    if scenarios < 2:
        raise OptionError(f"scenarios={scenarios}: at least two are needed.")
    if not 0.0 < confidence < 1.0:
        raise OptionError(f"confidence={confidence} is not between 0 and 1.")
    options = dict(options or {})
    if solver == "stochsqp":
        options.setdefault("seed", seed)
    if two_stage.applies(model):
        found = two_stage.problems(model, mean_scenario, solver, options)
    else:
        found = one_stage.problems(model, scenarios, samples, seed, solver, options)
    evpi = _difference(found.foresight, found.weights, confidence)
    vss = _difference(found.ignorance, found.weights_of_ignorance, confidence)
    return ValueOfInformation(
        recourse_problem=found.optimum,
        wait_and_see=found.optimum - found.sense * evpi.value,
        expected_value=found.expected_value,
        expected_value_solution=found.optimum + found.sense * vss.value,
        evpi=evpi,
        vss=vss,
        decision=found.decision,
        mean_decision=found.mean_decision,
        scenarios=found.foresight.size,
        confidence=confidence,
        cautions=tuple(found.cautions),
    )


def _difference(each: np.ndarray, weights: np.ndarray | None, confidence: float) -> Difference:
    """The mean of scenario by scenario differences; ``weights`` belong to all scenarios there are,
    whose mean has no error."""
    mean = float(np.average(each, weights=weights))
    if weights is not None or each.size < 2 or not np.isfinite(mean):
        return Difference(mean, 0.0, (mean, mean))
    error = float(each.std(ddof=1)) / np.sqrt(each.size)
    reach = float(stats.t.ppf(0.5 + 0.5 * confidence, each.size - 1)) * error
    return Difference(mean, error, (mean - reach, mean + reach))


def _cells(d: Difference) -> tuple[str, str]:
    low, high = d.interval
    return f"{d.value:.6g}", "exact" if d.standard_error == 0.0 else f"[{low:.6g}, {high:.6g}]"
