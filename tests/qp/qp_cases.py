"""Elastic QPs of every kind, and proofs of optimality that share no code with the solver.

min_d  g'd + 1/2 d'Hd + rho sum_j dist(J_j d, [a_j, b_j])      s.t.  l <= d <= u
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pyomo_stochsqp.kkt import KKTPattern, make_backend
from pyomo_stochsqp.oracle import Jacobian, Problem
from pyomo_stochsqp.qp.elastic_qp import SHORTCUTS, ElasticQP

KINDS = ("feasible", "infeasible", "rank", "duplicated", "degenerate", "wild")


@dataclass
class Case:
    g: np.ndarray
    H: np.ndarray
    J: np.ndarray
    a: np.ndarray
    b: np.ndarray
    l: np.ndarray
    u: np.ndarray
    rho: float

    @property
    def n(self):
        return self.g.size

    @property
    def m(self):
        return self.a.size

    def curve(self, d):
        """H d for a diagonal or full H."""
        return self.H * d if self.H.ndim == 1 else self.H @ d

    def problem(self):
        rows, columns = np.nonzero(np.ones_like(self.J))
        return Problem(
            x0=np.zeros(self.n),
            x_lower=self.l,
            x_upper=self.u,
            row_lower=self.a,
            row_upper=self.b,
            jac_indptr=np.searchsorted(rows, np.arange(self.m + 1)),
            jac_indices=columns,
            exact_rows=np.ones(self.m, dtype=bool),
        )

    def engine(self, shortcuts=SHORTCUTS, backend="auto"):
        p = self.problem()
        pattern = KKTPattern(
            self.n, self.m, p.jac_indptr, p.jac_indices, hessian_dense=self.H.ndim == 2
        )
        return ElasticQP(p, make_backend(pattern, backend), Jacobian(p), pattern, shortcuts)

    def solve(self, engine=None, warm=None, **options):
        engine = engine or self.engine(**options)
        return engine.solve(
            self.g, self.H, np.zeros(self.m), self.J.ravel(), self.l, self.u, self.rho, warm
        )

    def objective(self, d):
        w = self.J @ d
        outside = np.maximum(np.maximum(self.a - w, w - self.b), 0.0).sum()
        return self.g @ d + 0.5 * d @ self.curve(d) + self.rho * outside


def random_case(seed, kind=None, full=False, n=None, m=None):
    """One program; the seed decides its size and everything else."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 25))
    m = int(rng.integers(1, 20)) if m is None else m
    kind = kind or KINDS[seed % len(KINDS)]
    J = rng.standard_normal((m, n))
    if rng.random() < 0.5:
        J[rng.random((m, n)) < 0.6] = 0.0
    half = m // 2
    if kind == "duplicated" and half:
        J[half : 2 * half] = J[:half] * rng.choice([1.0, -1.0, 2.0], size=(half, 1))
    if kind == "rank":
        rank = max(1, m // 3)
        J = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    l = np.where(rng.random(n) < 0.6, -rng.random(n) * 10 ** rng.uniform(-2, 1, n), -np.inf)
    u = np.where(rng.random(n) < 0.6, rng.random(n) * 10 ** rng.uniform(-2, 1, n), np.inf)
    at = rng.random(n)  # some variables sit at a bound, some are fixed
    l[at < 0.1] = 0.0
    u[(at > 0.05) & (at < 0.2)] = 0.0
    w = J @ np.clip(0.3 * rng.standard_normal(n), l, u)
    shift = {
        "feasible": rng.random(m) * (rng.random(m) < 0.5),
        "infeasible": -3 * rng.random(m),
        "degenerate": np.zeros(m),
    }.get(kind, rng.standard_normal(m) * (rng.random(m) < 0.7))
    a, b = np.full(m, -np.inf), np.full(m, np.inf)
    for j, row in enumerate(rng.choice(5, size=m, p=[0.3, 0.25, 0.25, 0.15, 0.05])):
        if row == 0:
            a[j] = b[j] = w[j] + (0.0 if kind in ("feasible", "degenerate") else shift[j])
        elif row == 1:
            b[j] = w[j] + shift[j]
        elif row == 2:
            a[j] = w[j] - shift[j]
        elif row == 3:
            a[j] = w[j] - max(shift[j], -0.5)
            b[j] = a[j] + rng.random()
    H = 10 ** rng.uniform(-2, 2, n)
    if full:
        A = rng.standard_normal((n, n))
        H = A @ A.T / n + 0.1 * np.diag(H)
    g = rng.standard_normal(n) * 10 ** rng.uniform(-2, 2)
    return Case(g, H, J, a, b, l, u, float(10 ** rng.choice([0, 1, 2, 4])))


def assert_optimal(case, solution, tolerance=1e-9):
    """The optimality conditions of qp_model.py, written out."""
    d, y, z = solution.d, solution.y, solution.z
    rho = case.rho
    assert solution.status == "solved"
    assert (d >= case.l).all() and (d <= case.u).all()
    assert (np.abs(y) <= rho).all()
    pull = case.J.T @ y
    size = np.abs(case.g).max() + np.abs(pull).max(initial=0.0)
    assert np.abs(case.g + case.curve(d) + pull + z).max() <= tolerance * size
    slack = tolerance * size
    free = (d > case.l) & (d < case.u)
    assert (np.abs(z[free]) <= slack).all()
    assert (z[(d <= case.l) & (d < case.u)] <= slack).all()
    assert (z[(d >= case.u) & (d > case.l)] >= -slack).all()
    w = case.J @ d
    diagonal = case.H if case.H.ndim == 1 else np.diag(case.H)
    step = np.clip(-case.g / diagonal, case.l, case.u)
    near = tolerance * (np.linalg.norm(case.J) * np.linalg.norm(step) + np.abs(w).max(initial=0.0))
    near += tolerance * np.abs(np.clip(0.0, case.a, case.b)).max(initial=0.0)
    limit = (1.0 - 1e-12) * rho
    positive, negative, none = (y > 0), (y < 0), (y == 0)
    assert (w[none] <= case.b[none] + near).all() and (w[none] >= case.a[none] - near).all()
    assert (w[positive] >= case.b[positive] - near).all()
    assert (w[positive & (y < limit)] <= case.b[positive & (y < limit)] + near).all()
    assert (w[negative] <= case.a[negative] + near).all()
    assert (w[negative & (y > -limit)] >= case.a[negative & (y > -limit)] - near).all()


def dual_value(case, y):
    """theta(y): by weak duality no point has a smaller objective. Diagonal H only."""
    pull = case.g + case.J.T @ y
    d = np.clip(-pull / case.H, case.l, case.u)
    cost = np.where(y > 0, case.b, np.where(y < 0, case.a, 0.0))
    return pull @ d + 0.5 * d @ (case.H * d) - np.where(y == 0, 0.0, cost) @ y
