"""Plain tables, and verdicts against thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns aligned: text to the left, numbers to the right.

    >>> print(table(["name", "f"], [["a", 0.5], ["bc", 12.5]]))
    name     f
    a      0.5
    bc    12.5
    """
    cells = [[_text(v) for v in row] for row in rows]
    widths = [max(len(r[j]) for r in [list(head), *cells]) for j in range(len(head))]
    left = [all(isinstance(row[j], str) for row in rows) for j in range(len(head))]

    def line(row: Sequence[str]) -> str:
        parts = zip(row, widths, left, strict=True)
        return "  ".join(c.ljust(w) if at else c.rjust(w) for c, w, at in parts).rstrip()

    return "\n".join([line(head), *(line(row) for row in cells)])


def verdict(claim: str, value: float, limit: float, at_least: bool = False) -> str:
    """One line that says whether a threshold holds.

    >>> verdict("worst infeasibility", 2e-4, 5e-4)
    'ok      worst infeasibility: 0.0002 <= 0.0005'
    """
    holds = value >= limit if at_least else value <= limit
    sign = {(True, True): ">=", (True, False): "<", (False, True): "<=", (False, False): ">"}
    return f"{'ok' if holds else 'MISSED':8}{claim}: {value:.3g} {sign[at_least, holds]} {limit:g}"


def _text(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
