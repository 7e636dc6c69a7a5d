r"""Tables, against what an expert would write: NumPy with gradients by hand, and SciPy's SLSQP.

    logistic    E[log(1 + exp(-s a'x))] + 0.01 |x|^2    s.t.  E[(g - g0) / (1 + exp(-a'x))] = 0
    portfolio   E[(r'x - t)^2]                          s.t.  E[r'x] = t,  1'x = 1,  x >= 0
    decay       E[(y - x0 exp(-x1 u) - x2)^2]           s.t.  E[x0 exp(-x1 u)] <= 0.6,  x >= 0

CPU seconds until x is known to 1e-6, declaring and compiling the model included, on tables of N
rows; both are started from the same point. Every number is the best of several runs, the two
contestants in turn.

    python -m benchmarks.tables [--sizes 100 1000 ...] [--families ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import minimize
from scipy.special import expit

from pyomo_stochsqp import E, RandomParam

SIZES = (100, 1000, 10_000, 100_000, 1_000_000)
TOLERANCE = 1e-6
Answer = np.ndarray


@dataclass(frozen=True)
class Family:
    table: Callable[[int, np.random.Generator], np.ndarray]
    ours: Callable[[np.ndarray], Any]
    experts: Callable[[np.ndarray, float], Answer]


# -- logistic regression with equal mean scores ---------------------------------------------------

FEATURES, RIDGE = 10, 0.01


def logistic_table(rows: int, rng: np.random.Generator) -> np.ndarray:
    a = rng.normal(size=(rows, FEATURES))
    a[:, 0] = 1.0
    group = (rng.random(rows) < 0.4).astype(float)
    a[:, 1] += group
    label = np.where(rng.random(rows) < expit(a @ np.linspace(-1, 1, FEATURES)), 1.0, -1.0)
    return np.column_stack([a, label, group])


def logistic_model(table: np.ndarray) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(FEATURES), initialize=0.0)
    m.w = RandomParam(range(FEATURES + 2), data=table)
    label, group = m.w[FEATURES], m.w[FEATURES + 1]
    z = sum(m.w[j] * m.x[j] for j in range(FEATURES))
    m.loss = pyo.Objective(
        expr=E(pyo.log(1 + pyo.exp(-label * z))) + RIDGE * sum(v**2 for v in m.x.values())
    )
    share = float(table[:, FEATURES + 1].mean())
    m.fair = pyo.Constraint(expr=E((group - share) / (1 + pyo.exp(-z))) == 0)
    return m


def logistic_expert(table: np.ndarray, tolerance: float) -> Answer:
    a, label = table[:, :FEATURES], table[:, FEATURES]
    centred, rows = table[:, FEATURES + 1] - table[:, FEATURES + 1].mean(), len(table)

    def loss(x: Answer) -> tuple[float, Answer]:
        margin = label * (a @ x)
        slope = a.T @ (-label * expit(-margin)) / rows
        return np.logaddexp(0.0, -margin).mean() + RIDGE * x @ x, slope + 2 * RIDGE * x

    def slope_of_row(x: Answer) -> Answer:
        p = expit(a @ x)
        return a.T @ (centred * p * (1 - p)) / rows

    row = {"type": "eq", "fun": lambda x: centred @ expit(a @ x) / rows, "jac": slope_of_row}
    return _slsqp(loss, np.zeros(FEATURES), [row], tolerance)


# -- portfolio without short sales ----------------------------------------------------------------

ASSETS, TARGET = 8, 0.1


def portfolio_table(rows: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(
        np.linspace(0.05, 0.15, ASSETS), np.linspace(0.1, 0.3, ASSETS), (rows, ASSETS)
    )


def portfolio_model(table: np.ndarray) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(ASSETS), bounds=(0, None), initialize=1 / ASSETS)
    m.r = RandomParam(range(ASSETS), data=table)
    gain = sum(m.r[j] * m.x[j] for j in range(ASSETS))
    m.risk = pyo.Objective(expr=E((gain - TARGET) ** 2))
    m.mean = pyo.Constraint(expr=E(gain) == TARGET)
    m.all = pyo.Constraint(expr=sum(m.x.values()) == 1)
    return m


def portfolio_expert(table: np.ndarray, tolerance: float) -> Answer:
    rows = len(table)
    mean, ones = table.mean(axis=0), np.ones(ASSETS)

    def risk(x: Answer) -> tuple[float, Answer]:
        off = table @ x - TARGET
        return off @ off / rows, 2 * (off @ table) / rows

    constraints = [
        {"type": "eq", "fun": lambda x: mean @ x - TARGET, "jac": lambda x: mean},
        {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: ones},
    ]
    start = np.full(ASSETS, 1 / ASSETS)
    return _slsqp(risk, start, constraints, tolerance, [(0, None)] * ASSETS)


# -- a curve with a bounded mean ------------------------------------------------------------------

LIMIT = 0.6


def decay_table(rows: int, rng: np.random.Generator) -> np.ndarray:
    u = rng.uniform(0, 3, rows)
    return np.column_stack([u, 2 * np.exp(-0.8 * u) + 0.3 + 0.1 * rng.normal(size=rows)])


def decay_model(table: np.ndarray) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, None), initialize=1.0)
    m.w = RandomParam(range(2), data=table)
    curve = m.x[0] * pyo.exp(-m.x[1] * m.w[0])
    m.error = pyo.Objective(expr=E((m.w[1] - curve - m.x[2]) ** 2))
    m.mean = pyo.Constraint(expr=E(curve) <= LIMIT)
    return m


def decay_expert(table: np.ndarray, tolerance: float) -> Answer:
    u, y = table.T
    rows = len(table)

    def error(x: Answer) -> tuple[float, Answer]:
        e = np.exp(-x[1] * u)
        off = x[0] * e + x[2] - y
        return off @ off / rows, 2 / rows * np.array([off @ e, -x[0] * (off @ (u * e)), off.sum()])

    def slope(x: Answer) -> Answer:
        e = np.exp(-x[1] * u)
        return np.array([-e.mean(), x[0] * (u @ e) / rows, 0.0])

    row = {"type": "ineq", "fun": lambda x: LIMIT - x[0] * np.exp(-x[1] * u).mean(), "jac": slope}
    return _slsqp(error, np.ones(3), [row], tolerance, [(0, None)] * 3)


def _slsqp(function: Any, start: Answer, rows: Any, tolerance: float, bounds: Any = None) -> Answer:
    found = minimize(
        function, start, jac=True, method="SLSQP", constraints=rows, bounds=bounds,
        options={"ftol": tolerance, "maxiter": 1000},
    )  # fmt: skip
    return found.x


FAMILIES = {
    "logistic": Family(logistic_table, logistic_model, logistic_expert),
    "portfolio": Family(portfolio_table, portfolio_model, portfolio_expert),
    "decay": Family(decay_table, decay_model, decay_expert),
}

# -- measuring ------------------------------------------------------------------------------------


def ours(family: Family, table: np.ndarray) -> tuple[float, Answer, str]:
    began = process_time()
    m = family.ours(table)
    results = pyo.SolverFactory("stochsqp").solve(
        m, tol_feas=TOLERANCE, tol_opt=TOLERANCE, load_solutions=True
    )
    seconds = process_time() - began
    return seconds, np.array([v.value for v in m.x.values()]), results.solver.termination_condition


def expert(family: Family, table: np.ndarray, truth: Answer) -> tuple[float, float]:
    """The loosest of SLSQP's tolerances that reaches 1e-6: an expert would have to guess it."""
    for tolerance in (1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15):
        began = process_time()
        x = family.experts(table, tolerance)
        seconds = process_time() - began
        if _off(x, truth) <= TOLERANCE:
            break
    return seconds, _off(x, truth)


def _off(x: Answer, truth: Answer) -> float:
    return float(np.abs(x - truth).max() / max(1.0, np.abs(truth).max()))


def measure(name: str, rows: int, repeats: int) -> str:
    family = FAMILIES[name]
    table = family.table(rows, np.random.default_rng(rows))
    truth = family.experts(table, 1e-16)
    best_ours = best_expert = np.inf
    for _ in range(repeats):
        seconds, x, ending = ours(family, table)
        best_ours = min(best_ours, seconds)
        theirs, off_theirs = expert(family, table, truth)
        best_expert = min(best_expert, theirs)
    return (
        f"{name:10} {rows:8d}  {best_ours:8.3f}  {best_expert:8.3f}  "
        f"{best_ours / best_expert:6.2f}  {_off(x, truth):8.1e}  {off_theirs:8.1e}  {ending}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    ours(FAMILIES["decay"], FAMILIES["decay"].table(50, np.random.default_rng(0)))  # imports
    print("family         rows      ours    expert   ratio  error of ours, expert's")
    for name in args.families:
        for rows in args.sizes:
            print(measure(name, rows, args.repeats), flush=True)


if __name__ == "__main__":
    main()
