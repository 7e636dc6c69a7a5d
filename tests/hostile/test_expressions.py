"""A slice of the campaign of random expressions, and awkward expressions one by one."""

import numpy as np
import pyomo.environ as pyo
import pytest

from benchmarks.hostile import expressions
from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.compile.loops.jit import installed
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch


def test_no_tree_goes_wrong():
    counts = expressions.run(1, 250, jit=False)
    assert not any(counts[v] for v in expressions.WRONG), counts
    assert counts["right"] > 100 and counts["undefined"] > 30


@pytest.mark.skipif(not installed(), reason="numba is optional")
def test_no_tree_goes_wrong_in_machine_code():
    counts = expressions.run(3, 40, jit=True)
    assert not any(counts[v] for v in expressions.WRONG), counts


@pytest.mark.slow
def test_no_tree_of_a_whole_campaign_goes_wrong():
    assert expressions.report(4, trees=5000) == 0


def test_a_divisor_that_is_needed_by_itself_later():
    """E((1 - 4 x) v / w) is the mean of v/w and a product of 1/w with the column v."""
    data = np.array([[1.0, 2.0], [3.0, 4.0]])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam([0, 1], data=data)
    m.obj = pyo.Objective(expr=E((1 - 4 * m.x) * (m.w[1] / m.w[0])))
    evaluator = compile_program(read_model(m), jit=False)
    estimate = evaluator.evaluate(np.array([2.0]), [Batch(2, (np.arange(2),))], objective=True)
    ratio = (data[:, 1] / data[:, 0]).mean()
    assert estimate.f == pytest.approx(-7 * ratio)
    assert estimate.g[0] == pytest.approx(-4 * ratio)


def evaluated(build, x=0.0, p=0.0, w=0.0):
    """(first derivatives or None, second derivative) of E(build(x, p, w)) in x."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=x)
    m.p = pyo.Param(initialize=p, mutable=True)
    m.w = RandomParam(data=np.array([[w], [w]]))
    m.obj = pyo.Objective(expr=E(build(m.x, m.p, m.w)) + E(m.w) + m.x)
    evaluator = compile_program(read_model(m), jit=False)
    batches = [Batch(2, (np.arange(2),))]
    estimate = evaluator.evaluate(np.array([x]), batches, objective=True)
    plain = evaluator.evaluate(np.array([x]), batches)
    assert (estimate.issue is None) == (plain.issue is None)
    if estimate.issue is not None:
        return None, None
    second = evaluator.hessian(np.array([x]), np.empty(0), batches)
    return estimate.g[0] - 1.0, float(second.sum())


@pytest.mark.parametrize(
    ("build", "x", "p", "w", "first", "second"),
    [
        (lambda x, p, w: x**p, 0.0, 0.0, 0.0, 0.0, 0.0),
        (lambda x, p, w: x**p, 0.0, 1.0, 0.0, 1.0, 0.0),
        (lambda x, p, w: x**p, 0.0, 2.0, 0.0, 0.0, 2.0),
        (lambda x, p, w: x**w, 0.0, 0.0, 1.0, 1.0, 0.0),
        (lambda x, p, w: x**8.5, 0.0, 0.0, 0.0, 0.0, 0.0),
        (lambda x, p, w: w**x, 2.0, 0.0, 0.0, 0.0, 0.0),
        (lambda x, p, w: p**x, 2.0, 0.0, 0.0, 0.0, 0.0),
        (lambda x, p, w: (x / (x / w)) * x, 2.0, 0.0, 3.0, 3.0, 0.0),
    ],
)
def test_powers_at_zero_are_defined(build, x, p, w, first, second):
    assert evaluated(build, x, p, w) == (first, second)


def named(x, number):
    """A number that Pyomo does not compute with beforehand."""
    x.parent_block().number = pyo.Expression(expr=number)
    return x.parent_block().number


@pytest.mark.parametrize(
    ("build", "x", "p", "w"),
    [
        (lambda x, p, w: x**0.5, 0.0, 0.0, 0.0),
        (lambda x, p, w: x**x, 0.0, 0.0, 0.0),
        (lambda x, p, w: (pyo.log(w) - pyo.log(w)) * x, 1.0, 0.0, -1.0),
        (lambda x, p, w: pyo.acosh(x) - pyo.acosh(x), 0.5, 0.0, 0.0),
        (lambda x, p, w: pyo.log(x) ** 0, -1.0, 0.0, 0.0),
        (lambda x, p, w: pyo.log(p) ** 0 * x, 1.0, -1.0, 0.0),
        (lambda x, p, w: x / (x / w), 1.0, 0.0, 0.0),
        (lambda x, p, w: x / (1 + pyo.exp(pyo.sqrt(1 / w))), 1.0, 0.0, 0.0),
        (lambda x, p, w: pyo.atan(w**p) * x, 1.0, -0.7, 0.0),
        (lambda x, p, w: (x + 1 / w) ** p, 1.0, -2.0, 0.0),
        (lambda x, p, w: pyo.sin(x) * pyo.log10(x - x), 1.0, 0.0, 0.0),
        (lambda x, p, w: x ** (1 / (x - x)), 1.0, 0.0, 0.0),
        (lambda x, p, w: (x + w) ** (1 / (w - w)), 1.0, 0.0, 0.0),
        (lambda x, p, w: (x - x) * (pyo.cosh(p) + pyo.log(x)), -1.0, 2.0, 0.0),
        (lambda x, p, w: pyo.sin(named(x, -2.0) ** 1.5 * x) ** 0, -1.0, 0.0, 0.0),
    ],
)
def test_what_is_undefined_is_noticed(build, x, p, w):
    assert evaluated(build, x, p, w) == (None, None)


def test_derivatives_where_a_square_would_overflow():
    """asinh(x^200) is log(2) + 200 log(x) there, up to rounding."""
    first, second = evaluated(lambda x, p, w: pyo.asinh(x**200), 10.0)
    assert first == pytest.approx(20.0) and second == pytest.approx(-2.0)
