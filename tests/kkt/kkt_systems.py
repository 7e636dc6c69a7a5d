"""Random KKT systems with their solutions, and the list of back ends the suite runs over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from pyomo_stochsqp.kkt import KKTBackend, KKTPattern, make_backend


@dataclass(frozen=True)
class Form:
    """One way to factorise, and the registered back end it belongs to."""

    backend: str
    build: Callable[[KKTPattern], KKTBackend]


def named(name: str) -> Form:
    return Form(name, lambda pattern: make_backend(pattern, name))


def cholmod_on_kkt(pattern: KKTPattern) -> KKTBackend:
    from pyomo_stochsqp.kkt.backends.augmented import AugmentedBackend
    from pyomo_stochsqp.kkt.backends.cholmod import CholmodFactoriser

    return AugmentedBackend(pattern, "cholmod", CholmodFactoriser(pattern), "forced")


def cholmod_on_schur(pattern: KKTPattern) -> KKTBackend:
    """The Schur form wherever it exists; elsewhere cholmod has one form only."""
    if not pattern.hessian_is_diagonal or pattern.m == 0:
        return make_backend(pattern, "cholmod")
    from pyomo_stochsqp.kkt.backends.cholmod import CholmodSchur
    from pyomo_stochsqp.kkt.backends.schur import SchurBackend

    return SchurBackend(pattern, "cholmod", CholmodSchur(pattern), "forced")


#: CHOLMOD chooses between two forms by fill; here each of them has to solve every system.
SUITE = {
    "dense": named("dense"),
    "ldl": named("ldl"),
    "superlu": named("superlu"),
    "cholmod": named("cholmod"),
    "cholmod-kkt": Form("cholmod", cholmod_on_kkt),
    "cholmod-schur": Form("cholmod", cholmod_on_schur),
}


@dataclass
class System:
    """A system as a back end takes it, and as a dense matrix."""

    pattern: KKTPattern
    hessian: float | np.ndarray
    values: np.ndarray
    H: np.ndarray
    J: np.ndarray
    r_x: np.ndarray
    r_y: np.ndarray

    def solution(self, delta: float | np.ndarray = 0.0) -> tuple[np.ndarray, np.ndarray]:
        n, m = self.pattern.n, self.pattern.m
        K = np.block([[self.H, self.J.T], [self.J, -np.diag(np.broadcast_to(delta, m))]])
        u = np.linalg.solve(K, np.concatenate((self.r_x, self.r_y)))
        return u[:n], u[n:]


def jacobian(rng: np.random.Generator, m: int, n: int, density: float) -> np.ndarray:
    """Full row rank with singular values of order one: distinct columns carry a large entry."""
    J = np.where(rng.random((m, n)) < density, rng.normal(size=(m, n)), 0.0)
    J /= np.sqrt(max(1.0, density * n))
    J[np.arange(m), rng.permutation(n)[:m]] += 3.0
    return J


def pattern_of(J: np.ndarray, **hessian) -> KKTPattern:
    sparse = csr_array(J)
    m, n = J.shape
    return KKTPattern(n, m, sparse.indptr, sparse.indices, **hessian)


def with_jacobian(J: np.ndarray, r_x: np.ndarray, r_y: np.ndarray, h=1.0) -> System:
    """H = diag(h), J as given with the pattern of its nonzeros."""
    pattern = pattern_of(J)
    H = np.diag(np.broadcast_to(h, J.shape[1]).astype(float))
    return System(pattern, h, csr_array(J).data, H, J, r_x, r_y)


def random_system(
    rng: np.random.Generator, n: int, m: int, density: float = 0.3, kind: str = "diagonal"
) -> System:
    """kind: number | diagonal | sparse | dense | identity on sparse (the identity on a pattern)."""
    J = jacobian(rng, m, n, density)
    system = with_jacobian(J, rng.normal(size=n), rng.normal(size=m))
    if kind == "number":
        system.hessian = 2.5
        system.H = 2.5 * np.eye(n)
    elif kind == "diagonal":
        system.hessian = rng.uniform(0.5, 2.0, n)
        system.H = np.diag(system.hessian)
    else:
        half = np.where(rng.random((n, n)) < 0.2, rng.normal(size=(n, n)), 0.0) / np.sqrt(n)
        H = half + half.T + 4.0 * np.eye(n)
        row, column = upper_entries(H)
        if kind == "dense":
            system.pattern = pattern_of(J, hessian_dense=True)
            system.hessian = H
        else:
            starts = np.searchsorted(column, np.arange(n + 1))
            system.pattern = pattern_of(J, hessian_indptr=starts, hessian_indices=row)
            system.hessian = H[row, column]
        system.H = H
        if kind == "identity on sparse":
            system.hessian, system.H = 1.0, np.eye(n)
    return system


def upper_entries(H: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(row, column) of the nonzeros of H's upper triangle, column by column."""
    column, row = np.nonzero(np.triu(H).T)
    return row, column


KINDS = ("number", "diagonal", "sparse", "dense", "identity on sparse")


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    if not expected.size:
        return 0.0
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-300))
