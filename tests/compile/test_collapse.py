"""Explicit scenarios: templates, data, classes, own variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.compile.scenarios.fast_reader import matcher
from pyomo_stochsqp.compile.scenarios.reader import ScenarioReader
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from tests.compile import models
from tests.compile.reference import assert_matches, reference
from tests.compile.test_models import draw, point


def _classes(evaluator: Any) -> int:
    return evaluator.plan._collapse.classes


def _logistic_blocks(size: int, n: int, data: Any, labels: Any) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=0.1)

    @m.Block(range(size))
    def s(b: Any, s: int) -> None:
        margin = sum(float(data[s, j]) * m.x[j] for j in range(n) if data[s, j])
        b.cost = pyo.Expression(expr=pyo.log(1 + pyo.exp(-float(labels[s]) * margin)))

    m.obj = pyo.Objective(expr=E(m.s[:].cost))
    return m


@pytest.mark.parametrize("values", [[0.0, 1.0], [-1.0, 0.0, 1.0], [0.5, 1.0, 2.0]])
def test_folded_coefficients_are_data(values: list[float]) -> None:
    """1*x, 0*x and -1*x change the shape of Pyomo's tree, but not the structure."""
    rng = np.random.default_rng(0)
    size, n = 300, 14
    data = rng.choice(values, size=(size, n))
    data[:, 0] = 1.0  # no scenario is constant
    m = _logistic_blocks(size, n, data, rng.choice([-1.0, 1.0], size))
    program = read_model(m)
    evaluator = compile_program(program, jit=False)
    assert _classes(evaluator) == 1
    assert "logaddexp" not in evaluator.source_code()
    assert evaluator.source_code().count("expit") == 1
    x = point(evaluator)
    batches = draw(program)
    assert_matches(evaluator, evaluator.evaluate(x, batches, True), reference(program, x, batches))


def test_large_margins_do_not_overflow() -> None:
    data = np.array([[1.0], [1.0]])
    m = _logistic_blocks(2, 1, data, [1.0, -1.0])
    evaluator = compile_program(read_model(m), jit=False)
    estimate = evaluator.evaluate(np.array([1e4]), [Batch(2, (np.array([0, 1]),))], True)
    assert estimate.issue is None
    assert estimate.f == pytest.approx(5e3)
    assert estimate.g[0] == pytest.approx(0.5)


def test_constant_scenario_is_a_class_of_its_own() -> None:
    data = np.array([[1.0, 2.0], [0.0, 0.0], [0.5, 0.0]])
    program = read_model(_logistic_blocks(3, 2, data, [1.0, 1.0, -1.0]))
    evaluator = compile_program(program, jit=False)
    assert _classes(evaluator) == 2
    x = np.array([0.3, -0.2])
    for rows in ([0, 1, 2, 1], [1, 1], [0, 2]):
        batches = [Batch(len(rows), (np.array(rows),))]
        expected = reference(program, x, batches)
        assert_matches(evaluator, evaluator.evaluate(x, batches, True), expected)


def test_own_variables_use_index_arrays() -> None:
    program = read_model(models.recourse())
    evaluator = compile_program(program, jit=False)
    assert evaluator.plan.streams.ells
    assert _classes(evaluator) == 2  # one for each of cost and need


def test_reload_of_mutable_scenarios() -> None:
    for build in (models.scenarios, models.recourse):
        m = build()
        program = read_model(m)
        evaluator = compile_program(program, jit=False)
        x = point(evaluator)
        batches = draw(program, 2)
        source = evaluator.source_code()
        parameter = m.p if build is models.scenarios else m.q
        for s in parameter:
            parameter[s] = float(np.cos(3 * s))
        if build is models.scenarios:
            m.k = 0.25
        evaluator.reload()
        assert evaluator.source_code() == source
        expected = reference(program, x, batches)
        assert_matches(evaluator, evaluator.evaluate(x, batches, True), expected)


def test_named_expression_used_twice() -> None:
    """A shared sub-expression is read once, so nesting does not explode."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.1)

    @m.Block(range(3))
    def s(b: Any, s: int) -> None:
        b.u = pyo.Expression(range(60))
        b.u[0] = 0.1 * (s + 1) * pyo.sin(m.x)
        for t in range(1, 60):
            b.u[t] = 0.4 * (b.u[t - 1] + b.u[t - 1] ** 2)

    m.obj = pyo.Objective(expr=E(m.s[:].u[59]))
    evaluator = compile_program(read_model(m), jit=False)
    batches = [Batch(3, (np.array([0, 1, 2]),))]
    estimate = evaluator.evaluate(np.array([0.7]), batches, True)
    h = 1e-6
    up = evaluator.evaluate(np.array([0.7 + h]), batches, True)
    down = evaluator.evaluate(np.array([0.7 - h]), batches, True)
    assert up.f is not None and down.f is not None
    assert estimate.g[0] == pytest.approx((up.f - down.f) / (2 * h), rel=1e-4)
    assert len(evaluator.source_code()) < 40_000


def test_matchers_agree_with_the_reader() -> None:
    """The generated matcher of one scenario reads another exactly as the general reader does."""
    rng = np.random.default_rng(0)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), initialize=0.5)
    x = m.x
    index = {id(v): j for j, v in enumerate(x.values())}
    scenarios = []
    for _ in range(300):
        a, b, c = rng.choice([-1.0, 0.5, 2.5], 3, p=[0.1, 0.4, 0.5])
        linear = sum(w * x[j] for j, w in enumerate(rng.choice([0.0, 1.0, 3.0], 4)) if w)
        named = pyo.Expression(expr=b * x[0] * x[1] + pyo.sin(linear + x[2]) / (1 + x[3] ** 2))
        named.construct()
        scenarios.append(
            a * pyo.exp(c * x[0] + 1) - named + (x[1] - b) ** 3 / 4 + 2 / x[2] + linear
        )
    reader = ScenarioReader(index)
    structure, _ = reader.read(scenarios[0], "")
    match = matcher(scenarios[0], index)
    assert match is not None
    compared = 0
    for expr in scenarios:
        found = match(expr)
        if found is not None:
            other, reading = reader.read(expr, "")
            assert other == structure
            np.testing.assert_allclose(found[0], reading.numbers, rtol=1e-15)
            assert found[1] == reading.supports
            compared += 1
    assert compared > 50


def test_many_scenarios_are_matched() -> None:
    """Almost all scenarios of one shape go through the generated matcher."""
    rng = np.random.default_rng(0)
    m = _logistic_blocks(200, 6, rng.normal(size=(200, 6)), rng.choice([-1.0, 1.0], 200))
    program = read_model(m)
    calls = 0
    original = ScenarioReader.read

    def counted(self: Any, expr: Any, where: str) -> Any:
        nonlocal calls
        calls += 1
        return original(self, expr, where)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScenarioReader, "read", counted)
        compile_program(program, jit=False)
    assert calls <= 4
