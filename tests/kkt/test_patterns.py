"""Index maps put every value where the dense matrix has it, and wrong patterns are refused."""

import numpy as np
import pytest

from benchmarks.kkt import band_with_dense_rows
from pyomo_stochsqp.kkt import KKTPattern
from pyomo_stochsqp.kkt.backends.schur import SchurRoot
from pyomo_stochsqp.kkt.backends.superlu import elimination_order
from pyomo_stochsqp.kkt.hessian_values import HessianValues
from pyomo_stochsqp.kkt.matrix import KKTMatrix
from tests.kkt.kkt_systems import random_system


def dense_kkt(system, block):
    return np.block([[system.H, system.J.T], [system.J, -np.diag(block)]])


@pytest.mark.parametrize("kind", ["diagonal", "sparse", "dense"])
@pytest.mark.parametrize("part", ["upper", "lower", "all"])
@pytest.mark.parametrize("permuted", [False, True])
def test_the_assembled_matrix_is_the_kkt_matrix(kind, part, permuted):
    rng = np.random.default_rng(30)
    system = random_system(rng, 12, 5, 0.4, kind)
    order = rng.permutation(17) if permuted else np.arange(17)
    kkt = KKTMatrix(system.pattern, part, order if permuted else None)
    arrays = kkt.matrix.data, kkt.matrix.indices
    values = HessianValues(system.pattern)
    values.set(system.hessian)
    # a second update must leave nothing of the first
    for block in (np.zeros(5), rng.random(5)):
        kkt.update(values.values, system.values, block)
        expected = dense_kkt(system, block)[np.ix_(order, order)]
        trim = {"upper": np.triu, "lower": np.tril, "all": np.asarray}[part]
        assert np.array_equal(kkt.matrix.toarray(), trim(expected))
    assert kkt.matrix.data is arrays[0] and kkt.matrix.indices is arrays[1]
    assert kkt.matrix.has_sorted_indices


@pytest.mark.parametrize("kind", ["number", "diagonal", "sparse", "dense", "identity on sparse"])
def test_the_product_with_the_hessian(kind):
    rng = np.random.default_rng(31)
    system = random_system(rng, 12, 5, 0.4, kind)
    values = HessianValues(system.pattern)
    for hessian, H in ((system.hessian, system.H), (2.0, 2.0 * np.eye(12))):
        values.set(hessian)
        d = rng.normal(size=12)
        assert np.allclose(values.times(d), H @ d, rtol=0.0, atol=1e-14)


def test_a_packed_upper_triangle_is_a_dense_hessian_too():
    system = random_system(np.random.default_rng(32), 9, 3, kind="dense")
    row, column = system.pattern.hessian_entries()
    values = HessianValues(system.pattern)
    values.set(system.H[row, column])
    d = np.arange(9.0)
    assert np.allclose(values.times(d), system.H @ d, rtol=0.0, atol=1e-13)


def test_the_root_of_the_schur_complement():
    rng = np.random.default_rng(33)
    system = random_system(rng, 12, 5, 0.4)
    root = SchurRoot(system.pattern)
    block = rng.random(5)
    root.update(system.values, block)
    A = root.matrix.toarray()
    assert np.allclose(A @ A.T, system.J @ system.J.T + np.diag(block), rtol=0.0, atol=1e-13)


def test_nearly_full_nodes_are_eliminated_last():
    """Minimum degree alone needs quadratic time for them: minutes at the sizes of the benchmark."""
    pattern = band_with_dense_rows(2000)
    order = elimination_order(KKTMatrix(pattern, "all").matrix)
    assert np.array_equal(np.sort(order), np.arange(pattern.n + pattern.m))
    assert set(order[-2:]) == {pattern.n + pattern.m - 2, pattern.n + pattern.m - 1}


def test_properties():
    assert KKTPattern.full(4, 3).jacobian_is_full
    assert KKTPattern.full(4, 0).jacobian_is_full
    thin = KKTPattern(4, 2, [0, 1, 1], [3])
    assert not thin.jacobian_is_full and thin.density == 1 / 8
    assert list(thin.rows) == [0]
    assert thin.hessian_is_diagonal
    assert not KKTPattern.full(4, 3, hessian_dense=True).hessian_is_diagonal


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, [0], []), "n >= 1"),
        ((3, 2, [0, 1], [0]), "indptr"),
        ((3, 2, [0, 2, 1], [0]), "indptr"),
        ((3, 1, [0, 2], [0]), "indptr"),
        ((3, 1, [0, 1], [3]), r"outside 0\.\.2"),
        ((3, 1, [0, 2], [1, 0]), "sort the indices"),
        ((3, 1, [0, 2], [1, 1]), "merge duplicates"),
        ((2, 0, [0], [], [0, 1, 2]), "neither"),
        ((2, 0, [0], [], [0, 1, 1], [0]), "whole diagonal"),
        ((2, 0, [0], [], [0, 2, 3], [0, 1, 1]), "last row index"),
        ((2, 0, [0], [], [0, 1, 2], [0, 1], True), "not both"),
    ],
)
def test_wrong_patterns_are_refused(arguments, message):
    arrays = [np.array(a, dtype=int) if isinstance(a, list) else a for a in arguments]
    with pytest.raises(ValueError, match=message):
        KKTPattern(*arrays)
