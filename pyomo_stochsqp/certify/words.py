r"""A certificate in the user's words.

objective within 0.02 of a local optimum, row demand within 0.3 (95 %)
"""

from __future__ import annotations

from collections.abc import Sequence

from .certificate import Certificate


def in_words(c: Certificate, row_names: Sequence[str], variable_names: Sequence[str]) -> str:
    """What the certificate says, in one sentence; the worst row and variable are named."""
    said = []
    kind = "a stationary point" if c.first_order else "a local optimum"
    if c.has_gradient:
        said.append(f"objective within {_short(c.gap)} of {kind}")
    if c.violation_bound.any():
        row = c.worst_row
        name = _name(row_names, row, "")
        said.append(f"row {name} within {_short(c.violation_bound[row])}")
    elif c.violation_bound.size:
        said.append("all rows satisfied")
    j = c.worst_variable
    name = _name(variable_names, j, "variable ")
    said.append(f"{name} within {_short(c.displacement[j])}")
    level = "exactly" if c.exact else f"{100 * c.confidence:.3g} %"
    rounded = ""
    if abs(c.objective_rounded) > c.objective_rounding:
        rounded = f"; rounding kinks off was worth {_short(c.objective_rounded)}"
    return f"{', '.join(said)} ({level}){rounded}"


def cautions(c: Certificate) -> list[str]:
    """What should be known before the bounds are believed."""
    found = []
    if c.rare_events:
        found.append(
            f"most of the {c.scenarios} scenarios have no influence at all, so that an event of "
            f"probability below {3.0 / c.scenarios:.1g} may not have been seen: the bounds are not "
            "reliable"
        )
    if c.spreading:
        found.append(
            "the spread of single scenarios grows with their number: an expectation here may not "
            "exist (infinite variance, or no mean), and the bounds are not reliable"
        )
    if c.heavy_tails:
        found.append(
            "some scenarios weigh far more than the others (heavy tails): noise was counted twice, "
            f"and {100 * c.confidence:.3g} % may still be too much to say"
        )
    if c.saddle:
        found.append("the objective can still fall: this is a saddle point or a maximum")
    return found


def _name(names: Sequence[str], number: int, kind: str) -> str:
    """The name, where there are names, or the number."""
    return names[number] if 0 <= number < len(names) else f"{kind}{number}"


def _short(number: float) -> str:
    return f"{number:.2g}"
