r"""How wide kinks are rounded off where nobody says it.

    finite data     w = 0.02 Std[z], the functions of smooth.py. A table of scenarios is what it is,
                    and its answer should not move
    distributions   (8 smooth(z, w) - 6 smooth(z, sqrt(2) w) + smooth(z, 2w)) / 3, w = 0.3 Std[z]

Sampling wants wide kinks: derivatives of a quantile are known by the scenarios within them, and
evenly spread scenarios average smooth functions best. The combination of three widths makes that
harmless: their errors of second and fourth order in w cancel, and a mean over a smooth density errs
by the sixth power. Quantiles of normal, lognormal, gamma and t5 numbers are within 2e-4 of a
standard deviation (python -m benchmarks.formulas rounding). A width that the user gives is taken as
it is, with the functions of smooth.py.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

from ...errors import ModelError
from ..randomness.scenario_set import ScenarioSet
from ..randomness.tables import Table
from ..scan import random_inside
from ..width_factor import WIDTH_FACTOR
from .smooth import bump, rounded_part, rounded_step

#: widths, relative to the standard deviation
FINITE_SHARE, DENSITY_SHARE = 0.02, 0.3

#: (factor, width relative to the first) of what is combined over densities
COMBINED = ((8.0 / 3.0, 1.0), (-2.0, sqrt(2.0)), (1.0 / 3.0, 2.0))

Smooth = Callable[[Any, Any], Any]


class Rounding(NamedTuple):
    """Smooth forms of kinked functions, over one width, of which this is the square."""

    square: Any
    #: errors of lower orders are cancelled
    extrapolated: bool

    def positive_part(self, z: Any) -> Any:
        return self._of(rounded_part, z)

    def step(self, z: Any) -> Any:
        return self._of(rounded_step, z)

    def bump(self, z: Any) -> Any:
        return self._of(bump, z)

    def _of(self, smooth: Smooth, z: Any) -> Any:
        if not self.extrapolated:
            return smooth(z, self.square)
        return sum(factor * smooth(z, r**2 * self.square) for factor, r in COMBINED)


def rounding(what: str, a: Any, variance: Any, width: Any = None, narrows: bool = True) -> Rounding:
    """For kinks of ``a``, as :func:`.averages.argument` returns it, with that variance."""
    if width is not None:
        if isinstance(width, (int, float)) and not width > 0.0:
            raise ModelError(f"{what}: width={width} must be positive.")
        return Rounding(width**2, False)
    finite = isinstance(a, ScenarioSet) or all(
        isinstance(r.parent_component().origin, Table) for r in random_inside(a)
    )
    share = FINITE_SHARE if finite else DENSITY_SHARE
    if narrows:
        share = share * WIDTH_FACTOR
    return Rounding(share**2 * variance, not finite)


def wide(variance: Any) -> Rounding:
    """For what must be positive everywhere, and need not be accurate."""
    return Rounding(DENSITY_SHARE**2 * variance, False)
