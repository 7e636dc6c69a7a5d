"""What a trust-region step is made of: lengths, a definite matrix, a box that is never left."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.inequalities.nonconvex_problems import NONCONVEX
from pyomo_stochsqp.engines import Scales, TrustRegion
from pyomo_stochsqp.engines.convexify import convexified
from pyomo_stochsqp.engines.dense_point import DensePoint, Entries, FullHessian
from pyomo_stochsqp.engines.lengths import lengths
from pyomo_stochsqp.engines.newton_model import NewtonModel
from pyomo_stochsqp.engines.quasi_newton import QuasiNewton
from tests.engines.programs import (
    FirstOrder,
    Program,
    make,
    of_model,
    quadratic,
    solved_quadratic,
    steps,
)

# -- lengths --------------------------------------------------------------------------------------


def of(nlp, largest_x, least=0.0, x=None):
    x = nlp.problem.x0 if x is None else x
    point = DensePoint(x, nlp.evaluate(x), Entries(nlp.problem))
    M = FullHessian(nlp).at(x, np.zeros(nlp.problem.m))
    return lengths(nlp.problem, point.g, point.c, point.J, M.diagonal(), largest_x, least)


def test_a_known_distance_is_the_largest_value_seen():
    found = of(quadratic(np.zeros((2, 2)), [3.0, 1.0]), np.array([2.0, 5.0]))
    assert found.known.tolist() == [2.0, 5.0]
    assert found.objective == 6.0  # the larger of 3 * 2 and 1 * 5
    assert found.natural.tolist() == [2.0, 5.0]  # no curvature


def test_without_a_value_bounds_then_newton_then_rows_then_one():
    bounds = [0.0, -np.inf, -np.inf, -np.inf], [4.0, np.inf, np.inf, np.inf]
    H = np.diag([0.0, 8.0, 0.0, 0.0])
    nlp = quadratic(H, [1.0, 4.0, 0.0, 0.0], [[0, 0, 2.0, 0]], ([6.0], [6.0]), bounds)
    found = of(nlp, np.zeros(4))
    assert found.known.tolist() == [2.0, 0.5, 3.0, 1.0]


def test_natural_lengths_make_curvature_one():
    found = of(quadratic(np.diag([4.0, 100.0]), [1.0, 1.0], x0=[1.0, 1.0]), np.array([1.0, 1.0]))
    H = np.array([4.0, 100.0])
    np.testing.assert_allclose(H * found.natural**2 / found.objective, 1.0)


@pytest.mark.parametrize("seed", range(5))
def test_lengths_follow_the_units(seed):
    rng = np.random.default_rng(seed)
    H, g, A = np.diag(rng.random(3)), rng.standard_normal(3), rng.standard_normal((2, 3))
    x, D, F, R = rng.standard_normal(3), 10.0 ** rng.uniform(-4, 4, 3), 1e5, 1e-3
    b = A @ x + 1.0
    plain = of(quadratic(H, g, A, (b, b), x0=x), np.abs(x), 0.1)
    other = quadratic(F * H / np.outer(D, D), F * g / D, R * A / D, (R * b, R * b), x0=D * x)
    found = of(other, np.abs(D * x), F * 0.1)
    np.testing.assert_allclose(found.natural, D * plain.natural)
    np.testing.assert_allclose(found.known, D * plain.known)
    assert found.objective == pytest.approx(F * plain.objective)


# -- a definite matrix ----------------------------------------------------------------------------


def test_a_definite_matrix_is_left_alone():
    M = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert convexified(M, np.zeros((0, 2))) is M


def symmetric(rng, n):
    M = rng.standard_normal((n, n))
    return M + M.T


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_the_result_is_always_positive_definite(seed, rows):
    rng = np.random.default_rng(seed)
    M = symmetric(rng, 5) * 10.0 ** rng.uniform(-3, 3)
    H = convexified(M, rng.standard_normal((rows, 5)))
    assert np.allclose(H, H.T)
    assert np.linalg.eigvalsh(H)[0] > 0.0


@pytest.mark.parametrize("seed", range(20))
def test_newtons_step_survives_where_the_active_rows_leave_only_positive_curvature(seed):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((2, 5))
    Z = np.linalg.svd(J)[2][2:].T
    M = symmetric(rng, 5)
    M += (1.0 - np.linalg.eigvalsh(Z.T @ M @ Z)[0]) * Z @ Z.T
    if np.linalg.eigvalsh(M)[0] > 0:
        M -= (1.0 + np.linalg.eigvalsh(M)[0]) * J.T @ J / np.linalg.norm(J) ** 2 * 10
    assert np.linalg.eigvalsh(M)[0] < 0 < np.linalg.eigvalsh(Z.T @ M @ Z)[0]
    H = convexified(M, J)
    right = -rng.standard_normal(7)

    def step(matrix):
        return np.linalg.solve(np.block([[matrix, J.T], [J, np.zeros((2, 2))]]), right)[:5]

    np.testing.assert_allclose(step(H), step(M), rtol=1e-6, atol=1e-8)


def test_otherwise_eigenvalues_change_their_signs():
    M = np.diag([3.0, -2.0])
    np.testing.assert_allclose(convexified(M, np.zeros((0, 2))), np.diag([3.0, 2.0]), atol=1e-12)
    flat = convexified(np.diag([1.0, 0.0]), np.zeros((0, 2)))
    assert 0.0 < flat[1, 1] <= 1e-5


# -- quasi-Newton ---------------------------------------------------------------------------------


def points(rng, H, n):
    nlp = quadratic(H, rng.standard_normal(n), x0=rng.standard_normal(n), kind=FirstOrder)
    entries = Entries(nlp.problem)
    at = lambda x: DensePoint(x, nlp.evaluate(x), entries)  # noqa: E731
    return at(nlp.problem.x0), at(nlp.problem.x0 + rng.standard_normal(n))


@pytest.mark.parametrize("seed", range(10))
def test_the_secant_equation(seed):
    """B s = z where the curvature along s is at least a fifth of what B expected."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((4, 4))
    here, there = points(rng, A @ A.T + np.eye(4), 4)
    B = 0.5 * np.eye(4)
    s, z = there.x - here.x, there.g - here.g
    assert s @ z >= 0.2 * s @ B @ s
    B = QuasiNewton().updated(B, here, there, np.zeros(0))
    np.testing.assert_allclose(B @ s, z, rtol=1e-10)
    assert np.allclose(B, B.T)


@pytest.mark.parametrize("seed", range(10))
def test_damping_keeps_it_definite(seed):
    """Along negative curvature: s'Bs falls to a fifth of what it was."""
    rng = np.random.default_rng(seed)
    here, there = points(rng, -np.eye(4), 4)
    B = np.diag(1.0 + rng.random(4))
    s = there.x - here.x
    new = QuasiNewton().updated(B, here, there, np.zeros(0))
    assert np.linalg.eigvalsh(new)[0] > 0.0
    assert s @ new @ s == pytest.approx(0.2 * s @ B @ s)


def test_the_curvature_of_rows_is_learnt_with_their_multipliers():
    here, there = points(np.random.default_rng(0), np.zeros((2, 2)), 2)
    here.J, there.J = np.array([2 * here.x]), np.array([2 * there.x])  # c = |x|^2
    B = QuasiNewton().updated(np.eye(2), here, there, np.array([3.0]))
    s = there.x - here.x
    np.testing.assert_allclose(B @ s, 6.0 * s)


def test_the_first_matrix_costs_the_objective_over_the_known_distances():
    nlp = quadratic(np.eye(2), [3.0, 4.0], x0=[0.0, 0.0])
    here = DensePoint(nlp.problem.x0, nlp.evaluate(nlp.problem.x0), Entries(nlp.problem))
    B = QuasiNewton().first(nlp.problem, here, Scales(np.ones(2), 0.0), np.array([2.0, 1.0]))
    np.testing.assert_allclose(B, np.diag([6.0 / 4.0, 6.0]))


# -- the step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("radius", [1e-3, 0.1, 1.0, 100.0])
def test_a_step_stays_in_its_box_and_in_the_bounds(seed, radius):
    rng = np.random.default_rng(seed)
    nlp, *_ = solved_quadratic(rng, 6, 1, 2, 2, 2)
    x = nlp.problem.x0
    point = DensePoint(x, nlp.evaluate(x), Entries(nlp.problem))
    M = symmetric(rng, 6) * 10.0
    step = NewtonModel(nlp.problem).step(point, M, np.zeros(5), np.abs(x), 0.1, radius)
    assert not step.failed
    assert (np.abs(step.d) <= radius * step.box * (1 + 1e-12)).all()
    assert (step.d >= nlp.problem.x_lower - x).all() and (step.d <= nlp.problem.x_upper - x).all()
    assert step.at_radius == bool((np.abs(step.d) >= 0.99 * radius * step.box).any())
    # never further than ten times what is known
    assert (step.box <= 10.0 * np.abs(x) * (1 + 1e-12)).all()


@pytest.mark.parametrize("seed", range(5))
def test_without_obstacles_it_is_newtons_step(seed):
    nlp, x, y = solved_quadratic(np.random.default_rng(seed), 5, 2, 1, 1, 1)
    point = DensePoint(nlp.problem.x0, nlp.evaluate(nlp.problem.x0), Entries(nlp.problem))
    M = FullHessian(nlp).at(nlp.problem.x0, np.zeros(4))
    step = NewtonModel(nlp.problem).step(point, M, np.zeros(4), np.ones(5), 0.1, 1e6)
    np.testing.assert_allclose(nlp.problem.x0 + step.d, x, atol=1e-8)
    np.testing.assert_allclose(step.y, y, atol=1e-7)
    assert step.left <= 1e-9 and not step.at_radius


def test_rows_that_cannot_be_satisfied_are_left_and_marked():
    nlp = quadratic([[1.0]], [0.0], [[1.0], [1.0]], ([1.0, 3.0], [1.0, 3.0]), x0=[1.0])
    point = DensePoint(np.ones(1), nlp.evaluate(np.ones(1)), Entries(nlp.problem))
    step = NewtonModel(nlp.problem).step(point, np.eye(1), np.zeros(2), np.ones(1), 1.0, 100.0)
    assert step.left > 1e-3
    assert step.limited.any()


@pytest.mark.parametrize("name", ["HS38", "HS64", "HS108", "HS116"])
def test_no_iteration_goes_beyond_its_radius(name):
    """Every point evaluated on the way, refused ones and corrections included."""
    nlp = of_model(NONCONVEX[name].build())
    engine = make(TrustRegion, nlp)
    model, reached = engine._model, []
    solve, boxes = model.step, []

    def watched(*arguments, **keywords):
        step = solve(*arguments, **keywords)
        boxes.append((step.x, step.box, arguments[5]))
        return step

    model.step = watched
    evaluate = nlp.evaluate

    def seen(x):
        reached.append(x)
        return evaluate(x)

    nlp.evaluate = seen
    state = engine.start(nlp.problem.x0, np.zeros(nlp.problem.m))
    while state.ended is None:
        before = len(reached), len(boxes)
        state = engine.step(state)
        for x, box, radius in boxes[before[1] : before[1] + 1]:
            for point in reached[before[0] :]:
                assert (np.abs(point - x) <= radius * box * (1 + 1e-9) + 1e-300).all()
    assert boxes


def test_a_violation_may_not_grow_beyond_half_the_size_of_its_row():
    """Far from the level of a steep sigmoid the model promises what does not exist."""

    def functions(x):
        e = 1.0 / (1.0 + np.exp(-5.0 * (x[0] - 66.0)))
        slope = 5.0 * e * (1.0 - e)
        return x[0], [1.0], [e], [[slope]], [[[0.0]], [[5.0 * slope * (1.0 - 2.0 * e)]]]

    bounds = [0.0], [np.inf]
    nlp = Program([100.0], functions, ([0.95], [np.inf]), bounds)
    states = list(steps(make(TrustRegion, nlp), nlp.problem.x0, np.zeros(1)))
    exact = 66.0 + np.log(19.0) / 5.0
    assert states[-1].x == pytest.approx([exact], rel=1e-5)
    worst = max(0.95 - nlp.evaluate(s.x).c[0] for s in states)
    assert worst <= 0.5 * (0.95 + 10.0 * 1.25 * 100.0)  # the row's terms over the box
    assert all(s.x[0] > 50.0 for s in states)


# -- values at a point ----------------------------------------------------------------------------


def test_differences_take_the_place_of_second_derivatives():
    nlp, *_ = solved_quadratic(np.random.default_rng(2), 5, 1, 1, 1, 1)
    x, y = nlp.problem.x0, np.arange(3.0)
    full = FullHessian(nlp).at(x, y)
    nlp.second_order = False
    np.testing.assert_allclose(FullHessian(nlp).at(x, y), full, rtol=1e-6, atol=1e-6)


def test_entries_that_do_not_exist_are_zero():
    nlp = quadratic(np.diag([np.inf, 2.0]), [1.0, 1.0])
    nlp.hessian = lambda x, y: np.array([np.inf, np.nan, 2.0])
    assert FullHessian(nlp).at(np.zeros(2), np.zeros(0)).tolist() == [[0.0, 0.0], [0.0, 2.0]]


def test_a_sparse_jacobian_becomes_full():
    problem = replace(
        quadratic(np.eye(3), [0, 0, 0], np.zeros((2, 3)), ([0, 0], [0, 0])).problem,
        jac_indptr=np.array([0, 1, 3]),
        jac_indices=np.array([2, 0, 1]),
    )
    J = Entries(problem).matrix(np.array([5.0, 6.0, 7.0]))
    assert J.tolist() == [[0, 0, 5.0], [6.0, 7.0, 0]]
