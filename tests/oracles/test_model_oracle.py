"""The oracle of a model: large batches in pieces, full passes, names."""

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import ITERATION_STREAM, Oracle
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler


@pytest.fixture
def oracle():
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.5, bounds=(-1, None))
    m.w = RandomParam([0, 1], data=rng.normal(1, 0.3, (5000, 2)))
    m.v = RandomParam(sampler=lambda rng, size: rng.standard_normal((size, 1)))
    m.obj = pyo.Objective(expr=E(pyo.exp(m.w[0] * m.x[0]) + m.w[1] * m.x[1] ** 2))
    m.row = pyo.Constraint(expr=E((m.x[0] - m.v) ** 2) <= 3)
    m.exact = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    program = read_model(m)
    return ModelOracle(program, compile_program(program), Sampler(program.sources, 1))


def test_it_is_an_oracle(oracle):
    assert isinstance(oracle, Oracle)
    assert [s.size for s in oracle.sources] == [5000, None]
    assert list(oracle.problem.row_names) == ["row", "exact"]
    assert oracle.problem.exact_rows.tolist() == [False, True]
    assert oracle.problem.x_lower.tolist() == [-1, -1]


def test_a_batch_in_pieces_is_the_mean_of_the_pieces(oracle, monkeypatch):
    x = np.array([0.3, 0.9])
    sample = oracle.draw(ITERATION_STREAM, 1, [1200, 1200])
    whole = oracle.estimate(x, sample, objective=True)
    monkeypatch.setattr(oracle, "_limits", [400, 400])  # three equal pieces
    pieces = oracle.estimate(x, sample, objective=True)
    for name in ("g", "c", "J", "f"):
        assert np.allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-12), name


def test_pieces_of_unequal_batches_give_the_same_means(oracle, monkeypatch):
    x = np.array([0.3, 0.9])
    sample = oracle.draw(ITERATION_STREAM, 1, [1001, 97])
    whole = oracle.estimate(x, sample)
    curved = oracle.hessian(x, np.array([2.0, 1.0]), sample)
    monkeypatch.setattr(oracle, "_limits", [100, 100])
    pieces = oracle.estimate(x, sample)
    for name in ("g", "c", "J"):
        assert np.allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-12), name
    assert np.allclose(oracle.hessian(x, np.array([2.0, 1.0]), sample), curved, rtol=1e-12)


def test_a_complete_weighted_table_beside_a_distribution_keeps_its_weights(monkeypatch):
    """The table is drawn whole, with its probabilities, although the distribution never ends."""
    table, weights = np.arange(1000.0), np.linspace(0.0, 2.0, 1000)
    weights /= weights.sum()
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.t = RandomParam(data=table, weights=weights)
    m.v = RandomParam(sampler=lambda rng, size: rng.standard_normal((size, 1)))
    m.obj = pyo.Objective(expr=E((m.x - m.t) ** 2) + E((m.x - m.v) ** 2))
    m.row = pyo.Constraint(expr=E(m.t * m.x) == 1)
    program = read_model(m)
    oracle = ModelOracle(program, compile_program(program), Sampler(program.sources, 1))
    monkeypatch.setattr(oracle, "_limits", [100, 100])
    sample = oracle.draw(ITERATION_STREAM, 1, [1000, 50])
    assert not sample.exact
    estimate = oracle.estimate(np.array([2.0]), sample)
    assert estimate.c[0] == pytest.approx(2.0 * weights @ table, rel=1e-12)
    assert oracle.hessian(np.array([2.0]), np.zeros(1), sample)[0] == pytest.approx(4.0)
