"""One suite for every engine: known solutions, known ends, states that survive on paper."""

import json
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

import pyomo_stochsqp.engines as room
from benchmarks.inequalities.deterministic import near
from benchmarks.inequalities.nonconvex_problems import NONCONVEX
from benchmarks.inequalities.sampled_problems import SAMPLED
from pyomo_stochsqp.engines import Accuracy, Ending, FeasibleFirst, Interior, Scales, TrustRegion
from pyomo_stochsqp.engines.interior.interior_point import InteriorPoint
from pyomo_stochsqp.engines.libraries import installed, library
from pyomo_stochsqp.oracle import Jacobian
from pyomo_stochsqp.run.records import packed, unpacked
from tests.engines.programs import (
    ACCURATE,
    FirstOrder,
    Program,
    make,
    of_model,
    quadratic,
    solved,
    solved_quadratic,
    steps,
)
from tests.run.packing import same_bits

OWN = [TrustRegion, Interior, FeasibleFirst]
#: whatever is installed; the test extra brings Uno
FOREIGN = [library(name) for name in installed()]
ENGINES = [*OWN, *FOREIGN]
ALL = pytest.mark.parametrize("kind", ENGINES)
#: (n, equalities, active and inactive inequalities, variables at a bound)
SHAPES = [
    (1, 0, 0, 0, 1), (2, 1, 0, 0, 0), (2, 0, 0, 1, 0), (3, 0, 1, 1, 1), (4, 2, 1, 0, 1),
    (6, 2, 2, 3, 2), (8, 0, 3, 4, 3), (8, 4, 2, 2, 2), (12, 3, 3, 6, 4),
]  # fmt: skip


def test_every_engine_of_the_room_is_tested():
    found = {
        value
        for value in vars(room).values()
        if isinstance(value, type) and hasattr(value, "RECORDS") and hasattr(value, "step")
    }
    assert found - {room.Engine} == set(OWN)
    assert "uno" in installed()
    assert len({engine.name for engine in ENGINES}) == len(ENGINES)


# -- solutions ------------------------------------------------------------------------------------


@ALL
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(4))
def test_convex_quadratic_programs(kind, shape, seed):
    """An interior point relaxes bounds by 1e-8; condition numbers here go up to 1e3, and y follows
    from x with the size of H."""
    nlp, x, y = solved_quadratic(np.random.default_rng([seed, *shape]), *shape)
    last = solved(kind, nlp)
    assert last.ended is Ending.SOLVED
    np.testing.assert_allclose(last.x, x, atol=2e-6)
    np.testing.assert_allclose(last.y, y, atol=1e-4)
    assert last.k <= 60


#: starts from which one engine ends where rows cannot be brought nearer to their bounds; a run
#: then tries the other one
ELSEWHERE = {"trust-region SQP": {"HS63"}, "interior point": {"HS109"}, "uno": {"HS109"}}
COLLECTION = SAMPLED | NONCONVEX


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in ENGINES
        for name in COLLECTION
        if name not in ELSEWHERE.get(kind.name, ())
    ],
)
def test_hock_schittkowski(kind, name):
    entry = COLLECTION[name]
    nlp = of_model(entry.build())
    last = solved(kind, nlp)
    assert last.ended is Ending.SOLVED
    there = nlp.evaluate(last.x)
    assert any(near(there.f, value) for value in (entry.value, *entry.local)) or (
        there.f < entry.value
    )
    terms = Jacobian(nlp.problem).times(np.abs(there.J), np.abs(last.x))
    off = nlp.problem.violation(there.c) / np.maximum(1.0, terms)
    # the 1e-8 by which an interior point relaxes its rows are in units of its own
    assert off.max(initial=0.0) <= (1e-7 if kind is TrustRegion else 1e-5)
    assert (last.x >= nlp.problem.x_lower).all() and (last.x <= nlp.problem.x_upper).all()


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("D", [1e-4, 1e4])
@pytest.mark.parametrize("F", [1e-6, 1e6])
@pytest.mark.parametrize("R", [1e-3, 1e3])
def test_units_do_not_matter(kind, D, F, R):
    """Every second variable in other units, the objective and the rows times a factor.

    An interior point relaxes bounds by 1e-8 in its own units, in which right-hand sides here are
    as small as 1e-5: that leaves 1e-3 of an active row, until a certificate polishes the point; one
    that starts where rows hold already has other units, a few times as coarse.
    """
    H = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
    g, A = np.array([-1.0, 0.5, -2.0]), np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 2.0]])
    units = np.array([D, 1.0, D])
    rows = np.array([0.7, -np.inf]), np.array([0.7, 1.0])
    plain = quadratic(H, g, A, rows, x0=np.ones(3))
    x, y = solved(kind, plain).x, solved(kind, plain).y
    other = quadratic(
        F * H / np.outer(units, units), F * g / units, R * A / units, (R * rows[0], R * rows[1]),
        x0=units,
    )  # fmt: skip
    last = solved(kind, other)
    assert last.ended is Ending.SOLVED
    accuracy = {TrustRegion: 1e-5, Interior: 2e-3, FeasibleFirst: 1e-2}[kind]
    np.testing.assert_allclose(last.x / units, x, atol=accuracy * np.abs(x).max())
    np.testing.assert_allclose(last.y * R / F, y, atol=accuracy * np.abs(y).max())


@ALL
def test_a_nonconvex_program_ends_at_a_minimum(kind):
    """min x1 x2 on the circle |x| = sqrt 2: (1, -1) or (-1, 1), not the saddle it starts near."""

    def functions(x):
        return (
            x[0] * x[1], [x[1], x[0]], [x @ x], [2 * x],
            [[[0, 1], [1, 0]], 2 * np.eye(2)],
        )  # fmt: skip

    last = solved(kind, Program([1.2, 0.9], functions, ([2.0], [2.0])))
    assert last.ended is Ending.SOLVED
    assert last.x[0] * last.x[1] == pytest.approx(-1.0, abs=1e-6)
    assert last.y == pytest.approx([0.5], abs=1e-5)


@ALL
def test_fixed_variables_stay(kind):
    bounds = [3.0, -np.inf], [3.0, np.inf]
    nlp = quadratic(np.eye(2), [0.0, -1.0], [[1.0, 1.0]], ([-np.inf], [3.5]), bounds, [3.0, 0.0])
    last = solved(kind, nlp)
    assert last.ended is Ending.SOLVED
    assert last.x == pytest.approx([3.0, 0.5], abs=1e-6)


# -- other ends -----------------------------------------------------------------------------------


def ends_as(kind, nlp, ending):
    """Libraries may be less sure what they have met, but must not call it solved."""
    ended = solved(kind, nlp).ended
    assert ended is ending or (kind in FOREIGN and ended is not Ending.SOLVED)


@ALL
def test_contradictory_rows_are_infeasible(kind):
    nlp = quadratic(np.eye(2), [0, 0], [[1, 1], [1, 1]], ([1.0, 2.0], [1.0, 2.0]), x0=[1.0, 1.0])
    ends_as(kind, nlp, Ending.INFEASIBLE)


@ALL
def test_a_row_out_of_reach_of_the_bounds_is_infeasible(kind):
    bounds = [0.0, 0.0], [1.0, 1.0]
    nlp = quadratic(np.eye(2), [0, 0], [[1, 1]], ([3.0], [np.inf]), bounds, [0.5, 0.5])
    ends_as(kind, nlp, Ending.INFEASIBLE)


@pytest.mark.parametrize("kind", [TrustRegion, FeasibleFirst])
def test_a_budget_that_is_too_small_for_curved_rows_is_infeasible(kind):
    """2a + 3b <= 300, shortages of N(80, 20^2) and N(65, 20^2) below 8: both need more.

    In units of their gradients the budget and a shortage pull equally hard everywhere, so that
    steps exchange one violation for another and the radius stays small.
    """
    mean = np.array([80.0, 65.0])

    def functions(x):
        z = (x - mean) / 20.0
        short = 5.0 * (20.0 * (norm.pdf(z) - z * norm.sf(z)))
        slope, curve = -5.0 * norm.sf(z), 5.0 * norm.pdf(z) / 20.0
        cost = np.array([2.0, 3.0])
        H = [np.diag(curve), np.zeros((2, 2)), np.diag(curve * [1, 0]), np.diag(curve * [0, 1])]
        rows = [cost @ x, *short]
        return cost @ x + short.sum(), cost + slope, rows, [cost, *np.diag(slope)], H

    limits = [-np.inf] * 3, [300.0, 40.0, 40.0]
    nlp = Program([50.0, 50.0], functions, limits, ([0, 0], [200, 200]))
    ends_as(kind, nlp, Ending.INFEASIBLE)


@ALL
@pytest.mark.parametrize("rows", [None, [[1.0, 1.0]]])
def test_a_linear_descent_is_unbounded(kind, rows):
    limits = ((), ()) if rows is None else ([1.0], [1.0])
    nlp = quadratic(np.zeros((2, 2)), [1.0, -1.0], rows, limits, x0=[1.0, 1.0])
    ends_as(kind, nlp, Ending.UNBOUNDED)


@ALL
def test_a_curved_descent_is_unbounded(kind):
    nlp = quadratic(-np.eye(2), [0.1, 0.0], bounds=([0, 0], [np.inf, np.inf]), x0=[1.0, 1.0])
    ends_as(kind, nlp, Ending.UNBOUNDED)


@ALL
def test_an_undefined_start_says_so(kind):
    nlp = Program([-1.0], lambda x: (0.0, [0.0], [], [], [[[0.0]]]), domain=lambda x: x[0] > 0)
    assert solved(kind, nlp).ended is Ending.UNDEFINED


@ALL
def test_steps_stay_where_functions_are_defined(kind):
    """min x - 10 log x from 200: a long step would leave the domain."""

    def functions(x):
        return x[0] - 10 * np.log(x[0]), [1 - 10 / x[0]], [], [], [[[10 / x[0] ** 2]]]

    for start in (200.0, 0.01):
        last = solved(kind, Program([start], functions, domain=lambda x: x[0] > 0))
        assert last.ended is Ending.SOLVED
        assert last.x == pytest.approx([10.0], rel=1e-5)


# -- what a run asks of them ----------------------------------------------------------------------


@ALL
def test_relaxed_rows_are_solved_as_relaxed(kind):
    """x >= 1 and x <= 0 moved apart by 0.6: x in [0.4, 0.6], and the objective pulls down."""
    nlp = quadratic([[0.0]], [1.0], [[1.0], [1.0]], ([1.0, -np.inf], [np.inf, 0.0]), x0=[0.5])
    ends_as(kind, nlp, Ending.INFEASIBLE)
    last = solved(kind, nlp, relaxed=[0.6, 0.6])
    assert last.ended is Ending.SOLVED
    assert last.x == pytest.approx([0.4], abs=1e-6)


@ALL
def test_an_equality_can_be_relaxed(kind):
    nlp = quadratic(np.eye(2), [0.0, 0.0], [[1.0, 0.0]], ([2.0], [2.0]), x0=[1.0, 1.0])
    last = solved(kind, nlp, relaxed=[0.5])
    assert last.ended is Ending.SOLVED
    assert last.x == pytest.approx([1.5, 0.0], abs=1e-6)
    assert last.y == pytest.approx([-1.5], abs=1e-5)


@pytest.mark.parametrize(("kind", "most"), [(TrustRegion, 1), (Interior, 14), (FeasibleFirst, 30)])
def test_a_start_at_the_solution_stays_there(kind, most):
    """An interior point has to come back from the inside of its bounds."""
    nlp, x, y = solved_quadratic(np.random.default_rng(7), 8, 2, 3, 2, 3)
    last = solved(kind, nlp, x, y)
    assert last.ended is Ending.SOLVED
    assert last.k <= most
    np.testing.assert_allclose(last.x, x, atol=2e-6)


@ALL
def test_less_accuracy_takes_no_more_iterations(kind):
    nlp, x, _ = solved_quadratic(np.random.default_rng(3), 8, 2, 3, 2, 3)
    fine = solved(kind, nlp)
    coarse = solved(kind, nlp, accuracy=Accuracy(1e-2, 1e-4))
    assert coarse.ended is Ending.SOLVED
    assert coarse.k <= fine.k
    assert np.abs(coarse.x - x).max() <= 0.05


@ALL
def test_a_state_tells_objective_violation_and_step(kind):
    nlp, *_ = solved_quadratic(np.random.default_rng(4), 6, 1, 1, 1, 1)
    engine = make(kind, nlp)
    states = list(steps(engine, nlp.problem.x0, np.zeros(nlp.problem.m)))
    assert [s.k for s in states] == list(range(len(states)))
    for before, state in pairwise(states):
        # of the point that was left or of the one that was reached, by engine
        known = [nlp.evaluate(x).f for x in (before.x, state.x)]
        assert np.abs(np.array(known) - state.objective).min() <= 1e-6 * max(1.0, *map(abs, known))
        assert state.violation >= 0.0
        assert state.step >= 0.0 or state.ended is not None


@ALL
def test_violations_are_in_the_units_of_the_rows(kind):
    """Of the point that was left or of the one that was reached; the start misses by 2e6."""
    nlp = quadratic(np.eye(2), [-1.0, -2.0], [[3e6, 1e6]], ([2e6], [2e6]))
    first = next(s for s in steps(make(kind, nlp), nlp.problem.x0, np.zeros(1)) if s.k == 1)
    reached = float(nlp.problem.violation(nlp.evaluate(first.x).c)[0])
    assert first.violation in (pytest.approx(2e6), pytest.approx(reached, abs=1.0))


def wild():
    """Undefined far away, curved rows, no feasible linearisation at the start: restoration."""

    def functions(x):
        c = [x[0] ** 2 - x[1] - 1.0, x[0] - x[2] - 0.5]
        J = [[2 * x[0], -1.0, 0.0], [1.0, 0.0, -1.0]]
        one = np.zeros((3, 3))
        one[0, 0] = 2.0
        return x[0], [1.0, 0.0, 0.0], c, J, [np.zeros((3, 3)), one, np.zeros((3, 3))]

    # Waechter and Biegler's example, on which line searches without restoration fail
    bounds = [-np.inf, 0.0, 0.0], [np.inf] * 3
    return Program([-2.0, 3.0, 1.0], functions, ([0.0, 0.0], [0.0, 0.0]), bounds)


def inequalities():
    return of_model(SAMPLED["HS113"].build())


def hs93():
    return of_model(NONCONVEX["HS93"].build())


def first_order():
    return quadratic(np.diag([1.0, 10.0, 100.0]), [1, -1, 2], [[1, 1, 1]], ([1.0], [2.0]),
                     x0=[1.0, 1.0, 1.0], kind=FirstOrder)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "build"),
    [(kind, build) for kind in ENGINES for build in (wild, inequalities, hs93)]
    + [(TrustRegion, first_order)],
)
def test_a_run_continues_bit_for_bit_from_a_state_on_paper(kind, build):
    """After every step the state becomes text and arrays, and a new engine takes over."""
    nlp = build()
    x, y = nlp.problem.x0, np.zeros(nlp.problem.m)
    whole = list(steps(make(kind, nlp), x, y))
    assert len(whole) > 3
    state = make(kind, nlp).start(x, y)
    for expected in whole:
        assert same_bits(state, expected)
        arrays = []
        text = json.dumps(packed(state, arrays))
        state = unpacked(json.loads(text), [a.copy() for a in arrays], [*kind.RECORDS, Ending])
        if state.ended is None:
            state = make(kind, build()).step(state)


def test_the_interior_point_needs_its_restoration_there():
    """Otherwise the test above would not see one."""
    nlp = wild()
    states = list(steps(make(Interior, nlp), nlp.problem.x0, np.zeros(2)))
    assert any(state.inner.inner is not None for state in states)
    assert states[-1].ended is Ending.SOLVED
    assert states[-1].x == pytest.approx([1.0, 0.0, 0.5], abs=1e-6)


def test_limits_on_iterations_are_an_end():
    nlp = inequalities()
    x, y = nlp.problem.x0, np.zeros(nlp.problem.m)
    engine = TrustRegion(nlp, ACCURATE, Scales(np.abs(x), 1.0), max_iterations=2)
    *_, last = steps(engine, x, y)
    assert last.ended is Ending.LIMIT and last.k == 2
    method = InteriorPoint(nlp, 1e-9, max_iterations=2)
    state = method.start(x)
    while state.ended is None:
        state = method.step(state)
    assert state.ended is Ending.LIMIT and state.k == 3
