r"""Joint random vectors: tables of scenarios, distributions and samplers.

A :class:`RandomSource` draws one row w = (w_1, ..., w_n) at a time. RandomParams that share a source
read columns of the same row; RandomParams with different sources are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .program import Field, Part


class RandomSource:
    """A joint source of randomness, shared by several RandomParams.

    Give each RandomParam its own ``data=`` (all with the same number of rows) and the same source:
    row i of all of them is then drawn together.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import RandomParam, RandomSource
    >>> rows = RandomSource(name="patients")
    >>> m = pyo.ConcreteModel()
    >>> m.features = RandomParam([0, 1], data=np.eye(2), source=rows)
    >>> m.label = RandomParam(data=np.array([1.0, -1.0]), source=rows)
    >>> rows.size
    2
    """

    def __init__(self, name: str | None = None, weights: Any = None):
        self.name = name
        self._weights = weights
        self._members: list[tuple[str, Generator]] = []

    @property
    def size(self) -> int | None:
        """Number of scenario rows; None for a distribution or a sampler."""
        return self._members[0][1].size if self._members else None

    def attach(self, name: str, generator: Generator) -> int:
        """Add one RandomParam's columns; returns its field number."""
        for other, existing in self._members:
            if existing.size != generator.size:
                raise DataError(
                    f"RandomParam '{name}' has {_rows(generator)}, but '{other}' of the same "
                    f"source has {_rows(existing)}: rows of one source are drawn together, so "
                    "give both the same number of rows or separate sources."
                )
        self._members.append((name, generator))
        return len(self._members) - 1

    def freeze(self) -> Part:
        """The record that sampling and compilation read."""
        members = self._members
        size = self.size
        name = self.name or members[0][0]
        fields = tuple(Field(n, g.width, g.matrix) for n, g in members)
        if size is not None:
            return Part(name, fields, size=size, weights=probabilities(self._weights, size, name))
        if self._weights is not None:
            raise DataError(
                f"Source '{name}': weights= belong to data= (one probability per row); a "
                "distribution or a sampler carries its own probabilities. Remove weights=."
            )
        draws = [g.draw for _, g in members]
        return Part(name, fields, draw=lambda rng, count: tuple(d(rng, count) for d in draws))


def _rows(generator: Generator) -> str:
    return "a distribution" if generator.size is None else f"{generator.size} rows"


def probabilities(weights: Any, size: int, name: str) -> NDArray[np.float64] | None:
    """Validated probabilities of ``size`` scenarios; None when all are equal."""
    if weights is None:
        return None
    p = np.asarray(weights, dtype=float)
    if p.shape != (size,):
        raise DataError(f"'{name}': {p.size} weights for {size} scenarios; give one each.")
    if not np.all(np.isfinite(p)) or np.any(p < 0):
        raise DataError(f"'{name}': weights must be finite and non-negative probabilities.")
    if abs(p.sum() - 1.0) > 1e-6:
        raise DataError(
            f"'{name}': the weights sum to {p.sum():.6g}, not 1. Divide them by their sum if they "
            "are relative frequencies."
        )
    return p / p.sum()


class Generator:
    """Where one RandomParam's columns come from: a table, or a function of (rng, size)."""

    def __init__(
        self,
        width: int,
        matrix: Any = None,
        draw: Callable[[np.random.Generator, int], NDArray[np.float64]] | None = None,
    ):
        self.width = width
        self.matrix = matrix
        self._draw = draw

    @property
    def size(self) -> int | None:
        return None if self.matrix is None else self.matrix.shape[0]

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        assert self._draw is not None
        return self._draw(rng, count)


def table(name: str, data: Any, keys: Sequence[Any]) -> Generator:
    """A finite table: one row per scenario, one column per member of the RandomParam."""
    matrix = np.asarray(data, dtype=float)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2 or matrix.shape[1] != len(keys):
        raise DataError(
            f"RandomParam '{name}': data has shape {np.shape(data)}, but one column is needed for "
            f"each of the {len(keys)} members (rows are scenarios)."
        )
    if matrix.shape[0] == 0:
        raise DataError(f"RandomParam '{name}': data has no rows, so there is nothing to draw.")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise DataError(
            f"RandomParam '{name}': data has NaN or infinity at row {row}, column {column}. "
            "Clean or impute the data first."
        )
    return Generator(len(keys), matrix=matrix)


def distribution(name: str, dist: Any, keys: Sequence[Any]) -> Generator:
    """A scipy.stats frozen distribution: univariate (independent members) or multivariate."""
    width = len(keys)

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        shape = (count, width) if hasattr(dist, "ppf") else count
        values = np.asarray(dist.rvs(size=shape, random_state=rng), dtype=float)
        return values.reshape(count, -1)

    return _checked(name, draw, width)


def sampler(name: str, function: Callable[..., Any], keys: Sequence[Any]) -> Generator:
    """A user function sampler(rng, size) -> (size, n) array."""

    def draw(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
        values = np.asarray(function(rng, count), dtype=float)
        return values.reshape(count, -1)

    return _checked(name, draw, len(keys))


def _checked(name: str, draw: Callable[..., Any], width: int) -> Generator:
    """Draw two rows once, on a private stream, so that a wrong shape is found at declaration."""
    probe = draw(np.random.default_rng(0), 2)
    if probe.shape != (2, width):
        raise DataError(
            f"RandomParam '{name}': drawing 2 scenarios gave shape {probe.shape}, expected "
            f"(2, {width}): one column per member."
        )
    return Generator(width, draw=draw)
