"""Optimal control of a heated plate under a random load: a large sparse model.

    minimise   1/2 sum_i (y_i - target_i)^2 + alpha/2 sum_i u_i^2
    subject to E[(A y)_i - u_i - f_i(w)] = 0   at every node i of an N x N grid on the unit square

A is the five-point Laplacian (y = 0 on the boundary), u the heat put in, y the temperature, and
f_i(w) = sum_j w_j sin(j pi s_i) sin(j pi t_i) a load with random amplitudes w_j ~ N(1/j, 0.25^2).
With N = 71 there are 10,082 variables and 5,041 expectation constraints.

Everything is linear or quadratic and w enters linearly, so the answer solves one sparse KKT system
with the mean load. The Hessian is known here, diag(1, alpha), and is given to the solver: a step
then has only the sampling error of the load. Scenarios cost little (four numbers each) beside the
sparse factorisation of an iteration, so batches are large and iterations few.
"""

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from scipy import stats
from scipy.sparse.linalg import spsolve

from pyomo_stochsqp import E, RandomParam

N, ALPHA, MODES = 71, 1e-2, 4
H = 1.0 / (N + 1)
MEAN, DEVIATION = 1.0 / np.arange(1, MODES + 1), 0.25

#: certified: within 3 tol_opt
TOLERANCE = 3e-3


def grid():
    """Coordinates s, t, the modes (node x mode) and the target of every node."""
    line = np.arange(1, N + 1) * H
    s, t = (v.ravel() for v in np.meshgrid(line, line, indexing="ij"))
    j = np.arange(1, MODES + 1)
    modes = np.sin(np.pi * np.outer(s, j)) * np.sin(np.pi * np.outer(t, j))
    return modes, s * (1 - s) * t * (1 - t)


def laplacian():
    one = sp.diags_array([-np.ones(N - 1), 2 * np.ones(N), -np.ones(N - 1)], offsets=[-1, 0, 1])
    return (sp.kron(one, sp.eye_array(N)) + sp.kron(sp.eye_array(N), one)).tocsr() / H**2


def build():
    modes, target = grid()
    A = laplacian()
    m = pyo.ConcreteModel("plate")
    m.I = pyo.RangeSet(0, N * N - 1)
    m.y = pyo.Var(m.I, initialize=0.0)
    m.u = pyo.Var(m.I, initialize=0.0)
    m.w = RandomParam(range(MODES), distribution=[stats.norm(mean, DEVIATION) for mean in MEAN])
    m.cost = pyo.Objective(
        expr=0.5 * sum((m.y[i] - target[i]) ** 2 + ALPHA * m.u[i] ** 2 for i in m.I)
    )

    @m.Constraint(m.I)
    def heat(m, i):
        entries = range(A.indptr[i], A.indptr[i + 1])
        flow = sum(float(A.data[k]) * m.y[int(A.indices[k])] for k in entries)
        load = sum(modes[i, j] * m.w[j] for j in range(MODES))
        return E(flow - m.u[i] - load) == 0.0

    return m


def direct():
    """y and u from one KKT solve with the mean load."""
    modes, target = grid()
    A, eye = laplacian(), sp.eye_array(N * N)
    kkt = sp.block_array([[eye, None, A], [None, ALPHA * eye, -eye], [A, -eye, None]], format="csc")
    rhs = np.concatenate([target, np.zeros(N * N), modes @ MEAN])
    solution = spsolve(kkt, rhs)
    return solution[: N * N], solution[N * N : 2 * N * N]


def answers(m, results):
    """What was found, beside the exact numbers."""
    y, u = direct()
    found_y = np.array([m.y[i].value for i in m.I])
    found_u = np.array([m.u[i].value for i in m.I])
    centre = N * N // 2
    pairs = {
        "y at the centre": (found_y[centre], y[centre]),
        "u at the centre": (found_u[centre], u[centre]),
        "largest error of y / max y": (abs(found_y - y).max() / abs(y).max(), 0.0),
        "largest error of u / max u": (abs(found_u - u).max() / abs(u).max(), 0.0),
    }
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:28} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
