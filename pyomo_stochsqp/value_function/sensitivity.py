r"""How second stages react: derivatives of their solutions with respect to x and the prices.

With t = (x, price), L = q + price'r + m'c and the matrix K of the interior point at its solution,

    K [dy/dt; dm/dt] = -[L_yt; c_t],

    V = q + price'r at y(t), with what the barrier adds:  V_t = L_t,
                                                          V_tt = L_tt + L_ty dy/dt + c_t' dm/dt
    r at y(t):                                            dr/dt = r_t + r_y dy/dt
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .interior_point import Reaction, Scales, SecondStages
from .iterate import boxes
from .newton_step import Matrix
from .stage_functions import Numbers, StageFunctions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Responses:
    """One line per scenario, in the user's units."""

    #: V and r
    cost: Array
    means: Array
    #: V_t and dr/dt: (S, t), (S, rows under E, t)
    slope: Array
    mean_slopes: Array
    #: V_tt, and d^2 r/dt^2 of those r that have no price: (S, t, t), (S, rows, t, t); or None
    curvature: Array | None

    def some(self, which: Any) -> Responses:
        """Those of some scenarios, without second derivatives."""
        first: Any = {name: getattr(self, name)[which] for name in _FIRST}
        return Responses(**first, curvature=None)

    @classmethod
    def joined(cls, found: Sequence[Responses]) -> Responses:
        """Those of several samples, one after the other, without second derivatives."""
        first: Any = {name: np.concatenate([getattr(r, name) for r in found]) for name in _FIRST}
        return cls(**first, curvature=None)


_FIRST = ("cost", "means", "slope", "mean_slopes")


class Sensitivity:
    """Derivatives of a stage; ``priced`` says which rows under E have a price."""

    def __init__(
        self, stage: StageFunctions, stages: SecondStages, scales: Scales, priced: NDArray[np.bool_]
    ):
        self._f, self._stages, self._scales = stage, stages, scales
        self._priced = np.flatnonzero(priced)

    def responses(
        self, t: Array, numbers: Numbers, found: Reaction, plain: Array | None = None
    ) -> Responses:
        """At a solution. ``plain`` are multipliers of rows without a price: with them, second
        derivatives are computed, of V and of these rows."""
        f, scale = self._f, self._scales
        nx, ny, k = f.nx, f.ny, 1 + f.priced
        of_y, of_s = boxes(numbers, scale.rows)
        x, full = t[:nx], self.all_prices(t[nx:])
        local = self._stages.local(x, full, found.at, numbers.w)
        d, unit = local.whole, scale.cost
        weights = self._stages.weights(full, found.at.multipliers)
        size = nx + self._priced.size
        means = d.values[:, 1:k]
        cost = self._stages.value(found, d.values[:, 0] + means @ full, numbers)
        slope = np.empty((numbers.count, size))
        slope[:, :nx] = np.einsum("sk,skj->sj", weights, d.slopes[:, :, :nx]) / unit
        slope[:, nx:] = means[:, self._priced]
        mean_slopes = np.zeros((numbers.count, f.priced, size))
        mean_slopes[:, :, :nx] = d.slopes[:, 1:k, :nx]
        if plain is None and not self._priced.size:
            return Responses(cost, means, slope, mean_slopes, None)
        assert d.curvature is not None
        A = np.zeros((numbers.count, ny, size))
        A[:, :, :nx] = d.curvature[:, nx:, :nx]
        A[:, :, nx:] = unit * d.slopes[:, 1 + self._priced, nx:].transpose(0, 2, 1)
        B = np.zeros((numbers.count, f.rows, size))
        B[:, :, :nx] = d.slopes[:, k:, :nx] * scale.rows[:, None]
        A = np.where(of_y.fixed[:, :, None], 0.0, A)
        matrix = Matrix.of(local, found.at, of_y, of_s)
        T = matrix.solved(-np.concatenate((A, B), axis=1))
        mean_slopes += np.einsum("skj,sjt->skt", d.slopes[:, 1:k, nx:], T[:, :ny])
        curvature = None
        if plain is not None:
            curvature = np.zeros((numbers.count, size, size))
            curvature[:, :nx, :nx] = d.curvature[:, :nx, :nx]
            cross = unit * d.slopes[:, 1 + self._priced, :nx]
            curvature[:, nx:, :nx] += cross
            curvature[:, :nx, nx:] += cross.transpose(0, 2, 1)
            curvature += np.einsum("sjt,sju->stu", A, T[:, :ny])
            curvature += np.einsum("sjt,sju->stu", B, T[:, ny:])
            curvature /= unit
            curvature[:, :nx, :nx] += self._of_plain_rows(x, numbers, found, plain)
        return Responses(cost, means, slope, mean_slopes, curvature)

    def all_prices(self, prices: Array) -> Array:
        """One for every row under E: 0 for those that have none."""
        full = np.zeros(self._f.priced)
        full[self._priced] = prices
        return full

    def _of_plain_rows(
        self, x: Array, numbers: Numbers, found: Reaction, plain: Array
    ) -> Array | float:
        """Second derivatives of rows that no second-stage variable enters."""
        if not plain.any():
            return 0.0
        weights = np.zeros((numbers.count, self._f.functions.count))
        weights[:, 1 : 1 + self._f.priced] = plain
        d = self._f.functions.derivatives(x, found.at.y, numbers.w, weights)
        assert d.curvature is not None
        return np.asarray(d.curvature[:, : self._f.nx, : self._f.nx])
