r"""Step-size schedules beta_k in (0, 1].

constant      beta_k = b
diminishing   beta_k = ((ceil(k/500) - 1) 500 + 1)^(-0.6)      (the paper's, piecewise constant)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from ..errors import OptionError

Schedule = Callable[[int], float]


def diminishing(k: int) -> float:
    """The paper's diminishing sequence."""
    return float(((ceil(k / 500) - 1) * 500 + 1) ** -0.6)


def make_schedule(beta: Any) -> Schedule:
    """A schedule from a number, 'diminishing', a sequence (its last value repeats), a callable."""
    if beta == "diminishing":
        return diminishing
    if isinstance(beta, (int, float)):
        constant = _checked(float(beta), 1)
        return lambda k: constant
    if callable(beta):
        return lambda k: _checked(float(beta(k)), k)
    if isinstance(beta, Sequence) and not isinstance(beta, str) and len(beta):
        values = [_checked(float(b), k) for k, b in enumerate(beta, 1)]
        return lambda k: values[min(k, len(values)) - 1]
    raise OptionError(
        f"beta={beta!r}: give a number in (0, 1], 'diminishing', a sequence, or a function of k."
    )


def _checked(beta: float, k: int) -> float:
    if not 0.0 < beta <= 1.0:
        raise OptionError(f"beta_{k} = {beta:g} is outside (0, 1]; see eq. beta_requirement.")
    return beta
