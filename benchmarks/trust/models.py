r"""Ordinary models over distributions, samplers and tables, with answers found another way.

Each entry builds a Pyomo model as a user would write it (no tuned starts, no scaling) and gives the
true solution: a closed form, or the program of its expectations by quadrature, solved by SLSQP. So
the truth shares neither samples nor code with the solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import stats
from scipy.optimize import brentq, minimize

from pyomo_stochsqp import E, RandomParam

Truth = dict[str, float]
QUANTILES = (np.arange(200_000) + 0.5) / 200_000


@dataclass(frozen=True)
class Entry:
    """A model and its answer; ``verdict`` is 'infeasible' or 'unbounded' where there is none."""

    name: str
    build: Callable[[], Any]
    truth: Callable[[], Truth]
    verdict: str = "optimal"


REGISTRY: dict[str, Entry] = {}


def model(truth: Callable[[], Truth], verdict: str = "optimal") -> Callable[..., Any]:
    """Register a model under its function's name."""

    def register(build: Callable[[], Any]) -> Callable[[], Any]:
        REGISTRY[build.__name__] = Entry(build.__name__, build, cache(truth), verdict)
        return build

    return register


def grid(distribution: Any) -> np.ndarray:
    """Many equally likely values of a distribution: averages over them are accurate to 1e-6."""
    return distribution.ppf(QUANTILES)


def minimised(
    objective: Callable[[np.ndarray], float],
    start: list[float],
    rows: list[dict[str, Any]] | None = None,
    bounds: Any = None,
) -> np.ndarray:
    """The solution of a small program by SLSQP, started three times in a row."""
    x = np.array(start, dtype=float)
    for _ in range(3):
        found = minimize(
            objective, x, method="SLSQP", bounds=bounds, constraints=rows or (),
            options={"ftol": 1e-15, "maxiter": 1000},
        )  # fmt: skip
        x = found.x
    return x


def softplus(z: Any, width: float) -> Any:
    """A smooth positive part, for arrays."""
    return width * np.logaddexp(0.0, z / width)


# -- one decision ---------------------------------------------------------------------------------

DEMAND = stats.gamma(4, scale=25.0)


def _capacity() -> Truth:
    d = grid(DEMAND)
    x = minimised(lambda x: 3 * x[0] + 10 * softplus(d - x[0], 1.0).mean(), [100.0])
    return {"x": x[0]}


@model(_capacity)
def capacity() -> Any:
    """Capacity before demand is known; unserved demand costs 10 a unit."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=10.0, bounds=(0, None))
    m.demand = RandomParam(distribution=DEMAND)
    m.cost = pyo.Objective(expr=3 * m.x + 10 * E(pyo.log(1 + pyo.exp(m.demand - m.x))))
    return m


TASTE = stats.norm(5, 2)


def _pricing() -> Truth:
    w = grid(TASTE)
    x = minimised(lambda p: -(p[0] / (1 + np.exp(p[0] - w))).mean(), [4.0])
    return {"price": x[0]}


@model(_pricing)
def pricing() -> Any:
    """Revenue of a price when customers differ in what they would pay."""
    m = pyo.ConcreteModel()
    m.price = pyo.Var(initialize=1.0, bounds=(0, 50))
    m.taste = RandomParam(distribution=TASTE)
    m.revenue = pyo.Objective(
        expr=E(m.price / (1 + pyo.exp(m.price - m.taste))), sense=pyo.maximize
    )
    return m


ODDS = stats.uniform(-0.5, 1.2)


def _kelly() -> Truth:
    r = grid(ODDS)
    return {"stake": brentq(lambda f: (r / (1 + f * r)).mean(), 0.0, 1.9)}


@model(_kelly)
def kelly() -> Any:
    """The growth-optimal stake in a bet that pays between -50 % and +70 %."""
    m = pyo.ConcreteModel()
    m.stake = pyo.Var(initialize=0.1, bounds=(0, 1.9))
    m.gain = RandomParam(distribution=ODDS)
    m.growth = pyo.Objective(expr=E(pyo.log(1 + m.stake * m.gain)), sense=pyo.maximize)
    return m


ARRIVALS = stats.beta(2, 3, loc=5, scale=10)


def _queue() -> Truth:
    a = grid(ARRIVALS)
    x = minimised(lambda s: s[0] + (4 * a / (s[0] - a)).mean(), [25.0], bounds=[(15.01, None)])
    return {"service": x[0]}


@model(_queue)
def queue() -> Any:
    """A service rate against the waiting cost of an M/M/1 queue with an uncertain arrival rate."""
    m = pyo.ConcreteModel()
    m.service = pyo.Var(initialize=40.0, bounds=(15.01, None))
    m.arrivals = RandomParam(distribution=ARRIVALS)
    m.cost = pyo.Objective(expr=m.service + E(4 * m.arrivals / (m.service - m.arrivals)))
    return m


LIFETIME = stats.gamma(3, scale=2.0)


def _reliability() -> Truth:
    w = grid(LIFETIME)
    return {"x": brentq(lambda x: (1 - np.exp(-x / w)).mean() - 0.9, 1.0, 100.0)}


@model(_reliability)
def reliability() -> Any:
    """The least effort with an expected success of 90 %."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, None))
    m.w = RandomParam(distribution=LIFETIME)
    m.effort = pyo.Objective(expr=m.x)
    m.success = pyo.Constraint(expr=E(1 - pyo.exp(-m.x / m.w)) >= 0.9)
    return m


def _insurance() -> Truth:
    z = grid(stats.lognorm(0.8, scale=2000.0))
    loss = np.minimum(z, 20_000.0)

    def utility(c: np.ndarray) -> float:
        wealth = 50_000 - 1.3 * loss.mean() * c[0] - (1 - c[0]) * loss
        return -float(np.log(wealth / 5e4).mean())

    return {"cover": float(minimised(utility, [0.5], bounds=[(0, 1)])[0])}


@model(_insurance)
def insurance() -> Any:
    """How much of a risk to insure at a loading of 30 %, with logarithmic utility of wealth."""
    losses = stats.lognorm(0.8, scale=2000.0)
    m = pyo.ConcreteModel()
    m.cover = pyo.Var(initialize=0.5, bounds=(0, 1))
    m.loss = RandomParam(
        sampler=lambda rng, size: np.minimum(losses.rvs((size, 1), random_state=rng), 20_000.0)
    )
    premium = 1.3 * float(np.minimum(grid(losses), 20_000.0).mean())
    wealth = 50_000 - premium * m.cover - (1 - m.cover) * m.loss
    m.utility = pyo.Objective(expr=E(pyo.log(wealth / 50_000)), sense=pyo.maximize)
    return m


# -- several decisions ----------------------------------------------------------------------------

YIELD, GRADE = stats.norm(1.0, 0.1), stats.uniform(0.2, 0.2)


def _blending() -> Truth:
    # E[grade_j] = .3, .35, .4: linear, at a vertex of grade and sum
    return {"x[0]": 0.5, "x[1]": 0.0, "x[2]": 0.5}


@model(_blending)
def blending() -> Any:
    """The cheapest mixture with an expected grade of at least 0.35."""
    cost, low = (1.0, 1.9, 2.0), (0.2, 0.25, 0.3)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1 / 3, bounds=(0, 1))
    m.grade = RandomParam(range(3), distribution=[stats.uniform(a, 0.2) for a in low])
    m.cost = pyo.Objective(expr=sum(cost[j] * m.x[j] for j in range(3)))
    m.sum = pyo.Constraint(expr=sum(m.x[j] for j in range(3)) == 1)
    m.quality = pyo.Constraint(expr=E(sum(m.grade[j] * m.x[j] for j in range(3))) >= 0.35)
    return m


WIND, LOAD = stats.weibull_min(2, scale=8.0), stats.norm(6000, 1200)


def _microgrid() -> Truth:
    middle = (np.arange(2000) + 0.5) / 2000
    power = np.minimum(WIND.ppf(middle)[:, None] / 12, 1.5) ** 3
    load = LOAD.ppf(middle[::2])

    def cost(v: np.ndarray) -> float:
        turbines, battery = v[0] * 1e3, v[1]
        gap = load - turbines * power - 1000 * battery
        return 0.9 * v[0] + 2.5 * battery + 0.004 * softplus(gap, 100.0).mean()

    x = minimised(cost, [0.2, 5.0], bounds=[(0, None), (0, None)])
    return {"kw": 1e3 * x[0], "battery": x[1]}


@model(_microgrid)
def microgrid() -> Any:
    """Turbines in kW, a battery in MWh: units that differ by a thousand."""
    m = pyo.ConcreteModel()
    m.kw = pyo.Var(initialize=100.0, bounds=(0, None))
    m.battery = pyo.Var(initialize=0.1, bounds=(0, None))
    m.power = RandomParam(
        sampler=lambda rng, size: np.minimum(WIND.rvs((size, 1), random_state=rng) / 12, 1.5) ** 3
    )
    m.demand = RandomParam(distribution=LOAD)
    gap = m.demand - m.kw * m.power - 1000 * m.battery
    unserved = 100 * pyo.log(1 + pyo.exp(gap / 100))
    m.cost = pyo.Objective(expr=0.9e-3 * m.kw + 2.5 * m.battery + 0.004 * E(unserved))
    return m


MEAN = np.array([0.08, 0.12, 0.10, 0.07, 0.05])
FACTOR = np.array([0.15, 0.25, 0.20, 0.10, 0.03])
COVARIANCE = 0.3 * np.outer(FACTOR, FACTOR) + 0.7 * np.diag(FACTOR**2)


def _portfolio() -> Truth:
    second = COVARIANCE + np.outer(MEAN, MEAN)
    rows = [
        {"type": "eq", "fun": lambda x: x.sum() - 1},
        {"type": "ineq", "fun": lambda x: MEAN @ x - 0.09},
    ]
    x = minimised(lambda x: 100 * float(x @ second @ x), [0.2] * 5, rows, [(0, 0.5)] * 5)
    return {f"x[{i}]": x[i] for i in range(5)}


@model(_portfolio)
def portfolio() -> Any:
    """Least second moment for an expected return of 9 %, no short sales, at most half in one."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), initialize=0.2, bounds=(0, 0.5))
    m.r = RandomParam(range(5), distribution=stats.multivariate_normal(MEAN, COVARIANCE))
    gain = sum(m.r[i] * m.x[i] for i in range(5))
    m.risk = pyo.Objective(expr=E(gain**2))
    m.budget = pyo.Constraint(expr=sum(m.x[i] for i in range(5)) == 1)
    m.target = pyo.Constraint(expr=E(gain) >= 0.09)
    return m


def _regression() -> Truth:
    # E[x x'] is diagonal, E[y x] = beta * E[x^2]; |beta|^2 <= 1 shortens along the diagonal metric
    second = np.array([1.0, 4.0, 0.25])
    beta = np.array([1.0, 0.5, -2.0])
    rows = [{"type": "ineq", "fun": lambda b: 1.0 - b @ b}]
    x = minimised(lambda b: float(second @ (b - beta) ** 2), [0.1, 0.1, -0.1], rows)
    return {f"b[{i}]": x[i] for i in range(3)}


@model(_regression)
def regression() -> Any:
    """Least squares under a bound on the coefficients, data from a simulator."""

    def simulate(rng: np.random.Generator, size: int) -> np.ndarray:
        x = rng.standard_normal((size, 3)) * np.array([1.0, 2.0, 0.5])
        y = x @ np.array([1.0, 0.5, -2.0]) + rng.standard_normal(size)
        return np.column_stack([x, y])

    m = pyo.ConcreteModel()
    m.b = pyo.Var(range(3), initialize=0.0)
    m.row = RandomParam(range(4), sampler=simulate)
    error = m.row[3] - sum(m.row[i] * m.b[i] for i in range(3))
    m.loss = pyo.Objective(expr=E(error**2))
    m.size = pyo.Constraint(expr=sum(m.b[i] ** 2 for i in range(3)) <= 1)
    return m


DEFECTS = stats.poisson(3)


def _inspection() -> Truth:
    k = np.arange(0, 60)
    p = stats.poisson(3).pmf(k)
    x = minimised(lambda t: 2 * t[0] + float(p @ (20 * k * np.exp(-0.5 * t[0]))), [2.0])
    return {"hours": x[0]}


@model(_inspection)
def inspection() -> Any:
    """Hours of inspection against a random, whole number of defects."""
    m = pyo.ConcreteModel()
    m.hours = pyo.Var(initialize=0.0, bounds=(0, None))
    m.defects = RandomParam(distribution=DEFECTS)
    m.cost = pyo.Objective(expr=2 * m.hours + E(20 * m.defects * pyo.exp(-0.5 * m.hours)))
    return m


def _truss() -> Truth:
    # E[F^2] = 1e6 + 4e4; stress E[(F/a)^2] <= 1e4; volume a * 2 + rod 3 h, stiffness a h >= 50
    second = 1000.0**2 + 200.0**2
    least = math.sqrt(second) / 100.0
    rows = [
        {"type": "ineq", "fun": lambda v: 1e4 - second / v[0] ** 2},
        {"type": "ineq", "fun": lambda v: v[0] * v[1] / 50.0 - 1.0},
    ]
    x = minimised(lambda v: 2 * v[0] + 3 * v[1], [least, 6.0], rows, [(0.1, None)] * 2)
    return {"a": x[0], "h": x[1]}


@model(_truss)
def truss() -> Any:
    """The lightest bar whose expected squared stress stays below its limit."""
    m = pyo.ConcreteModel()
    m.a = pyo.Var(initialize=1.0, bounds=(0.1, None))
    m.h = pyo.Var(initialize=1.0, bounds=(0.1, None))
    m.force = RandomParam(distribution=stats.norm(1000, 200))
    m.volume = pyo.Objective(expr=2 * m.a + 3 * m.h)
    m.stress = pyo.Constraint(expr=E((m.force / m.a) ** 2) <= 1e4)
    m.stiffness = pyo.Constraint(expr=m.a * m.h >= 50)
    return m


def _table_logistic() -> Truth:
    X, y = _loans()
    z = X * y[:, None]
    rows = [{"type": "ineq", "fun": lambda b: 0.5 - b @ b}]
    x = minimised(lambda b: float(np.logaddexp(0, -z @ b).mean()), [0.0] * 4, rows)
    return {f"b[{i}]": x[i] for i in range(4)}


def _loans() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30_000, 4))
    y = np.sign(X @ np.array([1.0, -0.5, 0.3, 0.0]) + rng.logistic(size=30_000))
    return X, y


@model(_table_logistic)
def table_logistic() -> Any:
    """Constrained logistic regression on a table of 30,000 rows."""
    X, y = _loans()
    m = pyo.ConcreteModel()
    m.b = pyo.Var(range(4), initialize=0.0)
    m.z = RandomParam(range(4), data=X * y[:, None])
    margin = sum(m.z[i] * m.b[i] for i in range(4))
    m.loss = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-margin))))
    m.size = pyo.Constraint(expr=sum(m.b[i] ** 2 for i in range(4)) <= 0.5)
    return m


# -- without an answer ----------------------------------------------------------------------------


@model(dict, "infeasible")
def contradiction() -> Any:
    """An expected yield that the ordinary constraint beside it does not allow."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=stats.norm(1, 0.5))
    m.cost = pyo.Objective(expr=m.x**2)
    m.need = pyo.Constraint(expr=E(m.w * m.x) >= 5)
    m.limit = pyo.Constraint(expr=m.x <= 2)
    return m


@model(dict, "unbounded")
def free_lunch() -> Any:
    """A profit without limits."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, None))
    m.w = RandomParam(distribution=stats.norm(1, 0.5))
    m.profit = pyo.Objective(expr=E(m.w * m.x), sense=pyo.maximize)
    return m
