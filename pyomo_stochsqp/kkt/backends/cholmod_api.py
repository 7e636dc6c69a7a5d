r"""scikit-sparse's CHOLMOD interface, which exists in two incompatible versions, behind one class.

    "symmetric":  P A P'  = L D L',    A given by its lower triangle, always simplicial
    "product":    P AA' P' = L L',     simplicial or supernodal, as CHOLMOD decides

                  0.4.x                               0.5.x
    analyse       analyze, analyze_AAt                CholeskyFactor(A, sym_kind=...)
    refactor      cholesky_inplace, .._AAt_inplace    .factorize(A, ldl=...)
    solve         factor(b)                           .solve(b)
    fill          LD().nnz, after factorising         .nnz, from the analysis

0.5.x turns a supernodal factor into a simplicial one after each factorisation, so that refactoring
would be slow: there the analysis is repeated. It also warns whenever the pivots spread over sixteen
decades, which held variables make them do on purpose.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array
from sksparse import cholmod

from ..protocol import KKTFailure, Vector

Kind = Literal["symmetric", "product"]


class OldFactor:
    """scikit-sparse 0.4.x."""

    def __init__(self, matrix: csc_array, kind: Kind):
        self._kind = kind
        if kind == "symmetric":
            self._factor = cholmod.analyze(matrix, mode="simplicial")
        else:
            self._factor = cholmod.analyze_AAt(matrix, mode="auto")

    def factorise(self, matrix: csc_array) -> None:
        try:
            if self._kind == "symmetric":
                self._factor.cholesky_inplace(matrix)
            else:
                self._factor.cholesky_AAt_inplace(matrix)
        except cholmod.CholmodError as error:
            raise KKTFailure(f"CHOLMOD: {error}") from error

    def solve(self, rhs: Vector) -> Vector:
        return self._factor(rhs)

    def fill(self, matrix: csc_array) -> int:
        """Nonzeros of L; this version reports them only for a factorised matrix."""
        self.factorise(matrix)
        return int(self._factor.LD().nnz)


class NewFactor:
    """scikit-sparse 0.5.x."""

    def __init__(self, matrix: csc_array, kind: Kind):
        self._arguments: dict[str, Any]
        if kind == "symmetric":
            self._arguments = {"sym_kind": "sym", "supernodal_mode": "simplicial", "lower": True}
        else:
            self._arguments = {"sym_kind": "row", "supernodal_mode": "auto"}
        self._ldl = kind == "symmetric"
        self._factor = cholmod.CholeskyFactor(matrix, **self._arguments)
        self._analyse_again = bool(self._factor.is_super)
        self._fresh = True

    def factorise(self, matrix: csc_array) -> None:
        try:
            if self._analyse_again and not self._fresh:
                self._factor = cholmod.CholeskyFactor(matrix, **self._arguments)
            self._fresh = False
            self._factor.factorize(matrix, ldl=self._ldl)
        except cholmod.CholmodError as error:
            raise KKTFailure(f"CHOLMOD: {error}") from error

    def solve(self, rhs: Vector) -> Vector:
        if self._factor.rcond > rhs.size * np.finfo(float).eps:
            return self._factor.solve(rhs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cholmod.CholmodWarning)
            try:
                return self._factor.solve(rhs)
            except cholmod.CholmodError as error:
                raise KKTFailure(f"CHOLMOD: {error}") from error

    def fill(self, matrix: csc_array) -> int:
        return int(np.sum(self._factor.colcount))


Factor: type[OldFactor] | type[NewFactor] = (
    NewFactor if hasattr(cholmod, "CholeskyFactor") else OldFactor
)
