"""Directions with inequalities and bounds: the inequalities the theory needs, and Algorithm 1."""

import numpy as np
import pytest

from pyomo_stochsqp.kkt import KKTPattern, make_backend
from pyomo_stochsqp.oracle import Estimate, Jacobian, Problem
from pyomo_stochsqp.sqp import (
    Batches,
    EqualitySubproblem,
    Fixed,
    Parameters,
    StochasticSQP,
    make_schedule,
    merit,
)
from pyomo_stochsqp.sqp.elastic_subproblem import ElasticSubproblem
from tests.qp.qp_cases import KINDS, random_case
from tests.sqp.oracles import noisy_sphere

P = Parameters()


def problem_of(J, row_lower, row_upper, x_lower, x_upper):
    m, n = J.shape
    return Problem(
        x0=np.zeros(n),
        x_lower=np.asarray(x_lower, dtype=float),
        x_upper=np.asarray(x_upper, dtype=float),
        row_lower=np.asarray(row_lower, dtype=float),
        row_upper=np.asarray(row_upper, dtype=float),
        jac_indptr=np.arange(m + 1) * n,
        jac_indices=np.tile(np.arange(n), m),
        exact_rows=np.zeros(m, dtype=bool),
    )


def subproblem_of(problem, cls=ElasticSubproblem, dense_hessian=False):
    pattern = KKTPattern(
        problem.n,
        problem.m,
        problem.jac_indptr,
        problem.jac_indices,
        hessian_dense=dense_hessian,
    )
    backend = make_backend(pattern, "dense")
    if cls is EqualitySubproblem:
        return cls(problem, backend)
    return cls(problem, backend, Jacobian(problem))


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
def test_with_equalities_only_it_is_the_equality_step_to_the_last_bit(full):
    rng = np.random.default_rng(0)
    n, m = 8, 3
    J = rng.standard_normal((m, n))
    problem = problem_of(J, np.ones(m), np.ones(m), np.full(n, -np.inf), np.full(n, np.inf))
    elastic = subproblem_of(problem, dense_hessian=full)
    equality = subproblem_of(problem, EqualitySubproblem, dense_hessian=full)
    H = np.diag(rng.uniform(1, 2, n)) + 0.1 if full else rng.uniform(1, 2, n)
    for tau in (1.0, 1e-3, 1e-6):
        x = rng.standard_normal(n)
        estimate = Estimate(10 * rng.standard_normal(n), rng.standard_normal(m), J.ravel())
        one = elastic.direction(x, estimate, H, tau)
        two = equality.direction(x, estimate, H, tau)
        assert (one.d == two.d).all() and (one.y == two.y).all()
        assert one.slope == two.slope and one.violation == two.violation
        assert one.curvature == pytest.approx(two.curvature, rel=1e-14)
        assert one.feasibility_reduction == two.feasibility_reduction
        assert not one.keeps_tau


def test_with_equalities_only_a_run_is_algorithm_1():
    def run(cls):
        oracle = noisy_sphere()
        schedule = make_schedule(1.0)
        batches = Batches(oracle.sources, [32], "constant", 1.01, schedule, probes=False)
        method = StochasticSQP(
            oracle, subproblem_of(oracle.problem, cls), Fixed(), batches, schedule, P
        )
        state = method.start(oracle.problem.x0)
        for _ in range(200):
            state = method.step(state)
            yield state.x, state.tau, state.xi

    for one, two in zip(run(ElasticSubproblem), run(EqualitySubproblem), strict=True):
        assert (one[0] == two[0]).all() and one[1:] == pytest.approx(two[1:], rel=1e-13)


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_lemmas_hold(kind, full):
    """Delta l >= 1/2 tau d'Hd + sigma Dc with the updated tau, and tau_trial >= (1-sigma)/|y|."""
    kept = 0
    for seed in range(40):
        case = random_case(seed, kind, full)
        subproblem = subproblem_of(case.problem(), dense_hessian=full)
        x = np.zeros(case.n)
        estimate = Estimate(case.g, np.zeros(case.m), case.J.ravel())
        tau = 10.0 ** -(seed % 4)
        direction = subproblem.direction(x, estimate, case.H, tau)
        d, Dc = direction.d, direction.feasibility_reduction
        # the numbers a direction carries are what they say
        assert direction.slope == pytest.approx(case.g @ d, abs=1e-12)
        assert direction.curvature == pytest.approx(d @ case.curve(d), abs=1e-12)
        violation = case.problem().violation
        drop = violation(np.zeros(case.m)).sum() - violation(case.J @ d).sum()
        size = 1 + np.abs(case.J @ d).sum()
        assert Dc == pytest.approx(drop, abs=1e-8 * size)
        assert Dc >= -1e-8 * size

        quadratic = direction.slope + 0.5 * direction.curvature
        if direction.keeps_tau:
            kept += 1
        elif quadratic > 1e-8 * size:
            trial = merit.trial_merit_parameter(Dc, quadratic, P.sigma)
            assert trial >= (1 - 1e-6) * (1 - P.sigma) / np.abs(direction.y).max() - 1e-8
            tau = merit.updated_merit_parameter(tau, trial, P.eps_tau)
        Dl = merit.model_reduction(tau, direction.slope, Dc)
        rounding = 1e-7 * (size + tau * (abs(direction.slope) + direction.curvature))
        assert Dl >= 0.5 * tau * direction.curvature + P.sigma * Dc - rounding
    assert kept > 0 or kind in ("feasible", "degenerate")


def test_contradictory_rows_do_not_cost_the_merit_parameter():
    """The same row twice, with values that differ by noise: tau must not fall for that."""
    J = np.array([[1.0, 1.0], [1.0, 1.0]])
    free = np.full(2, np.inf)
    subproblem = subproblem_of(problem_of(J, np.zeros(2), np.zeros(2), -free, free))
    estimate = Estimate(np.array([1.0, -1.0]), np.array([0.01, -0.01]), J.ravel())
    direction = subproblem.direction(np.zeros(2), estimate, 1.0, 0.1, noise=0.02)
    assert direction.keeps_tau
    assert direction.d == pytest.approx([-1.0, 1.0], abs=0.01)
    assert not direction.failed


def test_the_box_is_never_left():
    rng = np.random.default_rng(3)
    J = rng.standard_normal((2, 5))
    lower, upper = -rng.random(5), rng.random(5)
    problem = problem_of(J, [-0.1, 0.2], [0.1, 0.2], lower, upper)
    subproblem = subproblem_of(problem)
    x = np.clip(rng.standard_normal(5), lower, upper)
    for _ in range(200):
        estimate = Estimate(rng.standard_normal(5), J @ x + 0.1 * rng.standard_normal(2), J.ravel())
        d = subproblem.direction(x, estimate, 1.0, 0.1).d
        assert (d >= lower - x).all() and (d <= upper - x).all()
        x = np.clip(x + rng.random() * d, lower, upper)


def test_a_failed_estimate_gives_a_status_and_no_step():
    J = np.ones((1, 2))
    subproblem = subproblem_of(problem_of(J, [0.0], [1.0], [-1.0, -1.0], [1.0, 1.0]))
    estimate = Estimate(np.array([np.nan, 1.0]), np.zeros(1), J.ravel())
    direction = subproblem.direction(np.zeros(2), estimate, 1.0, 0.1)
    assert direction.failed
    assert (direction.d == 0.0).all() and (direction.y == 0.0).all()
    assert direction.slope == direction.curvature == direction.feasibility_reduction == 0.0
    good = Estimate(np.array([1.0, -1.0]), np.zeros(1), J.ravel())
    after = subproblem.direction(np.zeros(2), good, 1.0, 0.1, warm=direction.warm)
    assert after.slope < 0.0 and not after.failed
