r"""Step sizes: alpha in [alpha_min, alpha_max], in closed form.

With D = tau L + Gamma, N = |d|^2 and v = |c|_1 (eqs. stepsizes, alphaphi):

    alpha_min = 2 (1 - eta) beta xi tau / D
    varphi(alpha) = (eta - 1) alpha beta Delta l + (|1 - alpha| - (1 - alpha)) v + 1/2 D alpha^2 N
    alpha_phi = max{ alpha > 0 : varphi(alpha) <= 0 }
    alpha_max = min{ alpha_min + theta beta, alpha_phi }

varphi is the larger of two convex quadratics that meet at alpha = 1, so alpha_phi is a root of one
of them. Where b = 2 v - (1 - eta) beta Delta l is positive the textbook root subtracts nearly equal
numbers; its conjugate does not.

Three choices of alpha (option ``step_rule``): ``'max'`` takes alpha_max, ``'min'`` takes alpha_min,
and ``'grid'`` is the paper's: the largest 1.1^t alpha_min that does not exceed alpha_max.
"""

from __future__ import annotations

from math import floor, log, sqrt

GROWTH = 1.1
#: of the quotient of logarithms: a power of 1.1 is on the grid
ROUNDING = 1e-12
STEP_RULES = ("max", "grid", "min")


def smallest_step(beta: float, xi: float, tau: float, D: float, eta: float) -> float:
    """alpha_min of eq. stepsizes."""
    return 2.0 * (1.0 - eta) * beta * xi * tau / D


def varphi(alpha: float, decrease: float, v: float, DN: float) -> float:
    """varphi of eq. alphaphi; decrease = (1 - eta) beta Delta l and DN = D |d|^2."""
    return -alpha * decrease + (abs(1.0 - alpha) - (1.0 - alpha)) * v + 0.5 * DN * alpha * alpha


def largest_decreasing_step(decrease: float, v: float, DN: float) -> float:
    """alpha_phi of eq. stepsizes."""
    if 2.0 * decrease <= DN:
        return 2.0 * decrease / DN
    b = 2.0 * v - decrease
    root = sqrt(b * b + 4.0 * DN * v)
    if b > 0.0:
        return 4.0 * v / (b + root)
    return (root - b) / DN


def choose_step(rule: str, alpha_min: float, alpha_max: float) -> float:
    """The step a rule takes in [alpha_min, alpha_max]."""
    if rule == "max":
        return alpha_max
    if rule == "min" or alpha_max <= alpha_min:
        return alpha_min
    return alpha_min * GROWTH ** floor(log(alpha_max / alpha_min) / log(GROWTH) + ROUNDING)
