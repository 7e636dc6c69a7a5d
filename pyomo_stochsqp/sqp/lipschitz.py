r"""Lipschitz constants L (of grad f) and Gamma (of grad c, rows summed), measured on the way.

Secants along the step s just taken, both ends estimated on the SAME sample (independent samples
would measure noise), in the norm |s|_H^2 = s'Hs that the steps are measured in:

    L_secant = |s'(g+ - g)| / |s|_H^2,      Gamma_secant = |(J+ - J) s|_1 / |s|_H^2

    L <- max(1.2 L_secant, 0.9 L),          Gamma <- max(1.2 Gamma_secant, 0.9 Gamma)

An increase takes effect at once, before the step is taken for good, so that a value that starts far
too small costs one rejected step; a value far too large decays by a factor ten in some 22 checks.
Checks are made at every iteration while values still rise, then every tenth.

What the theory needs is eq. Lipschitz_continuity along the steps taken. A running maximum would
keep it for good; the decay gives that up, and gets it back at the next check that fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..oracle import SETUP_STREAM, Estimate, Jacobian, Oracle, Vector

SAFETY = 1.2
DECAY = 0.9
#: differences below this share of their terms are rounding, which a tiny step would magnify
ROUNDING = 1e-13
RISE = 1.5  # less is a fluctuation of the secants, not news
CHECK_EVERY = 10
CALM_AFTER = 20


class Constants(NamedTuple):
    """The current L and Gamma, and the iteration of the last increase."""

    L: float
    Gamma: float
    risen_at: int = 0

    def in_norm(self, before: float, now: float) -> Constants:
        """The constants after a change of H that turned a step's squared length into ``now``."""
        if before == now or not now > 0.0:
            return self
        return Constants(self.L * before / now, self.Gamma * before / now, self.risen_at)

    def due(self, k: int) -> bool:
        """Whether iteration k should be checked."""
        return k - self.risen_at <= CALM_AFTER or k % CHECK_EVERY == 0


def secants(
    here: Estimate, there: Estimate, s: Vector, length: float, jacobian: Jacobian
) -> tuple[float, float]:
    """(L_secant, Gamma_secant) of a step s with length = s'Hs > 0."""
    change = abs(float(s @ (there.g - here.g)))
    L = max(change - ROUNDING * float(np.abs(s) @ np.abs(here.g)), 0.0) / length
    if not here.c.size:
        return L, 0.0
    bend = np.abs(jacobian.times(there.J - here.J, s)).sum()
    rounding = ROUNDING * np.abs(jacobian.times(np.abs(here.J), np.abs(s))).sum()
    return L, max(float(bend - rounding), 0.0) / length


def updated(constants: Constants, k: int, L: float, Gamma: float) -> Constants:
    """The rule of this file's head."""
    old_L, old_Gamma, risen_at = constants
    if SAFETY * L > RISE * old_L or SAFETY * Gamma > RISE * old_Gamma:
        risen_at = k
    return Constants(
        max(SAFETY * L, DECAY * old_L), max(SAFETY * Gamma, DECAY * old_Gamma), risen_at
    )


def initial(oracle: Oracle, x: Vector, batch: tuple[int, ...], jacobian: Jacobian) -> Constants:
    """The largest secants along a few random directions at the starting point (with H = I)."""
    sample = oracle.draw(SETUP_STREAM, 0, batch)
    here = oracle.estimate(x, sample)
    rng = np.random.default_rng(0)
    L = Gamma = 0.0
    for _ in range(3):
        s = rng.standard_normal(x.size)
        s *= 1e-4 * (float(np.abs(x).max(initial=0.0)) or 1.0) / float(np.linalg.norm(s))
        there = oracle.estimate(x + s, sample)
        if here.issue is None and there.issue is None:
            found = secants(here, there, s, float(s @ s), jacobian)
            L, Gamma = max(L, found[0]), max(Gamma, found[1])
    return Constants(SAFETY * L, SAFETY * Gamma)
