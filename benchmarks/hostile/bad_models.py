r"""Mistakes of other kinds, one by one; ``CASES[what is wrong]`` = (builder, component)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import scipy.sparse as sp
import scipy.stats as st

from pyomo_stochsqp import (
    CVaR,
    E,
    Entropic,
    Probability,
    Quantile,
    RandomParam,
    RandomSource,
    SemiDeviation,
    Std,
    Variance,
    smooth_max,
)

CASES: dict[str, tuple[Callable[[], Any], str]] = {}

ROWS = np.array([[1.0, 2.0], [3.0, 5.0], [4.0, 1.0]])


def case(component: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a builder; its docstring says what is wrong."""

    def register(build: Callable[[], Any]) -> Callable[[], Any]:
        CASES[(build.__doc__ or build.__name__).strip()] = build, component
        return build

    return register


def blank() -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.5, bounds=(-5, 5))
    m.obj = pyo.Objective(expr=m.x[0] ** 2 + m.x[1] ** 2)
    return m


def reading(*args: Any, **kwds: Any) -> Any:
    """A model over RandomParam w with these arguments."""
    m = blank()
    m.w = RandomParam(*args, **kwds)
    w = list(m.w.values())
    m.obj.set_value(E(sum((m.x[0] - v) ** 2 for v in w) + m.x[1] ** 2))
    return m


def row(build: Callable[[Any], Any]) -> Any:
    """A model with the constraint ``broken``."""
    m = blank()
    m.w = RandomParam([0, 1], data=ROWS)
    m.broken = pyo.Constraint(expr=build(m))
    return m


def blocks(build: Callable[[Any, Any, int], None], **kwds: Any) -> Any:
    """Four scenario blocks."""
    m = blank()

    @m.Block(range(4))
    def scenario(b: Any, s: int) -> None:
        build(m, b, s)

    m.obj.set_value(E(m.scenario[:].cost, **kwds))
    return m


def _declare(**cases: Callable[[], Any]) -> None:
    for name, build in cases.items():
        CASES[name.replace("_", " ")] = build, "w"


def _raises(*_: Any) -> Any:
    raise RuntimeError("out of cheese")


def _endless(*_: Any) -> Any:
    return _endless()


class _NoArray:
    """Cannot be turned into an array."""

    def __array__(self, *args: Any, **kwds: Any) -> Any:
        raise RuntimeError("no array")


class _LooksLikeADistribution:
    def rvs(self, size: Any = 1, random_state: Any = None) -> Any:
        return "sample"


class _Wide:
    """Draws one more column every time."""

    def __init__(self) -> None:
        self.count = 1

    def __call__(self, rng: Any, size: int) -> Any:
        self.count += 1
        return rng.normal(size=(size, self.count // 3 + 1))


_declare(
    no_numbers=lambda: reading([0, 1]),
    two_kinds_of_numbers=lambda: reading([0, 1], data=ROWS, distribution=st.norm()),
    data_that_cannot_be_an_array=lambda: reading([0, 1], data=_NoArray()),
    data_rule_that_raises=lambda: reading([0, 1], data=_raises),
    data_rule_that_recurses=lambda: reading([0, 1], data=_endless),
    data_rule_that_returns_nothing=lambda: reading([0, 1], data=lambda m: None),
    more_columns_than_members=lambda: reading([0], data=ROWS),
    fewer_columns_than_members=lambda: reading([0, 1, 2], data=ROWS),
    no_members=lambda: reading([], data=ROWS),
    column_out_of_range=lambda: reading([0, 1], data=ROWS, columns=[0, 7]),
    negative_column=lambda: reading([0, 1], data=ROWS, columns=[0, -1]),
    fractional_column=lambda: reading([0, 1], data=ROWS, columns=[0, 0.5]),
    column_that_cannot_be_a_key=lambda: reading([0, 1], data=ROWS, columns=[[0], [1]]),
    columns_that_is_a_number=lambda: reading([0, 1], data=ROWS, columns=1.5),
    columns_that_is_a_function=lambda: reading([0, 1], data=ROWS, columns=len),
    empty_slice_of_columns=lambda: reading([0, 1], data=ROWS, columns=slice(2, 2)),
    named_column_of_an_array=lambda: reading([0, 1], data=ROWS, columns=["a", "b"]),
    weights_of_a_distribution=lambda: reading(distribution=st.norm(), weights=[0.5, 0.5]),
    too_many_weights=lambda: reading([0, 1], data=ROWS, weights=[0.25] * 4),
    negative_weight=lambda: reading([0, 1], data=ROWS, weights=[1.5, -0.5, 0.0]),
    weights_that_sum_to_more=lambda: reading([0, 1], data=ROWS, weights=[0.5, 0.5, 0.5]),
    weights_that_nearly_sum_to_one=lambda: reading(
        [0, 1], data=ROWS, weights=[0.5, 0.25, 0.250003]),
    nested_weights=lambda: reading([0, 1], data=ROWS, weights=[[0.5], [0.25], [0.25]]),
    weights_in_a_matrix=lambda: reading([0, 1], data=ROWS, weights=np.full((3, 1), 1 / 3)),
    a_number_as_weights=lambda: reading([0, 1], data=ROWS, weights=0.5),
    a_set_as_weights=lambda: reading([0, 1], data=ROWS, weights={0.2, 0.3, 0.5}),
    a_function_as_weights=lambda: reading([0, 1], data=ROWS, weights=len),
    weights_by_a_missing_name=lambda: reading([0, 1], data=ROWS, weights="p"),
    weights_by_the_name_of_a_text_column=lambda: reading(
        [0, 1], data={0: [1.0, 2.0], 1: [1.0, 2.0], "p": ["a", "b"]}, weights="p"),
    weights_with_a_missing_key=lambda: reading([0, 1], data=ROWS, weights={0: 0.5, 1: 0.5}),
    complex_weights=lambda: reading([0, 1], data=ROWS, weights=np.full(3, 1 / 3 + 1j)),
    masked_weights=lambda: reading(
        [0, 1], data=ROWS, weights=np.ma.array([0.5, 0.25, 0.25], mask=[0, 1, 0])),
    huge_weights=lambda: reading([0, 1], data=ROWS, weights=[1e308] * 3),
    weight_Params_without_values=lambda: _with_weights(pyo.Param([0, 1, 2], mutable=True)),
    variables_as_weights=lambda: _with_weights(pyo.Var([0, 1, 2], initialize=1 / 3)),
    a_family_for_a_distribution=lambda: reading(distribution=st.norm),
    a_text_for_a_distribution=lambda: reading(distribution="normal"),
    a_number_for_a_distribution=lambda: reading(distribution=3.0),
    distribution_with_a_negative_scale=lambda: reading(distribution=st.norm(0, -1)),
    distribution_with_NaN=lambda: reading(distribution=st.norm(np.nan, 1)),
    distribution_with_an_infinite_scale=lambda: reading(distribution=st.norm(0, np.inf)),
    distributions_of_which_one_is_a_number=lambda: reading(
        [0, 1], distribution=[st.norm(), 2.0]),
    one_distribution_too_few=lambda: reading([0, 1], distribution=[st.norm()]),
    joint_distributions_in_a_list=lambda: reading(
        [0, 1], distribution=[st.multivariate_normal([0, 0])] * 2),
    joint_distribution_too_wide=lambda: reading(
        [0, 1], distribution=st.multivariate_normal(np.zeros(3))),
    matrices_as_scenarios=lambda: reading([0, 1], distribution=st.wishart(3, np.eye(2))),
    distribution_that_returns_text=lambda: reading(distribution=_LooksLikeADistribution()),
    distribution_rule_that_raises=lambda: reading([0, 1], distribution=_raises),
    distribution_rule_that_returns_None=lambda: reading([0, 1], distribution=lambda m, i: None),
    distribution_mapping_with_other_keys=lambda: reading(
        [0, 1], distribution={"a": st.norm(), "b": st.norm()}),
    empty_distribution_mapping=lambda: reading([0, 1], distribution={}),
    sampler_that_is_no_function=lambda: reading(sampler=np.ones(3)),
    sampler_without_arguments=lambda: reading(sampler=lambda: 1.0),
    sampler_that_raises=lambda: reading(sampler=_raises),
    sampler_that_returns_nothing=lambda: reading(sampler=lambda rng, n: None),
    sampler_that_returns_one_number=lambda: reading(sampler=lambda rng, n: 1.0),
    sampler_with_a_row_too_few=lambda: reading(sampler=lambda rng, n: rng.normal(size=n - 1)),
    sampler_that_transposes=lambda: reading(
        [0, 1, 2], sampler=lambda rng, n: rng.normal(size=(3, n))),
    sampler_with_too_many_columns=lambda: reading(
        sampler=lambda rng, n: rng.normal(size=(n, 2))),
    sampler_of_three_dimensions=lambda: reading(
        sampler=lambda rng, n: rng.normal(size=(n, 1, 1))),
    sampler_of_complex_numbers=lambda: reading(
        sampler=lambda rng, n: rng.normal(size=n) + 0j),
    sampler_that_grows_wider=lambda: reading(sampler=_Wide()),
    sampler_that_raises_later=lambda: reading(
        sampler=lambda rng, n: _raises() if n > 2 else rng.normal(size=n)),
    sampler_that_shrinks_later=lambda: reading(
        sampler=lambda rng, n: rng.normal(size=min(n, 2))),
    sampler_that_returns_a_masked_array=lambda: reading(
        sampler=lambda rng, n: np.ma.masked_less(rng.normal(size=n), 9.0)),
    source_that_is_no_source=lambda: reading([0, 1], source="w"),
    source_without_numbers=lambda: reading([0, 1], source=RandomSource("w")),
    numbers_twice=lambda: reading([0, 1], data=ROWS, source=RandomSource("w", data=ROWS)),
    weights_at_the_wrong_place=lambda: reading(
        [0, 1], source=RandomSource("w", data=ROWS), weights=[0.5, 0.25, 0.25]),
    source_with_other_columns=lambda: reading(
        [0, 1], source=RandomSource("w", data={"a": [1.0], "b": [2.0]})),
    source_of_texts=lambda: reading(
        source=RandomSource("w", data={"w": ["a", "b"]})),
    source_of_dates=lambda: reading(
        source=RandomSource("w", data=pd.DataFrame({"w": pd.to_datetime(["2020", "2021"])}))),
    source_of_masked_columns=lambda: reading(
        source=RandomSource("w", data={"w": np.ma.array([1.0, 2.0], mask=[True, False])})),
    tables_of_different_lengths=lambda: _two_tables(ROWS, ROWS[:2]),
    a_table_and_a_distribution=lambda: _two_tables(ROWS, None),
    fixed_to_too_few=lambda: _fixed([1.0]),
    fixed_to_a_nested_list=lambda: _fixed([[1.0, 2.0]]),
    fixed_to_a_text=lambda: _fixed("median"),
    fixed_to_a_text_in_a_mapping=lambda: _fixed({0: "a", 1: 2.0}),
    fixed_to_a_mapping_with_a_missing_key=lambda: _fixed({0: 1.0}),
    fixed_to_a_function=lambda: _fixed(len),
    fixed_to_no_row=lambda: _fixed(None, row=3),
    fixed_to_half_a_row=lambda: _fixed(None, row=0.5),
    fixed_to_a_row_by_name=lambda: _fixed(None, row="first"),
    fixed_to_nothing=lambda: _fixed(None),
    sparse_vector=lambda: reading(data=sp.coo_array(np.ones(3))),
    sparse_objects=lambda: reading(data=sp.csr_array(np.eye(2)).astype(complex)),
    three_dimensional_frame=lambda: reading(data=np.ones((2, 2, 2))),
)  # fmt: skip


def _with_weights(component: Any) -> Any:
    m = blank()
    m.p = component
    m.w = RandomParam([0, 1], data=ROWS, weights=m.p)
    m.obj.set_value(E((m.x[0] - m.w[0]) ** 2 + m.x[1] ** 2))
    return m


def _two_tables(a: Any, b: Any) -> Any:
    m = blank()
    source = RandomSource("w")
    m.w = RandomParam([0, 1], data=a, source=source)
    if b is None:
        m.v = RandomParam([0, 1], distribution=st.norm(), source=source)
    else:
        m.v = RandomParam([0, 1], data=b, source=source)
    m.obj.set_value(E((m.x[0] - m.w[0] * m.v[0]) ** 2 + m.x[1] ** 2))
    return m


def _fixed(values: Any, **kwds: Any) -> Any:
    m = reading([0, 1], data=ROWS)
    m.w.fix_to(values, **kwds)
    return m


CASES["data as the name of a source"] = (lambda: RandomSource(ROWS)), "RandomSource"


@case("scenario")
def _missing_component() -> Any:
    """a scenario without the component"""
    return blocks(lambda m, b, s: s == 2 or _cost(m, b, s))


@case("obj")
def _empty_expression() -> Any:
    """a scenario whose Expression has no expression"""
    m = blocks(_cost)
    m.scenario[2].cost.set_value(None)
    return m


@case("obj")
def _text_expression() -> Any:
    """a list of scenarios with a text"""
    m = blank()
    m.obj.set_value(E([m.x[0] ** 2, m.x[1] ** 2, "cost"]))
    return m


@case("obj")
def _none_in_a_list() -> Any:
    """a list of scenarios with None"""
    m = blank()
    m.obj.set_value(E([m.x[0] ** 2, None]))
    return m


@case("obj")
def _relation_as_scenario() -> Any:
    """a relation among the scenarios"""
    m = blank()
    m.obj.set_value(E([m.x[0] ** 2, m.x[0] <= 1]))
    return m


@case("obj")
def _indexed_scenario() -> Any:
    """a whole indexed component among the scenarios"""
    m = blank()
    m.obj.set_value(E([m.x[0] ** 2, m.x]))
    return m


@case("scenario")
def _weights_without_a_key() -> Any:
    """scenario weights without one of the keys"""
    return blocks(_cost, weights={0: 0.5, 1: 0.25, 2: 0.25})


@case("scenario")
def _deactivated() -> Any:
    """weights of deactivated scenarios"""
    m = blocks(_cost, weights=[0.25] * 4)
    m.scenario[1].deactivate()
    return m


@case("scenario")
def _all_deactivated() -> Any:
    """no active scenario"""
    m = blocks(_cost)
    m.scenario.deactivate()
    return m


@case("E(")
def _slice_with_a_call() -> Any:
    """a slice with a call"""
    m = blocks(_cost)
    m.obj.set_value(E(m.scenario[:].cost()))
    return m


@case("E(")
def _no_scenarios() -> Any:
    """an empty list of scenarios"""
    m = blank()
    m.obj.set_value(E([]))
    return m


def _cost(m: Any, b: Any, s: int) -> None:
    b.cost = pyo.Expression(expr=(m.x[0] - s) ** 2 + m.x[1] ** 2)


def _block_param(operation: Callable[[Any, Any], Any], number: Any = 0.0) -> Any:
    def build(m: Any, b: Any, s: int) -> None:
        b.p = pyo.Param(initialize=1.0, mutable=True)
        b.cost = pyo.Expression(expr=operation(m.x[0], b.p) ** 2 + m.x[1] ** 2)

    m = blocks(build)
    m.scenario[2].p.set_value(number)
    return m


for _name, _operation, _number in (
    ("division by a Param that is zero", lambda x, p: x / p, 0.0),
    ("log of a Param that is zero", lambda x, p: x * pyo.log(p), 0.0),
    ("log of a Param that is negative", lambda x, p: x * pyo.log(p), -1.0),
    ("root of a negative Param", lambda x, p: x * pyo.sqrt(p), -1.0),
    ("power of a negative Param", lambda x, p: x * p**0.5, -1.0),
    ("overflow of a Param", lambda x, p: x * pyo.exp(p), 1000.0),
    ("overflow of a product of Params", lambda x, p: x * p * p, 1e300),
    ("difference of infinities", lambda x, p: x * (pyo.exp(p) - pyo.exp(p)), 1000.0),
    ("arc sine of a large Param", lambda x, p: x * pyo.asin(p), 2.0),
):
    CASES[f"{_name}, in a scenario"] = (
        lambda o=_operation, n=_number: _block_param(o, n), "obj")  # fmt: skip

    def _plainly(operation: Any = _operation, number: Any = _number) -> Any:
        m = blank()
        m.p = pyo.Param(initialize=1.0, mutable=True)
        m.broken = pyo.Constraint(expr=operation(m.x[0], m.p) + pyo.sin(m.x[1]) <= 1)
        m.p.set_value(number)
        return m

    CASES[f"{_name}, in a constraint"] = _plainly, "broken"

    def _on_the_right(operation: Any = _operation, number: Any = _number) -> Any:
        m = blank()
        m.p = pyo.Param(initialize=1.0, mutable=True)
        m.broken = pyo.Constraint(expr=m.x[0] + m.x[1] <= operation(1.0, m.p))
        m.p.set_value(number)
        return m

    if "product" not in _name:  # an infinite bound is none
        CASES[f"{_name}, on the right-hand side"] = _on_the_right, "broken"


@case("e")
def _circular() -> Any:
    """an Expression that contains itself"""
    m = blank()
    m.e = pyo.Expression(expr=m.x[0])
    m.e.set_value(m.e + m.x[1] ** 2)
    m.obj.set_value(m.e)
    return m


@case("e")
def _circular_pair() -> Any:
    """two Expressions that contain each other"""
    m = blank()
    m.e = pyo.Expression(expr=m.x[0])
    m.f = pyo.Expression(expr=pyo.exp(m.e))
    m.e.set_value(m.f**2)
    m.broken = pyo.Constraint(expr=m.e <= 1)
    return m


@case("e")
def _circular_under_e() -> Any:
    """an Expression that contains itself, under E"""
    m = blank()
    m.w = RandomParam([0, 1], data=ROWS)
    m.e = pyo.Expression(expr=m.x[0])
    m.e.set_value(m.e * m.w[0] + m.x[1] ** 2)
    m.obj.set_value(E(m.e))
    return m


@case("obj")
def _circular_through_e() -> Any:
    """an Expression that contains its own expectation"""
    m = blank()
    m.w = RandomParam([0, 1], data=ROWS)
    m.e = pyo.Expression(expr=m.x[0] * m.w[0])
    m.e.set_value(m.x[0] * m.w[0] + E(m.e) ** 2)
    m.obj.set_value(E(m.e))
    return m


@case("scenario")
def _circular_scenario() -> Any:
    """a scenario that contains itself"""
    m = blocks(_cost)
    m.scenario[1].cost.set_value(m.scenario[1].cost + 1)
    return m


@case("")
def _deep_kinks() -> Any:
    """forty absolute values inside each other"""
    m = blank()
    m.w = RandomParam([0, 1], data=ROWS)
    e = m.x[0] * m.w[0]
    for _ in range(40):
        e = abs(e - 1)
    m.obj.set_value(E(e))
    return m


@case("")
def _deep_powers() -> Any:
    """a power tower"""
    m = blank()
    e = 1 + m.x[0] ** 2
    for _ in range(30):
        e = e**e
    m.obj.set_value(e)
    return m


@case("broken")
def _variable_range() -> Any:
    """a range with a variable bound"""
    return row(lambda m: pyo.inequality(m.x[0], m.x[1], 3))


@case("broken")
def _strict() -> Any:
    """a constraint without an expression"""
    m = blank()
    m.broken = pyo.Constraint([1])
    m.broken[1] = m.x[0] <= 1
    m.broken[1].set_value(None)
    return m


@case("x")
def _contradicting_bounds() -> Any:
    """bounds that exclude each other"""
    m = blank()
    m.x[0].setlb(6)
    return m


@case("broken")
def _contradicting_range() -> Any:
    """a range whose bounds exclude each other"""
    return row(lambda m: pyo.inequality(3, m.x[0], 2))


@case("broken")
def _random_outside() -> Any:
    """a random number outside of E"""
    return row(lambda m: m.x[0] * m.w[0] <= 1)


@case("broken")
def _random_bound() -> Any:
    """a random number as a bound"""
    return row(lambda m: m.x[0] <= m.w[0])


@case("")
def _foreign_variable() -> Any:
    """a variable of another model"""
    other = blank()
    return row(lambda m: m.x[0] + other.x[0] <= 1)


@case("obj")
def _two_objectives() -> Any:
    """two objectives"""
    m = blank()
    m.more = pyo.Objective(expr=m.x[0])
    return m


@case("n")
def _integer() -> Any:
    """an integer variable"""
    m = blank()
    m.n = pyo.Var(domain=pyo.Integers, initialize=1, bounds=(0, 3))
    m.broken = pyo.Constraint(expr=m.n + m.x[0] <= 1)
    return m


@case("broken")
def _sampled_kink() -> Any:
    """a kink of variables alone"""
    return row(lambda m: abs(m.x[0]) + m.x[1] <= 1)


@case("")
def _sos() -> Any:
    """a special ordered set"""
    m = blank()
    m.s = pyo.SOSConstraint(var=m.x, sos=1)
    return m


@case("E(")
def _relation() -> Any:
    """the expectation of a relation"""
    return row(lambda m: E(m.x[0] <= m.w[0]) <= 1)


@case("E(")
def _text() -> Any:
    """the expectation of a text"""
    return row(lambda m: E("cost") <= 1)


@case("E(")
def _whole_param() -> Any:
    """the expectation of an indexed RandomParam"""
    return row(lambda m: E(m.w) <= 1)


@case("E(")
def _weights_of_a_template() -> Any:
    """weights of a template"""
    return row(lambda m: E(m.x[0] * m.w[0], weights=[0.5, 0.25, 0.25]) <= 1)


for _name, _wrong in (
    ("level of CVaR above one", lambda m: CVaR(m.x[0] * m.w[0], 95) <= 1),
    ("level of CVaR as a text", lambda m: CVaR(m.x[0] * m.w[0], "95%") <= 1),
    ("level of CVaR NaN", lambda m: CVaR(m.x[0] * m.w[0], float("nan")) <= 1),
    ("level of a quantile below zero", lambda m: Quantile(m.x[0] * m.w[0], -0.1) <= 1),
    ("level of a quantile as None", lambda m: Quantile(m.x[0] * m.w[0], None) <= 1),
    ("theta of Entropic zero", lambda m: Entropic(m.x[0] * m.w[0], 0.0) <= 1),
    ("theta of Entropic NaN", lambda m: Entropic(m.x[0] * m.w[0], float("nan")) <= 1),
    ("order of SemiDeviation three", lambda m: SemiDeviation(m.x[0] * m.w[0], order=3) <= 1),
    ("Probability of an equality", lambda m: Probability(m.x[0] == m.w[0]) >= 0.9),
    ("Probability above one", lambda m: Probability(m.x[0] >= m.w[0]) >= 1.5),
    ("width of smooth_max negative", lambda m: E(smooth_max(m.x[0], m.w[0], width=-1.0)) <= 1),
    ("width of smooth_max NaN", lambda m: E(smooth_max(m.x[0], m.w[0], width=float("nan"))) <= 1),
    ("Variance of a text", lambda m: Variance("cost") <= 1),
    ("Std of a relation", lambda m: Std(m.x[0] <= m.w[0]) <= 1),
):
    CASES[_name] = (lambda wrong=_wrong: row(wrong)), ""
