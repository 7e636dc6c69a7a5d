"""The value function as an integrand: gradients and Hessians against differences."""

import numpy as np
import pytest

from pyomo_stochsqp.oracle import Jacobian, draw_replicates
from tests.value_function.second_stages import plant, shortage, value_function

STEP = 1e-4


def symmetric(oracle, values):
    n = oracle.problem.n
    indptr, indices = oracle.hessian_pattern()
    H = np.zeros((n, n))
    H[indices, np.repeat(np.arange(n), np.diff(indptr))] = values
    return H + np.triu(H, 1).T


@pytest.mark.parametrize("cap", [None, 1.0])
def test_gradients_and_hessians(cap):
    _, oracle = value_function(plant(cap))
    sample = draw_replicates(oracle, 5, 0, [16], 4).pooled[0]
    n, m = oracle.problem.n, oracle.problem.m
    x = np.array([1.5, 1.2, 0.3][:n])
    y = x[2:].copy() if m else np.zeros(0)  # a multiplier is its price at a solution
    at = oracle.estimate(x, sample, True)
    H = symmetric(oracle, oracle.hessian(x, y, sample))
    jacobian = Jacobian(oracle.problem)
    J = np.zeros((m, n))
    J[oracle.problem.jac_rows, oracle.problem.jac_indices] = at.J
    for j in range(n):
        step = STEP * (np.arange(n) == j)
        up, down = (oracle.estimate(x + s * step, sample, True) for s in (1, -1))
        assert (up.f - down.f) / (2 * STEP) == pytest.approx(at.g[j], rel=1e-4, abs=1e-6)
        assert (up.c - down.c) / (2 * STEP) == pytest.approx(J[:, j], rel=1e-4, abs=1e-6)
        slopes = [e.g + jacobian.transposed(e.J.copy(), y) for e in (up, down)]
        assert (slopes[0] - slopes[1]) / (2 * STEP) == pytest.approx(H[:, j], rel=1e-3, abs=1e-5)


def test_known_values():
    _, oracle = value_function(shortage())
    sample = draw_replicates(oracle, 5, 0, [256], 16).pooled[0]
    oracle.narrow(8)
    at = oracle.estimate(np.array([0.4]), sample, True)
    # x/4 + E (w - x)_+^2 = x/4 + (1 - x)^3 / 3
    assert at.f == pytest.approx(0.1 + 0.6**3 / 3, abs=1e-4)
    assert at.g == pytest.approx([0.25 - 0.6**2], abs=1e-4)
    H = oracle.hessian(np.array([0.4]), np.zeros(0), sample)
    assert H == pytest.approx([2 * 0.6], abs=5e-2)


def test_parts_and_whole_agree():
    _, oracle = value_function(plant(1.0))
    fixed = draw_replicates(oracle, 5, 0, [16], 4)
    x = np.array([1.5, 1.2, 0.3])
    whole = oracle.estimate(x, fixed.pooled[0], True)
    parts = oracle.estimates(x, fixed.parts, True)
    assert np.mean([e.f for e in parts]) == pytest.approx(whole.f, rel=1e-9)
    assert np.mean([e.J for e in parts], axis=0) == pytest.approx(whole.J, rel=1e-7)


def test_small_samples_are_solved_together():
    _, oracle = value_function(plant())
    _, other = value_function(plant())
    x = np.array([1.5, 1.2])
    pairs = [oracle.draw(6, k, [2]) for k in range(3)]
    again = [other.draw(6, k, [2]) for k in range(3)]
    together = oracle.linearised(x, pairs, ())
    alone = [other.estimate(x, pair, True) for pair in again]
    assert [e.f for e in together] == pytest.approx([e.f for e in alone], rel=1e-7)
