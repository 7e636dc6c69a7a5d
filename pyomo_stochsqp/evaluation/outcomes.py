r"""What happens in single scenarios: the spread behind an expectation.

    mean, standard deviation, quantiles      of the scenarios' numbers
    CVaR                                     the mean of the worst share of them
    P(violated)                              how often a row, which holds on average, does not

with the probabilities of the scenarios, where they have any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingLibraryError, OptionError
from ..text_table import Printed, Shown, TextTable, shortened

Column = NDArray[np.float64]

#: a row is violated beyond this, relative to its bound
ROUNDING = 1e-9
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Outcome:
    """The numbers of one quantity, one per scenario."""

    name: str
    values: Column
    #: probabilities of the scenarios; None: all are equal
    weights: Column | None
    lower: float = -np.inf
    upper: float = np.inf
    #: small numbers are the good ones (a cost), or large ones (a gain)
    maximised: bool = False

    @property
    def mean(self) -> float:
        """The mean over the scenarios."""
        return float(np.average(self.values, weights=self.weights))

    @property
    def std(self) -> float:
        """The standard deviation over the scenarios."""
        if not np.isfinite(self.mean):
            return float("inf")
        return float(np.sqrt(np.average((self.values - self.mean) ** 2, weights=self.weights)))

    def quantile(self, level: float) -> float:
        """The smallest number that is reached or undercut with this probability."""
        if not 0.0 <= level <= 1.0:
            raise OptionError(f"quantile({level}): the level is a probability, from 0 to 1.")
        values, total = self._sorted()
        place = np.searchsorted(total, level * total[-1] * (1.0 - 1e-12))
        return float(values[min(int(place), values.size - 1)])

    def cvar(self, level: float = 0.95) -> float:
        """The mean of the worst 1 - level of the scenarios: of the largest costs, or of the
        smallest gains."""
        if not 0.0 <= level < 1.0:
            raise OptionError(f"cvar({level}): the level is a confidence, from 0 to below 1.")
        sign = -1.0 if self.maximised else 1.0
        order = np.argsort(-sign * self.values)
        weights = np.ones(order.size) if self.weights is None else self.weights[order]
        share = np.clip(
            (1.0 - level) * weights.sum() - (np.cumsum(weights) - weights), 0.0, weights
        )
        worst = share > 0.0
        return float(np.average(self.values[order][worst], weights=share[worst]))

    @property
    def violation_probability(self) -> float:
        """How often the number lies outside of what is required on average."""
        low = self.lower - ROUNDING * max(1.0, abs(self.lower))
        high = self.upper + ROUNDING * max(1.0, abs(self.upper))
        outside = (self.values < low) | (self.values > high)
        return float(np.average(outside, weights=self.weights))

    @property
    def required(self) -> bool:
        """Whether anything is required of it."""
        return bool(np.isfinite(self.lower) or np.isfinite(self.upper))

    def distribution(self) -> tuple[Column, Column]:
        """(numbers in ascending order, the probability of at most that)."""
        values, total = self._sorted()
        return values, total / total[-1]

    def _sorted(self) -> tuple[Column, Column]:
        order = np.argsort(self.values, kind="stable")
        weights = np.ones(order.size) if self.weights is None else self.weights[order]
        return self.values[order], np.cumsum(weights)


class Outcomes(Printed):
    """The outcomes of an evaluation; prints as a table, and finds one by component or name."""

    def __init__(self, outcomes: Sequence[Outcome], title: str):
        self._outcomes = tuple(outcomes)
        self._title = title

    def __getitem__(self, component: Any) -> Outcome:
        name = component if isinstance(component, str) else component.name
        for outcome in self._outcomes:
            if outcome.name == name:
                return outcome
        known = ", ".join(o.name for o in self._outcomes)
        raise KeyError(f"there are no outcomes of '{name}'; there are {known}")

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._outcomes)

    def to_pandas(self) -> Any:
        """A DataFrame with one row per scenario; probabilities, if any, in the column 'weight'."""
        pandas = _pandas()
        columns = {o.name: o.values for o in self._outcomes}
        weights = next((o.weights for o in self._outcomes if o.weights is not None), None)
        if weights is not None:
            columns["weight"] = weights
        return pandas.DataFrame(columns)

    def table(self) -> TextTable:
        """The summary."""
        levels = [f"{q:.0%}" for q in QUANTILES]
        header = ("", "mean", "std", *levels, "CVaR 95%", "P(violated)")
        rows = []
        for o in self._outcomes:
            numbers = [o.mean, o.std, *(o.quantile(q) for q in QUANTILES), o.cvar()]
            finite = [abs(v) for v in numbers if np.isfinite(v)]
            least = ROUNDING * max(finite, default=0.0)
            violated = f"{o.violation_probability:.3g}" if o.required else ""
            name = shortened(o.name)
            rows.append((name, *(f"{v if abs(v) > least else 0:.6g}" for v in numbers), violated))
        return TextTable(header, rows, title=self._title)

    def plot(self, other: Any = None, path: Any = None, labels: Any = ("before", "after")) -> Any:
        """Histograms and distribution functions (extra ``plot``), beside those of ``other``;
        saved if a path is given, as the first argument or by name."""
        from .drawing import plot_outcomes

        if isinstance(other, str | PathLike):
            other, path = None, other
        return plot_outcomes(self, other, path, labels)

    def shown(self) -> list[Shown]:
        return [self.table()]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise MissingLibraryError("to_pandas() needs pandas (pip install pandas).") from None
    return pandas
