r"""The experiments of the paper's first study: noise levels, budgets, and who takes part.

Fifteen noise settings (eps_g, eps_c, eps_J), five seeds each:

    constant beta = 0.1     {1e-8, 1e-4, 1e-2}^2 with eps_J = sqrt(eps_c)
    diminishing beta_k      {1e-8, 1e-4, 1e-2} x {(1e-2, 1e-1)}, (1e-2, .25, .5), (.25, 1e-2, .1),
                            (.25, .25, .5)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

from benchmarks.cutest.problems import PROBLEMS
from pyomo_stochsqp.sqp import make_schedule

ITERATIONS = 5000
SEEDS = 5
PROFILE_SEEDS = 10
#: iterations from here on are looked at for Assumption event_asymptotic; also the paper's limits
K_MAX, TAU_MIN, F_MAX = 4000, 1e-3, 1e6
CONSTANT_BETA = 0.1
#: a run takes minutes on these, seconds on the others
LARGE = ("ELEC", "SPIN2OP")
SMALL = tuple(name for name in PROBLEMS if name not in LARGE)
PROFILES = ("BT5", "BT12", "BYRDSPHR", "GENHS28", "HS27", "HS77", "MWRIGHT", "ORTHREGB")
QUICK_PROBLEMS = ("BT5", "BYRDSPHR", "HS7", "HS28", "HS77", "MWRIGHT")


@dataclass(frozen=True)
class Setting:
    """One noise level with its step-size schedule."""

    eps_g: float
    eps_c: float
    eps_J: float
    diminishing: bool

    @property
    def name(self) -> str:
        """A name for files: the schedule and the three variances."""
        kind = "d" if self.diminishing else "c"
        return f"{kind}:{self.eps_g:g}:{self.eps_c:g}:{self.eps_J:g}"

    @property
    def variances(self) -> tuple[float, float, float]:
        return (self.eps_g, self.eps_c, self.eps_J)

    @property
    def beta(self) -> Callable[[int], float]:
        """beta_k."""
        schedule: Any = "diminishing" if self.diminishing else CONSTANT_BETA
        return make_schedule(schedule)

    def samples(self, iterations: int) -> int:
        """Samples of unit variance that estimates with variance eps beta_k^2 are worth."""
        beta = self.beta
        return round(sum(beta(k) ** -2 for k in range(1, iterations + 1)))


LEVELS = (1e-8, 1e-4, 1e-2)
CONSTANT = tuple(Setting(g, c, sqrt(c), False) for g in LEVELS for c in LEVELS)
DIMINISHING = (
    *(Setting(g, 1e-2, 1e-1, True) for g in LEVELS),
    Setting(1e-2, 0.25, 0.5, True),
    Setting(0.25, 1e-2, 1e-1, True),
    Setting(0.25, 0.25, 0.5, True),
)
SETTINGS = {s.name: s for s in (*CONSTANT, *DIMINISHING)}
LARGE_NOISE, SMALL_NOISE = DIMINISHING[-1], DIMINISHING[2]
QUICK_SETTINGS = (CONSTANT[0], CONSTANT[-1], LARGE_NOISE)
