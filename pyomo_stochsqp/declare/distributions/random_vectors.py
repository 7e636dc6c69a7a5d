r"""Random vectors given by a distribution or by a function that draws them.

Three ways to use one, of which a user's sampler offers only the first:

    draw(rng, n)      n independent rows
    from_uniform(u)   the rows that belong to points u of the unit cube (quasi-Monte Carlo):
                      w_j = F_j^{-1}(u_j) for independent numbers, mean + L Phi^{-1}(u) for a
                      multivariate normal with covariance L L^T
    rule(q)           a Gauss rule with q nodes in each of the ``dimension`` coordinates

The classes hold the user's object and nothing else, so that they can be pickled whenever it can.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import norm, rv_continuous, rv_discrete, rv_histogram
from scipy.stats._multivariate import multi_rv_generic

from ...errors import DataError
from ...given import asked
from ..user_numbers import as_floats
from .copulas import EDGE, Copula, copula_of
from .quadrature import gauss_rule, tensor_rule

logger = logging.getLogger("pyomo_stochsqp")

Rows = NDArray[np.float64]


class Independent:
    """Independent numbers, one univariate distribution each."""

    def __init__(self, marginals: Sequence[Any]):
        self.marginals = list(marginals)
        self.width = self.dimension = len(self.marginals)

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        return np.column_stack([_draw(d, (count,), rng) for d in self.marginals])

    def from_uniform(self, u: Rows) -> Rows:
        return np.column_stack([_quantile(d, u[:, j]) for j, d in enumerate(self.marginals)])

    def rule(self, nodes: int) -> tuple[Rows, Rows]:
        return tensor_rule([gauss_rule(d, nodes) for d in self.marginals])

    def mean(self) -> Rows:
        return np.array([float(d.mean()) for d in self.marginals])


class Coupled(Independent):
    """Numbers with given marginals and a copula between them."""

    def __init__(self, marginals: Sequence[Any], copula: Copula):
        super().__init__(marginals)
        self.copula = copula
        self.dimension = copula.dimension

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        # random() may be 0, whose quantile may be infinite
        return self.from_uniform(np.maximum(rng.random((count, self.dimension)), EDGE))

    def from_uniform(self, u: Rows) -> Rows:
        return super().from_uniform(self.copula.uniform(u))

    def rule(self, nodes: int) -> tuple[Rows, Rows]:
        raise DataError(
            "numbers with a copula have no Gauss rule; say method='latin_hypercube' or 'sobol'."
        )


class Identical:
    """Independent numbers drawn from one distribution object, which may have array parameters."""

    def __init__(self, distribution: Any, width: int):
        self.distribution = distribution
        self.width = self.dimension = width

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        return _draw(self.distribution, (count, self.width), rng)

    def from_uniform(self, u: Rows) -> Rows:
        return np.asarray(_quantile(self.distribution, u), dtype=float)

    def rule(self, nodes: int) -> tuple[Rows, Rows]:
        if np.ndim(self.distribution.mean()) > 0:
            raise DataError(
                "a Gauss rule needs scalar parameters: give one distribution per member, "
                "distribution=[...], instead of one distribution with arrays of parameters."
            )
        return tensor_rule([gauss_rule(self.distribution, nodes)] * self.dimension)

    def mean(self) -> Rows:
        return np.broadcast_to(np.asarray(self.distribution.mean(), float), (self.width,)).copy()


class Gaussian:
    """A multivariate normal vector."""

    def __init__(self, distribution: Any):
        self.distribution = distribution
        self.width = self.dimension = int(np.size(distribution.mean))

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        rows = self.distribution.rvs(size=count, random_state=rng)
        return np.asarray(rows, dtype=float).reshape(count, self.width)

    def from_uniform(self, u: Rows) -> Rows:
        return self._coloured(ndtri(u))

    def rule(self, nodes: int) -> tuple[Rows, Rows]:
        points, weights = tensor_rule([gauss_rule(norm(), nodes)] * self.dimension)
        return self._coloured(points), weights

    def mean(self) -> Rows:
        return np.array(self.distribution.mean, dtype=float).ravel()

    def _coloured(self, white: Rows) -> Rows:
        covariance = np.atleast_2d(self.distribution.cov)
        try:
            factor = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:  # singular: any square root will do
            variances, vectors = np.linalg.eigh(covariance)
            factor = vectors * np.sqrt(np.maximum(variances, 0.0))
        return self.mean() + white @ factor.T


class Joint:
    """Any other multivariate scipy.stats distribution: it can only be drawn."""

    dimension = 0

    def __init__(self, distribution: Any):
        self.distribution = distribution
        self.width = self.draw(np.random.default_rng(0), 2).shape[1]

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        if hasattr(self.distribution, "resample"):  # a kernel density estimate
            rows = self.distribution.resample(count, seed=rng).T
        else:
            rows = self.distribution.rvs(size=count, random_state=rng)
        return np.asarray(rows, dtype=float).reshape(count, -1)

    def mean(self) -> Rows:
        mean = getattr(self.distribution, "mean", None)
        if mean is None:
            raise DataError(
                f"a {type(self.distribution).__name__} does not tell its mean; give the numbers, "
                "fix_to([...])."
            )
        return np.asarray(mean() if callable(mean) else mean, dtype=float).ravel()


class Sampled:
    """A user's function ``sampler(rng, size) -> (size, n) array``."""

    dimension = 0

    def __init__(self, name: str, function: Callable[..., Any]):
        if not callable(function):
            raise DataError(f"{name}: sampler={function!r} is not a function sampler(rng, size).")
        self.name = name
        self.function = function
        self.width = 0
        self.width = self.draw(np.random.default_rng(0), 2).shape[1]

    def draw(self, rng: np.random.Generator, count: int) -> Rows:
        call = f"{self.name}: sampler(rng, {count})"
        rows = as_floats(call, asked(call, self.function, rng, count))
        if rows.ndim not in (1, 2) or rows.shape[0] != count:
            raise DataError(
                f"{call} returned shape {rows.shape}; return one row per scenario, "
                f"({count}, number of members)."
            )
        rows = rows.reshape(count, -1)
        if self.width and rows.shape[1] != self.width:
            raise DataError(
                f"{call} returned {rows.shape[1]} columns, and {self.width} when it was declared; "
                "always return the same number."
            )
        return rows

    def mean(self) -> Rows:
        raise DataError(
            f"{self.name}: the mean of a sampler is not known; give the numbers, fix_to([...])."
        )


Distribution = Independent | Identical | Gaussian | Joint | Sampled


def distribution(name: str, given: Any, width: int | None) -> Distribution:
    """What a user's ``distribution=`` means; ``width`` None if only the object itself knows it."""
    if isinstance(given, Mapping):
        given = list(given.values())
    if isinstance(given, (list, tuple)):
        if not all(is_distribution(d) and _is_univariate(d) for d in given):
            raise DataError(
                f"{name}: a list of distributions needs one univariate scipy.stats distribution "
                "per member."
            )
        return Independent(given)
    if is_distribution(given):
        if _is_univariate(given):
            own_width = int(np.size(given.mean()))
            return Identical(given, own_width if width is None else width)
        return Gaussian(given) if hasattr(given, "cov_object") else Joint(given)
    raise DataError(
        f"{name}: {type(given).__name__} is not a frozen scipy.stats distribution, such as "
        "norm(0, 1). For anything else that can be drawn, use sampler=."
    )


def coupled(name: str, made: Distribution, copula: Any) -> Distribution:
    """The same marginals with a copula."""
    if isinstance(made, Identical) and np.ndim(made.distribution.mean()) == 0:
        made = Independent([made.distribution] * made.width)
    if not isinstance(made, Independent):
        raise DataError(
            f"{name}: copula= joins univariate distributions; give one per member, "
            "distribution=[...]."
        )
    return Coupled(made.marginals, copula_of(name, copula, made.width))


def checked(name: str, made: Distribution, width: int | None) -> Distribution:
    """Draw two rows on a private stream, so that a wrong shape is noticed at declaration."""
    probe = made.draw(np.random.default_rng(0), 2)
    if width is not None and probe.shape != (2, width):
        raise DataError(
            f"{name}: drawing 2 scenarios gave shape {probe.shape}, expected (2, {width}), one "
            "column per member."
        )
    if not np.isfinite(probe).all():
        raise DataError(f"{name}: drawing 2 scenarios gave NaN or infinity.")
    moment = without_moments(made)
    if moment is not None:
        logger.warning(
            "%s has no finite %s: averages over it settle slowly or never. Take a distribution "
            "with lighter tails, truncate it, or make sure that what stands under E is bounded.",
            name,
            moment,
        )
    return made


def is_distribution(given: Any) -> bool:
    """Whether it looks like a frozen scipy.stats distribution (old or new style)."""
    if isinstance(given, type) or is_family(given) or hasattr(given, "__len__"):
        return False  # pandas' tables can be sampled, too
    return any(hasattr(given, a) for a in ("rvs", "sample", "resample"))


def is_family(given: Any) -> bool:
    """scipy.stats.norm instead of scipy.stats.norm(0, 1): it can be called like a rule."""
    if isinstance(given, rv_histogram) or hasattr(given, "xk"):
        return False  # a histogram, or given values: complete as they are
    own = type(given).__module__.startswith("scipy.stats")
    return own and isinstance(given, (rv_continuous, rv_discrete, multi_rv_generic))


def without_moments(made: Distribution) -> str | None:
    """'mean' or 'variance', if the numbers have none that is finite; None where it is not known."""
    own = getattr(made, "distribution", None)
    laws = made.marginals if isinstance(made, Independent) else [own]
    for law in laws:
        for moment, get in (("mean", "mean"), ("variance", "var")):
            known = getattr(law, get, None)
            if callable(known) and not np.isfinite(np.asarray(known(), dtype=float)).all():
                return moment
    return None


def _is_univariate(given: Any) -> bool:
    return hasattr(given, "ppf") or hasattr(given, "icdf")


def _draw(given: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Rows:
    if not hasattr(given, "sample"):
        return np.asarray(given.rvs(size=shape, random_state=rng), dtype=float)
    own = np.shape(given.mean())  # new-style distributions append the shape of their parameters
    return np.asarray(given.sample(shape[: len(shape) - len(own)], rng=rng), dtype=float)


def _quantile(given: Any, u: Rows) -> Rows:
    law = getattr(getattr(given, "dist", None), "name", None)
    if law in _CLOSED_FORMS and not given.kwds.keys() - {"loc", "scale"} and len(given.args) <= 2:
        # scipy.stats checks arguments and masks arrays, which takes longer than the quantile.
        shape = {**dict(zip(("loc", "scale"), given.args, strict=False)), **given.kwds}
        return shape.get("loc", 0.0) + shape.get("scale", 1.0) * _CLOSED_FORMS[law](u)
    return given.ppf(u) if hasattr(given, "ppf") else given.icdf(u)


_CLOSED_FORMS: dict[str, Callable[[Rows], Rows]] = {
    "norm": ndtri,
    "uniform": lambda u: u,
    "expon": lambda u: -np.log1p(-u),
}
