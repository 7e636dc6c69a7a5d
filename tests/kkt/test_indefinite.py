"""Indefinite KKT systems: inertia against eigenvalues, solutions against dense algebra."""

import numpy as np
import pytest

from pyomo_stochsqp.kkt import KKTPattern, make_indefinite
from pyomo_stochsqp.kkt.indefinite import FullSystem, SparseSystem

BOTH = pytest.mark.parametrize("kind", [FullSystem, SparseSystem])


class System:
    """A random sparse system: a pattern with its values, and the same as a full matrix."""

    def __init__(self, seed, n, m, density=0.4, b=0.0):
        rng = np.random.default_rng(seed)
        rows, columns = np.nonzero(np.triu(rng.random((n, n)) < density) | np.eye(n, dtype=bool))
        order = np.lexsort((rows, columns))
        self.h_rows, self.h_columns = rows[order], columns[order]
        jac = rng.random((m, n)) < density
        jac[np.arange(m), rng.permutation(n)[:m]] = True
        self.j_rows, self.j_columns = np.nonzero(jac)
        self.pattern = KKTPattern(
            n, m, np.searchsorted(self.j_rows, np.arange(m + 1)), self.j_columns,
            hessian_indptr=np.searchsorted(self.h_columns, np.arange(n + 1)),
            hessian_indices=self.h_rows,
        )  # fmt: skip
        self.W = rng.standard_normal(self.h_rows.size)
        self.J = rng.standard_normal(self.j_rows.size)
        self.a = rng.random(n)
        self.b = np.full(m, b) * rng.random(m)
        self.right = rng.standard_normal(n), rng.standard_normal(m)
        self.n, self.m = n, m

    @property
    def K(self):
        n, m = self.n, self.m
        K = np.zeros((n + m, n + m))
        K[self.h_rows, self.h_columns] = self.W
        K[self.h_columns, self.h_rows] = self.W
        K[np.arange(n), np.arange(n)] += self.a
        K[n + self.j_rows, self.j_columns] = self.J
        K[self.j_columns, n + self.j_rows] = self.J
        K[np.arange(n, n + m), np.arange(n, n + m)] = -self.b
        return K

    def factorised(self, kind):
        system = kind(self.pattern)
        return system, system.factorise(self.W, self.J, self.a, self.b)


@BOTH
@pytest.mark.parametrize("b", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_the_inertia_is_that_of_the_eigenvalues(kind, b, seed):
    case = System(seed, 3 + seed, 1 + seed // 3, b=b)
    eigenvalues = np.linalg.eigvalsh(case.K)
    _, positive = case.factorised(kind)
    assert positive == (eigenvalues > 0).sum()


@BOTH
@pytest.mark.parametrize("b", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_solutions(kind, b, seed):
    case = System(seed, 3 + seed, 1 + seed // 3, b=b)
    system, _ = case.factorised(kind)
    d, y = system.solve(*case.right)
    expected = np.linalg.solve(case.K, np.concatenate(case.right))
    error = case.K @ np.concatenate((d, y)) - np.concatenate(case.right)
    assert np.abs(error).max() <= 1e-10
    np.testing.assert_allclose(np.concatenate((d, y)), expected, rtol=1e-6, atol=1e-8)


@BOTH
def test_the_same_pattern_is_factorised_again(kind):
    case = System(5, 10, 3)
    system, first = case.factorised(kind)
    case.W = -case.W
    case.a = np.zeros(10)
    second = system.factorise(case.W, case.J, case.a, case.b)
    eigenvalues = np.linalg.eigvalsh(case.K)
    assert second == (eigenvalues > 0).sum()
    assert second != first
    d, y = system.solve(*case.right)
    np.testing.assert_allclose(
        case.K @ np.concatenate((d, y)), np.concatenate(case.right), atol=1e-9
    )


@BOTH
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers_give_no_factorisation(kind, bad):
    for name in ("W", "J", "a", "b"):
        case = System(1, 6, 2, b=1.0)
        getattr(case, name)[0] = bad
        assert case.factorised(kind)[1] is None


def test_a_singular_matrix_has_no_inertia():
    case = System(1, 6, 2)
    case.W[:], case.a[:], case.J[:] = 0.0, 0.0, 0.0
    assert case.factorised(FullSystem)[1] is None


@BOTH
def test_units_that_differ_by_ten_orders_of_magnitude(kind):
    """Rows and columns times factors: signs stay (Sylvester), and so does the relative error."""
    case = System(3, 8, 3, b=1.0)
    D = 10.0 ** np.random.default_rng(0).uniform(-5, 5, 8)
    eigenvalues = np.linalg.eigvalsh(case.K)
    case.W *= D[case.h_rows] * D[case.h_columns]
    case.a *= D * D
    case.J *= D[case.j_columns]
    system, positive = case.factorised(kind)
    assert positive == (eigenvalues > 0).sum()
    right = np.concatenate(case.right) * np.concatenate((D, np.ones(3)))
    d, y = system.solve(right[:8], right[8:])
    expected = np.linalg.solve(case.K, right)
    np.testing.assert_allclose(np.concatenate((d, y)), expected, rtol=1e-5)


def test_the_choice_follows_size_and_density():
    assert isinstance(make_indefinite(System(0, 10, 3).pattern), FullSystem)
    assert isinstance(make_indefinite(System(0, 150, 30, density=0.02).pattern), SparseSystem)
    assert isinstance(make_indefinite(System(0, 150, 30, density=0.9).pattern), FullSystem)


def test_many_variables_in_a_chain():
    """5000 variables with neighbours coupled: sparse, and right."""
    n, m = 5000, 2000
    rng = np.random.default_rng(2)
    columns = np.concatenate(([0], np.repeat(np.arange(1, n), 2)))
    rows = np.concatenate(([0], np.column_stack((np.arange(n - 1), np.arange(1, n))).ravel()))
    indptr = np.searchsorted(columns, np.arange(n + 1))
    jac_columns = np.sort(np.column_stack((2 * np.arange(m), 2 * np.arange(m) + 1)), axis=1).ravel()
    pattern = KKTPattern(
        n, m, 2 * np.arange(m + 1), jac_columns, hessian_indptr=indptr, hessian_indices=rows
    )
    system = make_indefinite(pattern)
    assert isinstance(system, SparseSystem)
    W = np.where(rows == columns, 4.0, 1.0)
    positive = system.factorise(W, rng.standard_normal(2 * m), np.zeros(n), np.zeros(m))
    assert positive == n
    r_x, r_y = rng.standard_normal(n), rng.standard_normal(m)
    assert system.solve(r_x, r_y) is not None
