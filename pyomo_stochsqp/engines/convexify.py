r"""A positive definite H for a subproblem, as near as possible to the Lagrangian's Hessian M.

    M                 if it is positive definite
    M + shift I       if it is but for rounding: flat directions are left to the trust region
    M + rho Y Y'      if M is positive definite where active rows and bounds leave freedom; Y spans
                      the row space of the active normals. Where the subproblem keeps them active,
                      Y'd is given, the added term is constant, and Newton's step survives
    |M|               otherwise: eigenvalues by their absolute values, with a floor

M comes in natural units (variables by their lengths, the objective by its size), so that 1 is the
size of an ordinary entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]

#: smallest eigenvalue of a definite matrix, relative to the largest (taken as at least itself)
DEFINITE = 1e-13
#: the same once a multiple of YY' was added
STILL_DEFINITE = 1e-12
#: size of a matrix, in natural units, that is taken for zero
SMALLEST = 1e-8
PENALTIES = (1.0, 10.0, 100.0, 1e3)
#: normals with smaller singular values, relative to the largest, depend on the others
DEPENDENT = 1e-9
#: floors of eigenvalues that are not negative but for rounding, and of |eigenvalues|, relative to
#: the largest (taken as at least SMALL)
FLAT, FLOOR = 1e-10, 1e-6
SMALL = 1e-2


def convexified(M: Matrix, normals: Matrix) -> Matrix:
    """A positive definite matrix; ``normals`` are those of active rows and bounds."""
    values = np.linalg.eigvalsh(M)
    if positive_definite(values):
        return M
    largest = max(float(np.abs(values).max(initial=0.0)), SMALL)
    if values[0] > -FLAT * largest:
        return M + (FLAT * largest - values[0]) * np.eye(M.shape[0])
    size = max(float(np.abs(M).max(initial=0.0)), 1e-4)
    if normals.shape[0]:
        _, singular, Vt = np.linalg.svd(normals)
        rank = int((singular > DEPENDENT * singular[0]).sum())
        Y, Z = Vt[:rank].T, Vt[rank:].T
        if not Z.shape[1] or positive_definite(np.linalg.eigvalsh(Z.T @ M @ Z)):
            for penalty in PENALTIES:
                H = M + penalty * size * (Y @ Y.T)
                if np.linalg.eigvalsh(H)[0] > STILL_DEFINITE * size:
                    return H
    eigenvalues, vectors = np.linalg.eigh(M)
    return (vectors * np.maximum(np.abs(eigenvalues), FLOOR * largest)) @ vectors.T


def positive_definite(eigenvalues: Matrix) -> bool:
    """Whether ascending eigenvalues are those of a clearly positive definite matrix."""
    return bool(eigenvalues[0] > DEFINITE * max(float(np.abs(eigenvalues[-1])), SMALLEST))
