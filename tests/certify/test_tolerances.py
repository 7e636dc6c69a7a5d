"""Tolerances, spreads, active sets and sizes, each from its formula."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certificate, Sizes, Tolerances
from pyomo_stochsqp.certify.active_set import active_set
from pyomo_stochsqp.certify.certificate import objective_rounding, row_sizes, variable_sizes
from pyomo_stochsqp.certify.spreads import Pairs, Spreads, single
from pyomo_stochsqp.certify.words import cautions, in_words
from pyomo_stochsqp.oracle import SPREAD_STREAM, EvaluationIssue, Problem, SourceInfo
from tests.certify.independent import NoisyQuadratic, student


def certificate(**changes):
    """Two variables, two rows; sizes that cannot be confused."""
    zero = np.zeros(2)
    plain = Certificate(
        x=np.array([1.0, 2.0]), y=zero, reduced_costs=zero, objective=5.0, objective_error=0.0,
        objective_spread=0.0, objective_rounded=np.nan, violation=zero, violation_lower=zero,
        violation_bound=zero, row_size=np.array([4.0, 10.0]), row_rounding=np.full(2, 1e-12),
        displacement=zero, displacement_error=zero, variable_size=np.array([2.0, 5.0]),
        variable_rounding=np.full(2, 1e-13), move=zero, gap=0.0, gap_noise=0.0, gap_along=0.0,
        gap_along_noise=0.0, objective_size=8.0, objective_rounding=1e-12, has_gradient=True,
        flat=0, saddle=False, descent=np.zeros(0), confidence=0.95, scenarios=100, replicates=20,
        exact=False,
    )  # fmt: skip
    return replace(plain, **changes)


def random_certificate(rng):
    """Magnitudes such that every part of a verdict decides now and then."""
    size = lambda *shape: 10.0 ** rng.uniform(-7, 1, shape)  # noqa: E731
    violation = size(2)
    return certificate(
        violation=violation, violation_bound=violation + size(2) * rng.integers(0, 2),
        violation_lower=violation * rng.random(2), displacement=size(2),
        displacement_error=size(2), gap=float(size(1)[0]), gap_noise=float(size(1)[0]),
        gap_along=float(size(1)[0]), gap_along_noise=float(size(1)[0]),
        has_gradient=bool(rng.random() < 0.8), flat=int(rng.random() < 0.3),
        first_order=bool(rng.random() < 0.2), heavy_tails=bool(rng.random() < 0.3),
    )  # fmt: skip


def verdict(c, t, gap, along, moves, rows):
    """The worst of the bounds in units of its tolerance: the head of tolerances.py in one place."""
    gap = gap / 8.0 / t.optimality if c.has_gradient else 0.0
    move = max(moves / [2.0, 5.0]) / (3 * t.optimality)
    excuse_move = along / 8.0 / (1e-2 * t.optimality) if c.has_gradient else inf
    excuse_gap = inf if c.flat or c.first_order else move / 1e-3
    distance = min(max(gap, min(move, excuse_move)), excuse_gap)
    return max(max(rows / [4.0, 10.0]) / t.feasibility, distance)


def test_the_excess_is_the_worst_bound_in_units_of_its_tolerance():
    rng = np.random.default_rng(0)
    t = Tolerances(2e-3, 3e-4)
    for _ in range(1500):
        c = random_certificate(rng)
        noise = verdict(
            c, t, c.gap_noise, c.gap_along_noise, student(0.95, 20, 2) * c.displacement_error,
            c.violation_bound - c.violation,
        )  # fmt: skip
        worst = verdict(c, t, c.gap, c.gap_along, c.displacement, c.violation_bound)
        assert t.noise(c) == pytest.approx((2 if c.heavy_tails else 1) * noise)
        assert t.excess(c) == pytest.approx(worst + (noise if c.heavy_tails else 0.0))
        assert t.met(c) == (t.excess(c) <= 1.0)
        assert t.feasible(c) == (max(c.violation_bound / [4.0, 10.0]) <= 2e-3)
        assert t.infeasible(c) == (max(c.violation_lower / [4.0, 10.0]) > 2e-3)


def test_a_gap_without_a_bound_is_not_excused():
    t = Tolerances(1e-3, 1e-3)
    assert t.excess(certificate(gap=inf)) == inf
    assert t.excess(certificate(gap=1.0)) == 0.0


def test_an_objective_without_size_excuses_no_displacement():
    """Zero at its minimum: neither gap nor displacement can be compared with it."""
    t = Tolerances(1e-3, 1e-3)
    c = certificate(objective_size=0.0, displacement=np.array([0.2, 0.0]))
    assert t.excess(c) == pytest.approx(0.1 / 3e-3)


@pytest.mark.parametrize("flag", ["saddle", "rare_events", "spreading"])
def test_what_no_tolerance_excuses(flag):
    t = Tolerances(1.0, 1.0)
    assert t.met(certificate()) and not t.met(certificate(**{flag: True}))


def test_the_better_of_two():
    t = Tolerances(1e-3, 1e-3)
    good, bad = certificate(gap=1.0, flat=1), certificate(gap=2.0, flat=1)
    assert t.better(good, bad) and not t.better(bad, good) and t.better(good, good)
    assert t.better(bad, None)
    # one that has seen nothing says nothing
    blind = replace(good, rare_events=True)
    assert not t.better(blind, bad) and t.better(bad, blind)
    assert t.better(blind, None) and t.better(blind, replace(bad, rare_events=True))
    assert not t.better(replace(bad, rare_events=True), blind)


def test_ratios_and_their_worst():
    c = certificate(
        violation_bound=np.array([1.0, 2.0]), violation_lower=np.array([0.2, 0.4]),
        violation=np.array([0.5, 0.7]), displacement=np.array([1.0, 2.0]), gap=4.0,
    )  # fmt: skip
    assert c.infeasibility == 0.7 and c.infeasibility_bound == 2.0
    assert c.relative_infeasibility_bound == 0.25 and c.worst_row == 0
    assert c.relative_infeasibility_lower == pytest.approx(0.05)
    assert c.relative_displacement == 0.5 and c.worst_variable == 0
    assert c.relative_gap == 0.5
    assert replace(c, has_gradient=False).relative_gap == 0.0
    assert c.row_ratio(np.array([1e-12, 1.1e-12])) / 1e-13 == pytest.approx([0.0, 1.1])
    assert c.variable_ratio(np.array([1e-13, 1.1e-13])) / 1e-14 == pytest.approx([0.0, 2.2])
    assert c.objective_ratio(1e-12) == 0.0 < c.objective_ratio(1.1e-12)
    # rounding has no size that it could be compared with
    assert replace(c, objective_size=0.0).objective_ratio(0.0) == 0.0
    empty = replace(
        c, row_size=np.zeros(0), row_rounding=np.zeros(0), violation_bound=np.zeros(0),
        violation=np.zeros(0), violation_lower=np.zeros(0),
    )  # fmt: skip
    assert empty.worst_row == -1 and empty.relative_infeasibility_bound == 0.0
    assert empty.infeasibility == empty.infeasibility_bound == 0.0
    assert empty.relative_infeasibility_lower == 0.0


def test_sizes():
    problem = replace(
        Problem.equalities([0.0, 0.0], 3), row_lower=np.array([-7.0, -np.inf, 1.0]),
        row_upper=np.array([3.0, 2.0, np.inf]),
    )  # fmt: skip
    spread = np.array([1.0, 9.0, 0.0])
    assert row_sizes(problem, np.array([5.0, 4.0, 6.0]), spread).tolist() == [7.0, 9.0, 6.0]
    x, move = np.array([1.0, -1.0, 0.0, 0.0, 0.0]), np.array([-3.0, 0.1, 0.0, 0.0, 0.0])
    curvature, other = np.array([0.0, 0.0, -4.0, 0.01, 0.0]), np.array([0, 0, 0, 3.0, 0])
    found = variable_sizes(x, move, 9.0, curvature, other)
    assert found == pytest.approx([2.0, 1.0, 0.15, 3.0, 0.0])
    reach = np.array([1.0, 10.0])
    terms = 2.0 + 30.0 + 0.5 * (4.0 + 500.0)
    arguments = np.array([2.0, -3.0]), np.array([-4.0, 5.0]), reach
    assert objective_rounding(*arguments, 1e9) / 1e-15 == pytest.approx(terms)
    assert objective_rounding(*arguments, 7.0) / 1e-15 == pytest.approx(7.0)


def test_the_largest_sizes_seen():
    sizes = Sizes.none(Problem.equalities([1.0, 1.0], 0))
    assert sizes.reach.tolist() == [0.0, 0.0] and sizes.objective == 0.0
    sizes = sizes.with_point(np.array([1.0, -3.0]), -4.0).with_point(np.array([-2.0, 1.0]), 2.0)
    assert sizes.reach.tolist() == [2.0, 3.0] and sizes.objective == 4.0


# -- spreads --------------------------------------------------------------------------------------


def noisy(noise=(0.3, 0.2, 0.1, 0.05), m=1):
    A = np.ones((m, 2))
    return NoisyQuadratic(
        np.eye(2), np.zeros(2), A, (np.zeros(m), np.zeros(m)), ([-9, -9], [9, 9]), noise
    )


def test_spreads_of_single_scenarios():
    """From 32 means of two: twice their variance, to 13 % (four times that at most)."""
    oracle = noisy()
    x = np.array([0.5, 0.2])
    found = Pairs(oracle).spreads(x, 5, [])
    assert found.f == pytest.approx(0.3, rel=0.5)
    assert found.g == pytest.approx([0.2, 0.2], rel=0.5)
    assert found.c == pytest.approx([0.1], rel=0.5)
    assert found.of_all.tolist() == [found.f, *found.g, *found.c]
    # the middle half of normal numbers is 1.349 deviations wide; from 32 it is known to 25 %
    assert found.typical == pytest.approx([0.3, 0.2, 0.2, 0.1], rel=0.8)
    drawn = [oracle.draw(SPREAD_STREAM, 160 + i, [2]) for i in range(32)]
    made = [oracle.estimate(x, s, True) for s in drawn]
    assert found.f == pytest.approx(np.sqrt(2) * np.std([e.f for e in made], ddof=1))
    assert found.pairs.scenarios == 64 and found.pairs.count == 32
    low, high = np.quantile([e.f for e in made], [0.25, 0.75])
    assert found.typical[0] == pytest.approx(np.sqrt(2) * (high - low) / 1.349)


def test_typical_spreads_do_not_see_a_few_that_are_large():
    class Now(NoisyQuadratic):
        def draw(self, stream, k, batch):
            sample = super().draw(stream, k, batch)
            return replace(sample, payload=sample.payload * (1e6 if k % 32 < 6 else 1.0))

    args = (np.eye(2), np.zeros(2), np.ones((1, 2)), ([0], [0]), ([-9, -9], [9, 9]))
    found = Pairs(Now(*args, (0.3, 0.2, 0.1, 0.05))).spreads(np.zeros(2), 0, [])
    assert found.f > 1e4 and found.typical[0] < 1.0


def test_pairs_are_kept_for_another_point_and_drawn_anew_for_another_number():
    oracle = noisy()
    calls = []
    draw = oracle.draw

    def counted(stream, k, batch):
        calls.append((stream, k, tuple(batch)))
        return draw(stream, k, batch)

    oracle.draw = counted
    pairs = Pairs(oracle)
    first = pairs.spreads(np.zeros(2), 1, [])
    assert pairs.spreads(np.ones(2), 1, []).f == pytest.approx(first.f) and len(calls) == 32
    pairs.spreads(np.zeros(2), 2, [])
    assert calls == [(SPREAD_STREAM, 32 + i, (2,)) for i in range(64)]


def test_points_where_few_pairs_can_be_evaluated_have_no_spread():
    for usable, known in ((3, False), (4, True)):
        oracle = noisy()
        estimate, count = oracle.estimate, iter(range(100))

        def some(x, sample, objective=False, estimate=estimate, count=count, usable=usable):
            e = estimate(x, sample, objective)
            e.issue = None if next(count) < usable else EvaluationIssue("row", "log(-1)")
            return e

        oracle.estimate = some
        found = Pairs(oracle).spreads(np.zeros(2), 0, [])
        assert (found.pairs is not None) == known == (found.f > 0.0)
    oracle.sources = ()
    assert Pairs(oracle).spreads(np.zeros(2), 0, []).pairs is None
    none = Spreads.none(oracle.problem)
    assert none.of_all.shape == none.typical.shape == (4,) and not none.of_all.any()
    assert single(np.array([[1.0], [3.0]])) == pytest.approx([2.0])


def test_every_source_has_two_scenarios_in_a_pair():
    oracle = noisy()
    oracle.sources = (SourceInfo("a", None), SourceInfo("b", None))
    batches = set()
    draw = oracle.draw
    oracle.draw = lambda s, k, batch: batches.add(tuple(batch)) or draw(s, k, batch)
    Pairs(oracle).spreads(np.zeros(2), 0, [])
    assert batches == {(2, 2)}


# -- active sets ----------------------------------------------------------------------------------


def active(c, y, x=(0.0,), pull=(0.0,), rows=((-1.0,), (3.0,)), bounds=((-2.0,), (4.0,)), **sizes):
    problem = replace(
        Problem.equalities(np.array(x, dtype=float), len(c)),
        row_lower=np.array(rows[0], dtype=float), row_upper=np.array(rows[1], dtype=float),
        x_lower=np.array(bounds[0], dtype=float), x_upper=np.array(bounds[1], dtype=float),
    )  # fmt: skip
    given = {"size": np.ones(len(c)), "length": np.ones(len(x)), "objective": 1.0} | sizes
    arrays = (np.array(v, dtype=float) for v in (x, c, pull, y))
    return active_set(problem, *arrays, **given)


def test_a_row_is_active_if_its_multiplier_weighs_more_than_its_distance():
    """|y| size / F against |c - bound| / size, the bound that the sign of y names."""
    for c, y, on, side, target in (
        (2.5, 0.6, True, 1, 3.0), (2.5, 0.4, False, 1, 3.0), (2.5, -0.6, False, -1, -1.0),
        (-0.5, -0.6, True, -1, -1.0), (-0.5, -0.4, False, -1, -1.0), (3.4, 0.5, True, 1, 3.0),
    ):  # fmt: skip
        found = active([c], [y])
        assert found.rows[0] == on, (c, y)
        assert found.side[0] == side and found.target[0] == target
    # |y| 2 / 10 > 0.5 / 2
    for y, on in ((1.3, True), (1.2, False)):
        found = active([2.5], [y], size=np.array([2.0]), objective=10.0)
        assert found.rows[0] == on


def test_equalities_are_always_active_and_missing_bounds_never():
    found = active([5.0], [0.0], rows=((1.0,), (1.0,)))
    assert found.rows[0] and found.target[0] == 1.0 and found.side[0] == 1.0
    assert active([5.0], [-1.0], rows=((1.0,), (1.0,))).side[0] == 1.0
    found = active([5.0], [9.0], rows=((1.0,), (inf,)))
    assert not found.rows[0] and found.target[0] == 0.0
    found = active([5.0], [-9.0], rows=((-inf,), (9.0,)))
    assert not found.rows[0] and found.target[0] == 0.0


def test_a_variable_is_held_if_it_is_pushed_more_than_it_is_away():
    for x, pull, on, shift, bound in (
        (-1.5, 0.6, True, -0.5, -1), (-1.5, 0.4, False, 0.0, -1), (3.5, -0.6, True, 0.5, 1),
        (3.5, -0.4, False, 0.0, 1), (3.5, 0.6, False, 0.0, -1), (4.2, -0.3, True, -0.2, 1),
    ):  # fmt: skip
        found = active([], [], [x], [pull], rows=((), ()))
        assert found.held[0] == on, (x, pull)
        assert found.shift[0] == pytest.approx(shift) and found.bound[0] == bound
    # pull 3 / F 10 > 0.5 / 3
    for pull, on in ((0.6, True), (0.5, False)):
        found = active(
            [], [], [3.5], [-pull], rows=((), ()), length=np.array([3.0]), objective=10.0
        )
        assert found.held[0] == on
    found = active([], [], [3.5], [-9.0], rows=((), ()), bounds=((-inf,), (inf,)))
    assert not found.held[0] and found.shift[0] == 0.0
    # bounds that meet leave no choice
    found = active([], [], [2.0], [0.0], rows=((), ()), bounds=((1.0,), (1.0,)))
    assert found.held[0] and found.shift[0] == -1.0


def test_variables_that_a_move_takes_beyond_their_bounds():
    found = active([], [], [0.0, 0.0, 3.9], [0.0, 0.0, -9.0], rows=((), ()),
                   bounds=((-2.0,) * 3, (4.0,) * 3))  # fmt: skip
    problem = replace(
        Problem.equalities(np.zeros(3), 0), x_lower=np.full(3, -2.0), x_upper=np.full(3, 4.0)
    )
    x = np.array([0.0, 0.0, 3.9])
    assert found.held.tolist() == [False, False, True]
    assert found.with_bounds(problem, x, np.array([1.0, -2.0, 5.0])) is found
    more = found.with_bounds(problem, x, np.array([5.0, -3.0, 5.0]))
    assert more.held.all() and more.shift == pytest.approx([4.0, -2.0, 0.1])
    assert more.bound.tolist() == [1.0, -1.0, 1.0]
    one = found.with_bounds(problem, x, np.array([5.0, 0.0, 0.0]))
    assert one.held.tolist() == [True, False, True] and one.shift == pytest.approx([4.0, 0, 0.1])


def test_what_a_quadratic_program_may_start_from():
    found = active(
        [2.9, 0.0, 7.0], [5.0, 0.0, -9.0], [3.9, 0.0], [-9.0, 0.0],
        rows=((-1.0, -1.0, 6.9), (3.0, 3.0, 9.0)), bounds=((-2.0,) * 2, (4.0,) * 2),
    )  # fmt: skip
    guess = found.guess()
    assert guess.rows.tolist() == [1.0, 0.0, -1.0] and guess.bounds.tolist() == [1.0, 0.0]
    assert guess.y.tolist() == [0.0] * 3 and guess.rho == 0.0 and not guess.unhindered
    assert active([], [], [0.0], [0.0], rows=((), ())).guess().unhindered


# -- words ----------------------------------------------------------------------------------------


def test_sentences():
    c = certificate(
        gap=0.0213, violation_bound=np.array([0.304, 0.1]), displacement=np.array([0.1, 0.04])
    )
    assert in_words(c, ["demand", "supply"], ["price", "stock"]) == (
        "objective within 0.021 of a local optimum, row demand within 0.3, price within 0.1 (95 %)"
    )
    assert in_words(
        replace(c, violation_bound=np.array([0.1, 5.0]), exact=True), ["a", "b"], ()
    ) == (
        "objective within 0.021 of a local optimum, row b within 5, variable 0 within 0.1 (exactly)"
    )
    flat = replace(c, has_gradient=False, violation_bound=np.zeros(2), confidence=0.985)
    assert in_words(flat, (), ["p", "s"]) == "all rows satisfied, p within 0.1 (98.5 %)"
    free = replace(c, violation_bound=np.zeros(0), row_size=np.zeros(0), row_rounding=np.zeros(0))
    assert in_words(free, (), ["p", "s"]) == (
        "objective within 0.021 of a local optimum, p within 0.1 (95 %)"
    )
    assert "row 0 within 0.3" in in_words(c, (), ())
    assert in_words(replace(c, objective_rounded=0.5), (), ()).endswith(
        "(95 %); rounding kinks off was worth 0.5"
    )
    assert in_words(replace(c, objective_rounded=-0.5), (), ()).endswith("worth -0.5")
    assert "kinks" not in in_words(replace(c, objective_rounded=1e-13), (), ())
    assert "stationary point" in in_words(replace(c, first_order=True), (), ())


def test_cautions():
    assert cautions(certificate()) == []
    said = cautions(certificate(scenarios=600, rare_events=True))
    assert len(said) == 1 and "probability below 0.005 " in said[0]
    assert len(cautions(certificate(saddle=True, heavy_tails=True, spreading=True))) == 3
