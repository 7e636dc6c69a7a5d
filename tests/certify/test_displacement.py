"""The Newton step of full matrices: closed forms, thresholds, and directions without curvature."""

import numpy as np
import pytest
from scipy import stats

from pyomo_stochsqp.certify.displacement import Linearised, curved_gap, displacement
from tests.certify.independent import quadratic_part, student


def linearised(M, gradients, rows=None, J=None, **changes):
    """Replicates at a point, one line each; sizes are one unless given."""
    M, gradients = np.array(M, dtype=float), np.atleast_2d(np.array(gradients, dtype=float))
    n = len(M)
    J = np.zeros((0, n)) if J is None else np.array(J, dtype=float)
    rows = np.zeros((len(gradients), len(J))) if rows is None else np.array(rows, dtype=float)
    y = np.array(changes.pop("y", np.zeros(len(J))), dtype=float)
    at = {
        "g": gradients.mean(axis=0) - J.T @ y, "target": np.zeros(len(J)), "length": np.ones(n),
        "known": np.ones(n), "objective": 1.0, "confidence": 0.95,
    } | changes  # fmt: skip
    return Linearised(gradients, rows, J=J, M=M, y=y, **at)


def moved(at, active=(), held=(), shift=None):
    n, m = len(at.M), len(at.J)
    mask = np.isin(np.arange(m), active), np.isin(np.arange(n), held)
    return displacement(at, mask[0], np.zeros(n) if shift is None else np.array(shift), mask[1])


def test_the_newton_step_and_its_gap():
    """1/2 x'Mx + g'x: d = -M^-1 g, and the gap is 1/2 g'M^-1 g."""
    M, g = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([2.0, -3.0])
    found = moved(linearised(M, g))
    d = -np.linalg.solve(M, g)
    assert found.move == pytest.approx(d) and found.bound == pytest.approx(np.abs(d))
    assert found.gap == found.along == pytest.approx(0.5 * g @ np.linalg.solve(M, g))
    assert found.gap_noise == found.along_noise == 0.0
    assert (found.error == 0.0).all() and found.flat == 0 and found.descent is None


@pytest.mark.parametrize("shift", [-0.1, -0.4])
def test_a_row_that_is_violated_by_a_variable_away_from_its_bound(shift):
    """min 3 x1 + 1/2 x2^2, x1 + x2 = 1, x1 >= 0 at (-shift, 1): the way to the bound mends the row,
    but the gap is 3 |shift|, of which the row's multiplier -1 holds one and the bound's 2 two."""
    at = linearised(
        np.diag([0.0, 1.0]), [[2.0, 0.0]], rows=[[1.0 - shift]], J=[[1.0, 1.0]], y=[-1.0],
        target=np.array([1.0]),
    )  # fmt: skip
    found = moved(at, [0], [0], [shift, 0.0])
    assert found.move == pytest.approx([shift, 0.0])
    assert found.gap == pytest.approx(3.0 * abs(shift))
    assert found.along == pytest.approx(2.0 * abs(shift))


def test_units_are_divided_out():
    M, g, J = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([2.0, -3.0]), np.array([[1.0, -2.0]])
    noise = np.random.default_rng(0).standard_normal((20, 3))
    plain = moved(linearised(M, g + noise[:, :2], 0.3 + noise[:, 2:], J, y=[0.5]), [0])
    s = np.array([1e3, 0.02])
    other = linearised(
        1e4 * M / np.outer(s, s), 1e4 * (g + noise[:, :2]) / s, 7.0 * (0.3 + noise[:, 2:]),
        7.0 * J / s, y=[0.5e4 / 7.0], length=np.array([20.0, 3.0]), objective=50.0,
    )  # fmt: skip
    found = moved(other, [0])
    assert found.move / s == pytest.approx(plain.move) and found.error / s == pytest.approx(
        plain.error
    )
    for name in ("gap", "gap_noise", "along", "along_noise"):
        assert getattr(found, name) / 1e4 == pytest.approx(getattr(plain, name)), name


def test_bounds_count_only_the_variables_that_are_free():
    noise = np.random.default_rng(1).standard_normal((20, 3))
    at = linearised(np.eye(3), noise)
    for held in ([], [1], [0, 2]):
        found = moved(at, held=held, shift=[0.5, -0.25, 0.125])
        free = np.setdiff1d(range(3), held)
        t = student(0.95, 20, free.size)
        assert found.bound[free] == pytest.approx(np.abs(found.move[free]) + t * found.error[free])
        assert (found.move[held] == np.array([0.5, -0.25, 0.125])[held]).all()
        assert not found.error[held].any()
        assert found.steps.shape == (20, 3)


def test_a_held_variable_counts_by_its_slope():
    """Towards the bound and away from it the objective changes by the slope times the way."""
    for way in (0.5, -0.5):
        found = moved(linearised(np.eye(2), [[4.0, 0.0]]), held=[0], shift=[way, 0.0])
        assert found.gap == found.along == pytest.approx(2.0)
    # and pulls the others along: d_2 = -(g_2 + M_21 d_1) / M_22
    at = linearised([[1.0, 3.0], [3.0, 2.0]], [[0.0, 1.0]])
    assert moved(at, held=[0], shift=[0.5, 0.0]).move == pytest.approx([0.5, -1.25])


@pytest.mark.parametrize("count", [2, 16, 17, 50])
@pytest.mark.parametrize("t", [0.5, 2.0, 5.0])
def test_the_quadratic_part_of_the_gap(count, t):
    rng = np.random.default_rng(count)
    B = rng.standard_normal((4, 4))
    M = B @ B.T + np.eye(4)
    steps = rng.standard_normal((count, 4)) * [3.0, 1.0, 0.5, 0.1] + 0.4
    assert curved_gap(steps, steps @ M, t) == pytest.approx(quadratic_part(steps, M, t))


def test_replicates_in_one_direction_only():
    """|C|_F is the trace there, whatever the correction for few replicates would leave of it."""
    steps = np.outer([1.0, 2.0, 4.0], [1.0, 0.0, 0.0])
    bound, noise = curved_gap(steps, steps, 3.0)
    variance = np.var([1.0, 2.0, 4.0], ddof=1) / 3
    norm = np.sqrt(max(variance**2 / 2, variance**2 / 3))
    assert noise == pytest.approx(0.5 * (variance + 8.0 * norm))
    assert bound == pytest.approx(0.5 * (7.0 / 3.0 + np.sqrt(2.0 * noise)) ** 2)


def test_along_one_axis_the_bound_is_students():
    """With many replicates q^2 = t^2 C: the bound is that of |mean| + t se."""
    rng = np.random.default_rng(4)
    g = rng.standard_normal((400, 1)) + 0.1
    found = moved(linearised([[2.0]], g))
    d = -g / 2.0
    t = stats.t.ppf(0.975, 399)
    reach = abs(d.mean()) + t * d.std(ddof=1) / 20.0
    assert found.gap == pytest.approx(0.5 * 2.0 * reach**2, rel=3e-3)


def test_what_multipliers_lose_in_the_rows():
    """-(y)'(c - target) on average, and one Student quantile of its spread."""
    rows = np.array([[0.3], [0.5], [0.1], [0.6]])
    at = linearised(np.eye(2), np.zeros((4, 2)), rows, [[1.0, 0.0]], y=[-2.0])
    found = moved(at, [0])
    t = student(0.95, 4, 1)
    lost = 2.0 * (rows.mean() + t * rows.std(ddof=1) / 2.0)
    assert found.gap - found.along == pytest.approx(lost)
    assert found.gap_noise - found.along_noise == pytest.approx(2.0 * t * rows.std(ddof=1) / 2.0)
    assert found.move[0] == pytest.approx(-rows.mean())


# -- directions without curvature -----------------------------------------------------------------


@pytest.mark.parametrize("known", [3.0, 0.2])
def test_a_flat_direction_gains_its_slope_times_the_way(known):
    """... which is as far as the variable is known to go, but at least its natural length."""
    at = linearised(np.diag([1.0, 0.0]), [[0.0, 0.25]], known=np.array([50.0, known]))
    found = moved(at)
    assert found.flat == 1 and found.move == pytest.approx([0.0, 0.0])
    assert found.gap == found.along == pytest.approx(0.25 * max(known, 1.0))
    assert found.descent is None


def test_the_noise_of_a_slope_counts_once():
    slopes = np.array([[0.1], [0.3], [-0.1], [0.5]])
    at = linearised([[0.0]], slopes, objective=2.0, known=np.array([6.0]), length=np.array([2.0]))
    found = moved(at)
    error = slopes.std(ddof=1) / 2.0
    # natural units: the slope is g s / F, the way is known / s, and F is put back
    assert found.gap == pytest.approx((abs(slopes.mean()) + student(0.95, 4, 1) * error) * 6.0)


@pytest.mark.parametrize("share", [0.9e-3, 1.1e-3])
def test_variables_that_hardly_take_part_do_not_say_how_far_one_may_go(share):
    direction = np.array([1.0, share]) / np.hypot(1.0, share)
    normal = np.array([-direction[1], direction[0]])
    at = linearised(
        np.outer(normal, normal), [0.5 * direction], known=np.array([2.0, 1e4]), length=np.ones(2)
    )
    way = 1e4 / direction[1] if share > 1e-3 else 2.0 / direction[0]
    assert moved(at).gap == pytest.approx(0.5 * way, rel=1e-6)


@pytest.mark.parametrize("largest", [1e-3, 2.0])
@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_what_counts_as_negative_curvature(largest, factor):
    """Below -1e-5 of the largest eigenvalue, which counts as at least 1e-2."""
    threshold = -1e-5 * max(largest, 1e-2)
    at = linearised(np.diag([largest, factor * threshold, 0.5 * largest]), np.zeros(3))
    found = moved(at)
    assert found.flat == 1
    assert (found.descent is not None) == (factor > 1.0)


def test_the_direction_of_descent_has_natural_length():
    M = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    s = np.array([2.0, 0.5])
    at = linearised(M / np.outer(s, s) * 7.0, np.zeros(2), length=s, objective=7.0)
    found = moved(at)
    assert found.descent is not None
    assert np.linalg.norm(found.descent / s) == pytest.approx(1.0)
    assert found.descent / s @ M @ (found.descent / s) == pytest.approx(-1.0)
    # held variables stay, whatever their curvature
    at = linearised(np.diag([-5.0, -1.0, 1.0]), np.zeros(3))
    found = moved(at, held=[0])
    assert np.abs(found.descent) == pytest.approx([0.0, 1.0, 0.0])


def test_rows_take_directions_away():
    """On x1 = x2 the curvature of diag(1, -0.5) is positive: no saddle."""
    at = linearised(np.diag([1.0, -0.5]), [[1.0, 0.0]], J=[[1.0, -1.0]])
    assert moved(at).descent is not None
    found = moved(at, [0])
    assert found.descent is None and found.flat == 0
    assert found.move == pytest.approx([-2.0, -2.0])  # 1/2 (0.5) t^2 + t in x1 = x2 = t


def test_dependent_rows_are_met_as_well_as_they_can_be():
    J = [[1.0, 1.0, 0.0], [10.0, 10.0, 0.0]]
    at = linearised(np.diag([1.0, 1.0, -1.0]), np.zeros(3), [[1.0, 10.0]], J)
    found = moved(at, [0, 1])
    assert found.move[:2] == pytest.approx([-0.5, -0.5])
    # their multipliers are not unique, and so neither is the curvature: no verdict
    assert found.descent is None and found.flat == 1
    assert moved(at, [0]).descent is not None
    # rows that contradict each other: half way, in units of their largest entries
    at = linearised(np.eye(3), np.zeros(3), [[1.0, 30.0]], J)
    assert moved(at, [0, 1]).move[:2] == pytest.approx([-1.0, -1.0])


def test_a_row_without_free_variables_is_as_it_is():
    at = linearised(np.eye(2), [[0.0, 1.0]], [[0.7]], [[1.0, 0.0]], y=[2.0])
    found = moved(at, [0], [0])
    assert found.move == pytest.approx([0.0, -1.0])
    assert found.gap == pytest.approx(0.5 + 1.4)


def test_the_larger_bounds_of_two():
    small = moved(linearised(np.eye(2), [[1.0, 0.1], [1.1, 0.1], [1.0, 0.1]]))
    large = moved(linearised(2.0 * np.eye(2), [[9.0, 0.1], [5.0, 0.1], [1.0, 0.1]]))
    for one, two in ((small, large), (large, small)):
        both = one.widened(two)
        assert both.bound == pytest.approx(np.maximum(small.bound, large.bound))
        assert (both.move == one.move).all()
        for name in ("gap", "gap_noise", "along", "along_noise"):
            values = getattr(small, name), getattr(large, name)
            assert values[0] != values[1] and getattr(both, name) == max(values), name
