r"""The filter: what a trial point must improve on.

With theta = |h|_1 and phi the barrier function, a point is refused if for some (theta_f, phi_f) of
the filter both  theta >= theta_f  and  phi >= phi_f.  Beyond that it must make progress from the
current point:

    if the step is mainly one of descent  (slope < 0, alpha (-slope)^2.3 > theta^1.1, theta small):
        phi <= phi_k + 1e-8 alpha slope                                        (Armijo)
    otherwise
        theta <= (1 - 1e-5) theta_k     or     phi <= phi_k - 1e-8 theta_k,

and in the second case the current point joins the filter (Waechter and Biegler, section 2.3).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...oracle import Vector

THETA_SHARE, PHI_SHARE = 1e-5, 1e-8
DESCENT, SLOPE_POWER, THETA_POWER = 1.0, 2.3, 1.1
ARMIJO = 1e-8
#: the smallest step worth trying, relative to what could be accepted
SAFETY = 0.05
ROUNDING = 10.0 * float(np.finfo(float).eps)


@dataclass(frozen=True)
class Here:
    """The current point, as the filter sees it."""

    theta: float
    phi: float
    #: directional derivative of phi
    slope: float
    theta_min: float
    theta_max: float

    def smallest_step(self) -> float:
        """Steps below this length cannot be accepted."""
        least = THETA_SHARE
        if self.slope < 0.0:
            least = min(least, PHI_SHARE * self.theta / -self.slope)
            if self.theta <= self.theta_min:
                power = DESCENT * self.theta**THETA_POWER / (-self.slope) ** SLOPE_POWER
                least = min(least, power)
        return SAFETY * least

    def entry(self) -> tuple[float, float]:
        """What joins the filter when this point is left."""
        return (1.0 - THETA_SHARE) * self.theta, self.phi - PHI_SHARE * self.theta


def refused(filter_: Vector, theta: float, phi: float, slack: float = 0.0) -> bool:
    """Whether the filter (one line per entry) refuses a point."""
    return bool(((theta >= filter_[:, 0]) & (phi - slack >= filter_[:, 1])).any())


def accepts(
    here: Here, filter_: Vector, theta: float, phi: float, alpha: float
) -> tuple[bool, bool]:
    """(whether a trial point is accepted, whether the current one then joins the filter)."""
    if not np.isfinite(theta + phi) or theta > here.theta_max:
        return False, False
    slack = ROUNDING * abs(here.phi)
    if refused(filter_, theta, phi, slack):
        return False, False
    descent = here.slope < 0.0 and (
        alpha * (-here.slope) ** SLOPE_POWER > DESCENT * here.theta**THETA_POWER
    )
    if descent and here.theta <= here.theta_min:
        return phi - here.phi <= ARMIJO * alpha * here.slope + slack, False
    better = theta <= (1.0 - THETA_SHARE) * here.theta
    return better or phi - here.phi <= -PHI_SHARE * here.theta + slack, True
