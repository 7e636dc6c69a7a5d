"""Where the solution is: what is active, what may be, and what to do without full information."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certifier, Look, Sizes
from pyomo_stochsqp.certify.located import Located, Locator
from pyomo_stochsqp.oracle import Problem
from tests.certify.independent import Values, expected, newton, student
from tests.certify.oracles import exact
from tests.certify.test_against_independent import certified, compared, program
from tests.certify.test_certificate import Certain
from tests.engines.programs import quadratic


@pytest.fixture
def sparse(monkeypatch):
    """All certificates by sparse matrices."""
    monkeypatch.setattr(Locator, "located", lambda self, nlp, at: self._sparse.located(nlp, at))


# -- full matrices: active or not? ----------------------------------------------------------------


def values_of(oracle, x, samples):
    return [Values(oracle, oracle.estimate(x, s, True)) for s in samples]


def the_worse_of(first, second):
    """Bounds are the larger ones of two; all else is the first's."""
    bounds = ("displacement", "gap", "gap_noise", "gap_along", "gap_along_noise")
    return first | {name: np.maximum(first[name], second[name]) for name in bounds}


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_row_that_may_be_active_is_taken_both_ways(upper, factor):
    """Its slack after the step against its noise, Student's t for all rows at once."""
    oracle, x, y, active, held = program(1)
    samples = [oracle.draw(1, r, [64]) for r in range(20)]
    found = values_of(oracle, x, samples)
    c, J = (np.mean([getattr(v, name) for v in found], axis=0) for name in ("c", "J"))
    steps, *_ = newton(y, oracle.lagrangian_hessian(y), J, found, active, held)
    noise = np.std([v.c[3] for v in found], ddof=1) / np.sqrt(20)
    slack = factor * student(0.95, 20, 4) * noise
    after = float(c[3] + J[3] @ steps.mean(axis=0))
    low, high = oracle.problem.row_lower.copy(), oracle.problem.row_upper.copy()
    if upper:
        high[3] = after + slack
    else:
        low[3] = after - slack
    oracle.problem = replace(oracle.problem, row_lower=low, row_upper=high)
    made, samples, look = certified(oracle, x, y, 20)
    wanted = expected(oracle, x, y, samples, look, active, held)
    if factor < 1.0:
        target = high[3] if upper else low[3]
        # with multipliers of the first: the step does not depend on them, but for their noise
        second = widened(oracle, wanted["y"], x, samples, look, active | {3: target}, held)
        wanted = the_worse_of(wanted, second)
    compared(made, wanted)


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_bound_that_may_be_inactive_is_taken_both_ways(side, factor):
    oracle, x, y, active, held = program(2)
    if side < 0:  # at its upper bound, instead of the lower one
        bounds = oracle.problem.x_lower.copy(), oracle.problem.x_upper.copy()
        bounds[0][0], bounds[1][0] = -9.0, 2.02
        oracle.problem = replace(oracle.problem, x_lower=bounds[0], x_upper=bounds[1])
        held = {0: 2.02 - x[0]}
    samples = [oracle.draw(1, r, [64]) for r in range(20)]

    def look_at():
        found = values_of(oracle, x, samples)
        g, J = (np.mean([getattr(v, name) for v in found], axis=0) for name in ("g", "J"))
        M = oracle.lagrangian_hessian(y)
        steps, dy, *_ = newton(y, M, J, found, active, held)
        slope = g + J.T @ (y + dy) + M @ steps.mean(axis=0)
        noise = np.std([(v.g + v.J.T @ (y + dy))[0] for v in found], ddof=1) / np.sqrt(20)
        return slope[0], noise

    pull, noise = look_at()
    oracle.g[0] += side * factor * student(0.95, 20, 5) * noise - pull
    made, samples, look = certified(oracle, x, y, 20)
    wanted = expected(oracle, x, y, samples, look, active, held)
    if factor < 1.0:
        wanted = the_worse_of(wanted, widened(oracle, wanted["y"], x, samples, look, active, {}))
    compared(made, wanted)


def widened(oracle, y, x, samples, look, active, held):
    """The bounds with other active rows and bounds, at the multipliers of the first step."""
    fixed = FixedCurvature(oracle, program_y=oracle.lagrangian_hessian(_given(look)))
    return expected(fixed, x, y, samples, look, active, held, multipliers=y)


def _given(look):
    return np.array([0.7, 0.4, -2.0, 0.0])


class FixedCurvature:
    """An oracle whose Lagrangian has the Hessian of other multipliers."""

    def __init__(self, oracle, program_y):
        self._oracle, self._M = oracle, program_y

    def __getattr__(self, name):
        return getattr(self._oracle, name)

    def lagrangian_hessian(self, y):
        return self._M


@pytest.mark.parametrize("by_sparse", [False, True])
def test_relaxed_rows_are_met_at_their_relaxed_bounds(monkeypatch, by_sparse):
    if by_sparse:
        monkeypatch.setattr(Locator, "located", lambda self, nlp, at: self._sparse.located(nlp, at))
    oracle, x, y, active, held = program(3)
    samples = [oracle.draw(1, r, [64]) for r in range(20)]
    relaxed = np.array([0.05, 0.2, 0.02, 0.0])
    look = Look(0, Sizes.none(oracle.problem), 0.95, relaxed=relaxed)
    made, _ = Certifier(oracle).certify(x, y, samples, samples[:1], look)
    targets = {0: active[0] + 0.05, 1: active[1] + 0.2, 2: active[2] - 0.02}
    compared(made, expected(oracle, x, y, samples, look, targets, held, sparse=by_sparse))


def test_multipliers_where_the_rows_alone_hold_the_curvature():
    """x1 = 1 against -5/2 x1^2: the subproblem adds curvature along the row, which its multiplier
    must not show."""
    H, g = np.diag([-5.0, 2.0, 1.0]), [0.4, -0.6, 0.1]
    A = np.array([[2.0, 0.3, 0.0], [0.0, 1.0, 1.0]])
    for row in (0.0, 0.7):
        rows = [[2.0, -9.0], [2.0, 9.0]]
        oracle = Certain(quadratic(H, g, A, rows))
        x = np.array([1.0, 0.2, -row])
        c = exact(oracle, x, [1.3, 0.0])
        K = np.block([[H, A[:1].T], [A[:1], np.zeros((1, 1))]])
        solution = np.linalg.solve(K, [-0.4, 0.6, -0.1, 2.0])
        assert x + c.move == pytest.approx(solution[:3], abs=1e-9)
        assert c.y == pytest.approx([solution[3], 0.0], abs=1e-9)
        assert not c.saddle


def test_multipliers_of_inequalities_keep_their_sign():
    """x1 <= 1 against -1/2 x1^2 + ...: what was added may be taken off only as far as the
    multiplier stays that of a row at its upper bound."""
    for slope in (-3.0, -0.5):
        program = quadratic(
            np.diag([-5.0, 2.0]), [slope, 0.0], [[1.0, 0.1]], ([-np.inf], [1.0]),
            ([-1e6, -1e6], [1e6, 1e6]),
        )  # fmt: skip
        c = exact(Certain(program), [0.99, 0.0], [3.0])
        assert c.y[0] >= 0.0


# -- full or sparse -------------------------------------------------------------------------------


class Asked:
    """Stands for a way to locate; remembers that it was asked."""

    def __init__(self, log, name, found):
        self._log, self._name, self._found = log, name, found

    def located(self, nlp, at):
        self._log.append(self._name)
        return self._found


def way(first_order=False, gap=0.0, bound=0.0):
    place = SimpleNamespace(gap=gap, bound=np.array([bound, 0.0]))
    return Located(np.zeros(0), place, None, None, None, first_order)


def asked(n, count=10, second_order=True, entries=0, sparse=None, full=True):
    """Who is asked, in order, for a problem of n variables; who answers."""
    problem = Problem.equalities(np.zeros(n), 0)
    locator, log = Locator(problem), []
    answers = {"sparse": sparse or way(), "full": way() if full else None}
    locator._sparse = Asked(log, "sparse", answers["sparse"])
    if locator._full is not None:
        locator._full = Asked(log, "full", answers["full"])
    pattern = np.zeros(n + 1, dtype=int), np.zeros(entries, dtype=int)
    nlp = SimpleNamespace(
        problem=problem, second_order=second_order, hessian_pattern=lambda: pattern
    )
    at = SimpleNamespace(values=SimpleNamespace(count=count), size=2.0, length=np.array([3.0, 1.0]))
    found = locator.located(nlp, at)
    return log, next(k for k, v in answers.items() if v is found)


def test_few_variables_have_full_matrices():
    assert asked(60) == (["full"], "full")
    assert asked(60, full=False) == (["full", "sparse"], "sparse")
    # exact values are looked at with the engine's multipliers first, if there is nothing to gain
    for gap, bound, solution in (
        (0.0, 0.0, True), (1.9e-4, 2.9e-4, True), (2.1e-4, 0.0, False), (0.0, 3.1e-4, False),
    ):  # fmt: skip
        found = asked(60, count=1, sparse=way(gap=gap, bound=bound))
        assert found == ((["sparse"], "sparse") if solution else (["sparse", "full"], "full"))
    assert asked(60, count=1, sparse=way(True)) == (["sparse", "full"], "full")
    assert asked(60, 1, sparse=way(True), full=False) == (["sparse", "full"], "sparse")


def test_many_variables_have_sparse_ones():
    assert asked(61) == (["sparse"], "sparse")
    assert asked(61, count=1, sparse=way(gap=9.0)) == (["sparse"], "sparse")
    assert asked(300, sparse=way(True)) == (["sparse", "full"], "full")
    assert asked(301, sparse=way(True)) == (["sparse"], "sparse")
    assert asked(61, sparse=way(True), full=False) == (["sparse", "full"], "sparse")


def test_many_variables_with_much_stored():
    """More than a fifth of the matrix of KKT conditions, or differences of gradients."""
    least = int(0.2 * 61**2 / 2)
    assert asked(61, entries=least) == (["sparse"], "sparse")
    assert asked(61, entries=least + 1) == (["full"], "full")
    assert asked(61, second_order=False) == (["full"], "full")


# -- sparse matrices ------------------------------------------------------------------------------


def test_multipliers_of_rows_without_that_bound_are_dropped(sparse):
    program = quadratic(np.eye(2), [-4.0, 0.0], [[1.0, 0.0]], ([-np.inf], [9.0]))
    c = exact(Certain(program), [1.0, 0.0], [-2.0])
    assert c.y == pytest.approx([0.0]) and c.move == pytest.approx([3.0, 0.0])


def test_multipliers_keep_the_sign_of_their_bound(sparse):
    """After the step this one would be -1: the row was not active after all, and says so by the
    gap that it leaves."""
    program = quadratic(np.eye(2), [-1.0, 0.0], [[1.0, 0.0]], ([-5.0], [2.0]))
    c = exact(Certain(program), [2.0, 0.0], [0.5])
    assert c.move == pytest.approx([0.0, 0.0])
    assert c.y == pytest.approx([0.5])
    # its multiplier -1 over the size of the row
    assert c.gap == pytest.approx(1.0 * c.row_size[0])
    equality = quadratic(np.eye(2), [-1.0, 0.0], [[1.0, 0.0]], ([2.0], [2.0]))
    c = exact(Certain(equality), [2.0, 0.0], [0.5])
    assert c.y == pytest.approx([-1.0]) and c.gap == pytest.approx(0.0, abs=1e-12)


def test_a_variable_that_is_pulled_off_its_bound_counts_over_its_length(sparse):
    """x1 >= 0 is held by the multiplier 2 of the row, which is -1 after the step: x1 wants up."""
    program = quadratic(
        np.diag([0.0, 1.0]), [1.0, -1.0], [[2.0, 1.0]], ([1.0], [1.0]), ([0.0, -9.0], [9.0, 9.0])
    )
    c = exact(Certain(program), [0.0, 1.0], [2.0])
    # y after the step is 0, the slope of x1 then 1: right to be held
    assert c.y == pytest.approx([0.0], abs=1e-12) and c.gap == pytest.approx(0.0, abs=1e-12)
    program = quadratic(
        np.diag([0.0, 1.0]), [-1.0, -1.0], [[2.0, 1.0]], ([1.0], [1.0]), ([0.0, -9.0], [9.0, 9.0])
    )
    c = exact(Certain(program), [0.0, 1.0], [2.0])
    # slope -1 over a natural length: a tenth of the 1/2 that would make up the row
    assert c.gap == pytest.approx(0.05)
    # a variable that has no choice is not pulled
    fixed = quadratic(
        np.diag([0.0, 1.0]), [-1.0, -1.0], [[2.0, 1.0]], ([1.0], [1.0]), ([0.0, -9.0], [0.0, 9.0])
    )
    assert exact(Certain(fixed), [0.0, 1.0], [2.0]).gap == pytest.approx(0.0, abs=1e-12)


def test_multipliers_of_rows_with_slack_count_by_their_slack(sparse):
    """y = 1e-3 at a distance of 3 from the upper bound: 3e-3 of the gap."""
    program = quadratic(np.eye(2), [0.0, 0.0], [[1.0, 1.0]], ([-7.0], [5.0]))
    c = exact(Certain(program), [1.0, 1.0], [1e-3])
    assert c.gap - c.gap_along == pytest.approx(0.0, abs=1e-15)
    assert c.gap == pytest.approx(1.001**2 + 3e-3)
    c = exact(Certain(program), [1.0, 1.0], [-1e-3])
    assert c.gap == pytest.approx(0.999**2 + 9e-3)


def test_a_step_that_leaves_the_bounds_is_made_again(sparse):
    """Newton's step takes x2 to -1, but it must stay at 0, where x1 = 4 instead of 3."""
    H, g = np.array([[1.0, 1.0], [1.0, 2.0]]), [-4.0, -3.0]
    for low, high, to in (([-9, 0], [9, 9], [4.0, 0.0]), ([-9, -9], [4.5, 9], [4.5, -0.75])):
        program = quadratic(H, g, bounds=(low, high))
        c = exact(Certain(program), [4.0, 0.5], [])
        assert np.array([4.0, 0.5]) + c.move == pytest.approx(to)
        y = g + H @ (np.array([4.0, 0.5]) + c.move)
        assert np.abs(y).min() == pytest.approx(0.0, abs=1e-9)


def test_flat_directions_go_as_far_as_their_slope_allows(sparse):
    """Curvature of 1e-6 in natural units takes the place of none."""
    program = quadratic(np.diag([1.0, 0.0]), [0.0, 1e-9])
    c = exact(Certain(program), [2.0, 3.0], [])
    natural = c.objective_size / 9.0
    assert c.flat == 1 and not c.first_order
    assert c.move == pytest.approx([-2.0, -1e-9 / (1e-6 * natural)], rel=1e-5)
    assert exact(Certain(quadratic(np.eye(2), [0.0, 1e-9])), [2.0, 3.0], []).flat == 0


def test_negative_curvature_leaves_first_order_conditions(sparse):
    """The scaled gradient, along the rows."""
    H, A = np.diag([1.0, -1.0, 1.0]), np.array([[1.0, 0.0, 1.0]])
    x = np.array([2.0, 3.0, 1.0])
    oracle = Certain(quadratic(H, np.zeros(3), A, ([3.5], [3.5])))
    c = exact(oracle, x, [0.25])
    assert c.first_order and not c.saddle
    D = np.diag(c.objective_size / x**2)
    K = np.block([[D, A.T], [A, np.zeros((1, 1))]])
    d = np.linalg.solve(K, -np.concatenate((H @ x + 0.25 * A[0], [A[0] @ x - 3.5])))
    assert c.move == pytest.approx(d[:3]) and c.y == pytest.approx([0.25 + d[3]])
    assert c.gap_along == pytest.approx(0.5 * d[:3] @ D @ d[:3])


def test_dependent_rows(sparse):
    """Twice the same row, once twice as large: solved with a little slack, and flat."""
    program = quadratic(np.eye(2), [0.0, 0.0], [[1.0, 1.0], [2.0, 2.0]], ([2.0, 4.0], [2.0, 4.0]))
    c = exact(Certain(program), [0.9, 0.7], [-0.2, -0.3])
    assert np.array([0.9, 0.7]) + c.move == pytest.approx([1.0, 1.0], abs=1e-5)
    assert c.flat == 1 and c.y @ [1.0, 2.0] == pytest.approx(-1.0, abs=1e-5)


def test_without_second_derivatives_the_scaled_gradient_remains(sparse):
    program = quadratic(np.eye(2), [0.0, -2.0], [[1.0, 0.0]], ([1.0], [1.0]))
    certain = Certain(program)
    oracle = SimpleNamespace(
        problem=program.problem, sources=(), draw=certain.draw, estimate=certain.estimate
    )
    c = exact(oracle, [1.0, 1.0], [0.0])
    assert c.first_order
    assert c.move == pytest.approx([0.0, 1.0 / c.objective_size])
