"""Solutions are refined to rounding, whatever the conditioning; regularised only if rows depend."""

import numpy as np
import pytest

from pyomo_stochsqp.kkt import KKTFailure, KKTPattern, make_backend
from pyomo_stochsqp.kkt.backends.dense import DenseBackend
from pyomo_stochsqp.kkt.refine import MAX_PASSES, refine
from tests.kkt.kkt_systems import SUITE, jacobian, with_jacobian

#: |c + J d| in units of what its terms |J| |d| leave at rounding; a plain LU solve has about 1
ROUNDING = 50 * np.finfo(float).eps
#: gradients of BYRDSPHR's two spheres near the start of a run, condition number 2e4
BYRDSPHR = np.array([[9.99856, 6.0e-4, -1.2e-4], [7.99878, 7.0e-4, -4.0e-4]])


def ill_conditioned(rng, n, m, condition):
    """J with singular values from 1 down to 1 / condition."""
    U = np.linalg.qr(rng.normal(size=(m, m)))[0]
    V = np.linalg.qr(rng.normal(size=(n, m)))[0]
    return (U * np.geomspace(1.0, 1.0 / condition, m)) @ V.T


def step_by_qr(J, g, c):
    """d = -J^+ c - (I - J^+ J) g, without a normal equation anywhere."""
    Q, R = np.linalg.qr(J.T)
    return -Q @ np.linalg.solve(R.T, c) - (g - Q @ (Q.T @ g))


def check_step(backend, J, g, c, condition):
    backend.factorise(1.0, J.ravel())
    found = backend.solve(-g, -c)
    assert not found.rank_deficient
    left = np.abs(c + J @ found.d) / (np.abs(J) @ np.abs(found.d))
    assert left.max() <= ROUNDING
    first = np.abs(found.d + g + J.T @ found.y)
    assert first.max() <= ROUNDING * (np.abs(g) + np.abs(J.T) @ np.abs(found.y)).max()
    d = step_by_qr(J, g, c)
    assert np.abs(found.d - d).max() <= 100 * condition * np.finfo(float).eps * np.abs(d).max()


@pytest.mark.parametrize("condition", [1e1, 1e3, 2e4, 1e5, 1e6])
@pytest.mark.parametrize(("n", "m"), [(3, 2), (10, 5), (60, 30)])
def test_full_rank_is_solved_to_rounding(build, n, m, condition):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        J = ill_conditioned(rng, n, m, condition)
        check_step(
            build(KKTPattern.full(n, m)), J, rng.normal(size=n), rng.normal(size=m), condition
        )


def test_the_spheres_of_byrdsphr(build):
    """Two nearly parallel gradients and |c| = 16: regularised, the step would miss c by a tenth."""
    assert np.linalg.cond(BYRDSPHR) > 1e4
    check_step(
        build(KKTPattern.full(3, 2)), BYRDSPHR, np.array([-1.0, -1.0, -1.0]),
        np.array([16.0, 9.0]), np.linalg.cond(BYRDSPHR),
    )  # fmt: skip


@pytest.mark.parametrize("condition", [1e7, 1e9])
@pytest.mark.parametrize("regularise", [True, False])
def test_the_dense_back_end_does_not_square_the_condition_number(condition, regularise):
    """J J' has no digit left at 1e9; the triangle of a QR factorisation has seven."""
    if regularise and condition > 1e8:
        pytest.skip("multipliers have no digit left: such rows count as dependent")
    rng = np.random.default_rng(1)
    J = ill_conditioned(rng, 10, 5, condition)
    backend = make_backend(KKTPattern.full(10, 5), "dense", regularise)
    check_step(backend, J, rng.normal(size=10), rng.normal(size=5), condition)


@pytest.mark.parametrize("name", ["dense", "ldl", "superlu"])
@pytest.mark.parametrize("consistent", [True, False])
def test_dependent_rows_are_an_error_where_regularisation_is_not_allowed(name, consistent):
    rng = np.random.default_rng(2)
    J = jacobian(rng, 4, 12, 1.0)
    J[3] = 2.0 * J[0]
    r_y = rng.normal(size=4)
    r_y[3] = 2.0 * r_y[0] if consistent else 0.0
    backend = make_backend(KKTPattern.full(12, 4), name, regularise=False)

    def attempt():
        backend.factorise(1.0, J.ravel())
        return backend.solve(rng.normal(size=12), r_y)

    if consistent and name != "dense":
        # rows that agree have a solution, and the pivots of a sparse code need not tell
        assert np.abs(J @ attempt().d - r_y).max() < 1e-12
        return
    with pytest.raises(KKTFailure, match="linearly dependent"):
        attempt()
    # it remains usable
    system = with_jacobian(jacobian(rng, 4, 12, 1.0), rng.normal(size=12), rng.normal(size=4))
    backend.factorise(1.0, system.values)
    assert np.allclose(backend.solve(system.r_x, system.r_y).d, system.solution()[0], rtol=1e-12)


def test_a_regular_system_is_never_regularised(monkeypatch):
    def unwanted(self):
        raise AssertionError("regularised")

    monkeypatch.setattr(DenseBackend, "_factorise_regularised", unwanted)
    rng = np.random.default_rng(3)
    for condition in (1e1, 1e4, 1e7):
        backend = make_backend(KKTPattern.full(8, 4), "dense")
        backend.factorise(1.0, ill_conditioned(rng, 8, 4, condition).ravel())
        backend.solve(rng.normal(size=8), rng.normal(size=4))


def test_a_solution_that_contradicts_comes_from_the_second_level():
    """Every back end falls back to ε on its own; the flag says so."""
    rng = np.random.default_rng(4)
    J = jacobian(rng, 3, 9, 1.0)
    J[2] = J[1]
    for name in ("dense", "ldl", "superlu"):
        backend = SUITE[name].build(KKTPattern.full(9, 3))
        backend.factorise(1.0, J.ravel())
        found = backend.solve(rng.normal(size=9), np.array([1.0, 2.0, 4.0]))
        assert found.rank_deficient and backend._regularised
        assert J[1] @ found.d == pytest.approx(3.0, abs=1e-5)


class Falling:
    """An iterate whose error shrinks by a factor per pass, down to a floor."""

    def __init__(self, first, factor, floor, strictness=1.0):
        self.now, self._factor, self._floor = first, factor, floor
        self.strictness = strictness
        self.passes = 0

    def error(self):
        return self.strictness * self.now, self.now

    def correct(self):
        self.passes += 1
        self.now = max(self._factor * self.now, self._floor)


@pytest.mark.parametrize(
    ("first", "factor", "floor", "passes"),
    [
        (0.5, 0.1, 0.0, 0),  # at rounding already
        (1e4, 1e-8, 0.0, 1),
        (1e6, 0.1, 0.0, 6),  # slow, and worth it
        (1e6, 0.1, 1e3, 4),  # stuck: one pass to notice
        (1e6, 0.9, 0.0, 1),  # not worth it
        (1e300, 0.4, 0.0, MAX_PASSES),
        (np.nan, 0.1, 0.0, 1),
    ],
)
def test_refinement_goes_on_as_long_as_it_pays(first, factor, floor, passes):
    iterate = Falling(first, factor, floor)
    refine(iterate)
    assert iterate.passes == passes


@pytest.mark.parametrize(("first", "passes"), [(0.5, 1), (50.0, 2), (1e-9, 0)])
def test_one_correction_more_where_the_right_hand_side_is_small(first, passes):
    """At rounding by its terms, not by the right-hand side: the floor is not waited for."""
    iterate = Falling(first, 1e-2, 1e-4, strictness=1e6)
    refine(iterate)
    assert iterate.passes == passes
