"""Second derivatives against central differences of first ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program, plan
from pyomo_stochsqp.compile.algebra import affine_parts as affine
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from tests.compile import models
from tests.compile.reference import dense_jacobian
from tests.compile.test_models import draw, point


def dense(evaluator: Any, values: Any) -> Any:
    upper = sp.csc_matrix(
        (values, evaluator.hess_indices, evaluator.hess_indptr), shape=(evaluator.n,) * 2
    ).toarray()
    assert (np.tril(upper, -1) == 0).all()
    return upper + np.triu(upper, 1).T


def differences(evaluator: Any, x: Any, y: Any, batches: Any, h: float = 1e-5) -> Any:
    def gradient(z: Any) -> Any:
        e = evaluator.evaluate(z, batches)
        return e.g + dense_jacobian(evaluator, e.J).T @ y

    columns = [(gradient(x + h * d) - gradient(x - h * d)) / (2 * h) for d in np.eye(evaluator.n)]
    return np.array(columns)


@pytest.mark.parametrize("build", models.ALL)
@pytest.mark.parametrize("short", [False, True])
def test_models(build: Callable[[], Any], short: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if short:  # everything in groups and in matrix products
        monkeypatch.setattr(plan, "GROUP", 1)
        monkeypatch.setattr(affine, "LONG", 2)
    program = read_model(build())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    y = np.random.default_rng(4).normal(size=evaluator.m)
    for weighted in (False, True):
        batches = draw(program, 2, weighted)
        values = evaluator.hessian(x, y, batches)
        assert values.shape == evaluator.hess_indices.shape
        for j in range(evaluator.n):
            column = evaluator.hess_indices[evaluator.hess_indptr[j] : evaluator.hess_indptr[j + 1]]
            assert (np.diff(column) > 0).all() and (column <= j).all()
        expected = differences(evaluator, x, y, batches)
        scale = 1.0 + np.abs(expected).max()
        np.testing.assert_allclose(dense(evaluator, values), expected, atol=1e-7 * scale)


def test_linear_program_has_no_second_derivatives() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1.0)
    m.w = RandomParam(range(3), data=np.eye(3))
    m.obj = pyo.Objective(expr=E(sum(m.w[j] * m.x[j] for j in range(3))))
    evaluator = compile_program(read_model(m), jit=False)
    batch = [Batch(2, (np.array([0, 1]),))]
    assert evaluator.hessian(np.ones(3), np.zeros(0), batch).size == 0
    assert evaluator.hess_indptr.tolist() == [0, 0, 0, 0]
