r"""Who is compared: each takes a family and a tolerance, and returns x.

    ours        the Pyomo model, SolverFactory('stochsqp') with nothing said but the tolerance
    extensive   the SAME Pyomo model through an NLP solver, which sees its extensive form: POUNCE, a
                port of IPOPT (PyPI: pounce-solver), by way of Pyomo's NL files
    slsqp       the expert's NumPy functions, SciPy's SLSQP; its ``ftol`` is the square of the
                tolerance, as a difference of objectives has to be
    interior    the same with the expert's second derivatives, through POUNCE's callbacks
    casadi      vectorised CasADi code through IPOPT with L-BFGS (PyPI: casadi)

What an expert prepares, what Pyomo builds and what is compiled counts; imports do not.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, minimize

from benchmarks.peers.families import Array, Family, Values

ITERATIONS = 300


class Remembered:
    """The family's functions, each point evaluated once."""

    def __init__(self, family: Family):
        family.prepare()
        self._family = family
        self._last: tuple[Array, Values] | None = None

    def __call__(self, x: Array) -> Values:
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x.copy(), self._family.values(x)
        return self._last[1]


def ours(family: Family, tolerance: float) -> Array:
    import pyomo.environ as pyo

    m, variables = family.model()
    pyo.SolverFactory("stochsqp").solve(m, tol_feas=tolerance, tol_opt=tolerance)
    return np.array([v.value for v in variables])


def extensive(family: Family, tolerance: float) -> Array:
    import pyomo.environ as pyo

    m, variables = family.model()
    pyo.SolverFactory("asl:pounce").solve(m, options={"tol": tolerance})
    return np.array([v.value for v in variables])


def slsqp(family: Family, tolerance: float) -> Array:
    at = Remembered(family)
    equal = family.row_lower == family.row_upper
    rows = [
        {
            "type": kind,
            "fun": lambda x, s=sign, p=picked, b=bound: s * (at(x).c[p] - b[p]),
            "jac": lambda x, s=sign, p=picked: s * at(x).J[p],
        }
        for kind, sign, picked, bound in (
            ("eq", 1.0, equal, family.row_lower),
            ("ineq", 1.0, np.isfinite(family.row_lower) & ~equal, family.row_lower),
            ("ineq", -1.0, np.isfinite(family.row_upper) & ~equal, family.row_upper),
        )
        if picked.any()
    ]
    found = minimize(
        lambda x: at(x)[:2], family.x0, jac=True, method="SLSQP", constraints=rows,
        bounds=Bounds(family.lower, family.upper),
        options={"ftol": tolerance**2, "maxiter": ITERATIONS},
    )  # fmt: skip
    return np.asarray(found.x)


def interior(family: Family, tolerance: float) -> Array:
    import pounce

    at, n, m = Remembered(family), family.x0.size, family.row_lower.size
    lower = np.tril_indices(n)

    class Callbacks:
        def objective(self, x: Array) -> float:
            return float(at(x).f)

        def gradient(self, x: Array) -> Array:
            return at(x).g

        def constraints(self, x: Array) -> Array:
            return at(x).c

        def jacobianstructure(self) -> Any:
            return np.repeat(np.arange(m), n), np.tile(np.arange(n), m)

        def jacobian(self, x: Array) -> Array:
            return at(x).J.ravel()

        def hessianstructure(self) -> Any:
            return lower

        def hessian(self, x: Array, y: Array, sigma: float) -> Array:
            # the objective's factor is one, unless the solver asks for rows alone
            H = family.hessian(x, y / sigma if sigma else y)[lower]
            return sigma * H if sigma else H - family.hessian(x, 0.0 * y)[lower]

    problem = pounce.Problem(
        n, m, Callbacks(), lb=family.lower, ub=family.upper, cl=family.row_lower,
        cu=family.row_upper,
    )  # fmt: skip
    for name, value in (("tol", tolerance), ("print_level", 0), ("max_iter", ITERATIONS)):
        problem.add_option(name, value)
    return np.asarray(problem.solve(family.x0)[0])


def casadi(family: Family, tolerance: float) -> Array:
    import casadi as ca

    x = ca.MX.sym("x", family.x0.size)
    f, c = family.casadi(ca, x)
    options = {
        "ipopt": {"tol": tolerance, "hessian_approximation": "limited-memory", "print_level": 0},
        "print_time": False,
    }
    solver = ca.nlpsol("solver", "ipopt", {"x": x, "f": f, "g": c}, options)
    found = solver(
        x0=family.x0, lbx=family.lower, ubx=family.upper, lbg=family.row_lower,
        ubg=family.row_upper,
    )  # fmt: skip
    return np.array(found["x"]).ravel()


#: what each runs, and the libraries that are imported before the clock starts
CONTESTANTS: dict[str, tuple[Callable[[Family, float], Array], tuple[str, ...]]] = {
    "ours": (ours, ("pyomo.environ", "pyomo_stochsqp")),
    "extensive": (extensive, ("pyomo.environ", "pyomo_stochsqp", "pounce")),
    "slsqp": (slsqp, ("scipy.optimize",)),
    "interior": (interior, ("pounce",)),
    "casadi": (casadi, ("casadi",)),
}


def children_seconds() -> float:
    """CPU seconds of the programs that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def with_programs() -> None:
    """Let Pyomo find POUNCE's program itself, without the Python launcher of its wheel, which takes
    a second."""
    import importlib.util

    spec = importlib.util.find_spec("pounce")
    if spec is not None and spec.origin is not None:
        folder = os.path.join(os.path.dirname(spec.origin), "bin")
        os.environ["PATH"] = os.pathsep.join([folder, os.environ["PATH"]])
