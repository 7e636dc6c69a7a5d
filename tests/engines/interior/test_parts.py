"""Barrier, linear systems, restoration and scaling of the interior point, each by itself."""

import numpy as np
import pytest

from benchmarks.inequalities.nonconvex_problems import NONCONVEX
from pyomo_stochsqp.engines import Ending
from pyomo_stochsqp.engines.interior.barrier import RELAXATION, Barrier
from pyomo_stochsqp.engines.interior.interior_point import InteriorPoint
from pyomo_stochsqp.engines.interior.newton_system import NewtonSystem, with_diagonal
from pyomo_stochsqp.engines.interior.restoration import Restoration
from pyomo_stochsqp.engines.interior.scaled_program import Factors, ScaledProgram, automatic
from tests.engines.programs import Program, of_model, quadratic, solved_quadratic


def problem_of_all_kinds():
    """Bounds on both sides, on one, on none, a held variable; equality, range, one-sided rows."""
    bounds = [0.0, -np.inf, -1.0, -np.inf, 2.0], [1.0, 3.0, np.inf, np.inf, 2.0]
    rows = [1.0, -1.0, -np.inf], [1.0, 1.0, 4.0]
    A = np.arange(15.0).reshape(3, 5) / 7 - 1.0
    x0 = [0.3, 0.5, 0.1, -0.2, 2.0]
    return quadratic(np.diag(np.arange(1.0, 6.0)), np.ones(5), A, rows, bounds, x0)


def inside_point(nlp, barrier):
    x = nlp.problem.x0
    return barrier.inside(barrier.with_slacks(x, nlp.evaluate(x)))


# -- barrier --------------------------------------------------------------------------------------


def test_bounds_are_relaxed_by_a_hundred_millionth():
    barrier = Barrier(problem_of_all_kinds().problem)
    assert barrier.lower[0] == -RELAXATION and barrier.upper[1] == 3.0 * (1 + RELAXATION)
    assert barrier.lower[5] == -1.0 - RELAXATION  # the slack of the range row
    assert barrier.held.tolist() == [False, False, False, False, True, False, False]
    assert not np.isfinite(barrier.lower[4])  # held, not bounded


def test_the_barrier_has_its_own_gradient():
    nlp = problem_of_all_kinds()
    barrier, mu = Barrier(nlp.problem), 0.1
    v = inside_point(nlp, barrier)
    low, high = barrier.lower, barrier.upper

    def value(v):
        return barrier.value(nlp.evaluate(v[:5]), v, mu, low, high)

    gradient = barrier.gradient(nlp.evaluate(v[:5]), v, mu, low, high)
    for j in range(v.size):
        step = np.zeros(v.size)
        step[j] = 1e-6
        slope = (value(v + step) - value(v - step)) / 2e-6
        assert gradient[j] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_outside_of_the_bounds_it_is_infinite():
    nlp = problem_of_all_kinds()
    barrier = Barrier(nlp.problem)
    v = inside_point(nlp, barrier)
    v[0] = 1.5
    assert barrier.value(nlp.evaluate(v[:5]), v, 0.1, barrier.lower, barrier.upper) == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_the_start_is_moved_inside(seed):
    nlp = problem_of_all_kinds()
    barrier = Barrier(nlp.problem)
    v = barrier.inside(10.0 * np.random.default_rng(seed).standard_normal(barrier.size))
    free = ~barrier.held
    assert (v > barrier.lower)[free].all() and (v < barrier.upper)[free].all()
    # a hundredth of the width of two bounds, where there are two
    assert v[0] >= 0.0099 and v[0] <= 0.9901


def test_residuals_are_rows_minus_targets():
    nlp = problem_of_all_kinds()
    barrier = Barrier(nlp.problem)
    estimate = nlp.evaluate(nlp.problem.x0)
    v = np.concatenate((nlp.problem.x0, [0.5, 2.0]))
    h = barrier.residual(estimate, v)
    np.testing.assert_allclose(h, estimate.c - [1.0, 0.5, 2.0])
    y = np.array([1.0, -2.0, 3.0])
    pull = barrier.pull(estimate, y)
    for j in range(7):
        step = np.zeros(7)
        step[j] = 1e-6
        there = barrier.residual(nlp.evaluate((v + step)[:5]), v + step)
        assert pull[j] == pytest.approx(y @ (there - h) / 1e-6, abs=1e-6)


# -- linear systems -------------------------------------------------------------------------------


def direction_of(nlp, W, mu=0.1, sigma=None):
    barrier = Barrier(nlp.problem)
    system = NewtonSystem(nlp, barrier)
    v = inside_point(nlp, barrier)
    estimate = nlp.evaluate(v[: barrier.n])
    system.set_point(W, estimate.J)
    r = barrier.gradient(estimate, v, mu, barrier.lower, barrier.upper)
    h = barrier.residual(estimate, v)
    sigma = np.full(barrier.size, 0.5) if sigma is None else sigma
    return barrier, estimate, r, h, sigma, system.direction(r, h, sigma, mu, 0.0)


def test_the_direction_solves_the_whole_system():
    """Slacks are eliminated by hand; here they are not."""
    nlp = problem_of_all_kinds()
    W = nlp.hessian(nlp.problem.x0, np.zeros(3))
    barrier, estimate, r, h, sigma, found = direction_of(nlp, W)
    n, size, m = 5, barrier.size, 3
    assert found.shift == 0.0
    K = np.zeros((size + m, size + m))
    K[:n, :n] = np.diag(np.arange(1.0, 6.0))
    K[:size, :size] += np.diag(sigma)
    K[size:, :n] = estimate.J.reshape(m, n)
    K[size + 1, n], K[size + 2, n + 1] = -1.0, -1.0
    K[:size, size:] = K[size:, :size].T
    free = np.array([0, 1, 2, 3, 5, 6, 7, 8, 9])
    expected = np.zeros(size + m)
    right = -np.concatenate((r, h))
    expected[free] = np.linalg.solve(K[np.ix_(free, free)], right[free])
    np.testing.assert_allclose(found.dv, expected[:size], atol=1e-9)
    np.testing.assert_allclose(found.dy, expected[size:], atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_negative_curvature_is_shifted_away(seed):
    """The step is one of descent for the barrier where the rows hold."""
    rng = np.random.default_rng(seed)
    nlp = quadratic(np.eye(4), np.ones(4), rng.standard_normal((2, 4)), ([0, 0], [0, 0]))
    M = rng.standard_normal((4, 4))
    M = M + M.T - 3.0 * np.eye(4)
    columns, rows = np.tril_indices(4)
    barrier = Barrier(nlp.problem)
    system = NewtonSystem(nlp, barrier)
    x = np.zeros(4)
    estimate = nlp.evaluate(x)
    system.set_point(M[rows, columns], estimate.J)
    r = estimate.g
    found = system.direction(r, np.zeros(2), np.zeros(4), 0.1, 0.0)
    assert found.shift > 0.0
    assert r @ found.dv < 0.0
    np.testing.assert_allclose(estimate.J.reshape(2, 4) @ found.dv, 0.0, atol=1e-8)
    Z = np.linalg.svd(estimate.J.reshape(2, 4))[2][2:].T
    assert np.linalg.eigvalsh(Z.T @ (M + found.shift * np.eye(4)) @ Z)[0] > 0.0


def test_dependent_rows_are_regularised():
    A = np.array([[1.0, 1.0], [2.0, 2.0]])
    nlp = quadratic(np.eye(2), [1.0, 0.0], A, ([1.0, 2.0], [1.0, 2.0]))
    barrier = Barrier(nlp.problem)
    system = NewtonSystem(nlp, barrier)
    estimate = nlp.evaluate(np.zeros(2))
    system.set_point(np.array([1.0, 0.0, 1.0]), estimate.J)
    h = barrier.residual(estimate, np.zeros(2))
    found = system.direction(estimate.g, h, np.zeros(2), 0.1, 0.0)
    # on the line x1 + x2 = 1, nearest to the minimum of the objective
    np.testing.assert_allclose(found.dv, [0.0, 1.0], atol=1e-6)


def test_least_squares_multipliers():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((2, 5))
    nlp = quadratic(np.eye(5), rng.standard_normal(5), A, ([0, 0], [0, 0]))
    estimate = nlp.evaluate(np.ones(5))
    system = NewtonSystem(nlp, Barrier(nlp.problem))
    y = system.least_squares_multipliers(estimate.g, estimate.J)
    np.testing.assert_allclose(y, np.linalg.lstsq(A.T, -estimate.g, rcond=None)[0], atol=1e-9)


def test_a_triangle_gets_its_whole_diagonal():
    """Columns 0..2 with the entries (0,0), (0,2): the diagonal of 1 and 2 is missing."""
    slots, indptr, rows = with_diagonal(np.array([0, 1, 1, 2]), np.array([0, 0]), 3)
    assert indptr.tolist() == [0, 1, 2, 4]
    assert rows.tolist() == [0, 1, 0, 2]
    assert slots.tolist() == [0, 2]


# -- restoration ----------------------------------------------------------------------------------


def curved():
    def functions(x):
        c = [x[0] ** 2 + x[1], x[0] * x[1]]
        J = [[2 * x[0], 1.0], [x[1], x[0]]]
        H = [np.eye(2), [[2, 0], [0, 0]], [[0, 1], [1, 0]]]
        return 0.5 * x @ x, x, c, J, H

    return Program([1.0, 2.0], functions, ([5.0, -np.inf], [5.0, 1.0]))


def test_the_program_of_restoration_has_its_own_derivatives():
    nlp = curved()
    program = Restoration(nlp, nlp.problem.x0, 0.1)
    n = program.problem.n
    assert n == 6
    rng = np.random.default_rng(0)
    v, y = program.problem.x0 + 0.1 * rng.random(n), np.array([0.7, -0.3])
    here = program.evaluate(v)
    rows = np.repeat(np.arange(2), np.diff(program.problem.jac_indptr))
    J = np.zeros((2, n))
    J[rows, program.problem.jac_indices] = here.J
    indptr, hess_rows = program.hessian_pattern()
    columns = np.repeat(np.arange(n), np.diff(indptr))
    H = np.zeros((n, n))
    H[hess_rows, columns] = H[columns, hess_rows] = program.hessian(v, y)

    def lagrangian(v):
        e = program.evaluate(v)
        full = np.zeros((2, n))
        full[rows, program.problem.jac_indices] = e.J
        return e.g + full.T @ y

    for j in range(n):
        step = np.zeros(n)
        step[j] = 1e-6
        up, down = program.evaluate(v + step), program.evaluate(v - step)
        assert here.g[j] == pytest.approx((up.f - down.f) / 2e-6, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(J[:, j], (up.c - down.c) / 2e-6, atol=1e-7)
        change = (lagrangian(v + step) - lagrangian(v - step)) / 2e-6
        np.testing.assert_allclose(H[:, j], change, atol=1e-6)


def test_its_start_is_inside_and_satisfies_the_rows():
    nlp = curved()
    program = Restoration(nlp, nlp.problem.x0, 0.1)
    start = program.problem.x0
    assert (start[2:] > 0.0).all()
    assert program.problem.violation(program.evaluate(start).c).max() <= 1e-7


def test_its_solution_is_as_feasible_as_possible():
    """x1 + x2 = 3 in the unit box: (1, 1), with one missing."""
    nlp = quadratic(np.eye(2), [0, 0], [[1, 1]], ([3.0], [3.0]), ([0, 0], [1, 1]), [0.5, 0.2])
    program = Restoration(nlp, nlp.problem.x0, 1e-4)
    method = InteriorPoint(program, 1e-8, nested=True)
    state = method.start(program.problem.x0, mu=1e-4)
    while state.ended is None:
        state = method.step(state)
    assert state.ended is Ending.SOLVED
    np.testing.assert_allclose(state.v[:2], [1.0, 1.0], atol=1e-6)
    assert state.v[3] == pytest.approx(1.0, abs=1e-5)


# -- units ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_scaled_program_is_the_same_program(seed):
    rng = np.random.default_rng(seed)
    nlp, *_ = solved_quadratic(rng, 4, 1, 1, 1, 1)
    D = 10.0 ** rng.uniform(-3, 3, 4)
    factors = Factors(10.0 ** rng.uniform(-2, 2, 3), 0.01, D)
    scaled = ScaledProgram(nlp, factors)
    x, y = rng.standard_normal(4), rng.standard_normal(3)
    z = x / factors.variables
    there, here = scaled.evaluate(z), nlp.evaluate(x)
    D, r, s = factors.variables, factors.rows, factors.objective
    assert there.f == pytest.approx(s * here.f)
    np.testing.assert_allclose(there.g, s * D * here.g)
    np.testing.assert_allclose(there.c, r * here.c)
    np.testing.assert_allclose(there.J.reshape(3, 4), r[:, None] * here.J.reshape(3, 4) * D)
    own = factors.own_multipliers(y)
    np.testing.assert_allclose(factors.user_multipliers(own), y)
    columns, rows = np.tril_indices(4)
    expected = s * D[rows] * D[columns] * nlp.hessian(x, y)
    np.testing.assert_allclose(scaled.hessian(z, own), expected)
    np.testing.assert_allclose(scaled.problem.x_lower * D, nlp.problem.x_lower)


def test_variables_are_scaled_by_powers_of_two_where_units_differ():
    nlp = quadratic(np.diag([1e-8, 1.0, 1e8]), [1e-4, 1.0, 1e4], x0=[1e4, 1.0, 1e-4])
    D = automatic(nlp, nlp.problem.x0).variables
    np.testing.assert_array_equal(np.log2(D), np.round(np.log2(D)))
    assert D[0] / D[2] > 1e6
    alike = quadratic(np.diag([1.0, 2.0, 3.0]), [1.0, 5.0, 9.0], x0=[1.0, 1.0, 1.0])
    assert automatic(alike, alike.problem.x0).variables.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("bound", "factor"), [(0.0, 100.0), (0.02, 50.0), (40.0, 1.0)])
def test_rows_and_objective_get_gradients_of_unit_size(bound, factor):
    """But no row is blown up beyond unit size of its bounds: its gradient may grow on the way."""
    row = ([bound], [bound])
    nlp = quadratic(np.zeros((2, 2)), [300.0, 400.0], [[6e-3, 8e-3]], row, x0=[0.1, 0.1])
    factors = automatic(nlp, nlp.problem.x0)
    assert factors.objective == pytest.approx(1.0 / 500.0)
    assert factors.rows[0] == pytest.approx(factor)


# -- the method -----------------------------------------------------------------------------------


def test_the_barrier_parameter_falls_and_the_point_stays_inside():
    nlp = of_model(NONCONVEX["HS116"].build())
    method = InteriorPoint(ScaledProgram(nlp, automatic(nlp, nlp.problem.x0)), 1e-8)
    state = method.start(nlp.problem.x0)
    last_mu = np.inf
    while state.ended is None:
        state = method.step(state)
        assert state.mu <= last_mu
        last_mu = state.mu
        if state.ended is None and state.inner is None:
            b = method._barrier
            assert (state.v[b.below] > state.lower[b.below]).all()
            assert (state.v[b.above] < state.upper[b.above]).all()
            assert (state.z_lower[b.below] > 0).all() and (state.z_upper[b.above] > 0).all()
    assert state.ended is Ending.SOLVED and state.error <= 1e-8
