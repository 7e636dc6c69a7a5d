r"""Solving with a sparse factorisation of the whole KKT matrix.

    K_ε = [ H   J'            ]
          [ J  -diag(δ + ε)   ]

The factorisation itself belongs to a library; this file owns what is common to all of them: the
matrix, the corrections, the verdict. Sparse codes choose their order of elimination by fill alone,
and a row that comes before its variables has the pivot -(δ + ε). So there is an ε from the start,
1e-12 of the row's scale, not far above rounding: with it K_ε is quasi-definite, every order works,
and refinement with K itself removes it for condition numbers of J up to about 1e6. Where rows are
dependent ε becomes 1e-8 (see protocol.py).
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
from scipy.linalg.blas import dnrm2, idamax
from scipy.sparse import csr_array

from ..hessian_values import HessianValues, check_finite
from ..matrix import KKTMatrix
from ..pattern import KKTPattern
from ..protocol import (
    REGULARISATION,
    Hessian,
    KKTFailure,
    Solution,
    TwoLevels,
    Vector,
    check_right_hand_side,
)
from ..refine import ROUNDING, TINY, judge, refine

#: ε of every row, relative to its scale: no pivot may vanish
PIVOT_FLOOR = 1e-12
#: |r_x - H d - J'y| above this share of its terms means that the library's factors are not of K
BROKEN = 1e-4


class Factoriser(Protocol):
    """A library's symmetric factorisation: analysed at the first call, refactored afterwards."""

    #: K with the part and order the library wants
    kkt: KKTMatrix

    def factorise(self) -> None:
        """Factorise ``kkt.matrix``. Raises ``KKTFailure``."""

    def solve(self, rhs: Vector) -> Vector: ...

    def describe(self) -> str: ...


class AugmentedBackend(TwoLevels):
    """A back end that factorises K."""

    def __init__(
        self,
        pattern: KKTPattern,
        name: str,
        factoriser: Factoriser,
        reason: str,
        regularise: bool = True,
    ):
        super().__init__(regularise)
        self.name = name
        self.factoriser = factoriser
        self._reason = reason
        self.hessian = HessianValues(pattern)
        structure = (pattern.indices, pattern.indptr)
        shape = (pattern.m, pattern.n)
        self.jacobian = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self.transposed = self.jacobian.T
        self._squares = csr_array((np.zeros(pattern.nnz), *structure), shape=shape)
        self.delta: float | Vector = 0.0
        self.has_delta = False
        #: |w_j|² and |w_j|; 1 for a row without free variables, which has no scale of its own
        self._scale = np.ones(pattern.m)
        self.row_norms = np.ones(pattern.m)
        #: sqrt(H_ii) and its inverse, both 0 for held variables
        self.root = np.ones(pattern.n)
        self.inverse_root = np.ones(pattern.n)

    def factorise(
        self, hessian: Hessian, jacobian_values: Vector, delta: float | Vector = 0.0
    ) -> None:
        self.hessian.set(hessian)
        values = self.jacobian.data
        values[:] = jacobian_values
        np.square(values, out=self._squares.data)
        inverse = self.hessian.inverse_diagonal()
        self.inverse_root = np.sqrt(inverse)
        self.root = self.hessian.diagonal * self.inverse_root
        self._scale = self._squares @ inverse
        self._scale[self._scale == 0.0] = 1.0
        self.row_norms = np.sqrt(self._scale)
        self.delta = delta.copy() if isinstance(delta, np.ndarray) else float(delta)
        self.has_delta = bool(np.any(self.delta))
        self._regularised = False
        try:
            self._factorise_with(PIVOT_FLOOR)
        except KKTFailure:
            if not np.isfinite(self.factoriser.kkt.matrix.data).all():
                raise
            self._regularise()

    def _factorise_regularised(self) -> None:
        self._factorise_with(REGULARISATION)

    def _factorise_with(self, epsilon: float) -> None:
        values, kkt = self.jacobian.data, self.factoriser.kkt
        kkt.update(self.hessian.values, values, self.delta + epsilon * self._scale)
        if not np.isfinite(kkt.matrix.data).all() or np.any(self.delta < 0.0):
            check_finite(values, self.delta)
            raise KKTFailure("the Hessian holds non-finite values off its diagonal")
        self.factoriser.factorise()

    def _solve(self, r_x: Vector, r_y: Vector) -> Solution:
        rhs = largest(r_y)
        if not math.isfinite(largest(r_x) + rhs):
            check_right_hand_side(r_x, r_y)
        found = AugmentedSolution(self, r_x, r_y)
        refine(found)
        broken = not found.error_x <= BROKEN / ROUNDING
        if broken and (self._regularised or not self._may_regularise):
            raise KKTFailure(
                f"{self.factoriser.describe()} broke down: is the Hessian positive definite?"
            )
        residual, rank_deficient = judge(found.left, rhs, found.magnitude)
        return Solution(found.d, found.y, residual, rank_deficient or broken)

    def describe(self) -> str:
        return f"{self.name}: {self.factoriser.describe()}; {self._reason}"


class AugmentedSolution:
    """(d, y) on the way to the solution."""

    def __init__(self, system: AugmentedBackend, r_x: Vector, r_y: Vector):
        self._system = system
        self._r_x, self._r_y = r_x, r_y
        self._n = r_x.size
        self._start = dnrm2(r_x * system.inverse_root)
        self._target = ROUNDING * largest(r_y / system.row_norms) + TINY
        self._residual = np.concatenate((r_x, r_y))
        u = system.factoriser.solve(self._residual)
        self.d, self.y = u[: self._n], u[self._n :]
        #: error of the first block row, as a multiple of what is allowed
        self.error_x = math.inf
        #: |J d - δ y - r_y|
        self.left = math.inf

    def error(self) -> tuple[float, float]:
        system, d, y = self._system, self.d, self.y
        residual_x = self._r_x - system.hessian.times(d)
        residual_x -= system.transposed @ y
        residual_y = self._r_y - system.jacobian @ d
        if system.has_delta:
            residual_y += system.delta * y
        self._residual = np.concatenate((residual_x, residual_y))
        self.left = largest(residual_y)
        norms, length = system.row_norms, dnrm2(d * system.root)
        residual_x *= system.inverse_root
        size = self._start + length + (dnrm2(norms * y) if y.size else 0.0)
        self.error_x = largest(residual_x) / (ROUNDING * size + TINY)
        miss = largest(residual_y / norms)
        if system.has_delta:
            allowed = norms * length
            allowed += np.abs(system.delta * y)
            allowed += np.abs(self._r_y)
            allowed += TINY
            error = largest(residual_y / allowed) / ROUNDING
        else:
            error = miss / (ROUNDING * length + TINY)
        return max(self.error_x, miss / self._target), max(self.error_x, error)

    def correct(self) -> None:
        u = self._system.factoriser.solve(self._residual)
        self.d = self.d + u[: self._n]
        self.y = self.y + u[self._n :]

    def magnitude(self) -> float:
        """The largest sum of absolute terms behind an entry of J d - δ y."""
        system = self._system
        terms = np.abs(self.d) + np.abs(np.square(system.inverse_root) * self._r_x)
        return largest(abs(system.jacobian) @ terms + np.abs(system.delta * self.y))


def largest(vector: Vector) -> float:
    return abs(float(vector[idamax(vector)])) if vector.size else 0.0
