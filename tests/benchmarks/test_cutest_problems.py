"""The 44 CUTEst models against independent values of f, grad f, c and J.

``cutest_reference.json`` holds the values; ``benchmarks/cutest/make_reference.py`` says where each
comes from and regenerates them. ``LISTED`` is a second, coarser source: the size and the values
at the starting point that an earlier reproduction of the study printed.
"""

import json
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from pyomo.common.gc_manager import PauseGC
from pyomo.core.expr.calculus.derivatives import Modes, differentiate
from pyomo.environ import ConcreteModel, value

from benchmarks.cutest import PROBLEMS, build

REFERENCE = json.loads((Path(__file__).parent / "cutest_reference.json").read_text())

RELATIVE = 1e-9  # of each entry
ROUNDING = 1e-12  # of the largest entry, or of 1: for entries that are zero but for cancellation

LISTED = """
BT1       2    1  -99.08    .99    | HS42      4    2  14       1
BT2       3    1  81        1.1e4  | HS46      5    2  3.338    0
BT3       5    3  2166      80     | HS47      5    3  20.74    0
BT4       3    2  -18.61    1.8e-4 | HS48      5    2  84       0
BT5       3    2  976       13     | HS49      5    2  266      0
BT6       5    2  4         56.6   | HS50      5    3  7516     0
BT7       5    3  909       4      | HS51      5    3  8.5      0
BT8       5    2  3         1      | HS52      5    3  42       8
BT9       4    2  -2        10     | HS56      7    4  -1       2e-8
BT10      2    2  -2        6      | HS61      3    2  0        11
BT11      5    3  1         11.8   | HS77      5    2  4        56.6
BT12      5    3  5         7.61   | HS78      5    3  -6       3.62
BYRDSPHR  3    2  -5        16     | HS79      5    3  1        7.76
DIXCHLNG  10   5  3.135e5   0      | HS100LNP  7    2  714      13
ELEC      600  200  41121   0      | HS111LNP  10   3  -21.01   1.3
GENHS28   10   8  41        5      | MARATOS   2    1  -1.1     .22
HS6       2    1  4.84      4.4    | MWRIGHT   5    3  92       2.24
HS7       2    1  -.391     25     | ORTHREGB  27   6  0        180
HS9       2    1  0         0      | S316-322  2    1  800      1
HS26      3    1  21.16     0      | SPIN2OP   102  100  .984   25.5
HS27      3    1  4.01      7      | HS40      4    3  -.41     .288
HS28      3    1  13        0      | HS39      4    2  -2       10
"""
LISTED = {row[0]: row[1:] for half in LISTED.replace("\n", "|").split("|") if (row := half.split())}


@cache
def at_start(name: str) -> ConcreteModel:
    """A model that no test changes."""
    return build(name)


def evaluate(model: ConcreteModel) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """f, its gradient, c = body - rhs and the dense Jacobian at the values of the variables."""
    column = {id(variable): i for i, variable in enumerate(model.x.values())}

    def row(expression) -> np.ndarray:
        entries = np.zeros(len(column))
        for variable, partial in differentiate(expression, mode=Modes.reverse_numeric).items():
            if id(variable) in column:  # the map also holds the intermediate expressions
                entries[column[id(variable)]] = partial
        return entries

    # adding 0.0 makes an expression of a lone variable, which differentiate asks for
    bodies = [equation.body + 0.0 * model.x[1] for equation in model.c.values()]
    c = [value(equation.body) - value(equation.upper) for equation in model.c.values()]
    objective = model.objective.expr
    with PauseGC():  # a quarter of the time on ELEC, whose objective has 19900 terms
        gradient, J = row(objective), np.array([row(body) for body in bodies])
    return value(objective), gradient, np.array(c), J


def assert_close(actual, expected, what: str) -> None:
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    rounding = ROUNDING * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=RELATIVE, atol=rounding, err_msg=what)


def test_the_same_44_problems_everywhere():
    assert len(PROBLEMS) == 44
    assert set(PROBLEMS) == set(REFERENCE) == set(LISTED)


@pytest.mark.parametrize("name", REFERENCE)
def test_model_agrees_with_the_reference(name):
    model, reference = build(name), REFERENCE[name]
    n, m = reference["n"], reference["m"]
    assert (len(model.x), len(model.c)) == (n, m)
    assert_close(list(model.x.get_values().values()), reference["points"][0]["x"], "x0")
    for point in reference["points"]:
        model.x.set_values(dict(enumerate(point["x"], 1)))
        f, gradient, c, J = evaluate(model)
        assert_close(f, point["f"], "f")
        assert_close(gradient, point["gradient"], "gradient")
        assert_close(c, point["c"], "c")
        if "J" in point:
            assert_close(J, point["J"], "Jacobian")
        else:
            v, w = np.cos(np.arange(1, n + 1)), np.sin(np.arange(1, m + 1))
            assert_close(J @ v, point["J v"], "J v")
            assert_close(J.T @ w, point["J' w"], "J' w")
            assert_close(J[[0, -1]], point["J first and last row"], "first and last row of J")


@pytest.mark.parametrize("name", LISTED)
def test_start_agrees_with_the_listed_digits(name):
    model = at_start(name)
    n, m, f, infeasibility = LISTED[name]
    assert (len(model.x), len(model.c)) == (int(n), int(m))
    c = [value(equation.body) - value(equation.upper) for equation in model.c.values()]
    for printed, computed in [(f, value(model.objective)), (infeasibility, np.abs(c).max())]:
        last_digit = 10.0 ** Decimal(printed).as_tuple().exponent
        tolerance = 0.5 * last_digit if float(printed) else ROUNDING
        assert abs(computed - float(printed)) <= tolerance * (1 + RELATIVE)


@pytest.mark.parametrize("name", PROBLEMS)
def test_variables_are_free_and_constraints_are_equations(name):
    model = at_start(name)
    assert model.name == name
    assert all(x.lb is None and x.ub is None and not x.fixed for x in model.x.values())
    assert all(x.is_continuous() for x in model.x.values())
    assert all(equation.equality for equation in model.c.values())
    assert model.objective.is_minimizing()


def test_each_build_is_a_fresh_model():
    first, second = build("HS6"), build("HS6")
    first.x[1] = 7.0
    assert second.x[1].value == -1.2


def test_unknown_name_is_reported_with_the_known_ones():
    with pytest.raises(KeyError, match="BT1, BT2"):
        build("HS999")
