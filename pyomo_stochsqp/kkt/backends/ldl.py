r"""LDL' of the KKT matrix by qdldl: the sparse back end that needs nothing but a pip install.

    P K_ε P' = L D L',       P from approximate minimum degree, D diagonal (K_ε is quasi-definite).

The analysis is made at the first factorisation and kept. ``Solver.update`` does not look at the
pattern it is given and does not report a zero pivot, so the pattern must never change (it is one
fixed object here) and a breakdown is found by the residual.
"""

from __future__ import annotations

import qdldl

from ..matrix import KKTMatrix
from ..pattern import KKTPattern
from ..protocol import KKTBackend, KKTFailure, Vector
from .augmented import AugmentedBackend


class QdldlFactoriser:
    """qdldl on the upper triangle of K."""

    def __init__(self, pattern: KKTPattern):
        self.kkt = KKTMatrix(pattern, "upper")
        self._solver: qdldl.Solver | None = None

    def factorise(self) -> None:
        if self._solver is not None:
            self._solver.update(self.kkt.matrix, upper=True)
            return
        try:
            self._solver = qdldl.Solver(self.kkt.matrix, upper=True)
        except RuntimeError as error:
            raise KKTFailure(f"qdldl: {error}") from error

    def solve(self, rhs: Vector) -> Vector:
        assert self._solver is not None, "factorise before solve"
        return self._solver.solve(rhs)

    def pivots(self) -> Vector:
        """The diagonal of D."""
        assert self._solver is not None, "factorise before pivots"
        return self._solver.factors()[1]

    def describe(self) -> str:
        return f"LDL' of the KKT matrix (qdldl), {self.kkt.matrix.nnz:.2g} nonzeros"


def build(pattern: KKTPattern, reason: str, regularise: bool) -> KKTBackend:
    return AugmentedBackend(pattern, "ldl", QdldlFactoriser(pattern), reason, regularise)
