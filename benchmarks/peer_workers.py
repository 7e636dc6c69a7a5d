r"""One measurement of ``benchmarks.peers``, in a process of its own: seconds, peak memory, error.

The problem is fair logistic classification: N examples (a_i, y_i) with two protected attributes
s_i, whose covariance with the score a'x has to vanish,

    min_x  1/N sum_i log(1 + exp(-y_i a_i'x))
    s.t.   1/N sum_i s_ij (a_i'x) = 0,  j = 1, 2,        |x|^2 = 4,        x in R^20.

    ours        the Pyomo model through SolverFactory('stochsqp')
    extensive   the SAME Pyomo model through an NLP solver, which sees its extensive form: POUNCE, a
                port of IPOPT (PyPI: pounce-solver), by way of Pyomo's NL files
    casadi      not that model but an expert's vectorised CasADi code through IPOPT with L-BFGS
                (PyPI: casadi): what a user gains by leaving Pyomo

CPU seconds, of the process and of the solver it starts, include building the model; the data are
there, and libraries imported, before the clock starts. The KKT error is computed from the point
each of them ends at, by the same few lines of NumPy.

    python -m benchmarks.peer_workers METHOD N TOLERANCE        prints one JSON line
"""

from __future__ import annotations

import json
import resource
import sys
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FEATURES, PROTECTED, RADIUS_SQUARED = 20, 2, 4.0
START = 0.1


def examples(N: int) -> tuple[Array, Array, Array]:
    """(features, labels, protected attributes) of N made-up people."""
    rng = np.random.default_rng(7)
    s = rng.choice([-1.0, 1.0], (N, PROTECTED))
    a = rng.standard_normal((N, FEATURES)) + 0.3 * s @ rng.standard_normal((PROTECTED, FEATURES))
    score = a @ rng.standard_normal(FEATURES) + rng.logistic(size=N)
    return a, np.where(score > 0, 1.0, -1.0), s


def kkt_error(x: Array, a: Array, y: Array, s: Array) -> float:
    """max(|c|_inf, |grad f + J'y_LS|_inf), from all examples."""
    weight = -y / (1.0 + np.exp(y * (a @ x))) / len(y)
    g = weight @ a
    J = np.vstack([s.T @ a / len(y), 2.0 * x])
    c = np.append(J[:-1] @ x, x @ x - RADIUS_SQUARED)
    residual = g + J.T @ np.linalg.lstsq(J.T, -g, rcond=None)[0]
    return float(max(np.abs(c).max(), np.abs(residual).max()))


def model(a: Array, y: Array, s: Array) -> Any:
    """The Pyomo model, for ours and for the extensive form."""
    import pyomo.environ as pyo

    from pyomo_stochsqp import E, RandomParam, RandomSource

    m = pyo.ConcreteModel()
    m.J, m.P = pyo.RangeSet(0, FEATURES - 1), pyo.RangeSet(0, PROTECTED - 1)
    people = RandomSource("people")
    m.x = pyo.Var(m.J, initialize=START)
    m.a = RandomParam(m.J, data=a, source=people)
    m.y = RandomParam(data=y, source=people)
    m.s = RandomParam(m.P, data=s, source=people)
    score = sum(m.a[j] * m.x[j] for j in m.J)
    m.loss = pyo.Objective(expr=E(pyo.log(1 + pyo.exp(-m.y * score))))
    m.fair = pyo.Constraint(m.P, rule=lambda m, p: E(m.s[p] * score) == 0)
    m.sphere = pyo.Constraint(expr=sum(m.x[j] ** 2 for j in m.J) == RADIUS_SQUARED)
    return m


def ours(data: tuple[Array, Array, Array], tolerance: float) -> Array:
    import pyomo.environ as pyo

    m = model(*data)
    solver = pyo.SolverFactory("stochsqp")
    accuracy = {"tol_feas": tolerance, "tol_opt": tolerance}
    solver.solve(m, **accuracy, seed=1, max_iter=10**5, max_samples=10**12)
    return np.array([m.x[j].value for j in m.J])


def extensive(data: tuple[Array, Array, Array], tolerance: float) -> Array:
    import pyomo.environ as pyo

    m = model(*data)
    pyo.SolverFactory("asl:pounce").solve(m, options={"tol": tolerance})
    return np.array([m.x[j].value for j in m.J])


def casadi(data: tuple[Array, Array, Array], tolerance: float) -> Array:
    import casadi as ca

    a, y, s = data
    x = ca.MX.sym("x", FEATURES)
    loss = ca.sum1(ca.log1p(ca.exp(-ca.DM(y[:, None] * a) @ x))) / len(y)
    rows = ca.vertcat(ca.DM(s.T @ a / len(y)) @ x, ca.dot(x, x) - RADIUS_SQUARED)
    options = {
        "ipopt": {"tol": tolerance, "hessian_approximation": "limited-memory", "print_level": 0},
        "print_time": False,
    }
    solver = ca.nlpsol("solver", "ipopt", {"x": x, "f": loss, "g": rows}, options)
    return np.array(solver(x0=START, lbg=0, ubg=0)["x"]).ravel()


#: what each runs, and the libraries it needs
METHODS = {
    "ours": (ours, ("pyomo.environ", "pyomo_stochsqp")),
    "extensive": (extensive, ("pyomo.environ", "pyomo_stochsqp")),
    "casadi": (casadi, ("casadi",)),
}


def main(method: str, N: int, tolerance: float) -> dict[str, Any]:
    """One measurement."""
    data = examples(N)
    solve, libraries = METHODS[method]
    for library in libraries:
        import_module(library)
    before = _usage()
    x = solve(data, tolerance)
    after = _usage()
    return {
        "seconds": after[0] - before[0],
        "megabytes": after[1],
        "error": kkt_error(x, *data),
    }


def _usage() -> tuple[float, float]:
    """(CPU seconds, peak megabytes) of this process and the solvers it started.

    Memory is that of the larger process: a child's count begins with its parent's pages.
    """
    both = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(u.ru_utime + u.ru_stime for u in both)
    return seconds, max(u.ru_maxrss for u in both) / 1024


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))))
