"""Curvature rules stay positive definite and learn; scaling is invisible to the user."""

from dataclasses import replace

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certifier, Tolerances
from pyomo_stochsqp.oracle import Estimate, exact_estimate
from pyomo_stochsqp.run import Budget, Judge, Looked, Progress, run
from pyomo_stochsqp.scaling import ScaledOracle, Scaling, automatic
from pyomo_stochsqp.sqp import Choices, assemble
from pyomo_stochsqp.sqp.curvature import BFGS, Diagonal, Spectral
from tests.sqp.oracles import ExactOracle, noisy_sphere, tilting


class Pair:
    """A lesson of given numbers; ``displaced`` only where a rule may ask for it."""

    def __init__(self, s, z, displaced=None):
        self.s, self.z = s, z
        if displaced is not None:
            self.displaced = displaced


def test_bfgs_stays_positive_definite_for_any_pairs():
    rng = np.random.default_rng(0)
    rule = BFGS(6)
    state = rule.initial(0.0)
    for _ in range(500):
        s, z = rng.standard_normal((2, 6)) * 10.0 ** rng.uniform(-3, 3, (2, 1))
        state = rule.updated(state, Pair(s, z))
        np.linalg.cholesky(state.H)  # raises unless positive definite


def test_bfgs_learns_a_quadratic():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4, 4))
    A = A @ A.T + np.eye(4)
    rule = BFGS(4)
    state = rule.initial(0.0)
    for _ in range(200):
        s = rng.standard_normal(4)
        state = rule.updated(state, Pair(s, A @ s))
    assert np.allclose(state.H, A, rtol=1e-6)


def test_diagonal_needs_one_displacement_for_a_diagonal_hessian():
    h = np.logspace(-2.5, 2.5, 7)
    rule = Diagonal(7)
    state = rule.updated(rule.initial(1.0), Pair(np.ones(7), h, lambda v: (v, h * v)))
    assert np.allclose(state.H, h, rtol=1e-12)


def test_diagonal_averages_a_full_hessian():
    """Off-diagonal parts enter with random signs; their mean over 400 displacements is small."""
    rng = np.random.default_rng(2)
    A = np.diag([1.0, 5.0, 10.0]) + 0.3 * (np.ones((3, 3)) - np.eye(3))
    rule = Diagonal(3)
    state = rule.initial(1.0)
    for _ in range(400):
        s = rng.standard_normal(3)
        state = rule.updated(state, Pair(s, A @ s, lambda v: (v, A @ v)))
    assert np.allclose(state.H, np.diag(A), rtol=0.35)


def test_diagonal_keeps_what_it_has_outside_the_domain():
    rule = Diagonal(2)
    state = rule.initial(3.0)
    assert rule.updated(state, Pair(np.ones(2), np.ones(2), lambda v: None)) is state


def test_spectral_finds_the_unit_of_length():
    rule = Spectral()
    state = rule.initial(0.0)
    for _ in range(60):
        state = rule.updated(state, Pair(np.ones(3), 1e-5 * np.ones(3)))
    assert state.H == pytest.approx(1e-5, rel=1e-3)


def test_scaled_estimates_and_multipliers_come_back():
    oracle = ExactOracle(
        [1.0, 2.0], 1, lambda x: (float(x @ x), 2 * x, [100 * x.sum() - 5], [100.0, 100.0])
    )
    factors = Scaling(np.array([0.01]), 0.5)
    scaled = ScaledOracle(oracle, factors)
    x = np.array([0.3, -0.2])
    plain, e = exact_estimate(oracle, x), exact_estimate(scaled, x, objective=True)
    assert np.allclose(e.g, 0.5 * plain.g) and np.allclose(e.c, 0.01 * plain.c)
    assert np.allclose(e.J, 0.01 * plain.J) and e.f == pytest.approx(0.5 * plain.f)
    # g + J'y = 0 in the user's units for y = R y_s / s
    y_scaled = np.array([2.0])
    assert np.allclose(
        (e.g + e.J * y_scaled) / factors.objective,
        plain.g + plain.J * factors.user_multipliers(y_scaled),
    )


def test_automatic_scaling_does_not_blow_up_a_vanishing_gradient():
    sphere = ExactOracle([0.0, 0.0], 1, lambda x: (x[0], [1.0, 0.0], [x @ x - 1], 2 * x))
    assert automatic(sphere, ()).rows[0] < 100


class Stretched:
    """The same problem in other units: x -> X x, f -> F f, c -> C c."""

    def __init__(self, oracle, X, F, C):
        self._oracle, self._X, self._F, self._C = oracle, X, F, C
        self.problem = replace(oracle.problem, x0=oracle.problem.x0 * X)
        self.sources = oracle.sources

    def draw(self, *key):
        return self._oracle.draw(*key)

    def estimate(self, x, sample, objective=False):
        X, F, C = self._X, self._F, self._C
        e = self._oracle.estimate(x / X, sample, objective)
        return Estimate(e.g * F / X, e.c * C, e.J * C / X, None if e.f is None else e.f * F)


@pytest.mark.parametrize("units", [(1e4, 1, 1), (1e-4, 1, 1), (1, 1e4, 1e-4), (1, 1e-4, 1e4)])
@pytest.mark.parametrize(
    ("made", "exact", "dual"),
    [
        (tilting, np.array([np.sqrt(3) - 1]), -0.310968),
        (noisy_sphere, -np.arange(1.0, 6.0) / np.sqrt(55), 3.708099),
    ],
)
def test_answers_do_not_depend_on_units(made, exact, dual, units):
    """Problems scaled by 1e+-4 are solved to 1 % in 3000 x 256 scenarios, duals to 0.05."""
    X, F, C = units
    oracle = Stretched(made(seed=4), X, F, C)
    certifier, tolerances = Certifier(oracle), Tolerances(1e-3, 1e-3)
    assembly = assemble(oracle, Choices(batch=(256,)))
    method = Looked(assembly.method, oracle, certifier, tolerances, assembly.scaling)
    state = method.start(oracle.problem.x0)
    outcome = run(
        method,
        Progress.beginning(state),
        Judge(oracle, certifier),
        Budget(3000, 3000 * 256),
        tolerances,
    )
    best = outcome.best
    assert np.abs(best.x / X - exact).max() <= 0.01 * np.abs(exact).max()
    assert abs(best.y[0] * C / F - dual) <= 0.05
