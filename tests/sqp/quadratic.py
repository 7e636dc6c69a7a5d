r"""A problem whose constants are known, for tests of the paper's lemmas and theorems.

    f(x) = 1/2 x'Ax + b'x,       c_i(x) = 1/2 x'Q_i x + q_i'x - r_i,      i = 1, 2,

so that L = |A|, gamma_i = |Q_i| and true values are exact. Noise is the paper's: Gaussian, with
E|g - grad f|^2 = rho_g, E|c - c(x)|^2 = rho_c, E|J - grad c^T|_F^2 = rho_J. H = I throughout.
"""

from functools import lru_cache

import numpy as np

from pyomo_stochsqp.kkt import KKTPattern, make_backend
from pyomo_stochsqp.oracle import ITERATION_STREAM, Estimate, Problem, Sample
from pyomo_stochsqp.oracles import GaussianNoiseOracle
from pyomo_stochsqp.sqp import EqualitySubproblem, merit

N, M = 4, 2
A = np.diag([1.0, 2.0, 3.0, 0.5])
B = np.array([1.0, -1.0, 0.5, 2.0])
Q = np.array([np.diag([0.5, -0.3, 0.2, 0.1]), np.diag([0.1, 0.4, -0.5, 0.2])])
LINEAR = np.array([[1.0, 0.5, -0.5, 0.2], [-0.3, 1.0, 0.4, 0.6]])
RIGHT = np.array([1.0, -0.5])
L = float(np.linalg.norm(A, 2))
GAMMA = float(sum(np.linalg.norm(q, 2) for q in Q))
START = np.array([2.0, -1.0, 1.5, 0.5])


class Quadratic:
    """The problem as an exact oracle."""

    def __init__(self):
        self.problem = Problem.equalities(START, M)
        self.sources = ()

    def draw(self, stream, k, batch):
        return Sample((), scenarios=0, exact=True)

    def estimate(self, x, sample, objective=False):
        f, g, c, J = values(x)
        return Estimate(g, c, J.ravel(), f if objective else None)


def values(x):
    f = 0.5 * x @ A @ x + B @ x
    c = 0.5 * np.einsum("i,kij,j->k", x, Q, x) + LINEAR @ x - RIGHT
    J = np.einsum("kij,j->ki", Q, x) + LINEAR
    return float(f), A @ x + B, c, J


def subproblem():
    problem = Quadratic().problem
    backend = make_backend(KKTPattern.full(N, M), "dense", regularise=False)
    return EqualitySubproblem(problem, backend)


def true_direction(x):
    """(d, y, q_min): the step without noise, and the smallest singular value of its matrix."""
    _, g, c, J = values(x)
    K = np.block([[np.eye(N), J.T], [J, np.zeros((M, M))]])
    u = np.linalg.solve(K, -np.concatenate((g, c)))
    return u[:N], u[N:], float(np.linalg.svd(K, compute_uv=False)[-1])


@lru_cache
def draws(variances, count, at=tuple(START), beta=1.0, batch=1, seed=3):
    """Directions at a point from independent estimates, with the estimates."""
    x = np.array(at)
    oracle = GaussianNoiseOracle(Quadratic(), variances, lambda k: beta, seed)
    solve = subproblem()
    made = []
    for k in range(1, count + 1):
        e = oracle.estimate(x, oracle.draw(ITERATION_STREAM, k, (batch,)))
        made.append((e, solve.direction(x, e, 1.0, 0.1)))
    return made


def reduction(tau, slope, c):
    return merit.model_reduction(tau, slope, float(np.abs(c).sum()))
