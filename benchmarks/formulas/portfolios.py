r"""Nineteen formulas of the return p = r'x of four assets, each written once.

A model is a function of a language: E, exp, log, sqrt are Pyomo's, or NumPy's with means over rows
and weights. The same text is thus solved by this package and, in its natural form, by SLSQP.
Distributions are replaced by Gauss-Hermite rules there, with 14^4 nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy import optimize, stats

import pyomo_stochsqp as ps

N = 4
MEAN = np.array([0.06, 0.10, 0.14, 0.20])
SPREAD = np.array([0.05, 0.12, 0.18, 0.30])
CORRELATION = np.array(
    [[1.0, 0.3, 0.2, 0.1], [0.3, 1.0, 0.5, 0.3], [0.2, 0.5, 1.0, 0.4], [0.1, 0.3, 0.4, 1.0]]
)
COVARIANCE = CORRELATION * np.outer(SPREAD, SPREAD)


@dataclass(frozen=True)
class Parts:
    """What a model consists of, besides sum x = 1."""

    objective: Any
    maximise: bool = False
    equal: Sequence[Any] = ()
    at_most: Sequence[Any] = ()


@dataclass(frozen=True)
class Portfolio:
    name: str
    parts: Callable[..., Parts]
    #: long positions only
    long: bool = True


REGISTRY: dict[str, Portfolio] = {}


def model(long: bool = True) -> Callable[[Callable[..., Parts]], Callable[..., Parts]]:
    def register(parts: Callable[..., Parts]) -> Callable[..., Parts]:
        REGISTRY[parts.__name__] = Portfolio(parts.__name__, parts, long)
        return parts

    return register


class PyomoLanguage:
    """Pyomo's functions."""

    E = staticmethod(ps.E)
    exp, log, sqrt = staticmethod(pyo.exp), staticmethod(pyo.log), staticmethod(pyo.sqrt)


@dataclass
class NumPyLanguage:
    """The same over rows with weights."""

    weights: np.ndarray
    exp: Any = field(default=np.exp)
    log: Any = field(default=np.log)
    sqrt: Any = field(default=np.sqrt)

    def E(self, e: Any) -> Any:
        return self.weights @ e if np.ndim(e) else e


def _variance(L: Any, p: Any) -> Any:
    return L.E((p - L.E(p)) ** 2)


def _part(L: Any, z: Any, width: float) -> Any:
    return (z + L.sqrt(z * z + width**2)) / 2


@model(long=False)
def variance_by_squares(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(p**2) - L.E(p) ** 2)


@model(long=False)
def variance(L: Any, p: Any, r: Any) -> Parts:
    return Parts(_variance(L, p))


@model()
def mean_and_std(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.sqrt(_variance(L, p)) - L.E(p))


@model()
def mean_and_std_by_squares(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.sqrt(L.E(p**2) - L.E(p) ** 2) - L.E(p))


@model()
def sharpe(L: Any, p: Any, r: Any) -> Parts:
    return Parts((L.E(p) - 0.03) / L.sqrt(_variance(L, p)), maximise=True)


@model()
def sharpe_by_squares(L: Any, p: Any, r: Any) -> Parts:
    return Parts((L.E(p) - 0.03) / L.sqrt(L.E(p**2) - L.E(p) ** 2), maximise=True)


@model()
def coefficient_of_variation(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(p), True, at_most=[L.sqrt(_variance(L, p)) / L.E(p) - 1.2])


@model(long=False)
def entropic(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.log(L.E(L.exp(-5 * p))) / 5)


@model()
def entropic_20(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.log(L.E(L.exp(-20 * p))) / 20)


@model()
def ratio_constraint(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(p), True, at_most=[L.E(p**2) / L.E(p) - 0.25])


@model(long=False)
def correlation(L: Any, p: Any, r: Any) -> Parts:
    together = L.E((p - L.E(p)) * (r[3] - L.E(r[3])))
    return Parts(
        _variance(L, p),
        equal=[together / L.sqrt(_variance(L, p) * _variance(L, r[3])) - 0.7],
    )


@model()
def variance_constraint(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(p), True, at_most=[_variance(L, p) - 0.02])


@model()
def std_constraint(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(p), True, at_most=[L.sqrt(_variance(L, p)) - 0.15])


@model()
def geometric_mean(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.exp(L.E(L.log(1 + 0.5 * _part(L, p + 1.4, 0.1)))), maximise=True)


@model(long=False)
def fourth_moment(L: Any, p: Any, r: Any) -> Parts:
    return Parts(100 * L.E((p - L.E(p)) ** 4), equal=[L.E(p) - 0.13])


@model()
def kurtosis(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E((p - L.E(p)) ** 4) / _variance(L, p) ** 2 + 20 * _variance(L, p))


@model()
def semivariance(L: Any, p: Any, r: Any) -> Parts:
    return Parts(L.E(_part(L, L.E(p) - p, 0.02) ** 2), at_most=[0.13 - L.E(p)])


@model()
def three_levels(L: Any, p: Any, r: Any) -> Parts:
    inside = (p - L.E(p)) ** 2 / L.sqrt(_variance(L, p)) - p
    return Parts(L.log(L.E(L.exp(3 * inside))))


@model()
def equal_group_means(L: Any, p: Any, r: Any) -> Parts:
    """Two groups, told apart by a smooth weight of the first asset, have the same mean return."""
    group = 1 / (1 + L.exp(-20 * (r[0] - 0.06)))
    one = L.E(p * group) / L.E(group)
    two = L.E(p * (1 - group)) / L.E(1 - group)
    return Parts(_variance(L, p) - 0.1 * L.E(p), equal=[one - two - 0.034])


def build(entry: Portfolio, data: np.ndarray | None = None, start: float = 0.25) -> Any:
    """The Pyomo model: over a table, or over the normal distribution."""
    m = pyo.ConcreteModel(entry.name)
    m.x = pyo.Var(range(N), initialize=start, bounds=(0, 1) if entry.long else (None, None))
    law = {"distribution": stats.multivariate_normal(MEAN, COVARIANCE)}
    m.r = ps.RandomParam(range(N), **(law if data is None else {"data": data}))
    parts = entry.parts(PyomoLanguage, sum(m.r[i] * m.x[i] for i in range(N)), m.r)
    m.obj = pyo.Objective(
        expr=parts.objective, sense=pyo.maximize if parts.maximise else pyo.minimize
    )
    m.all = pyo.Constraint(expr=sum(m.x[i] for i in range(N)) == 1)
    m.equal, m.at_most = pyo.ConstraintList(), pyo.ConstraintList()
    for e in parts.equal:
        m.equal.add(e == 0)
    for e in parts.at_most:
        m.at_most.add(e <= 0)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def table(rows: int = 20_000, seed: int = 5) -> np.ndarray:
    """Returns with heavy tails: t with five degrees of freedom."""
    z = np.random.default_rng(seed).standard_t(5, (rows, N)) / np.sqrt(5 / 3)
    return MEAN + z @ np.linalg.cholesky(COVARIANCE).T


def gauss_hermite(nodes: int = 14) -> tuple[np.ndarray, np.ndarray]:
    """(rows, weights) of the normal distribution."""
    z, w = np.polynomial.hermite_e.hermegauss(nodes)
    Z = np.array(list(itertools.product(z, repeat=N)))
    W = np.array(list(itertools.product(w / w.sum(), repeat=N))).prod(axis=1)
    kept = W > 1e-14
    return MEAN + Z[kept] @ np.linalg.cholesky(COVARIANCE).T, W[kept] / W[kept].sum()


@dataclass(frozen=True)
class Answer:
    x: np.ndarray
    objective: float
    #: Pyomo's duals of the formula's own rows, equations first
    duals: np.ndarray


#: where SLSQP is started
STARTS = ((0.25, 0.25, 0.25, 0.25), (0.4, 0.3, 0.2, 0.1), (0.1, 0.2, 0.3, 0.4))


def exact(
    entry: Portfolio,
    rows: np.ndarray,
    weights: np.ndarray | None = None,
    starts: Sequence[Sequence[float]] = STARTS,
) -> Answer:
    """The natural form by SLSQP, with derivatives by complex steps."""
    weights = np.full(len(rows), 1 / len(rows)) if weights is None else weights
    L = NumPyLanguage(weights)
    sign = -1.0 if entry.parts(L, rows @ np.full(N, 0.25), rows.T).maximise else 1.0

    def at(x: np.ndarray) -> Parts:
        return entry.parts(L, rows @ x, rows.T)

    functions = {
        "objective": lambda x: np.array([sign * at(x).objective]),
        "equal": lambda x: np.array([x.sum() - 1, *at(x).equal]),
        "at_most": lambda x: -np.array(at(x).at_most),
    }

    def jacobian(f: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        def J(x: np.ndarray) -> np.ndarray:
            steps = x.astype(complex) + 1e-30j * np.eye(N)
            return np.array([np.imag(f(s)) / 1e-30 for s in steps]).T

        return J

    J = {name: jacobian(f) for name, f in functions.items()}
    constraints = [{"type": "eq", "fun": functions["equal"], "jac": J["equal"]}]
    if at(np.full(N, 0.25)).at_most:
        constraints.append({"type": "ineq", "fun": functions["at_most"], "jac": J["at_most"]})
    best = None
    for x0 in map(np.asarray, starts):
        found = optimize.minimize(
            lambda x: functions["objective"](x)[0], x0, jac=lambda x: J["objective"](x)[0],
            bounds=[(0, 1) if entry.long else (None, None)] * N, constraints=constraints,
            method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000},
        )  # fmt: skip
        violation = max(
            np.abs(functions["equal"](found.x)).max(),
            -min(functions["at_most"](found.x), default=0.0),
        )
        if violation < 1e-7 and (best is None or found.fun < best.fun - 1e-10):
            best = found
    assert best is not None, f"SLSQP does not solve {entry.name}"
    return Answer(best.x, sign * best.fun, _duals(best.x, sign, J, at(best.x), entry.long))


def _duals(x: np.ndarray, sign: float, J: dict[str, Any], parts: Parts, long: bool) -> np.ndarray:
    """Least-squares multipliers on the variables that are not at a bound."""
    free = (x > 1e-7) & (x < 1 - 1e-7) if long else np.ones(N, dtype=bool)
    rows = [J["equal"](x)]
    if parts.at_most:
        rows.append(-J["at_most"](x))
    A = np.vstack(rows)[:, free]
    y = np.linalg.lstsq(A.T, -J["objective"](x)[0][free], rcond=None)[0]
    return -sign * y[1:]
