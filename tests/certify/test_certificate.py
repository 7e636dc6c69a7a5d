"""Certificates: exact where they can be, bounds that cover where they cannot, in any units."""

from dataclasses import replace

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certifier, Look, Sizes, Tolerances
from pyomo_stochsqp.certify.replicates import (
    heavy_tailed,
    quantile,
    standard_error,
)
from pyomo_stochsqp.certify.words import cautions
from pyomo_stochsqp.oracle import EvaluationIssue, Sample
from tests.certify.oracles import bounded, certified, exact, sphere, tilting
from tests.engines.programs import of_model, quadratic
from tests.engines.test_conformance import wild

KNOWN = [tilting, sphere, bounded]


class Certain:
    """A program as an oracle without randomness."""

    def __init__(self, nlp):
        self.problem = nlp.problem
        self.sources = ()
        self._nlp = nlp
        self.hessian_pattern = nlp.hessian_pattern

    def draw(self, stream, k, batch):
        return Sample((), scenarios=0, exact=True)

    def estimate(self, x, sample, objective=False):
        return self._nlp.evaluate(x)

    def hessian(self, x, y, sample):
        return self._nlp.hessian(x, y)


# -- without sampling error -----------------------------------------------------------------------


def corner():
    """min (x1 - 2)^2 + (x2 + 1)^2, x1 + x2 <= 1, x2 >= 0: the solution is (1, 0)."""
    return quadratic(
        2 * np.eye(2), [-4.0, 2.0], [[1.0, 1.0]], ([-np.inf], [1.0]), ([-np.inf, 0.0], [np.inf] * 2)
    )


def test_at_a_solution_all_errors_vanish():
    c = exact(Certain(corner()), [1.0, 0.0], [2.0])
    assert c.exact and c.confidence == 0.95 and c.objective_error == 0.0
    assert c.infeasibility == 0.0 and c.gap == pytest.approx(0.0, abs=1e-12)
    assert c.displacement == pytest.approx([0.0, 0.0], abs=1e-12)
    assert c.y == pytest.approx([2.0])
    assert c.reduced_costs == pytest.approx([0.0, 4.0])
    assert not c.saddle and not c.first_order and c.flat == 0


@pytest.mark.parametrize("x", [[0.5, 0.0], [0.9, 0.05], [1.3, 0.0], [0.0, 0.7], [1.2, 0.4]])
def test_the_model_of_a_quadratic_program_is_the_program(x):
    """A Newton step finds the solution of a convex quadratic program from anywhere."""
    oracle = Certain(corner())
    c = exact(oracle, x, [0.0])
    assert np.asarray(x) + c.move == pytest.approx([1.0, 0.0], abs=1e-9)
    assert c.displacement == pytest.approx(np.abs([1.0 - x[0], -x[1]]), abs=1e-9)
    assert c.infeasibility == pytest.approx(max(x[0] + x[1] - 1.0, 0.0))
    f, best = (oracle.estimate(np.asarray(v), None).f for v in (x, [1.0, 0.0]))
    assert c.gap >= abs(f - best) - 1e-9


@pytest.mark.parametrize("idle", [0, 70])
def test_multipliers_that_fit_the_point_but_not_the_bound_make_no_solution(idle):
    """min x1 + 3 x2 s.t. x1 + x2 = 1, x >= 0, at (0, 1): with y = 0 the slope of x1 is towards its
    bound, and the row leaves nowhere to go; but at (1, 0) the objective is lower by 2."""
    n = 2 + idle
    program = quadratic(
        np.diag([0.0, 0.0, *np.ones(idle)]),
        [1.0, 3.0, *np.zeros(idle)],
        [[1.0, 1.0, *np.zeros(idle)]],
        ([1.0], [1.0]),
        ([0.0, 0.0, *[-np.inf] * idle], [np.inf] * n),
    )
    c = exact(Certain(program), [0.0, 1.0, *np.zeros(idle)], [0.0])
    assert c.gap >= 2.0 and not Tolerances(1e-3, 1e-3).met(c)
    c = exact(Certain(program), [1.0, 0.0, *np.zeros(idle)], [0.0])
    assert c.y == pytest.approx([-1.0]) and Tolerances(1e-6, 1e-6).met(c)


def test_a_saddle_and_a_maximum_are_no_solutions():
    for H in (np.diag([1.0, -1.0]), -np.eye(2)):
        c = exact(Certain(quadratic(H, [0.0, 0.0], x0=[1.0, 1.0])), [0.0, 0.0], [])
        assert c.saddle
        assert c.descent @ H @ c.descent < 0.0
        assert not Tolerances(1e-3, 1e-3).met(c)
        assert any("saddle" in text for text in cautions(c))


def test_a_flat_direction_counts_by_its_slope():
    """Nothing is known of x2 but the slope: along the natural length the objective falls by it."""
    flat = exact(Certain(quadratic(np.diag([1.0, 0.0]), [0.0, 0.0], x0=[1.0, 1.0])), [0.0, 1.0], [])
    assert flat.flat == 1 and flat.gap == 0.0
    steep = exact(
        Certain(quadratic(np.diag([1.0, 0.0]), [0.0, 1e-3], x0=[1.0, 1.0])), [0.0, 1.0], []
    )
    assert steep.gap == pytest.approx(1e-3)


@pytest.mark.parametrize("D", [1e-6, 1.0, 1e5])
@pytest.mark.parametrize("F", [1e-12, 1e6])
@pytest.mark.parametrize("R", [1e-4, 1e4])
def test_no_choice_of_units_changes_the_verdict(D, F, R):
    """x2 in other units, the objective and the row times factors."""
    units = np.array([1.0, D])
    lower, upper = [-np.inf, 0.0], [np.inf, np.inf]
    other = quadratic(
        F * 2 * np.eye(2) / np.outer(units, units), F * np.array([-4.0, 2.0]) / units,
        [R / units], ([-np.inf], [R]), (lower, upper), units,
    )  # fmt: skip
    plain = exact(Certain(corner()), [0.9, 0.05], [1.5])
    c = exact(Certain(other), np.array([0.9, 0.05]) * units, [1.5 * F / R])
    assert c.relative_infeasibility_bound == pytest.approx(
        plain.relative_infeasibility_bound, rel=1e-6
    )
    assert c.relative_gap == pytest.approx(plain.relative_gap, rel=1e-6)
    assert c.relative_displacement == pytest.approx(plain.relative_displacement, rel=1e-6)
    assert c.displacement / units == pytest.approx(plain.displacement, rel=1e-6)


def test_an_unrelated_variable_changes_nothing():
    """A thousand of something beside it once made a row's violation look small."""
    alone = quadratic(np.eye(1), [0.0], [[1.0]], ([0.8], [0.8]))
    beside = quadratic(np.diag([1.0, 0.0]), [0.0, 0.0], [[1.0, 0.0]], ([0.8], [0.8]))
    one = exact(Certain(alone), [0.1], [0.0])
    two = exact(Certain(beside), [0.1, 1000.0], [0.0])
    assert (
        two.relative_infeasibility_bound == one.relative_infeasibility_bound == pytest.approx(0.875)
    )


def test_the_start_of_a_run_is_not_what_errors_are_compared_with():
    """A steep start far away makes neither row nor objective large."""
    oracle = Certain(quadratic(np.eye(1), [0.0], [[1.0]], ([0.8], [0.8])))
    near, far = (
        exact(oracle, [0.1], [0.0], Sizes(np.array([reach]), f))
        for reach, f in ((0.1, 0.005), (1e3, 1e6))
    )
    assert near.relative_infeasibility_bound == far.relative_infeasibility_bound
    assert far.relative_infeasibility_bound == pytest.approx(0.875)
    assert near.objective_size == far.objective_size
    assert near.variable_size == pytest.approx(far.variable_size)


def test_a_constant_does_not_make_the_objective_large():
    """min (x - 2)^2 + 1e6 at x = 1: the gap is 1, and so is the objective."""
    program = quadratic(2 * np.eye(1), [-4.0])
    program.problem = replace(program.problem, objective_constant=1e6)
    evaluate = program.evaluate

    def with_constant(x):
        e = evaluate(x)
        e.f += 4.0 + 1e6
        return e

    program.evaluate = with_constant
    c = exact(Certain(program), [1.0], [])
    assert c.objective == 1e6 + 1.0
    assert c.relative_gap == pytest.approx(1.0)


def test_a_variable_that_must_be_zero_is_measured_by_its_other_rows():
    """x1 = 0 has no size; that x2 = 1 + x1 has says what is nothing for x1."""
    rows = [[1.0, 0.0], [-1.0, 1.0]], ([0.0, 1.0], [0.0, 1.0])
    program = Certain(quadratic(np.eye(2), [0.0, 0.0], *rows))
    y = np.array([-1.0, -1.0])
    assert Tolerances(1e-6, 1e-6).met(exact(program, [1e-16, 1.0], y))
    assert not Tolerances(1e-6, 1e-6).met(exact(program, [1e-3, 1.0], y))


def test_many_variables_are_certified_like_few():
    """The same program by sparse matrices: 70 copies of it are beyond the full ones."""
    count = 70
    H = 2 * np.eye(2 * count)
    A = np.kron(np.eye(count), [[1.0, 1.0]])
    g, low = np.tile([-4.0, 2.0], count), np.tile([-np.inf, 0.0], count)
    many = quadratic(
        H, g, A, (np.full(count, -np.inf), np.ones(count)), (low, np.full(2 * count, np.inf))
    )
    x, y = np.tile([0.9, 0.0], count), np.full(count, 2.2)
    few = exact(Certain(corner()), x[:2], y[:1])
    c = exact(Certain(many), x, y)
    assert c.displacement[:2] == pytest.approx(few.displacement, abs=1e-9)
    assert c.gap >= 0.99 * count * few.gap - 1e-9
    solution = exact(Certain(many), np.tile([1.0, 0.0], count), np.full(count, 2.0))
    assert solution.gap == pytest.approx(0.0, abs=1e-9)
    assert solution.displacement == pytest.approx(np.zeros(2 * count), abs=1e-9)


# -- with sampling error --------------------------------------------------------------------------


def test_noise_that_moves_nothing_is_projected_out():
    """In min x^2 s.t. E[...] = e nothing but the row decides where x is: the gap is y times it."""
    oracle = tilting()
    c = certified(oracle, oracle.solution)
    t = quantile(0.95, 16)
    assert c.gap <= abs(c.y[0]) * (c.violation[0] + t * 0.2) * 1.01
    assert c.displacement[0] == pytest.approx(c.violation_bound[0] / (np.e * np.sqrt(3)), rel=0.1)


def test_more_scenarios_tighten_the_bounds():
    """Like one over the square root of their number: 64 times as many, an eighth, 2 in doubt."""
    oracle = sphere()
    few, many = certified(oracle, oracle.solution), certified(oracle, oracle.solution, points=16384)
    ratio = (many.displacement - np.abs(many.move)) / (few.displacement - np.abs(few.move))
    assert (ratio > 1 / 16).all() and (ratio < 1 / 4).all()


def test_noise_of_a_row_with_slack_is_no_violation():
    oracle = sphere()
    oracle.problem = replace(oracle.problem, row_lower=np.array([-9.0]), row_upper=np.array([9.0]))
    c = certified(oracle, oracle.solution, y=np.zeros(1))
    assert c.violation_bound[0] == c.violation_lower[0] == 0.0


def test_lower_bounds_are_below_the_violation_and_upper_ones_above():
    oracle = tilting()
    for x in (0.6, 0.73, 0.9):
        c = certified(oracle, [x])
        true = oracle.problem.violation(oracle.truth(np.array([x]))[1])
        assert c.violation_lower <= c.violation <= c.violation_bound
        assert c.violation_lower <= true + 1e-12


def test_more_confidence_costs_more():
    oracle = sphere()
    one, two = (certified(oracle, oracle.solution, confidence=p) for p in (0.95, 0.999))
    assert (two.displacement > one.displacement).all() and two.gap > one.gap


def test_a_point_outside_the_domain_has_no_certificate():
    oracle = tilting()
    estimate = oracle.estimate

    def broken(x, sample, objective=False):
        e = estimate(x, sample, objective)
        e.issue = EvaluationIssue("tilt", "log of a negative number")
        return e

    oracle.estimate = broken
    samples = [oracle.draw(1, r, [64]) for r in range(16)]
    made = Certifier(oracle).certify(
        oracle.solution, oracle.multipliers, samples, samples[:4],
        Look(0, Sizes.none(oracle.problem), 0.95),
    )  # fmt: skip
    assert isinstance(made, EvaluationIssue)


# -- what can be known of replicates --------------------------------------------------------------


def test_bonferroni_keeps_the_joint_level():
    """20 numbers at once at 90 %: some miss in at most 10 % of 400 trials, give or take 4.5 %."""
    rng = np.random.default_rng(1)
    missed = single = 0
    for _ in range(400):
        values = rng.standard_normal((64, 20))
        ratio = np.abs(values.mean(axis=0)) / standard_error(values)
        missed += bool((ratio > quantile(0.9, 64, 20)).any())
        single += bool((ratio > quantile(0.9, 64)).any())
    assert missed <= 0.145 * 400
    assert single > 0.5 * 400  # each at its own level would not do


def test_heavy_tails_are_seen_and_normal_ones_not():
    rng = np.random.default_rng(2)
    alarms = sum(heavy_tailed(rng.standard_normal((16, 3))) for _ in range(2000))
    assert alarms <= 10  # one in a thousand is meant; ten have probability 1e-5
    outlier = rng.standard_normal((16, 3))
    outlier[5, 1] += 30.0
    assert heavy_tailed(outlier)


def test_a_certificate_that_has_seen_nothing_cannot_be_met():
    oracle = tilting()
    draw = oracle._draw
    oracle._draw = lambda rng, n: 0.0 * draw(rng, n) + 1.0
    c = certified(oracle, [1.0])
    assert c.rare_events
    assert c.violation_bound[0] < 1e-15  # no width at all, and e^1 = e
    assert not Tolerances(1e-3, 10.0).met(c)
    assert any("may not have been seen" in text for text in cautions(c))


# -- tolerances and words -------------------------------------------------------------------------


def solution_of_the_corner(**changes):
    return replace(exact(Certain(corner()), [1.0, 0.0], [2.0]), **changes)


def test_each_bound_is_compared_with_its_own_tolerance():
    t = Tolerances(1e-2, 1e-3)
    c = solution_of_the_corner()
    assert t.met(c) and t.excess(c) < 1e-6
    row = replace(c, violation_bound=np.array([2e-2]) * c.row_size)
    assert t.excess(row) == pytest.approx(2.0)
    far = 2e-3 * c.variable_size
    gap = replace(c, gap=5e-3 * c.objective_size, displacement=far)
    assert t.excess(gap) == pytest.approx(5.0)
    # ... but next to a solution a gap has nothing to be compared with, if there is curvature
    near = replace(gap, displacement=0.9e-3 * 3e-3 * c.variable_size)
    assert t.excess(near) == pytest.approx(0.9)
    assert t.excess(replace(near, flat=1)) == pytest.approx(5.0)
    # displacements count three times less, and only if the gap is more than negligible
    small = 0.9e-3 * c.objective_size
    move = replace(c, displacement=6e-3 * c.variable_size, gap=small, gap_along=small)
    assert t.excess(move) == pytest.approx(2.0)
    flat = replace(move, gap_along=1e-6 * abs(c.objective))
    assert t.met(flat)
    assert not t.met(replace(flat, has_gradient=False))


def test_noise_of_heavy_tails_counts_twice():
    t = Tolerances(1e-3, 1e-3)
    c = certified(sphere(), sphere().solution)
    light, heavy = replace(c, heavy_tails=False), replace(c, heavy_tails=True)
    assert t.noise(heavy) == 2.0 * t.noise(light) > 0.0
    assert t.excess(heavy) == pytest.approx(t.excess(light) + t.noise(light))


def test_a_nonlinear_program_is_judged_to_first_order_around_the_point():
    """Waechter and Biegler's example: from near its solution the displacement is right to second
    order, and zero multipliers are no obstacle."""
    oracle = Certain(wild())
    c = exact(oracle, [1.001, 0.001, 0.5005], [0.0, -1.0])
    assert c.move == pytest.approx([-0.001, -0.001, -0.0005], abs=2e-5)


def test_models_are_certified_through_the_same_door():
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.obj = pyo.Objective(expr=(m.x[0] - 2) ** 2 + (m.x[1] + 1) ** 2)
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] <= 1)
    m.x[1].setlb(0)
    c = exact(Certain(of_model(m)), np.array([1.0, 0.0]), [2.0])
    assert c.gap == pytest.approx(0.0, abs=1e-12) and c.reduced_costs == pytest.approx([0.0, 4.0])
