r"""Dependent numbers with given marginals: Sklar's theorem, w_j = F_j^{-1}(u_j) with a copula's u.

    Gaussian   z = L v,  v ~ N(0, I),                  u = Phi(z)
    Student    z = L v sqrt(df / s),  s ~ chi2(df),    u = T_df(z)    extremes come together

L L' is the correlation matrix of z. (That of w is a little closer to zero: it depends on the
marginals, and ranks are what a copula keeps: Spearman's rank correlation is 6 asin(r/2) / pi for
Gaussian copulas, Kendall's tau 2 asin(r) / pi for both.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr, ndtri, stdtr

from ...errors import DataError
from ..user_numbers import as_floats

Rows = NDArray[np.float64]

#: distance from the ends of the unit interval, where many quantiles are infinite
EDGE = 2.0**-53
#: rounding of a correlation matrix that somebody computed
ROUNDING = 1e-8


class GaussianCopula:
    """Dependence as between normal numbers with this correlation matrix.

    >>> from pyomo_stochsqp import GaussianCopula
    >>> GaussianCopula([[1, 0.5], [0.5, 1]]).dimension
    2
    """

    def __init__(self, correlation: Any):
        self.correlation = _checked(correlation)
        self.factor = _root(self.correlation)
        self.width = self.dimension = len(self.correlation)

    def uniform(self, u: Rows) -> Rows:
        """Dependent points of the unit cube from independent ones."""
        return _inside(ndtr(ndtri(u) @ self.factor.T))


class StudentCopula:
    """Dependence as between numbers of a multivariate t distribution: extreme ones come together,
    the more, the smaller ``df``.

    >>> from pyomo_stochsqp import StudentCopula
    >>> StudentCopula([[1, 0.5], [0.5, 1]], df=4).df
    4.0
    """

    def __init__(self, correlation: Any, df: float):
        if not df > 0.0:
            raise DataError(f"StudentCopula: df={df} must be positive.")
        self.correlation = _checked(correlation)
        self.factor = _root(self.correlation)
        self.df = float(df)
        self.width = len(self.correlation)
        self.dimension = self.width + 1

    def uniform(self, u: Rows) -> Rows:
        """Dependent points of the unit cube from independent ones, of one dimension more."""
        spread = np.sqrt(self.df / chdtri(self.df, u[:, -1:]))
        return _inside(stdtr(self.df, (ndtri(u[:, :-1]) @ self.factor.T) * spread))


Copula = GaussianCopula | StudentCopula


def copula_of(title: str, given: Any, width: int) -> Copula:
    """What ``copula=`` means for so many numbers: a correlation matrix is a Gaussian copula."""
    copula = given if isinstance(given, Copula) else GaussianCopula(given)
    if copula.width != width:
        raise DataError(
            f"{title}: copula= has {copula.width} rows for {width} members; give one for each, in "
            "the order of the index."
        )
    return copula


def _checked(correlation: Any) -> Rows:
    matrix = as_floats("copula=", correlation)
    square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] > 0
    if not square or not np.allclose(matrix, matrix.T, rtol=0.0, atol=ROUNDING):
        raise DataError(
            "copula=: give a correlation matrix (square, symmetric), a GaussianCopula or a "
            "StudentCopula."
        )
    if not np.allclose(np.diag(matrix), 1.0, rtol=0.0, atol=ROUNDING):
        raise DataError(
            "copula=: a correlation matrix has ones on its diagonal. Divide a covariance matrix by "
            "the standard deviations: C / np.outer(s, s)."
        )
    return matrix


def _root(correlation: Rows) -> Rows:
    try:
        return np.asarray(np.linalg.cholesky(correlation))
    except np.linalg.LinAlgError:
        variances, vectors = np.linalg.eigh(correlation)
    if variances.min() < -ROUNDING * len(correlation):
        raise DataError(
            "copula=: the correlation matrix is not positive semidefinite (its smallest eigenvalue "
            f"is {variances.min():.3g}), so no random numbers have it. Estimate it from complete "
            "rows, or take the nearest one that is."
        )
    return np.asarray(vectors * np.sqrt(np.maximum(variances, 0.0)))


def _inside(u: Rows) -> Rows:
    return np.asarray(np.clip(u, EDGE, 1.0 - EDGE))
