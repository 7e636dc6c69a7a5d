"""hessian='exact': second derivatives of the Lagrangian, repaired."""

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import stats

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.oracle import ITERATION_STREAM, Estimate, Problem, Sample, whole_sample
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.scaling import Scaling, scaled
from pyomo_stochsqp.solve import prepare
from pyomo_stochsqp.sqp import Choices, assemble
from pyomo_stochsqp.sqp.second_order import LagrangianHessian
from tests.sqp.oracles import noisy_sphere


def two_sources():
    """Weighted rows, a second table, and an exact part."""
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize={0: 0.3, 1: -0.5, 2: 0.8})
    m.a = RandomParam(data=rng.standard_normal(7), weights=np.arange(1.0, 8.0) / 28.0)
    m.b = RandomParam(data=rng.standard_normal(4))
    m.obj = pyo.Objective(expr=E(pyo.exp(m.a * m.x[0]) + m.x[1] ** 2 * m.b**2) + m.x[0] * m.x[2])
    m.one = pyo.Constraint(expr=E(pyo.sin(m.b * m.x[2]) * m.x[0]) == 0.1)
    m.two = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] * m.x[2] <= 2)
    return m


def oracle_of(model):
    program = read_model(model)
    return ModelOracle(program, compile_program(program), Sampler(program.sources, 0))


def full_matrix(oracle, values):
    indptr, indices = oracle.hessian_pattern()
    n = oracle.problem.n
    columns = np.repeat(np.arange(n), np.diff(indptr))
    H = np.zeros((n, n))
    H[indices, columns] = H[columns, indices] = values
    return H


def differences(oracle, x, y, sample, h=1e-5):
    """Central differences of the Lagrangian's gradient."""
    problem = oracle.problem

    def gradient(x):
        e = oracle.estimate(x, sample)
        rows = np.repeat(np.arange(problem.m), np.diff(problem.jac_indptr))
        return e.g + np.bincount(problem.jac_indices, e.J * y[rows], problem.n)

    eye = np.eye(problem.n)
    return np.array([(gradient(x + h * e) - gradient(x - h * e)) / (2 * h) for e in eye])


@pytest.mark.parametrize("batch", [(7, 4), (5, 2)], ids=["all rows", "a batch"])
@pytest.mark.parametrize("factors", [None, Scaling(np.array([3.0, 0.2]), 7.0)])
def test_second_derivatives_are_differences_of_gradients(batch, factors):
    oracle = oracle_of(two_sources())
    if factors is not None:
        oracle = scaled(oracle, factors)
    sample = oracle.draw(ITERATION_STREAM, 1, batch)
    assert sample.exact == (batch == (7, 4))
    x, y = oracle.problem.x0, np.array([1.5, -0.7])
    H = full_matrix(oracle, oracle.hessian(x, y, sample))
    assert np.allclose(H, differences(oracle, x, y, sample), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("rows", [1, 2, 3, 100])
def test_a_full_pass_may_go_in_pieces_of_any_size(rows, monkeypatch):
    oracle = oracle_of(two_sources())
    x, y = np.array([0.3, -0.5, 0.8]), np.array([1.5, -0.7])
    sample = whole_sample(oracle)
    at_once = oracle.hessian(x, y, sample)
    monkeypatch.setattr(oracle, "_limits", [rows, rows])
    assert np.allclose(oracle.hessian(x, y, sample), at_once, rtol=1e-13)


class Given:
    """Second derivatives M of a problem with constant J, for the repairs."""

    def __init__(self, M, J):
        self.M = M
        self.problem = Problem.equalities(np.zeros(M.shape[0]), J.shape[0])
        self.sources = ()
        self.there = Estimate(np.zeros(M.shape[0]), np.zeros(J.shape[0]), J.ravel())

    draw = estimate = full = None

    def hessian_pattern(self):
        n = self.problem.n
        return np.cumsum(np.arange(n + 1)), np.concatenate([np.arange(j + 1) for j in range(n)])

    def hessian(self, x, y, sample):
        columns, rows = np.tril_indices(self.problem.n)
        return self.M[rows, columns]


class Taught:
    """A lesson at the end of a full step."""

    alpha = 1.0

    def __init__(self, oracle, y):
        self.s = np.ones(oracle.problem.n)
        self.end = np.zeros(oracle.problem.n)
        self.y, self.there, self._oracle = y, oracle.there, oracle

    def hessian(self):
        return self._oracle.hessian(self.end, self.y, Sample((), 0))


def indefinite(rng, n, reduced_is_positive, Z):
    """A symmetric matrix with a negative eigenvalue, positive definite on Z or not."""
    while True:
        A = rng.standard_normal((n, n))
        M = A + A.T + (2.0 * n * Z @ Z.T if reduced_is_positive else 0.0)
        reduced = np.linalg.eigvalsh(Z.T @ M @ Z)[0]
        if np.linalg.eigvalsh(M)[0] < -0.5 and (reduced > 0.5) == reduced_is_positive:
            return M


@pytest.mark.parametrize("full", [True, False], ids=["full", "sparse"])
@pytest.mark.parametrize("seed", range(10))
def test_repaired_matrices_are_positive_definite(full, seed):
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((2, 5))
    Z = np.linalg.svd(J)[2][2:].T
    oracle = Given(indefinite(rng, 5, seed % 2 == 0, Z), J)
    rule = LagrangianHessian(oracle, full=full)
    H = rule.updated(rule.initial(0.0), Taught(oracle, np.ones(2))).H
    H = H if full else full_matrix(oracle, H)
    assert np.allclose(H, H.T) and np.linalg.eigvalsh(H)[0] > 0.0


@pytest.mark.parametrize("seed", range(10))
def test_the_repair_keeps_newton_steps_where_second_order_conditions_hold(seed):
    """M indefinite but positive definite on the null space of J: the KKT solution stays."""
    rng = np.random.default_rng(seed)
    J = rng.standard_normal((2, 5))
    Z = np.linalg.svd(J)[2][2:].T
    M = indefinite(rng, 5, True, Z)
    oracle = Given(M, J)
    rule = LagrangianHessian(oracle, full=True)
    H = rule.updated(rule.initial(0.0), Taught(oracle, np.ones(2))).H
    g, c = rng.standard_normal(5), rng.standard_normal(2)

    def step(H):
        K = np.block([[H, J.T], [J, np.zeros((2, 2))]])
        return np.linalg.solve(K, -np.concatenate([g, c]))[:5]

    assert not np.allclose(H, M)
    assert np.allclose(step(H), step(M), rtol=1e-6, atol=1e-8)


def rotated(condition):
    """min E|Q^(1/2) (x - w)|^2 with rotated axes, on a plane; the solution is known."""
    rng = np.random.default_rng(5)
    n = 6
    V = np.linalg.qr(rng.standard_normal((n, n)))[0]
    Q = (V * np.logspace(0, np.log10(condition), n)) @ V.T
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=0.0)
    m.w = RandomParam(range(n), distribution=stats.norm(1.0, 0.1))
    d = [m.x[i] - m.w[i] for i in range(n)]
    m.obj = pyo.Objective(
        expr=E(sum(Q[i, j] * d[i] * d[j] for i in range(n) for j in range(n)) / 2)
    )
    m.row = pyo.Constraint(expr=sum(m.x[i] for i in range(n)) == 3)
    inverse = np.linalg.solve(Q, np.ones(n))
    return m, 1.0 - 3.0 * inverse / inverse.sum()


def test_averaged_second_derivatives_learn_rotated_axes():
    """Condition 1e3 in rotated axes: a diagonal cannot see it, the averaged Hessian does.

    w has deviation 0.1, and x* is a mean over all samples, each used about once: 200 x 64 of them
    leave 0.1 / sqrt(12800) = 9e-4 per entry; the step sizes near one leave some ten times more.
    """
    model, solution = rotated(1e3)
    options = {"algorithm": "stochsqp", "max_iter": 200, "batch_size": 64, "seed": 1}
    exact = prepare(model, validated(options | {"hessian": "exact"})).run().state.x
    other = prepare(model, validated(options | {"hessian": "identity"})).run().state.x
    assert np.abs(exact - solution).max() <= 0.02
    assert np.abs(other - solution).max() >= 5 * np.abs(exact - solution).max()


def test_an_oracle_without_second_derivatives_says_so():
    with pytest.raises(OptionError, match="second derivatives"):
        assemble(noisy_sphere(), Choices(batch=(8,), hessian="exact"))
