r"""How far is x from a solution? One Newton step on the KKT conditions, for every replicate.

Let A be the active rows with multipliers y, and let the other variables be free of their bounds.
With M the Lagrangian's Hessian, a solution near x lies at x + d,

    M d + J_A' dy = -(g + J'y),        J_A d = -(c_A - target_A),

and the objective there is lower by

    gap = -(y + dy)'(c_A - target_A) + 1/2 d'M d.

Both are linear or quadratic in the values at x, so every replicate has its own d_i, and their
spread is the error that sampling leaves in d: x_j is within |mean d_j| + t se_j of a solution of
the true problem, and the quadratic part of the gap is at most

    1/2 (|mean d|_M + q)^2,      q^2 = tr C + (t^2 - 1) |C|_F,

C the covariance that sampling leaves in the mean, in the metric of M (one axis: t^2 C; many of
them: a normal number). The triangle inequality holds however x was found, on these scenarios or on
others. Everything follows a change of units of the variables, rows and objective.

The system is solved in the null space of J_A (singular values below 1e-9 are dependent rows), where
the eigenvalues of M say what kind of point this is:

    positive   d_Z = -(gradient) / eigenvalue
    zero       flat: what could be gained is the slope, times the distance that variables are known
               to go in that direction
    negative   a saddle point or a maximum; its direction is kept, to leave the point along it
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from ..oracle import Vector
from .replicates import quantile, standard_error

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: singular values of scaled active rows below this are dependent
DEPENDENT = 1e-9
#: eigenvalues relative to the largest (taken as at least LEAST_CURVATURE in natural units)
FLAT, NEGATIVE, LEAST_CURVATURE = 1e-12, -1e-5, 1e-2
#: components of a direction below this share of the largest may be rounding
TAKES_PART = 1e-3


@dataclass(frozen=True)
class Linearised:
    """The values of all replicates at x, ready for a Newton step."""

    #: g_i + J_i'y and c_i, one line per replicate
    gradients: Matrix
    rows: Matrix
    #: means over the replicates, the multipliers and the targets of the rows
    g: Vector
    J: Matrix
    M: Matrix
    y: Vector
    target: Vector
    #: natural lengths of the variables, distances that they are known to go, size of the objective
    length: Vector
    known: Vector
    objective: float
    confidence: float


@dataclass(frozen=True)
class Displacement:
    """Where a solution is, seen from x."""

    #: d of every replicate, one line each; its mean, standard error and the bound |mean| + t se
    steps: Matrix
    move: Vector
    error: Vector
    bound: Vector
    gap: float
    #: what of the gap is sampling noise
    gap_noise: float
    #: the part of both that comes from where x is along the rows, not from their violation
    along: float
    along_noise: float
    #: directions without curvature
    flat: int
    #: a direction of negative curvature, of natural length; None if there is none
    descent: Vector | None

    def widened(self, other: Displacement) -> Displacement:
        """The larger bounds of two."""
        return replace(
            self,
            bound=np.maximum(self.bound, other.bound),
            gap=max(self.gap, other.gap),
            gap_noise=max(self.gap_noise, other.gap_noise),
            along=max(self.along, other.along),
            along_noise=max(self.along_noise, other.along_noise),
        )


def displacement(at: Linearised, active: Mask, shift: Vector, held: Mask) -> Displacement:
    """With these rows active, and ``held`` variables moved by ``shift`` to their bounds."""
    s, F = at.length, at.objective
    count, n = at.gradients.shape
    free, a = np.flatnonzero(~held), np.flatnonzero(active)
    scale, shift = s[free], np.where(held, shift, 0.0)
    A = at.J[np.ix_(a, free)] * scale
    largest = np.abs(A).max(axis=1, initial=0.0)
    # a row without free variables is as it is: no step can meet it
    unit = np.where(largest > 0.0, 1.0 / np.where(largest > 0.0, largest, 1.0), 0.0)
    A = A * unit[:, None]
    violation = at.rows[:, a] - at.target[a]
    off = violation + at.J[a] @ shift
    G = (at.gradients[:, free] + (at.M @ shift)[free]) * scale / F
    H = at.M[np.ix_(free, free)] * np.outer(scale, scale) / F

    normal, Z, dependent = _split(A, off * unit)
    eigenvalues, V = np.linalg.eigh(Z.T @ H @ Z) if Z.shape[1] else (np.zeros(0), np.zeros((0, 0)))
    B = Z @ V
    slopes = (G + normal @ H) @ B
    slope, slope_error = slopes.mean(axis=0), standard_error(slopes)
    top = max(float(np.abs(eigenvalues).max(initial=0.0)), LEAST_CURVATURE)
    positive = eigenvalues > FLAT * top
    safe = np.where(positive, eigenvalues, 1.0)
    p = normal + np.where(positive, -slopes / safe, 0.0) @ B.T

    one = quantile(at.confidence, count)
    t = quantile(at.confidence, count, free.size)
    every = np.tile(shift, (count, 1))
    every[:, free] = p * scale
    move, error = every.mean(axis=0), standard_error(every)
    linear = -violation @ at.y[a]
    linear_noise = one * float(standard_error(linear[:, None])[0])
    curved, noise = curved_gap(p, p @ H, one)
    gains = (np.abs(slope) + one * slope_error) * _reach(B, at.known[free] / scale)
    flat = float(gains[~positive].sum())
    at_bounds = abs(float((at.g + at.J.T @ at.y) @ shift))
    negative = eigenvalues < NEGATIVE * top
    descent = None
    # Multipliers of dependent rows are not unique, and neither is the curvature they give.
    if negative.any() and not dependent:
        descent = np.zeros(n)
        descent[free] = B[:, 0] * scale
    return Displacement(
        steps=every,
        move=move,
        error=error,
        bound=np.abs(move) + t * error,
        gap=F * (curved + flat) + at_bounds + abs(float(linear.mean())) + linear_noise,
        gap_noise=F * noise + linear_noise,
        along=F * (curved + flat) + at_bounds,
        along_noise=F * noise,
        flat=int((~positive).sum()),
        descent=descent,
    )


def _reach(directions: Matrix, known: Vector) -> Vector:
    """How far one may go along every direction (a column) until all variables that take part in it
    have gone as far as they are known to go; at least a natural length."""
    share = np.abs(directions)
    takes_part = share > TAKES_PART * share.max(axis=0, initial=0.0)
    distance = np.where(takes_part, known[:, None] / np.where(takes_part, share, 1.0), 0.0)
    return distance.max(axis=0, initial=1.0)


def curved_gap(steps: Matrix, products: Matrix, t: float) -> tuple[float, float]:
    """(bound of the quadratic part of the gap, what of it is noise); ``products`` are M d_i."""
    count = len(steps)
    centre, times = steps.mean(axis=0), products.mean(axis=0)
    mean = sqrt(abs(float(centre @ times)))
    if count < 2:
        return 0.5 * mean**2, 0.0
    # C has the eigenvalues of this small matrix, whose norm exceeds that of C by what count - 1
    # degrees of freedom leave
    C = (steps - centre) @ (products - times).T / (count * (count - 1))
    total = float(np.abs(C.diagonal()).sum())
    square = float((C * C).sum()) - total**2 / (count - 1)
    norm = sqrt(max(square, total**2 / max(steps.shape[1], 1)))
    noise = total + (t * t - 1.0) * norm
    return 0.5 * (mean + sqrt(noise)) ** 2, 0.5 * noise


def _split(A: Matrix, off: Matrix) -> tuple[Matrix, Matrix, bool]:
    """(steps onto the rows, one per replicate; a basis of the directions that leave them alone;
    whether the rows are dependent)."""
    count, width = off.shape[0], A.shape[1]
    if not A.shape[0] or not width:
        return np.zeros((count, width)), np.eye(width), False
    U, singular, Vt = np.linalg.svd(A)
    rank = int((singular > DEPENDENT).sum())
    onto = -(off @ U[:, :rank]) / singular[:rank] @ Vt[:rank]
    return onto, Vt[rank:].T, rank < A.shape[0]
