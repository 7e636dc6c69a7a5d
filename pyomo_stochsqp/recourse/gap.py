r"""The gap of a decision, by multiple replications (Mak, Morton and Wood, 1999).

For R independent samples, LB_i a lower bound of the problem of sample i and f_i(x) the objective of
x on it, every G_i = f_i(x) - LB_i is at least 0, and on average at least f(x) - min f. So

    f(x) - min f  <=  mean G + t s_G / sqrt(R)      with the wanted confidence,

t being Student's quantile with R - 1 degrees of freedom. x must not depend on the samples. A run
looks several times; the j-th look may err with probability .05 * 6 / (pi^2 j^2), all together 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]

CONFIDENCE = 0.95
#: sample problems are solved to about this, relative to their objective
RESOLUTION = 1e-9


@dataclass(frozen=True)
class Gap:
    """What is certified of a first-stage decision, for a program that is minimised."""

    #: estimate of the objective, and its standard error
    objective: float
    objective_error: float
    #: estimate of the gap, and its upper bound
    estimate: float
    bound: float
    #: of the sample problems' optimal values, on average
    lower_bound: float
    #: scenarios of all replicates; replicates (1: all scenarios there are, no sampling error)
    scenarios: int
    replicates: int
    confidence: float = CONFIDENCE
    #: scenarios without a feasible second stage, and the row that is to blame for most
    infeasible: int = 0
    row: str = ""
    #: all second stages of the stage before were feasible, but not those before
    incomplete: bool = False

    @property
    def exact(self) -> bool:
        """Whether all scenarios there are were looked at."""
        return self.replicates == 1

    @property
    def size(self) -> float:
        """What the gap is compared with."""
        return max(abs(self.objective), 1e-12)

    @property
    def relative(self) -> float:
        """The bound, relative to the objective."""
        return self.bound / self.size if self.bound > 0.0 else 0.0

    @property
    def noise(self) -> float:
        """The part of the bound that more replicates make smaller."""
        return self.bound - self.estimate


def certified(values: Array, bounds: Array, look: int, scenarios: int) -> Gap:
    """The gap from the replicates' objectives of x and lower bounds."""
    R = values.size
    gaps = np.maximum(values - bounds, 0.0)
    objective, mean = float(values.mean()), float(gaps.mean())
    if not np.isfinite(gaps).all():
        return Gap(objective, inf, inf, inf, float(bounds.mean()), scenarios, R)
    level = (1.0 - CONFIDENCE) * 6.0 / (pi * look) ** 2
    t = float(stats.t.ppf(1.0 - level, R - 1))
    reach = t * float(gaps.std(ddof=1)) / sqrt(R)
    error = float(values.std(ddof=1)) / sqrt(R)
    bound = mean + reach + RESOLUTION * abs(objective)
    return Gap(objective, error, mean, bound, float(bounds.mean()), scenarios, R)
