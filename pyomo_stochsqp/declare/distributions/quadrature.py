r"""Gauss rules for arbitrary distributions: E[f(w)] ~ sum_i p_i f(w_i), exact to degree 2q - 1.

The measure is first replaced by a fine one (Gauss-Legendre panels between quantiles that crowd into
the tails), and Lanczos' process turns that into the three-term recurrence of its orthogonal
polynomials. The eigenvalues of the tridiagonal (Jacobi) matrix are the nodes, and the squared first
components of its eigenvectors the probabilities (Golub and Welsch, Math. Comp. 23, 1969; Gautschi,
Orthogonal Polynomials, 2004, section 2.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

Array = NDArray[np.float64]

#: Quantiles between the panels. The tails go down to 1e-60, since high powers weigh them heavily.
_TAIL = 10.0 ** np.concatenate([np.arange(-60, -16, 4), np.arange(-16, -1)])
_PANELS = np.concatenate([_TAIL, np.linspace(0.1, 0.9, 17)])
_PANEL_NODES = 24


def gauss_rule(distribution: Any, nodes: int) -> tuple[Array, Array]:
    """(nodes, probabilities) for a univariate scipy.stats distribution with a quantile function."""
    points, masses = _atoms(distribution) if _is_discrete(distribution) else _panels(distribution)
    if nodes >= points.size:
        return points, masses
    diagonal, off_diagonal = _lanczos(points, masses, nodes)
    found, vectors = eigh_tridiagonal(diagonal, off_diagonal)
    return found, vectors[0] ** 2


def tensor_rule(rules: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The product of one-dimensional rules: points (count, dimension), probabilities (count,)."""
    points = np.stack(np.meshgrid(*(x for x, _ in rules), indexing="ij"), axis=-1)
    weights = np.ones(1)
    for _, p in rules:
        weights = np.outer(weights, p).ravel()
    return points.reshape(-1, len(rules)), weights


def _is_discrete(distribution: Any) -> bool:
    return hasattr(distribution, "pmf") and not hasattr(distribution, "pdf")


def _atoms(distribution: Any) -> tuple[Array, Array]:
    first, last = distribution.ppf(1e-16), distribution.isf(1e-16)
    points = np.arange(first, last + 1)
    masses = distribution.pmf(points)
    keep = masses > 0
    return points[keep], masses[keep] / masses[keep].sum()


def _panels(distribution: Any) -> tuple[Array, Array]:
    """A fine discretisation; each panel gets exactly the probability it has in the distribution."""
    low, high = _quantiles(distribution)
    ends = np.unique(np.concatenate([low, high[::-1]]))
    x, w = np.polynomial.legendre.leggauss(_PANEL_NODES)
    half = np.diff(ends) / 2
    points = ends[:-1, None] + half[:, None] * (x + 1)
    density = distribution.pdf(points)
    density[~np.isfinite(density)] = 0.0  # a pole at the end of the support, met by rounding
    masses = density * w * half[:, None]
    exact = np.diff(distribution.cdf(ends))
    total = masses.sum(axis=1)
    # Beyond the median, differences of the distribution function cancel: trust the density there.
    usable = (exact > 1e-8) & (total > 0)
    masses[usable] *= (exact[usable] / total[usable])[:, None]
    keep = masses > 0
    return points[keep], masses[keep] / masses[keep].sum()


def _quantiles(distribution: Any) -> tuple[Array, Array]:
    if hasattr(distribution, "ppf"):
        low, high = distribution.ppf(_PANELS), distribution.isf(_TAIL)
    else:
        low, high = distribution.icdf(_PANELS), distribution.iccdf(_TAIL)
    edges = np.array(distribution.support(), dtype=float)
    return np.concatenate([low, edges[np.isfinite(edges)]]), high


def _lanczos(points: Array, masses: Array, nodes: int) -> tuple[Array, Array]:
    """Recurrence coefficients of the discrete measure, with full reorthogonalisation."""
    basis = np.zeros((nodes, points.size))
    diagonal, off_diagonal = np.zeros(nodes), np.zeros(nodes)
    vector = np.sqrt(masses)
    for k in range(nodes):
        basis[k] = vector / np.linalg.norm(vector)
        vector = points * basis[k]
        diagonal[k] = basis[k] @ vector
        for _ in range(2):  # once is not enough in floating point (Kahan and Parlett)
            vector = vector - basis[: k + 1].T @ (basis[: k + 1] @ vector)
        off_diagonal[k] = np.linalg.norm(vector)
    return diagonal, off_diagonal[:-1]
