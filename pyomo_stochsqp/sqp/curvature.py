r"""Curvature H_k: positive definite matrices with zeta I <= H_k <= kappa_H I (Assumption H).

H_k is built only from what was seen before iteration k, as the theory asks. What an iteration can
teach is a :class:`Lesson`: both ends of its step s on one sample, with z the change of the
Lagrangian's gradient,

    z = g+ - g + (J+ - J)'y,

so that pairs (s, z) carry curvature and no difference of noises.

    function   a function of (k, x_k, y_{k-1})
    fixed      H = I, the paper's choice, or a matrix of the user
    spectral   H = h I, where log h follows the log of |s'z| / s's with a damped step: the right
               unit of length for the variables, learned on the way
    diagonal   H = diag(h), where h averages |v_i z_i| / v_i^2 over small displacements v with
               random signs: E[v z'] has the diagonal of the Hessian times v_i^2, and one
               displacement is enough where the Hessian is diagonal
    bfgs       Powell's damped update: z <- t z + (1 - t) H s with the largest t <= 1 that gives
               s'z >= 0.2 s'Hs, then  H <- H - H s s'H / s'Hs + z z' / s'z
    exact      second derivatives of the Lagrangian: see second_order.py

A pair whose quotients s'z/s's or z'z/s'z leave [zeta, kappa_H] is not used.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf

from ..oracle import Estimate, Jacobian, Oracle, Sample, SecondOrderOracle, Vector

ZETA = 1e-12
KAPPA = 1e8
DAMPING = 0.2
#: least ratio of the entries of a Cholesky factor's diagonal
WORST = 1e-6
#: per pair, log h moves this share of the way to what was seen, cut off at this factor
MEMORY = 0.25
LARGEST_CHANGE = 256.0
#: diagonal: length of a displacement relative to the step, weight of the newest, least entry
PROBE_LENGTH = 0.1
AVERAGING = 0.1
FLOOR = 1e-6


class CurvatureState(NamedTuple):
    """The matrix of the current iteration: a float (multiple of I), a diagonal, or a matrix."""

    H: Any
    pairs: int = 0
    #: what the rule itself remembers beside H
    memory: Any = None


class Lesson:
    """What an iteration teaches about curvature: a step s from x, both ends seen on one sample."""

    def __init__(
        self,
        oracle: Oracle,
        sample: Sample,
        x: Vector,
        end: Vector,
        y: Vector,
        ends: tuple[Estimate, Estimate],
        jacobian: Jacobian,
    ):
        #: kept beside s, because x + s would be the end but for rounding: bounds are met exactly
        self.end = end
        self.s = end - x
        self.y = y
        #: scenarios evaluated to answer questions
        self.scenarios = 0
        self._oracle = oracle
        self._sample = sample
        self._x = x
        self._here, self.there = ends
        self._jacobian = jacobian

    @property
    def z(self) -> Vector:
        """The change of the Lagrangian's gradient along s."""
        return self._change(self.there)

    def displaced(self, v: Vector) -> tuple[Vector, Vector] | None:
        """(displacement, z) from x to the point nearest to x + v within the bounds, if defined."""
        point = self._oracle.problem.project(self._x + v)
        there = self._oracle.estimate(point, self._sample)
        self.scenarios += self._sample.scenarios
        return None if there.issue is not None else (point - self._x, self._change(there))

    def hessian(self) -> Vector:
        """Second derivatives of the Lagrangian at x + s: the stored values of their pattern."""
        assert isinstance(self._oracle, SecondOrderOracle)
        self.scenarios += self._sample.scenarios
        return self._oracle.hessian(self.end, self.y, self._sample)

    def _change(self, there: Estimate) -> Vector:
        z = there.g - self._here.g
        return z + self._jacobian.transposed(there.J - self._here.J, self.y) if self.y.size else z


class Curvature(ABC):
    """A rule for H."""

    @abstractmethod
    def initial(self, size: float) -> CurvatureState:
        """The first iteration's matrix; ``size`` is a first guess of |H|, 0 without one."""

    def at(self, state: CurvatureState, k: int, x: Vector, y: Vector) -> CurvatureState:
        """Iteration k's matrix, once x_k and the multipliers of iteration k-1 are known."""
        return state

    def updated(self, state: CurvatureState, lesson: Lesson) -> CurvatureState:
        """What an iteration teaches."""
        return state


class Fixed(Curvature):
    """The same H for ever: the identity, or the user's."""

    def __init__(self, H: Any = 1.0):
        self._H = H

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(self._H)


class UserFunction(Curvature):
    """H_k = function(k, x_k, y_{k-1}): a diagonal or a matrix, in the user's units.

    What the function sees is known before iteration k is sampled, as the theory asks.
    """

    def __init__(self, function: Callable[[int, Vector, Vector], Any], objective: float):
        self._function = function
        self._objective = objective

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(1.0)

    def at(self, state: CurvatureState, k: int, x: Vector, y: Vector) -> CurvatureState:
        return state._replace(H=self._objective * np.asarray(self._function(k, x, y), dtype=float))


class Spectral(Curvature):
    """H = h I; see the head of this file."""

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(first_guess(size))

    def updated(self, state: CurvatureState, lesson: Lesson) -> CurvatureState:
        s = lesson.s
        ss = float(s @ s)
        if not ss > 0.0:
            return state
        ratio = abs(float(s @ lesson.z)) / ss / state.H
        change = min(max(ratio, 1.0 / LARGEST_CHANGE), LARGEST_CHANGE) ** MEMORY
        return CurvatureState(min(max(state.H * change, ZETA), KAPPA), state.pairs + 1)


class Diagonal(Curvature):
    """H = diag(h); see the head of this file."""

    def __init__(self, n: int):
        self._n = n

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(np.full(self._n, first_guess(size)))

    def updated(self, state: CurvatureState, lesson: Lesson) -> CurvatureState:
        h, s = state.H, lesson.s
        length = PROBE_LENGTH * np.sqrt(float((h * s) @ s) / self._n)
        signs = np.random.default_rng(state.pairs).choice((-1.0, 1.0), self._n)
        asked = signs * length / np.sqrt(h)
        pair = lesson.displaced(asked)
        if pair is None:
            return state
        v, z = pair
        # Bounds may stop a variable; what rounding leaves of its displacement says nothing.
        moved = np.abs(v) > 0.5 * np.abs(asked)
        seen = h.copy()
        seen[moved] = np.abs(z[moved] / v[moved])
        w = max(1.0 / (state.pairs + 1), AVERAGING)
        h = (1.0 - w) * h + w * seen
        return CurvatureState(np.clip(h, max(FLOOR * h.max(), ZETA), KAPPA), state.pairs + 1)


class BFGS(Curvature):
    """Damped BFGS, dense."""

    def __init__(self, n: int):
        self._n = n

    def initial(self, size: float) -> CurvatureState:
        return CurvatureState(np.eye(self._n))

    def updated(self, state: CurvatureState, lesson: Lesson) -> CurvatureState:
        H, s = state.H, lesson.s
        ss = float(s @ s)
        if not ss > 0.0:
            return state
        z = lesson.z
        sz = float(s @ z)
        if state.pairs == 0 and sz > 0.0:
            # The first pair also sets the scale of a matrix that was only a guess.
            H = np.eye(self._n) * min(max(float(z @ z) / sz, ZETA), KAPPA)
        Hs = H @ s
        sHs = float(s @ Hs)
        if sz < DAMPING * sHs:
            t = (1.0 - DAMPING) * sHs / (sHs - sz)
            z = t * z + (1.0 - t) * Hs
            sz = float(s @ z)
        if not (ZETA * ss <= sz and float(z @ z) <= KAPPA * sz):
            return state
        down, up = Hs / sqrt(sHs), z / sqrt(sz)
        H = H - np.outer(down, down) + np.outer(up, up)
        if not well_conditioned(H):
            # In exact arithmetic H would be positive definite; rounding has taken over: start anew.
            return CurvatureState(np.eye(self._n) * min(max(sz / ss, ZETA), KAPPA), 1)
        return CurvatureState(H, state.pairs + 1)


def first_guess(size: float) -> float:
    """A multiple of the identity before anything was learned."""
    return min(max(size, ZETA), KAPPA) if size > 0.0 else 1.0


def well_conditioned(H: Vector) -> bool:
    """Whether Cholesky's factor exists and its diagonal spans less than WORST decades."""
    factor, failed = dpotrf(H)
    if failed:
        return False
    diagonal = factor.diagonal()
    return float(diagonal.min()) > WORST * float(diagonal.max())
