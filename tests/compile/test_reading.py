"""Set-up: what is refused, what is read again, what is described, what is not copied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program, explain_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch, Function
from pyomo_stochsqp.errors import ModelError
from pyomo_stochsqp.sample.reading import Reading
from tests.compile import models
from tests.compile.reference import assert_matches, reference
from tests.compile.test_models import draw, point


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: abs(x), "abs"),
        (lambda x: pyo.ceil(x), "ceil"),
        (lambda x: pyo.floor(x), "floor"),
        (lambda x: pyo.Expr_if(x > 0, x, 2 * x), "Expr_if"),
    ],
)
def test_kinks_are_refused(f: Callable[[Any], Any], name: str) -> None:
    with pytest.raises(ModelError, match=f"'con'.*{name}.*epigraph"):
        compile_program(_with_row(f))


def _with_row(f: Callable[[Any], Any]) -> Any:
    """A record with a row that reading the model would refuse already."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=m.x**2)
    m.con = pyo.Constraint(expr=m.x**3 <= 1)
    program = read_model(m)
    (row,) = program.rows
    return replace(program, rows=[replace(row, body=Function(f(m.x)))])


def test_kinks_in_scenarios_are_refused() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=E([(m.x - s) ** 2 for s in range(3)]))
    program = read_model(m)
    (term,) = program.objective.terms
    for bad in (lambda z: abs(z), lambda z: pyo.Expr_if(z > 0, z, 2 * z)):
        term = replace(term, scenarios=[bad(m.x - s) for s in range(3)])
        with pytest.raises(ModelError, match=r"'obj'.*epigraph"):
            compile_program(replace(program, objective=Function(0.0, (term,))))


def test_external_functions_are_refused() -> None:
    def f(x: Any) -> Any:
        m = x.model()
        m.f = pyo.ExternalFunction(lambda x: x)
        return m.f(x)

    with pytest.raises(ModelError, match=r"'con'.*external function"):
        compile_program(_with_row(f))


def test_kinks_of_data_are_fine() -> None:
    data = np.array([-2.5, 0.3, 1.7, -0.2])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(data=data)
    m.obj = pyo.Objective(
        expr=E(
            (abs(m.w) + pyo.floor(m.w) + pyo.ceil(2 * m.w)) * m.x
            + pyo.Expr_if(m.w > 0, m.w, 3 * m.w) * m.x**2
        )
    )
    program = read_model(m)
    evaluator = compile_program(program, jit=False)
    batches = [Batch(4, (np.arange(4),))]
    g = np.abs(data) + np.floor(data) + np.ceil(2 * data)
    g = g + 2 * 0.7 * np.where(data > 0, data, 3 * data)
    found = evaluator.evaluate(np.array([0.7]), batches, True)
    np.testing.assert_allclose(found.g, [g.mean()])


def test_safe_forms_are_recognised() -> None:
    """None of these overflow where the function itself is moderate."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=1.0)
    x = m.x
    m.obj = pyo.Objective(
        expr=pyo.log(1 + pyo.exp(x[0]))
        + pyo.log(pyo.exp(x[1]) + 2 * pyo.exp(x[2]) + 1)
        + 1 / (1 + pyo.exp(-x[3]))
    )
    m.con = pyo.Constraint(expr=pyo.exp(x[3]) / (1 + pyo.exp(x[3])) + pyo.log(pyo.exp(x[0])) == 0)
    evaluator = compile_program(read_model(m), jit=False)
    for big in (900.0, -900.0):
        estimate = evaluator.evaluate(np.full(4, big), (), objective=True)
        assert estimate.issue is None
        assert np.isfinite(estimate.g).all() and np.isfinite(estimate.c).all()
    estimate = evaluator.evaluate(np.full(4, 900.0), (), objective=True)
    np.testing.assert_allclose(estimate.g, [1.0, 1 / 3, 2 / 3, 0.0], atol=1e-12)
    assert estimate.f == pytest.approx(900.0 + 900.0 + np.log(3.0) + 1.0)


@pytest.mark.parametrize("build", [models.groups, models.exact_only])
def test_reload(build: Callable[[], Any]) -> None:
    """Mutable Params and values of fixed variables are read again without new code."""
    m = build()
    program = read_model(m)
    evaluator = compile_program(program, jit=False)
    x, batches = point(evaluator), draw(program)
    code = evaluator.source_code()
    for p in m.p.values():
        p.set_value(1.7)
    if build is models.exact_only:
        m.fixed.fix(1.25)
    evaluator.reload()
    assert evaluator.source_code() == code
    expected = reference(program, x, batches)
    assert_matches(evaluator, evaluator.evaluate(x, batches, True), expected)


def test_named_expressions_are_evaluated_once() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.5)
    m.w = RandomParam(range(3), data=np.random.default_rng(0).normal(size=(9, 3)))
    m.u = pyo.Expression(expr=pyo.exp(sum(m.w[j] * m.x[j] for j in range(3))))
    m.obj = pyo.Objective(expr=E(m.u * m.x[0] + m.u**2))
    m.con = pyo.Constraint(expr=E(m.u * m.w[0]) == 1)
    evaluator = compile_program(read_model(m), jit=False)
    assert evaluator.source_code().count("a_exp(") == 1


def test_derivatives_that_are_variables() -> None:
    """x'x/2 has the gradient x: a result that needs no computation, only a copy."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), initialize=1.0)
    m.y = pyo.Var(range(5), initialize=1.0)
    m.obj = pyo.Objective(expr=0.5 * sum(m.x[j] ** 2 for j in range(5)))
    m.con = pyo.Constraint(range(5), rule=lambda m, i: m.x[i] * m.y[i] == 1)
    evaluator = compile_program(read_model(m), jit=False)
    x = np.arange(1.0, 11.0)
    estimate = evaluator.evaluate(x, ())
    np.testing.assert_array_equal(estimate.g, [1, 2, 3, 4, 5, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(estimate.J.reshape(5, 2), np.stack((x[5:], x[:5]), axis=1))
    x[:] = 0.0
    assert estimate.g[1] == 2.0


def test_inner_sums_are_arrays() -> None:
    """Equal terms inside nonlinear expressions are not written out one by one."""
    evaluator = compile_program(read_model(models.inner_sums()), jit=False)
    found = {
        id(v.payload)
        for part in evaluator.plan.parts
        for block in part.blocks
        for v in block.graph.values()
        if v.op == "inner"
    }
    assert len(found) >= 9
    assert evaluator.source_code().count("\n") < 250


def test_deep_expressions() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    e = m.x
    for _ in range(3000):
        e = pyo.sin(e) + 0.9 * m.x
    m.obj = pyo.Objective(expr=e)
    evaluator = compile_program(read_model(m), jit=False)
    h, f = 1e-6, []
    for x in (0.5 - h, 0.5 + h):
        f.append(evaluator.evaluate(np.array([x]), (), True).f)
    g = evaluator.evaluate(np.array([0.5]), ()).g[0]
    assert g == pytest.approx((f[1] - f[0]) / (2 * h), rel=1e-6)


def test_linear_rows_are_not_recomputed() -> None:
    """A linear program has no derivative code at all."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(30), initialize=1.0)
    m.obj = pyo.Objective(expr=sum(j * m.x[j] for j in range(30)))
    m.con = pyo.Constraint(range(29), rule=lambda m, i: m.x[i] - 2 * m.x[i + 1] + 3 == 0)
    evaluator = compile_program(read_model(m), jit=False)
    assert not evaluator.plan.parts
    estimate = evaluator.evaluate(np.arange(30.0), (), objective=True)
    np.testing.assert_allclose(estimate.g, np.arange(30.0))
    np.testing.assert_allclose(estimate.c, np.arange(29) - 2 * np.arange(1, 30) + 3.0)
    assert estimate.f == pytest.approx(sum(j * j for j in range(30)))


def test_memory_maps_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "data.npy"
    data = np.random.default_rng(0).normal(size=(2000, 50))
    np.save(path, data)
    mapped = np.load(path, mmap_mode="r")
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.5)
    m.w = RandomParam(range(50), data=mapped)
    m.obj = pyo.Objective(expr=E(pyo.exp(0.1 * m.w[3] * m.x[0]) + m.w[40] * m.x[1] * m.x[2]))
    program = read_model(m)
    evaluator = compile_program(program, jit=False)
    (part,) = program.sources[0].parts
    (field,) = part.fields
    assert part.stored and field.taken == (3, 40)  # only the columns that are used are read
    (info,) = evaluator.plan.streams.fields
    assert info.matrix is None and info.width == 2
    rows = draw(program)
    batches = [Reading(program.sources[0]).read(rows[0])]
    np.testing.assert_array_equal(batches[0].parts[0][0], data[rows[0].parts[0]][:, [3, 40]])
    x = point(evaluator)
    assert_matches(evaluator, evaluator.evaluate(x, batches, True), reference(program, x, rows))


def test_work_does_not_depend_on_the_number_of_rows() -> None:
    """The same code, the same statements, whatever the size of the table."""
    codes = []
    for size in (100, 50_000):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(3), initialize=0.5)
        m.w = RandomParam(range(3), data=np.ones((size, 3)))
        m.obj = pyo.Objective(expr=E(sum(pyo.exp(m.w[j] * m.x[j]) for j in range(3))))
        codes.append(compile_program(read_model(m), jit=False).source_code())
    assert codes[0] == codes[1]


def test_inspect() -> None:
    text = explain_program(read_model(models.groups()), source=True)
    assert "12 variables, 24 constraints" in text
    assert "Source 'state': 40 rows" in text
    assert "group of 12 equal terms in 1 functions" in text
    assert "Estimated time of one evaluation" in text
    assert "def evaluate" in text
    text = explain_program(read_model(models.scenarios()))
    assert "of its 40 scenarios (one structure)" in text
    assert "collected from the scenarios" in text
    assert "def evaluate" not in text
