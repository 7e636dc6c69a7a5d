"""Dependent rows are a status, and huge h or delta take variables and rows out of the system."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from pyomo_stochsqp.kkt import KKTPattern
from tests.kkt.kkt_systems import jacobian, pattern_of, random_system, relative, with_jacobian

DIGITS = 1e-10
#: Multipliers of contradicting rows grow like 1 / 1e-8, and so does the rounding they leave in d.
CONTRADICTED = 1e-6
HUGE = 1e20


def duplicated(rng, copies):
    """Ten rows, of which the last ``copies`` repeat the first ones with other signs and scales."""
    J = jacobian(rng, 10, 25, 0.4)
    factors = rng.choice([-2.0, 0.5, 3.0], size=copies)
    J[10 - copies :] = factors[:, None] * J[:copies]
    return J, factors


@pytest.mark.parametrize("copies", [1, 4])
def test_repeated_rows_that_agree(build, copies):
    rng = np.random.default_rng(20)
    J, factors = duplicated(rng, copies)
    r_y = rng.normal(size=10)
    r_y[10 - copies :] = factors * r_y[:copies]
    independent = with_jacobian(J[: 10 - copies], rng.normal(size=25), r_y[: 10 - copies])
    d, y = independent.solution()
    system = with_jacobian(J, independent.r_x, r_y)
    backend = build(system.pattern)
    backend.factorise(1.0, system.values)
    found = backend.solve(system.r_x, system.r_y)
    assert not found.rank_deficient and found.residual < DIGITS
    # rounding is amplified by 1 / 1e-8 in the direction in which y is not determined
    assert relative(found.d, d) < 1e-7
    assert relative(J.T @ found.y, independent.J.T @ y) < 1e-7
    assert np.abs(found.y).max() < 10.0 * np.abs(y).max()


def test_repeated_rows_that_contradict(build):
    """The nearest point: of two equal rows with right-hand sides 1 and 3 it satisfies 2."""
    rng = np.random.default_rng(21)
    J = jacobian(rng, 6, 20, 0.4)
    J[5] = J[0]
    r_x, r_y = rng.normal(size=20), rng.uniform(-1.0, 1.0, 6)
    r_y[[0, 5]] = 1.0, 3.0
    compromise = np.r_[2.0, r_y[1:5]]
    expected, _ = with_jacobian(J[:5], r_x, compromise).solution()
    system = with_jacobian(J, r_x, r_y)
    backend = build(system.pattern)
    backend.factorise(1.0, system.values)
    found = backend.solve(system.r_x, system.r_y)
    assert found.rank_deficient
    assert found.residual == pytest.approx(1.0 / 3.0, abs=CONTRADICTED)
    assert relative(found.d, expected) < CONTRADICTED


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("consistent", [True, False])
def test_zero_rows(build, stored, consistent):
    """A row of stored zeros and a row without any entry."""
    rng = np.random.default_rng(22)
    J = jacobian(rng, 6, 20, 0.4)
    pattern = pattern_of(J)
    if not stored:
        J[2] = 0.0
        pattern = pattern_of(J)
        values = csr_array(J).data
    else:
        values = csr_array(J).data.copy()
        values[pattern.indptr[2] : pattern.indptr[3]] = 0.0
        J[2] = 0.0
    r_x, r_y = rng.normal(size=20), rng.normal(size=6)
    r_y[2] = 0.0 if consistent else 0.5
    others = np.arange(6) != 2
    d, y = with_jacobian(J[others], r_x, r_y[others]).solution()
    backend = build(pattern)
    backend.factorise(1.0, values)
    found = backend.solve(r_x, r_y)
    assert found.rank_deficient != consistent
    assert relative(found.d, d) < DIGITS and relative(found.y[others], y) < DIGITS
    if consistent:
        assert found.y[2] == 0.0


def test_a_jacobian_without_entries(build):
    pattern = KKTPattern(4, 2, np.zeros(3, dtype=int), np.zeros(0, dtype=int))
    backend = build(pattern)
    backend.factorise(2.0, np.zeros(0))
    found = backend.solve(np.ones(4), np.zeros(2))
    assert np.allclose(found.d, 0.5, rtol=1e-14) and not found.rank_deficient
    assert backend.solve(np.ones(4), np.array([0.0, 1.0])).rank_deficient


def test_more_rows_than_variables(build):
    rng = np.random.default_rng(23)
    J = rng.normal(size=(30, 5))
    system = with_jacobian(J, rng.normal(size=5), rng.normal(size=30))
    backend = build(system.pattern)
    backend.factorise(1.0, system.values)
    found = backend.solve(system.r_x, system.r_y)
    assert found.rank_deficient
    # rows count by their norms: ε is relative to them, so that the nearest point is in that metric
    weight = 1.0 / np.linalg.norm(J, axis=1)
    nearest = np.linalg.lstsq(weight[:, None] * J, weight * system.r_y, rcond=None)[0]
    assert relative(found.d, nearest) < 1e-4
    # with δ > 0 the same rows are a regular system
    d, y = system.solution(0.1)
    backend.factorise(1.0, system.values, 0.1)
    found = backend.solve(system.r_x, system.r_y)
    assert not found.rank_deficient
    assert relative(found.d, d) < DIGITS and relative(found.y, y) < DIGITS


@pytest.mark.parametrize("kind", ["diagonal", "sparse", "dense"])
def test_removing_variables_and_rows(build, kind):
    """h_i = 1e20 and delta_j = 1e20 give the solution of the system without them."""
    rng = np.random.default_rng(24)
    n, m = 30, 10
    system = random_system(rng, n, m, 0.5, kind)
    backend = build(system.pattern)
    for _ in range(4):
        free, kept = rng.random(n) < 0.7, rng.random(m) < 0.6
        H = system.H.copy()
        H[~free, ~free] += HUGE
        if kind == "diagonal":
            hessian = np.diag(H).copy()
        elif kind == "dense":
            hessian = H
        else:
            row, column = system.pattern.hessian_entries()
            hessian = H[row, column]
        backend.factorise(hessian, system.values, np.where(kept, 0.0, HUGE))
        found = backend.solve(system.r_x, system.r_y)
        f, k = np.flatnonzero(free), np.flatnonzero(kept)
        K = np.block(
            [
                [system.H[np.ix_(f, f)], system.J[np.ix_(k, f)].T],
                [system.J[np.ix_(k, f)], np.zeros((k.size, k.size))],
            ]
        )
        expected = np.linalg.solve(K, np.concatenate((system.r_x[f], system.r_y[k])))
        assert relative(found.d[f], expected[: f.size]) < DIGITS
        assert relative(found.y[k], expected[f.size :]) < DIGITS
        assert np.abs(found.d[~free]).max(initial=0.0) < 1e-15
        assert np.abs(found.y[~kept]).max(initial=0.0) < 1e-15
        assert not found.rank_deficient


@pytest.mark.parametrize("kind", ["diagonal", "sparse", "dense"])
def test_a_row_whose_variables_are_all_held(build, kind):
    """It cannot be satisfied: reported, not bought by moving a held variable."""
    rng = np.random.default_rng(25)
    system = random_system(rng, 12, 4, 0.3, kind)
    held = system.J[0] != 0.0
    H = system.H.copy()
    H[held, held] = HUGE
    if kind == "diagonal":
        hessian = np.diag(H).copy()
    elif kind == "dense":
        hessian = H
    else:
        row, column = system.pattern.hessian_entries()
        hessian = H[row, column]
    backend = build(system.pattern)
    backend.factorise(hessian, system.values)
    system.r_y[1:] = 0.0
    found = backend.solve(np.zeros(12), system.r_y)
    assert found.rank_deficient
    # the multiplier grows to 1e8 or so per unit of r_y; divided by 1e20 it moves nothing
    assert np.abs(found.d[held]).max() < 1e-9
    # a caller that expects this gives the row its own delta, and gets a regular system
    backend.factorise(hessian, system.values, 1e-3)
    assert not backend.solve(np.zeros(12), system.r_y).rank_deficient
