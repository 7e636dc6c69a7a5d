r"""Expectations at one point, each with its standard error and confidence interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import isinf
from typing import Any

from ..text_table import Printed, Shown, TextTable, shortened
from .outcomes import Outcomes, _pandas


@dataclass(frozen=True)
class Value:
    """An expectation at one point: estimate, standard error, confidence interval, requirement."""

    name: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    #: what the model asks of it: 'minimize', 'maximize', '= 0', '<= 3', or nothing
    required: str


@dataclass(frozen=True, repr=False)
class Evaluation(Printed):
    """The values of a model; prints as a table, and finds a value by component or name."""

    values: tuple[Value, ...]
    #: scenarios per source (all of them if exact)
    samples: int
    exact: bool
    seed: int
    confidence: float
    _outcomes: Callable[[], Outcomes] = field(repr=False, compare=False)

    @cached_property
    def outcomes(self) -> Outcomes:
        """Every scenario's numbers: spreads, quantiles, probabilities, histograms."""
        return self._outcomes()

    def __getitem__(self, component: Any) -> Value:
        name = component if isinstance(component, str) else component.name
        for value in self.values:
            if value.name == name:
                return value
        raise KeyError(f"'{name}' is neither the objective nor a constraint with an expectation.")

    def __iter__(self) -> Iterator[Value]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def to_pandas(self) -> Any:
        """A DataFrame with one row per value; ``outcomes.to_pandas()`` has one per scenario."""
        rows = [(v.name, v.value, v.standard_error, *v.interval, v.required) for v in self.values]
        columns = ["name", "value", "standard_error", "lower", "upper", "required"]
        return _pandas().DataFrame(rows, columns=columns).set_index("name")

    def plot(self, other: Any = None, path: Any = None, labels: Any = ("before", "after")) -> Any:
        """Histograms and distribution functions of the outcomes (extra ``plot``)."""
        other = other.outcomes if isinstance(other, Evaluation) else other
        return self.outcomes.plot(other, path, labels)

    def table(self) -> TextTable:
        """The table that is printed."""
        if self.exact:
            title = f"Exact values over all {self.samples} scenarios"
        else:
            title = f"Estimates from {self.samples} fresh scenarios per source (seed {self.seed})"
        header = ("", "value", "std. error", f"{self.confidence:.0%} interval", "required")
        rows = []
        for v in self.values:
            low, high = v.interval
            error = "exact" if v.standard_error == 0.0 else f"{v.standard_error:.2e}"
            interval = f"[{low:.6g}, {high:.6g}]"
            rows.append((shortened(v.name), f"{v.value:.6g}", error, interval, v.required))
        return TextTable(header, rows, left=(0, 4), title=title)

    def shown(self) -> list[Shown]:
        return [self.table()]


def requirement(lower: float, upper: float) -> str:
    """The bounds of a row in words."""
    if lower == upper:
        return f"= {lower:g}"
    if isinf(lower):
        return f"<= {upper:g}"
    return f">= {lower:g}" if isinf(upper) else f"in [{lower:g}, {upper:g}]"
