r"""The paper's lemmas and theorems on directions, steps and runs, on a problem whose constants are
known (quadratic.py). Those about tau are in test_lemmas_of_tau.py.
"""

from itertools import pairwise
from math import inf

import numpy as np
import pytest

from benchmarks.literal import literal_sqp
from pyomo_stochsqp.oracle import ITERATION_STREAM
from pyomo_stochsqp.oracles import GaussianNoiseOracle
from pyomo_stochsqp.sqp import Parameters, make_schedule
from tests.sqp.quadratic import (
    GAMMA,
    START,
    L,
    M,
    N,
    Quadratic,
    draws,
    reduction,
    true_direction,
    values,
)

# -- Lemma solution_bias, Lemma solution_variance -------------------------------------------------


def differences(made, x=START):
    d, y, _ = true_direction(x)
    return np.array([np.concatenate((m.d - d, m.y - y)) for _, m in made])


@pytest.mark.parametrize(("rho_g", "rho_c"), [(0.04, 0.01), (1.0, 0.0), (0.0, 0.25)])
def test_without_noise_in_the_jacobian_directions_are_unbiased(rho_g, rho_c):
    """rho_J = 0: E[D - d] = 0, E|(D, Y) - (d, y)|^2 <= (rho_g + rho_c) / q_min^2."""
    count = 2000
    off = differences(draws((rho_g, rho_c, 0.0), count))
    q = true_direction(START)[2]
    error = off.std(axis=0, ddof=1) / np.sqrt(count)
    assert (np.abs(off.mean(axis=0)) <= 5 * error + 1e-15).all()
    squares = (off**2).sum(axis=1)
    bound = (rho_g + rho_c) / q**2
    assert squares.mean() <= bound * (1 + 5 * np.sqrt(2 / count))
    assert np.sqrt(squares).mean() <= np.sqrt(bound)
    # and the bound is of the right size: the worst direction is one of a few
    assert squares.mean() >= 0.02 * bound


def test_the_bias_comes_from_the_jacobian_and_falls_with_its_noise():
    """|E[D - d]| <= omega_1 sqrt(rho_J): what is left of it, divided by sqrt(rho_J), shrinks."""
    ratios = []
    for rho_J in (0.6, 0.1, 0.02):
        off = differences(draws((0.0, 0.0, rho_J), 4000))[:, :N]
        ratios.append(float(np.linalg.norm(off.mean(axis=0)) / np.sqrt(rho_J)))
    assert ratios[0] > 0.02, "there is a bias"
    # it is of the order rho_J here, a power of rho_J better than the lemma asks
    assert ratios[0] > 1.5 * ratios[1] > 2.0 * ratios[2]


def test_variances_add_up():
    """E|D - d|^2 is (rho_g + rho_c) times constants at small noise, and all three sources count."""
    alone = []
    for which in range(3):
        variances = np.zeros(3)
        variances[which] = 1e-4
        alone.append(float((differences(draws(tuple(variances), 2000)) ** 2).sum(axis=1).mean()))
    assert min(alone) > 0
    together = float((differences(draws((1e-4, 1e-4, 1e-4), 2000)) ** 2).sum(axis=1).mean())
    assert together == pytest.approx(sum(alone), rel=0.15)


@pytest.mark.parametrize(("beta", "batch"), [(0.5, 1), (1.0, 9), (0.2, 4)])
def test_the_noise_of_a_batch(beta, batch):
    """Variances are those of one scenario times beta^2 / batch."""
    one = float((differences(draws((0.04, 0.04, 0.0), 2500)) ** 2).sum(axis=1).mean())
    made = draws((0.04, 0.04, 0.0), 2500, beta=beta, batch=batch)
    found = float((differences(made) ** 2).sum(axis=1).mean())
    assert found == pytest.approx(one * beta**2 / batch, rel=0.15)


def test_products_of_gradient_and_direction():
    """|E[G'D - g'd]| <= rho_g / 2 + (rho_g + rho_c) / (2 q_min^2) with an exact Jacobian."""
    count, rho_g, rho_c = 3000, 0.04, 0.09
    made = draws((rho_g, rho_c, 0.0), count)
    d, _, q = true_direction(START)
    g = values(START)[1]
    off = np.array([e.g @ m.d - g @ d for e, m in made])
    error = 5 * off.std() / np.sqrt(count)
    assert abs(off.mean()) <= rho_g / 2 + (rho_g + rho_c) / (2 * q**2) + error
    assert np.array([m.slope for _, m in made]) == pytest.approx([e.g @ m.d for e, m in made])


# -- Lemma model_reduction_comparison -------------------------------------------------------------


@pytest.mark.parametrize("tau", [0.01, 0.1, 1.0])
def test_model_reductions_differ_by_the_noise(tau):
    """rho_J = 0: |E[Delta l] - Delta l| <= tau (...) + sqrt(m rho_c)."""
    count, rho_g, rho_c = 3000, 0.04, 0.01
    made = draws((rho_g, rho_c, 0.0), count)
    d, _, q = true_direction(START)
    _, g, c, _ = values(START)
    true = reduction(tau, float(g @ d), c)
    noisy = np.array([reduction(tau, m.slope, e.c) for e, m in made])
    error = 5 * noisy.std() / np.sqrt(count)
    bound = tau * (rho_g / 2 + (rho_g + rho_c) / (2 * q**2)) + np.sqrt(M * rho_c)
    assert abs(noisy.mean() - true) <= bound + error


# -- Lemma merit_function_decrease, Lemma stepsize_interval ---------------------------------------


@pytest.mark.parametrize("rule", ["max", "grid", "min"])
@pytest.mark.parametrize("eta", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("beta", [1.0, 0.3])
def test_merit_function_decrease_along_noisy_runs(rule, eta, beta):
    """The inequality of the lemma holds in every iteration, whatever the noise."""
    variances = (0.5, 0.2, 0.3)
    p = Parameters(eta=eta, step_rule=rule, theta=4.0)
    oracle = GaussianNoiseOracle(Quadratic(), variances, lambda k: beta, 11)
    method = literal_sqp(oracle, (1,), beta, (L, GAMMA), p)
    state = method.start(START)
    tightest = inf
    for k in range(1, 150):
        x = state.x
        e = oracle.estimate(x, oracle.draw(ITERATION_STREAM, k, (1,)))
        state = method.step(state)
        tau, alpha = state.tau, state.alpha
        noisy = (state.x - x) / alpha
        f, g, c, J = values(x)
        d, _, _ = true_direction(x)
        f_next, _, c_next, _ = values(state.x)
        change = tau * (f_next - f) + np.abs(c_next).sum() - np.abs(c).sum()
        slack = (
            -alpha * reduction(tau, float(g @ d), c)
            + alpha * tau * float(g @ (noisy - d))
            + alpha * np.abs(J @ (d - noisy)).sum()
            + 2 * alpha * np.abs(c - e.c).sum()
            + (1 - eta) * alpha * beta * reduction(tau, float(e.g @ noisy), e.c)
            - change
        )
        assert slack >= -1e-12 * (1 + abs(change))
        tightest = min(tightest, slack)
        # Lemma stepsize_interval
        low = 2 * (1 - eta) * beta * state.xi * tau / (tau * L + GAMMA)
        assert low * (1 - 1e-12) <= alpha <= (low + p.theta * beta) * (1 + 1e-12)
        if rule == "min":
            assert alpha == pytest.approx(low, rel=1e-14)
    assert tightest < 1.0, "the inequality is not void"


# -- eq. beta_requirement -------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1.0, 0.25])
@pytest.mark.parametrize("eta", [0.2, 0.7])
def test_the_requirement_on_beta_is_enforced(beta, eta):
    """With L = Gamma = 1e-6 alpha_min would be 1e5; where the constants do it, nothing changes."""
    p = Parameters(eta=eta, step_rule="min", tau0=0.3, xi0=1.5)
    oracle = Quadratic()
    state = literal_sqp(oracle, (), beta, (1e-6, 1e-6), p)
    first = state.step(state.start(START))
    # D = 2 (1 - eta) beta xi_0 tau_0 * (tau / tau_0), so that alpha_min = xi / xi_0 <= 1
    assert first.alpha == pytest.approx(first.xi / p.xi0, rel=1e-14)
    assert first.alpha <= 1.0
    good = 2 * (1 - eta) * beta * p.xi0 * 1.0001
    method = literal_sqp(oracle, (), beta, (good, 0.0), p)
    second = method.step(method.start(START))
    assert second.alpha == pytest.approx(2 * (1 - eta) * beta * second.xi / good, rel=1e-14)


# -- Theorem asymptotic ---------------------------------------------------------------------------


def true_reductions(variances, beta, iterations, seed=5, tau=0.1, **parameters):
    """Delta l of the true functions along a run, with the step sizes' beta_k."""
    schedule = make_schedule(beta)
    oracle = GaussianNoiseOracle(Quadratic(), variances, schedule, seed)
    p = Parameters(step_rule="grid", theta=1.0, **parameters)
    method = literal_sqp(oracle, (1,), schedule, (L, GAMMA), p)
    state = method.start(START)
    found = []
    for _ in range(iterations):
        d, _, _ = true_direction(state.x)
        _, g, c, _ = values(state.x)
        found.append(reduction(state.tau, float(g @ d), c))
        state = method.step(state)
    return np.array(found)


def test_the_neighbourhood_shrinks_with_the_noise():
    """Case (i): the average of Delta l is bounded by a multiple of max(iota, sqrt(iota))."""
    radius = [
        true_reductions((iota, iota, iota), 0.5, 1500)[500:].mean() for iota in (1e-2, 1e-4, 1e-6)
    ]
    for large, small in pairwise(radius):
        # |c|_1 is of the order of the noise: ten times less for a variance a hundred times smaller
        assert 5.0 < large / small < 30.0


def test_the_neighbourhood_shrinks_with_beta():
    """Case (i): a smaller beta means a smaller psi, and less noise."""
    radius = [true_reductions((0.1, 0.1, 0.1), b, 3000)[1000:].mean() for b in (0.8, 0.2, 0.05)]
    assert radius[0] > 3.0 * radius[1] > 9.0 * radius[2]


def test_diminishing_steps_end_in_a_point():
    """Case (ii): the average weighted by beta_k tends to zero."""
    found = true_reductions((0.1, 0.1, 0.1), "diminishing", 4000)
    beta = np.array([make_schedule("diminishing")(k) for k in range(1, 4001)])
    averages = np.cumsum(beta * found) / np.cumsum(beta)
    assert averages[3999] < averages[1999] < averages[499]
    # the blocks after the first, where beta = 1, are what the average converges by
    tail = beta[500:] * found[500:]
    assert tail.sum() / beta[500:].sum() < 0.1 * averages[499]


# -- Theorem complex ------------------------------------------------------------------------------


def test_the_average_of_a_run_falls_like_its_length():
    """rho = O(1 / k_max^2): the mean of |grad f + grad c Y|^2 + |c|_1 is O(1 / k_max)."""
    averages = []
    for length in (100, 400, 1600):
        rho = (2.0 / length) ** 2
        oracle = GaussianNoiseOracle(Quadratic(), (rho, rho, rho), lambda k: 1.0, 9)
        method = literal_sqp(oracle, (1,), 0.2, (L, GAMMA), Parameters(step_rule="grid"))
        state = method.start(START)
        total = 0.0
        for _ in range(length):
            d, _, _ = true_direction(state.x)
            _, _, c, _ = values(state.x)
            total += float(d @ d + np.abs(c).sum())  # H = I: grad f + grad c Y = -D
            state = method.step(state)
        averages.append(total / length)
    products = np.array(averages) * (100, 400, 1600)
    assert products.max() < 2.0 * products.min()
