"""Lemmas merit_parameter, model_reduction_suff_large, ratio_parameter and stepsize."""

from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pyomo_stochsqp.sqp import merit, stepsize
from pyomo_stochsqp.sqp.parameters import Parameters, curvature_floor

P = Parameters()


def random_direction(seed):
    """(g, c, H, d, y) with d from the KKT system, of random size and scale."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    m = int(rng.integers(0, n + 1))
    A = rng.standard_normal((n, n))
    H = A @ A.T + 0.1 * np.eye(n)
    J = rng.standard_normal((m, n))
    scale = 10.0 ** rng.uniform(-4, 4, 2)
    g, c = scale[0] * rng.standard_normal(n), scale[1] * rng.standard_normal(m)
    K = np.block([[H, J.T], [J, np.zeros((m, m))]])
    solution = np.linalg.solve(K, -np.concatenate([g, c]))
    return g, c, H, solution[:n], J


@pytest.mark.parametrize("seed", range(1000))
def test_merit_and_ratio_lemmas(seed):
    g, c, H, d, _J = random_direction(seed)
    violation = float(np.abs(c).sum())
    quadratic = float(g @ d + 0.5 * d @ H @ d)
    before = 10.0 ** np.random.default_rng(seed).uniform(-3, 2)

    tau_trial = merit.trial_merit_parameter(violation, quadratic, P.sigma)
    tau = merit.updated_merit_parameter(before, tau_trial, P.eps_tau)
    # Lemma merit_parameter
    assert 0 < tau <= before
    assert tau <= (1 - P.eps_tau) * tau_trial * (1 + 1e-15)

    # Lemma model_reduction_suff_large (zeta = 0.1 by construction of H)
    reduction = merit.model_reduction(tau, float(g @ d), violation)
    least = 0.5 * 0.1 * tau * float(d @ d) + P.sigma * violation
    rounding = 1e-12 * (tau * abs(float(g @ d)) + violation)
    assert reduction >= least - rounding

    # Lemma ratio_parameter
    xi_trial = reduction / (tau * float(d @ d))
    xi = merit.updated_ratio_parameter(1.0, xi_trial, P.eps_xi)
    assert xi <= 1.0 and xi <= xi_trial
    assert xi == 1.0 or xi <= 1 - P.eps_xi
    assert xi >= min(1 - P.eps_xi, 0.05) * (1 - 1e-9)


def test_merit_parameter_stays_while_the_trial_is_large():
    assert merit.updated_merit_parameter(0.1, inf, 0.01) == 0.1
    assert merit.updated_merit_parameter(0.1, 0.2, 0.01) == 0.1
    assert merit.updated_merit_parameter(0.1, 0.05, 0.01) == pytest.approx(0.0495)


positive = st.floats(1e-8, 1e8)


@settings(max_examples=2000, deadline=None)
@given(decrease=positive, v=st.one_of(st.just(0.0), positive), DN=positive)
def test_alpha_phi_is_the_largest_root(decrease, v, DN):
    alpha = stepsize.largest_decreasing_step(decrease, v, DN)
    assert alpha > 0
    # Rounding of varphi near its root is relative to its slope there, which contains 2 v.
    size = alpha * decrease + 2 * v + 0.5 * DN * alpha**2
    assert abs(stepsize.varphi(alpha, decrease, v, DN)) <= 1e-13 * size
    for inside in (0.01, 0.3, 0.7, 0.999):
        a = inside * alpha
        size = a * decrease + 2 * v * (a > 1) + 0.5 * DN * a**2
        assert stepsize.varphi(a, decrease, v, DN) <= 1e-13 * size
    assert stepsize.varphi(1.01 * alpha, decrease, v, DN) > 0


@settings(max_examples=2000, deadline=None)
@given(
    beta=st.floats(1e-3, 1.0),
    xi=st.floats(1e-3, 1.0),
    tau=st.floats(1e-6, 0.1),
    L=st.floats(1e-3, 1e6),
    Gamma=st.floats(0, 1e6),
    ratio=st.floats(1.0, 1e4),
    v=st.floats(0, 1e4),
)
def test_step_interval(beta, xi, tau, L, Gamma, ratio, v):
    """Lemma stepsize: 0 < alpha_min <= alpha_max <= alpha_phi, for every rule."""
    D = max(tau * L + Gamma, curvature_floor(P, beta) * tau / P.tau0)
    N = 1.0
    reduction = ratio * xi * tau * N  # xi <= xi_trial = reduction / (tau N)
    alpha_min = stepsize.smallest_step(beta, xi, tau, D, P.eta)
    alpha_phi = stepsize.largest_decreasing_step((1 - P.eta) * beta * reduction, v, D * N)
    alpha_max = min(alpha_min + P.theta * beta, alpha_phi)
    assert 0 < alpha_min <= 1 + 1e-15
    assert alpha_min <= alpha_max * (1 + 1e-12)
    for rule in stepsize.STEP_RULES:
        alpha = stepsize.choose_step(rule, alpha_min, alpha_max)
        assert alpha_min <= alpha * (1 + 1e-12)
        assert alpha <= max(alpha_max, alpha_min) * (1 + 1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.1, 0.1), (0.1, 0.12), (0.02, 3.7), (1e-9, 10.0)])
def test_grid_rule_equals_the_literal_search(low, high):
    t = 0
    while 1.1 ** (t + 1) * low <= high:
        t += 1
    assert stepsize.choose_step("grid", low, high) == pytest.approx(1.1**t * low, rel=1e-12)


@pytest.mark.parametrize("low", [1e-9, 0.037, 0.1, 2.0])
def test_a_step_on_the_grid_stays_there(low):
    """Rounding in the logarithms must not cost a factor of 1.1."""
    for t in range(1, 200):
        high = low * 1.1**t
        assert stepsize.choose_step("grid", low, high) == pytest.approx(high, rel=1e-12)
        assert stepsize.choose_step("grid", low, high * (1 - 1e-9)) < 0.95 * high


@pytest.mark.parametrize(("decrease", "v", "DN"), [(1e-3, 0.4, 1e-13), (1.0, 0.7, 1e-14)])
def test_alpha_phi_without_cancellation(decrease, v, DN):
    """2 v - decrease is positive and far larger than sqrt(DN v): the root is 2 v / (2 v - decrease)
    but for 1e-13, and the textbook formula would lose most of its digits."""
    alpha = stepsize.largest_decreasing_step(decrease, v, DN)
    assert alpha == pytest.approx(2 * v / (2 * v - decrease), rel=1e-12)
