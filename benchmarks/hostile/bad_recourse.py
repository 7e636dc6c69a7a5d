r"""Bad numbers and mistakes inside of two-stage models: every place of a ``Recourse`` block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.stats as st

from benchmarks.hostile.bad_values import SCALARS, TABLES, Rng
from pyomo_stochsqp import E, RandomParam, Recourse


def base(demand: Any = None) -> Any:
    """Stock now, buy what is short: a sound model, but for what is done to it."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 100), initialize=1.0)
    m.w = RandomParam(distribution=st.uniform(1, 2)) if demand is None else demand
    m.second = Recourse()
    m.second.y = pyo.Var(bounds=(0, None))
    w = next(iter(m.w.values()))
    m.second.row = pyo.Constraint(expr=m.x + m.second.y >= w)
    m.obj = pyo.Objective(expr=m.x + 3 * E(m.second.y))
    return m


def _table(bad: Any) -> Any:
    rows: list[Any] = [[1.0], [2.0], [1.5]]
    rows[1][0] = bad
    return base(RandomParam([0], data=rows))


def _weight(bad: Any) -> Any:
    return base(RandomParam(data=[1.0, 2.0, 3.0], weights=[0.5, bad, 0.25]))


def _sampled(bad: Any) -> Any:
    def sampler(rng: Rng, size: int) -> Any:
        rows = rng.normal(size=(size, 1)).tolist()
        if size > 2:
            rows[size // 2][0] = bad
        return rows

    return base(RandomParam([0], sampler=sampler))


def _param(place: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    def build(bad: Any) -> Any:
        m = base(RandomParam([0], distribution=st.uniform(1, 2)))
        m.p = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
        place(m, m.p)
        m.p.set_value(bad)
        return m

    return build


def _in_a_row(m: Any, p: Any) -> None:
    m.second.more = pyo.Constraint(expr=m.second.y <= p * 50)


def _as_a_coefficient(m: Any, p: Any) -> None:
    m.second.more = pyo.Constraint(expr=p * m.second.y + m.x >= m.w[0])


def _of_a_random_number(m: Any, p: Any) -> None:
    m.second.more = pyo.Constraint(expr=m.second.y >= p * m.w[0] - 9)


def _as_a_cost(m: Any, p: Any) -> None:
    m.obj.set_value(m.x + E(p * m.second.y))


def _first_row(m: Any, p: Any) -> None:
    m.more = pyo.Constraint(expr=m.x <= p + 50)


def _bound(bad: Any) -> Any:
    m = base()
    m.second.y.setlb(bad)
    return m


def _first_bound(bad: Any) -> Any:
    m = base()
    m.x.setlb(bad)
    return m


def _fixed(bad: Any) -> Any:
    m = base()
    m.second.z = pyo.Var()
    m.second.more = pyo.Constraint(expr=m.second.y + m.second.z >= m.w)
    m.second.z.fix(bad, skip_validation=True)
    return m


#: as upper bounds of rows these mean that there is none
INFINITE = ("inf", "Decimal infinity", "huge Decimal")

#: place -> (builder, name of the component at fault, values that are no mistake there)
PLACES: dict[str, tuple[Callable[[Any], Any], str, tuple[str, ...]]] = {
    "an entry of the data": (_table, "w", ()),
    "a weight": (_weight, "w", ()),
    "what a sampler returns": (_sampled, "w", ()),
    "a Param in a second-stage row": (_param(_in_a_row), "", INFINITE),
    "a Param times a recourse variable": (_param(_as_a_coefficient), "", ()),
    "a Param times a random number": (_param(_of_a_random_number), "p", ()),
    "a Param in the cost": (_param(_as_a_cost), "", ()),
    "a Param in a first-stage row": (_param(_first_row), "", INFINITE),
    "a bound of a recourse variable": (_bound, "y", ("None", "-inf")),
    "a bound of the first stage": (_first_bound, "x", ("None", "-inf")),
    "a fixed recourse variable": (_fixed, "second.more", ()),
}

CASES: dict[str, tuple[Callable[[], Any], str]] = {}


def _case(component: str) -> Callable[[Callable[[Any], Any]], None]:
    """Register what is done to a sound model; its docstring says what is wrong."""

    def register(spoil: Callable[[Any], Any]) -> None:
        def build() -> Any:
            m = base()
            made = spoil(m)
            return m if made is None else made

        CASES[(spoil.__doc__ or spoil.__name__).strip()] = build, component

    return register


@_case("second.bad")
def _kink(m: Any) -> None:
    """an absolute value in the second stage"""
    m.second.bad = pyo.Constraint(expr=abs(m.second.y - 1) <= 1)


@_case("second.bad")
def _expectation_inside(m: Any) -> None:
    """an expectation inside of the second stage"""
    m.second.bad = pyo.Constraint(expr=E(m.w) + m.second.y <= 10)


@_case("bad")
def _outside(m: Any) -> None:
    """a recourse variable in a first-stage row"""
    m.bad = pyo.Constraint(expr=m.second.y <= m.x)


@_case("bad")
def _random_outside(m: Any) -> None:
    """a random number in a first-stage row"""
    m.bad = pyo.Constraint(expr=m.x <= m.w)


@_case("obj")
def _bare_cost(m: Any) -> None:
    """a recourse variable in the objective without E"""
    m.obj.set_value(m.x + m.second.y)


@_case("obj")
def _variance(m: Any) -> None:
    """a square of the expected recourse"""
    m.obj.set_value(m.x + E(m.second.y) ** 2)


@_case("second")
def _nested(m: Any) -> None:
    """a Recourse block inside of a Recourse block"""
    m.second.third = Recourse()
    m.second.third.z = pyo.Var(bounds=(0, 1))
    m.second.third.row = pyo.Constraint(expr=m.second.third.z >= m.second.y)


@_case("second")
def _own_objective(m: Any) -> None:
    """an objective of its own in the second stage"""
    m.second.cost = pyo.Objective(expr=m.second.y)


@_case("")
def _no_objective(m: Any) -> None:
    """no objective at all"""
    m.obj.deactivate()


@_case("")
def _sos(m: Any) -> None:
    """a special ordered set in the second stage"""
    m.second.z = pyo.Var([0, 1], bounds=(0, 1))
    m.second.s = pyo.SOSConstraint(var=m.second.z, sos=1)


@_case("y")
def _crossed(m: Any) -> None:
    """bounds of a recourse variable that exclude each other"""
    m.second.y.setub(-1)


@_case("second.bad")
def _circular(m: Any) -> None:
    """an Expression that contains itself in the second stage"""
    m.second.bad = pyo.Expression(expr=m.second.y)
    m.second.bad.set_value(m.second.bad + 1)
    m.second.more = pyo.Constraint(expr=m.second.bad <= 9)


@_case("second.bad")
def _undefined(m: Any) -> None:
    """a logarithm of a random number that can be negative"""
    m.v = RandomParam(distribution=st.norm())
    m.second.bad = pyo.Constraint(expr=m.second.y >= pyo.log(m.v))


@_case("second.bad")
def _division(m: Any) -> None:
    """a division by a random number that is zero"""
    m.v = RandomParam(data=[0.0, 1.0])
    m.second.bad = pyo.Constraint(expr=m.second.y >= m.w / m.v)


@_case("")
def _empty_block(m: Any) -> None:
    """a constraint of the second stage without an expression"""
    m.second.bad = pyo.Constraint([0])
    m.second.bad[0] = m.second.y >= 0
    m.second.bad[0].set_value(None)


@_case("")
def _foreign(m: Any) -> None:
    """a variable of another model in the second stage"""
    other = base()
    m.second.bad = pyo.Constraint(expr=m.second.y >= other.x)


@_case("")
def _text_in_the_cost(m: Any) -> None:
    """a text in the cost"""
    m.obj.set_value(m.x + E("second"))


@_case("")
def _infeasible_first(m: Any) -> None:
    """a first stage that nothing fulfils"""
    m.bad = pyo.Constraint(expr=m.x >= 1000)


@_case("")
def _unbounded(m: Any) -> None:
    """a second stage that earns without limit"""
    m.obj.set_value(m.x - E(m.second.y))


@_case("second.y")
def _random_domain(m: Any) -> None:
    """a recourse variable whose bounds cross in some scenarios"""
    m.second.y.setub(m.w - 2)


def cases(rng: Rng) -> Iterator[tuple[str, Callable[[], Any], str]]:
    """(what is wrong, builder, component)."""
    for place, (build, component, fine) in PLACES.items():
        for name, bad in SCALARS.items():
            if name not in fine:
                yield f"{name} as {place} of a two-stage model", _later(build, bad), component
    for name, spoil in TABLES.items():
        if name != "series":
            yield f"{name} as data of a two-stage model", _spoilt(spoil, rng), "w"
    for name, (made, component) in CASES.items():
        yield f"{name}, with recourse", made, component


def _later(build: Callable[[Any], Any], bad: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: build(bad())


def _spoilt(spoil: Callable[[Any], Any], rng: Rng) -> Callable[[], Any]:
    rows = np.asarray(rng.uniform(1.0, 2.0, (int(rng.integers(3, 9)), 2)))
    return lambda: base(RandomParam([0, 1], data=spoil(rows)))
