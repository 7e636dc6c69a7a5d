r"""Replacing randomness by finitely many scenarios: w ~ {(w_i, p_i)}.

    monte_carlo       n independent rows, p_i = 1/n
    latin_hypercube   one point in each of n equal cells, in every coordinate
    sobol             a low-discrepancy set, shifted at random modulo 1
    kmeans            the clusters of a large sample, or of a table's rows (reduce.py)
    quadrature        the product of Gauss rules with q nodes per coordinate, q^dimension <= n

Latin hypercubes, Sobol' sets and Gauss rules need quantiles; a finite source has one coordinate for
them, its row number.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from ...errors import DataError, OptionError
from ..distributions import tensor_rule
from ..program import Part
from ..randomness.source import RandomSource, freeze
from ..randomness.tables import Table
from .reduce import cluster_means, k_means

Array = NDArray[np.float64]

METHODS = ("monte_carlo", "latin_hypercube", "sobol", "kmeans", "quadrature")

#: rows behind each cluster of a distribution, and for all of them at least
_ROWS_PER_CLUSTER, _ROWS = 50, 20_000

#: Distance from the ends of the unit interval, where many quantiles are infinite.
_EDGE = 2.0**-53


@dataclass(frozen=True, eq=False)
class Discretised:
    """Scenario rows of one source: an array per field, and their probabilities (None: equal)."""

    fields: list[Array]
    weights: Array | None


def discretise(
    sources: Sequence[tuple[RandomSource, Sequence[Any]]],
    count: int,
    method: str,
    rng: np.random.Generator,
) -> list[Discretised]:
    """Joint scenarios of independent sources, given with the RandomParams that read them."""
    if method == "quadrature":
        return _gauss_product(sources, count)
    parts = [freeze(source, readers) for source, readers in sources]
    if method == "kmeans":
        return _clusters(parts, count, rng)
    if method == "monte_carlo":
        drawn = [_drawn(part, count, rng) for part in parts]
    else:
        drawn = _quantiles(parts, count, method, rng)
    return [Discretised(fields, None) for fields in drawn]


def _drawn(part: Part, count: int, rng: np.random.Generator) -> list[Array]:
    if part.size is None:
        assert part.draw is not None
        return list(part.draw(rng, count))
    return _rows(part, rng.choice(part.size, count, p=part.weights))


def _quantiles(
    parts: Sequence[Part], count: int, method: str, rng: np.random.Generator
) -> list[list[Array]]:
    for part in parts:
        if part.size is None and part.from_uniform is None:
            raise OptionError(
                f"method='{method}' needs quantiles, but source '{part.name}' is a sampler or a "
                "distribution without them. Use method='monte_carlo'."
            )
    dimensions = [1 if part.size is not None else part.dimension for part in parts]
    points = _latin_hypercube if method == "latin_hypercube" else _sobol
    u = np.clip(points(rng, count, sum(dimensions)), _EDGE, 1 - _EDGE)
    result = []
    for part, v in zip(parts, np.split(u, np.cumsum(dimensions)[:-1], axis=1), strict=True):
        if part.size is None:
            assert part.from_uniform is not None
            result.append(list(part.from_uniform(v)))
        else:
            row = np.searchsorted(np.cumsum(_probabilities(part)), v[:, 0], side="right")
            result.append(_rows(part, np.minimum(row, part.size - 1)))
    return result


def _clusters(parts: Sequence[Part], count: int, rng: np.random.Generator) -> list[Discretised]:
    """Joint clusters: the columns of all sources side by side."""
    finite = parts[0].size if len(parts) == 1 else None
    if finite is not None:
        drawn = [_rows(parts[0], np.arange(finite))]
        weights = _probabilities(parts[0])
    else:
        size = max(_ROWS, _ROWS_PER_CLUSTER * count)
        drawn = [_drawn(part, size, rng) for part in parts]
        weights = np.full(size, 1 / size)
    together = np.column_stack([f.reshape(weights.size, -1) for fields in drawn for f in fields])
    cluster, p = k_means(together, weights, count, rng)
    return [
        Discretised([cluster_means(f, weights, cluster) for f in fields], p) for fields in drawn
    ]


def _probabilities(part: Part) -> Array:
    assert part.size is not None
    return np.full(part.size, 1 / part.size) if part.weights is None else part.weights


def _rows(part: Part, rows: NDArray[np.intp]) -> list[Array]:
    return [Table(field.matrix).rows(rows) for field in part.fields]


def _latin_hypercube(rng: np.random.Generator, count: int, dimension: int) -> Array:
    cells = np.broadcast_to(np.arange(count)[:, None], (count, dimension))
    return (rng.permuted(cells, axis=0) + rng.random((count, dimension))) / count


def _sobol(rng: np.random.Generator, count: int, dimension: int) -> Array:
    with warnings.catch_warnings():
        # A count that is no power of two costs a little balance, nothing else.
        warnings.simplefilter("ignore", UserWarning)
        points = qmc.Sobol(dimension, scramble=False).random(count)
    return (points + rng.random(dimension)) % 1.0


def _gauss_product(
    sources: Sequence[tuple[RandomSource, Sequence[Any]]], count: int
) -> list[Discretised]:
    """Every combination of the nodes of all sources; the weights go to the first of them."""
    axes = []
    names = [source.name or readers[0].name for source, readers in sources]
    parts = [freeze(source, readers) for source, readers in sources]
    rows = prod(part.size for part in parts if part.size is not None)
    dimension = sum(part.dimension for part in parts if part.size is None)
    nodes = int((count / rows) ** (1 / max(dimension, 1)) + 1e-9)
    if nodes < 2 and dimension > 0:
        raise OptionError(
            f"method='quadrature' needs at least 2 nodes in each of the {dimension} dimensions of "
            f"'{' x '.join(names)}', {rows * 2**dimension} scenarios, more than "
            f"n_scenarios={count}. Use method='sobol', or more scenarios."
        )
    for part, (source, readers) in zip(parts, sources, strict=True):
        if part.size is not None:
            axes.append((_rows(part, np.arange(part.size)), _probabilities(part)))
        else:
            origins = [source.origin] if source.origin else [r.origin for r in readers]
            axes.append(_gauss_axis(part.name, origins, nodes))
    picks, weights = tensor_rule([(np.arange(p.size, dtype=float), p) for _, p in axes])
    chosen = picks.astype(int)
    return [
        Discretised([f[chosen[:, k]] for f in fields], weights)
        for k, (fields, _) in enumerate(axes)
    ]


def _gauss_axis(name: str, origins: Sequence[Any], nodes: int) -> tuple[list[Array], Array]:
    rules = []
    for origin in origins:
        if not hasattr(origin, "rule"):
            raise OptionError(
                f"method='quadrature' needs univariate distributions or a multivariate normal, but "
                f"source '{name}' has neither. Use method='monte_carlo'."
            )
        try:
            rules.append(origin.rule(nodes))
        except DataError as error:
            raise OptionError(f"method='quadrature' for source '{name}': {error}") from None
    picks, weights = tensor_rule([(np.arange(p.size, dtype=float), p) for _, p in rules])
    chosen = picks.astype(int)
    return [points[chosen[:, k]] for k, (points, _) in enumerate(rules)], weights
