"""Trouble at a trial point is a status that names the component, the row and the operation."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from tests.compile.in_pieces import in_pieces, whole

ROWS = np.array([1, 3, 7, 8])

CASES: list[tuple[Callable[[Any, Any], Any], float, str, int | None]] = [
    (lambda x, w: pyo.log(x - w), 5.0, "log of a negative number", 7),
    (lambda x, w: pyo.log(x - w), 3.0, "log of a negative number", 7),
    (lambda x, w: pyo.log10(w - x), 1.0, "log10 of zero", 1),
    (lambda x, w: 1 / (x - 5) + w * x, 5.0, "division by zero", None),
    (lambda x, w: w / (x - w), 3.0, "division by zero", 3),
    (lambda x, w: pyo.exp(w * x), 500.0, "overflow in exp", 3),
    (lambda x, w: pyo.exp(x) * w, 1000.0, "overflow in exp", None),
    (lambda x, w: x * pyo.log(x) + w * x, 0.0, "log of zero", None),
    (lambda x, w: pyo.sqrt(x) * w, 0.0, "square root of zero", None),
    (lambda x, w: pyo.sqrt(x - w), 5.0, "square root of a negative number", 7),
    (lambda x, w: (x - w) ** 1.3, 5.0, "fractional power of a negative number", 7),
    (lambda x, w: (x - w) ** 0.3, 3.0, "fractional power of a negative number", 7),
    (lambda x, w: pyo.asin(x * w), 0.3, "asin outside", 7),
    (lambda x, w: pyo.acosh(x * w), 0.3, "acosh of a number not above 1", 1),
    (lambda x, w: (x + w) ** 300, 100.0, "overflow", 1),
]


def _program(f: Callable[[Any, Any], Any]) -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(data=np.arange(10.0))
    m.obj = pyo.Objective(expr=m.x**2)
    m.con = pyo.Constraint(["a"], rule=lambda m, i: E(f(m.x, m.w)) == 0)
    return read_model(m)


@pytest.mark.parametrize(("f", "x", "message", "row"), CASES)
def test_batch(f: Callable[[Any, Any], Any], x: float, message: str, row: int | None) -> None:
    program = _program(f)
    evaluator = compile_program(program, jit=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = evaluator.evaluate(np.array([x]), [Batch(4, (ROWS,))])
        full = in_pieces(evaluator, np.array([x]), whole(program), 3)
    issue = estimate.issue
    assert issue is not None and full.issue is not None
    assert issue.component == "con[a]"
    assert message in issue.message
    assert issue.scenario == row


def test_exact_and_objective() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.5)
    m.obj = pyo.Objective(expr=pyo.log(m.x[0]))
    m.con = pyo.Constraint(expr=m.x[1] ** (-1) == 0)
    evaluator = compile_program(read_model(m), jit=False)
    issue = evaluator.evaluate(np.array([-1.0, 1.0]), ()).issue
    assert issue is not None and str(issue) == "obj: log of a negative number"
    issue = evaluator.evaluate(np.array([1.0, 0.0]), ()).issue
    assert issue is not None and str(issue) == "con: division by zero"
    assert evaluator.evaluate(np.array([1.0, 1.0]), ()).issue is None


def test_variable_not_finite() -> None:
    evaluator = compile_program(_program(lambda x, w: w * x), jit=False)
    issue = evaluator.evaluate(np.array([np.nan]), [Batch(4, (ROWS,))]).issue
    assert issue is not None and issue.component == "x"


def test_class_rows_are_numbered_as_the_user_does() -> None:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)

    @m.Block(range(6))
    def s(b: Any, s: int) -> None:
        b.cost = pyo.Expression(expr=pyo.log(m.x - s) if s % 2 else m.x**2 + s)

    m.obj = pyo.Objective(expr=E(m.s[:].cost))
    evaluator = compile_program(read_model(m), jit=False)
    issue = evaluator.evaluate(np.array([2.5]), [Batch(4, (np.array([0, 1, 5, 3]),))]).issue
    assert issue is not None and issue.scenario == 5


def test_wrong_shapes_are_not_numerical_trouble() -> None:
    evaluator = compile_program(_program(lambda x, w: pyo.sin(w * x)), jit=False)
    with pytest.raises(ValueError):
        evaluator.evaluate(np.array([1.0, 2.0]), [Batch(4, (ROWS,))])
