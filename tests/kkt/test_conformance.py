"""Every back end solves the same systems to the same digits.

Tolerance 1e-10 (relative, largest entry): the systems are conditioned like 1e2, so a backward
stable solution is good to about 1e-14; an unrefined one, with the regularisation still in it, is
wrong by 1e-8 and fails.
"""

import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from benchmarks.kkt import arrow
from pyomo_stochsqp.kkt import REGISTRY, KKTFailure, KKTPattern, importable, make_backend
from tests.kkt.kkt_systems import KINDS, SUITE, jacobian, random_system, relative, with_jacobian

DIGITS = 1e-10


def test_the_suite_covers_every_registered_back_end():
    assert {form.backend for form in SUITE.values()} == set(REGISTRY)


def check(backend, system, delta=0.0, digits=DIGITS):
    backend.factorise(system.hessian, system.values, delta)
    found = backend.solve(system.r_x, system.r_y)
    d, y = system.solution(delta)
    assert relative(found.d, d) < digits
    assert relative(found.y, y) < digits
    assert not found.rank_deficient
    left = system.J @ found.d - delta * found.y - system.r_y
    scale = max(np.abs(system.r_y).max(initial=0.0), 1e-300)
    # the reported residual is the true one, up to the rounding of evaluating it twice
    assert found.residual == pytest.approx(np.abs(left).max(initial=0.0) / scale, abs=1e-11)
    return found


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    n=st.integers(1, 40),
    share=st.floats(0.0, 1.0),
    density=st.sampled_from((0.05, 0.3, 1.0)),
    delta=st.sampled_from(("none", "number", "rows")),
    seed=st.integers(0, 2**32 - 1),
)
def test_random_systems(build, kind, n, share, density, delta, seed):
    rng = np.random.default_rng(seed)
    m = round(share * n)
    system = random_system(rng, n, m, density, kind)
    rows = np.where(rng.random(m) < 0.5, 0.0, rng.uniform(0.01, 10.0, m))
    check(build(system.pattern), system, {"none": 0.0, "number": 0.7, "rows": rows}[delta])


@pytest.mark.parametrize("kind", KINDS)
def test_one_analysis_serves_many_values_and_right_hand_sides(build, kind):
    rng = np.random.default_rng(1)
    system = random_system(rng, 30, 12, 0.2, kind)
    backend = build(system.pattern)
    # zeros first: a code that dropped them would have analysed another pattern
    backend.factorise(1.0, np.zeros_like(system.values), 1.0)
    for _ in range(3):
        system.J *= rng.uniform(0.5, 2.0, size=(12, 1))
        system.values = csr_array(system.J).data
        for _ in range(2):
            system.r_x, system.r_y = rng.normal(size=30), rng.normal(size=12)
            check(backend, system)


def test_later_solves_use_the_factorised_values_and_give_new_arrays(build):
    rng = np.random.default_rng(2)
    system = random_system(rng, 20, 8)
    backend = build(system.pattern)
    values, hessian, delta = system.values.copy(), np.array(system.hessian), np.full(8, 0.1)
    backend.factorise(hessian, values, delta)
    first = backend.solve(system.r_x, system.r_y)
    kept = first.d.copy(), first.y.copy()
    values[:] = hessian[:] = delta[:] = np.nan
    second = backend.solve(2.0 * system.r_x, 2.0 * system.r_y)
    assert relative(second.d, 2.0 * kept[0]) < DIGITS and relative(second.y, 2.0 * kept[1]) < DIGITS
    assert np.array_equal(first.d, kept[0]) and np.array_equal(first.y, kept[1])


def test_all_back_ends_agree():
    system = random_system(np.random.default_rng(3), 300, 90, 0.02)
    solutions = []
    for form in SUITE.values():
        if importable(form.backend):
            backend = form.build(system.pattern)
            backend.factorise(system.hessian, system.values)
            solutions.append(backend.solve(system.r_x, system.r_y))
    assert len(solutions) >= 3
    for other in solutions[1:]:
        assert relative(other.d, solutions[0].d) < DIGITS
        assert relative(other.y, solutions[0].y) < DIGITS


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(build, kind):
    system = random_system(np.random.default_rng(4), 9, 0, kind=kind)
    found = check(build(system.pattern), system)
    assert found.y.shape == (0,) and found.residual == 0.0


def test_badly_scaled_hessian(build):
    """H over twelve decades. Compared after scaling, where the system is well conditioned."""
    rng = np.random.default_rng(5)
    n, m = 40, 15
    h = 10.0 ** rng.uniform(-6.0, 6.0, n)
    root = np.sqrt(h)
    W = jacobian(rng, m, n, 0.5)
    scaled = with_jacobian(W, rng.normal(size=n), rng.normal(size=m))
    z, y = scaled.solution()
    system = with_jacobian(W * root, scaled.r_x * root, scaled.r_y, h)
    backend = build(system.pattern)
    backend.factorise(h, system.values)
    found = backend.solve(system.r_x, system.r_y)
    assert relative(found.d * root, z) < DIGITS and relative(found.y, y) < DIGITS
    assert not found.rank_deficient


@pytest.mark.parametrize("kind", ["diagonal", "dense"])
def test_badly_scaled_rows(build, kind):
    """Rows over twelve decades: the regularisation follows each row, so no digit is lost."""
    rng = np.random.default_rng(6)
    system = random_system(rng, 40, 15, 0.5, kind)
    d, y = system.solution()
    scale = 10.0 ** rng.uniform(-6.0, 6.0, 15)
    backend = build(system.pattern)
    backend.factorise(system.hessian, csr_array(scale[:, None] * system.J).data)
    found = backend.solve(system.r_x, scale * system.r_y)
    assert relative(found.d, d) < DIGITS and relative(found.y * scale, y) < DIGITS
    assert not found.rank_deficient


def test_nearly_dependent_rows_are_solved(build):
    """Two rows that differ by 1e-3: each pass gains only two digits, and passes are repeated."""
    rng = np.random.default_rng(7)
    J = jacobian(rng, 6, 20, 1.0)
    J[5] = J[4] + 1e-3 * rng.normal(size=20)
    system = with_jacobian(J, rng.normal(size=20), rng.normal(size=6))
    # the exact solution is known to 1e-16 times the condition number, about 1e6
    found = check(build(system.pattern), system, digits=1e-8)
    assert found.residual < DIGITS


@pytest.mark.parametrize("kind", ["number", "diagonal", "sparse", "dense"])
def test_least_squares_multipliers(build, kind):
    """r_y = 0: the residual has no scale of its own and must not look like dependent rows."""
    rng = np.random.default_rng(8)
    system = random_system(rng, 25, 10, 0.4, kind)
    backend = build(system.pattern)
    # the step's matrix first: nothing of it may be left in the system of the multipliers
    check(backend, system)
    backend.factorise(1.0, system.values)
    found = backend.solve(system.r_x, np.zeros(10))
    expected = np.linalg.lstsq(system.J.T, system.r_x, rcond=None)[0]
    assert relative(found.y, expected) < DIGITS
    assert not found.rank_deficient
    tiny = backend.solve(system.r_x, 1e-13 * system.r_y)
    assert not tiny.rank_deficient


@pytest.mark.parametrize("name", [n for n in REGISTRY if n != "dense"])
def test_two_stage_program_with_100000_variables(name):
    if not importable(name):
        pytest.skip(f"the library of the KKT back end {name!r} is not importable")
    pattern = arrow(100_000)
    rng = np.random.default_rng(9)
    h, values = rng.uniform(0.5, 2.0, pattern.n), rng.normal(size=pattern.nnz)
    r_x, r_y = rng.normal(size=pattern.n), rng.normal(size=pattern.m)
    backend = make_backend(pattern, name)
    backend.factorise(h, values)
    start = time.process_time()
    backend.factorise(h, values)
    found = backend.solve(r_x, r_y)
    # about 0.02 s for ldl and cholmod, 0.15 s for superlu; a filled-in factor takes minutes
    assert time.process_time() - start < 2.0
    J = csr_array((values, pattern.indices, pattern.indptr), shape=(pattern.m, pattern.n))
    assert relative(J @ found.d, r_y) < DIGITS
    assert relative(h * found.d + J.T @ found.y, r_x) < DIGITS


INPUTS = {
    "hessian": "Hessian",
    "values": "the Jacobian holds",
    "delta": "delta must be finite",
    "r_x": r"gradient \(r_x\) holds",
    "r_y": r"constraint values \(r_y\) holds",
}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", INPUTS)
@pytest.mark.parametrize("kind", ["diagonal", "dense"])
def test_non_finite_values_fail_with_a_message_and_leave_the_back_end_usable(
    build, kind, where, bad
):
    rng = np.random.default_rng(10)
    system = random_system(rng, 12, 5, 0.5, kind)
    backend = build(system.pattern)
    backend.factorise(system.hessian, system.values)
    wrong = {
        "hessian": np.array(system.hessian),
        "values": system.values.copy(),
        "delta": np.full(5, 0.1),
        "r_x": system.r_x.copy(),
        "r_y": system.r_y.copy(),
    }
    wrong[where].flat[1 if where != "hessian" or kind == "diagonal" else 13] = bad

    def attempt():
        backend.factorise(wrong["hessian"], wrong["values"], wrong["delta"])
        backend.solve(wrong["r_x"], wrong["r_y"])

    with pytest.raises(KKTFailure, match=INPUTS[where]):
        attempt()
    check(backend, system)


def test_a_hessian_that_is_not_positive_or_does_not_fit(build):
    system = random_system(np.random.default_rng(11), 8, 3)
    backend = build(system.pattern)
    for hessian in (0.0, -1.0, np.r_[np.ones(7), 0.0], np.r_[-1.0, np.ones(7)]):
        with pytest.raises(KKTFailure, match="positive definite"):
            backend.factorise(hessian, system.values)
    for shape in (7, (8, 8)):
        with pytest.raises(ValueError, match="does not fit the pattern"):
            backend.factorise(np.ones(shape), system.values)
    with pytest.raises(KKTFailure, match="delta"):
        backend.factorise(1.0, system.values, -1.0)


def test_a_full_jacobian_is_used_as_it_is(build):
    """All entries stored: the values are the matrix row by row."""
    rng = np.random.default_rng(12)
    system = random_system(rng, 7, 4, 1.0)
    system.pattern = KKTPattern.full(7, 4)
    assert system.pattern.jacobian_is_full
    system.values = system.J.ravel()
    check(build(system.pattern), system)
