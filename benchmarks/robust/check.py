r"""First-order conditions at a point of a Pyomo model, without the solver under test.

Gradients are Pyomo's own (``differentiate``). With the rows and bounds that are active at the
point, multipliers of the right sign are fitted by bounded least squares; what they leave of the
gradient is the stationarity error. Variables and rows are measured in units of their own:

    stationarity   |D (grad f + J'y + z)|_inf, the change of the objective if a variable changed by
                   its own size D_j, relative to |f|, to the terms of J'y, and to D grad f at
                   points ten per cent away
    violation      of every row, relative to max(|bound|, sum_j |J_ij x_j|, 1e-8)

Both are dimensionless; 1e-4 and below is a solution to the eye of any solver. A model without
multipliers at its solution says what its objective is there (``known``), and that is compared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.calculus.derivatives import Modes, differentiate
from pyomo.core.expr.visitor import identify_variables
from scipy.optimize import lsq_linear

#: distance to a bound, relative to its size, up to which it counts as active
ACTIVE = 1e-5
#: relative distance of the points whose gradients are taken for typical
NEAR = 0.1


class Conditions(NamedTuple):
    """Relative errors of a point."""

    violation: float
    stationarity: float
    objective: float

    @property
    def worst(self) -> float:
        return max(self.violation, self.stationarity)


def conditions(m: Any) -> Conditions:
    """The errors at the model's current values."""
    objective = next(m.component_data_objects(pyo.Objective, active=True))
    rows = list(m.component_data_objects(pyo.Constraint, active=True))
    variables = [
        v for v in m.component_data_objects(pyo.Var) if not v.fixed and v.value is not None
    ]
    number = {id(v): j for j, v in enumerate(variables)}
    n = len(variables)
    x = np.array([v.value for v in variables])

    def gradient(expression: Any) -> np.ndarray:
        wanted = list(identify_variables(expression, include_fixed=False))
        g = np.zeros(n)
        if wanted:
            values = differentiate(expression, wrt_list=wanted, mode=Modes.reverse_numeric)
            for v, value in zip(wanted, values, strict=True):
                g[number[id(v)]] = value
        return g

    size = np.maximum(np.abs(x), 1e-8)
    g = objective.sense * gradient(objective.expr)
    value = float(pyo.value(objective))
    scale = max(abs(value), _typical(variables, x, lambda: gradient(objective.expr) * size))
    normals, low, high, worst = [], [], [], 0.0
    for row in rows:
        J, c = gradient(row.body), float(pyo.value(row.body))
        lower, upper = pyo.value(row.lower), pyo.value(row.upper)
        terms = float(np.abs(J) @ np.abs(x))
        unit = max(terms, *(abs(b) for b in (lower, upper) if b is not None), 1e-8)
        below = -np.inf if lower is None else (c - lower) / unit
        above = -np.inf if upper is None else (upper - c) / unit
        worst = max(worst, *(-d for d in (below, above) if d > -np.inf and d < 0.0), 0.0)
        at_lower = lower is not None and below <= ACTIVE
        at_upper = upper is not None and above <= ACTIVE
        if at_lower or at_upper:
            normals.append(J)
            low.append(-np.inf if at_lower else 0.0)
            high.append(np.inf if at_upper else 0.0)
    for j, v in enumerate(variables):
        at_lower = v.lb is not None and x[j] - v.lb <= ACTIVE * max(abs(v.lb), size[j])
        at_upper = v.ub is not None and v.ub - x[j] <= ACTIVE * max(abs(v.ub), size[j])
        if at_lower or at_upper:
            e = np.zeros(n)
            e[j] = 1.0
            normals.append(e)
            low.append(-np.inf if at_lower else 0.0)
            high.append(np.inf if at_upper else 0.0)
        for bound, sign in ((v.lb, 1), (v.ub, -1)):
            if bound is not None:
                miss = sign * (bound - x[j]) / max(abs(bound), size[j])
                worst = max(worst, miss)
    r = _residual(g * size, np.array(normals).reshape(-1, n) * size, low, high, scale)
    known = getattr(m, "known", None)
    if known is not None:
        r = abs(value - known) / max(abs(known), 1e-8)
    return Conditions(worst, r, value)


def _typical(variables: list[Any], x: np.ndarray, gradient: Any) -> float:
    """The largest gradient at three points near x; the model's values are put back."""
    rng, found = np.random.default_rng(0), 0.0
    for _ in range(3):
        for v, value in zip(variables, x * (1 + NEAR * rng.uniform(-1, 1, x.size)), strict=True):
            lower = -np.inf if v.lb is None else v.lb
            upper = np.inf if v.ub is None else v.ub
            v.set_value(float(np.clip(value, lower, upper)), skip_validation=True)
        try:
            there = float(np.abs(gradient()).max(initial=0.0))
        except (ValueError, ArithmeticError):
            continue
        found = max(found, there if np.isfinite(there) else 0.0)
    for v, value in zip(variables, x, strict=True):
        v.set_value(float(value), skip_validation=True)
    return found


def _residual(
    g: np.ndarray, A: np.ndarray, low: list[float], high: list[float], scale: float
) -> float:
    """The gradient that multipliers within their signs cannot explain, relative to its terms."""
    top = max(float(np.abs(g).max(initial=0.0)), scale)
    if not top:
        return 0.0
    if not len(A):
        return float(np.abs(g).max()) / top if scale else 0.0
    unit = np.maximum(np.abs(A).max(axis=1), 1e-300)
    B = (A / unit[:, None]).T
    found = lsq_linear(B, -g, (low, high), tol=1e-14, max_iter=500)
    left = float(np.abs(g + B @ found.x).max())
    return left / max(top, float(np.abs(B * found.x).max(initial=0.0)))
