r"""What is no usable number, and every place of a model where somebody may put it.

A case is a value in a place; the seed decides where in a table it stands and how large the table
is. What a place does not take for wrong (None as an absent bound) is left out of it.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import scipy.sparse as sp
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource

Rng = np.random.Generator

#: single entries that are no numbers
SCALARS: dict[str, Callable[[], Any]] = {
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: -np.inf,
    "float32 nan": lambda: np.float32("nan"),
    "complex": lambda: 1.0 + 2.0j,
    "numpy complex": lambda: np.complex128(2 - 1j),
    "text": lambda: "seven",
    "numeric text": lambda: "7.0",
    "bytes": lambda: b"7",
    "None": lambda: None,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "Decimal NaN": lambda: Decimal("NaN"),
    "Decimal infinity": lambda: Decimal("Infinity"),
    "huge Decimal": lambda: Decimal("1e500"),
    "date": lambda: datetime.date(2020, 1, 1),
    "datetime": lambda: datetime.datetime(2020, 1, 1),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(3, "D"),
    "timestamp": lambda: pd.Timestamp("2020-01-01"),
    "NaT": lambda: pd.NaT,
    "NA": lambda: pd.NA,
    "masked": lambda: np.ma.masked,
    "list": lambda: [1.0],
    "dict": lambda: {"a": 1.0},
    "object": object,
    "function": lambda: len,
    "type": lambda: float,
    "ellipsis": lambda: ...,
}

#: whole tables that are no tables of numbers, made of good numbers of the shape (rows, 2)
TABLES: dict[str, Callable[[Any], Any]] = {
    "masked array": lambda a: np.ma.masked_where(a == a[len(a) // 2, 1], a),
    "complex array": lambda a: a + 1j,
    "datetime array": lambda a: (a * 1e6).astype("M8[s]"),
    "timedelta array": lambda a: (a * 1e6).astype("m8[s]"),
    "text array": lambda a: a.astype(str),
    "bytes array": lambda a: a.astype(bytes),
    "record array": lambda a: np.rec.fromarrays(list(a.T), names="a,b"),
    "object array with a list": lambda a: _with(a, [1.0]),
    "array of arrays": lambda a: _with(a, np.ones(2)),
    "ragged lists": lambda a: [*a.tolist(), [1.0]],
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[:, :0],
    "three dimensions": lambda a: a[None],
    "a number": lambda a: 3.0,
    "a text": lambda a: "table.csv",
    "a set": lambda a: set(a.ravel().tolist()),
    "a generator": lambda a: (row for row in a),
    "one-dimensional sparse": lambda a: sp.coo_array(a[:, 0]),
    "complex sparse": lambda a: sp.csr_array(a + 1j),
    "sparse without rows": lambda a: sp.csr_array((0, 2)),
    "sparse with NaN": lambda a: sp.csr_array(np.where(a == a[0, 0], np.nan, a)),
    "frame of texts": lambda a: pd.DataFrame(a.astype(str), columns=[0, 1]),
    "frame of dates": lambda a: pd.DataFrame((a * 1e6).astype("M8[s]"), columns=[0, 1]),
    "frame of categories": lambda a: pd.DataFrame({0: pd.Categorical(["p"] * len(a)), 1: a[:, 1]}),
    "frame with NA": lambda a: pd.DataFrame(
        {0: pd.array([1, None] + [2] * (len(a) - 2), dtype="Int64"), 1: a[:, 1]}
    ),
    "frame without rows": lambda a: pd.DataFrame({0: [], 1: []}),
    "frame without columns": lambda a: pd.DataFrame(index=range(len(a))),
    "frame with equal names": lambda a: pd.DataFrame(np.c_[a, a], columns=[0, 0, 1, 1]),
    "frame with other names": lambda a: pd.DataFrame(a, columns=["p", "q"]),
    "series": lambda a: pd.Series(a[:, 0]),
    "mapping of unequal lengths": lambda a: {0: a[:, 0], 1: a[1:, 1]},
    "mapping of matrices": lambda a: {0: a, 1: a},
    "mapping of masked columns": lambda a: {
        0: np.ma.masked_less(a[:, 0], a[:, 0].max()),
        1: a[:, 1],
    },
    "mapping of complex columns": lambda a: {0: a[:, 0] * 1j, 1: a[:, 1]},
    "mapping of numbers": lambda a: {0: 1.0, 1: 2.0},
    "empty mapping": lambda a: {},
    "empty list": lambda a: [],
    "list of empty lists": lambda a: [[], []],
}


def _with(a: Any, item: Any) -> Any:
    objects = a.astype(object)
    objects[len(a) // 2, 1] = item
    return objects


def _good(rng: Rng) -> Any:
    return rng.uniform(1.0, 2.0, (int(rng.integers(3, 40)), 2))


def _poisoned(rng: Rng, bad: Any) -> Any:
    """A good table, as lists, with one entry replaced."""
    rows = _good(rng).tolist()
    rows[int(rng.integers(len(rows)))][int(rng.integers(2))] = bad
    return rows


def _base() -> Any:
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.5, bounds=(-5, 5))
    m.obj = pyo.Objective(expr=m.x[0] ** 2 + m.x[1] ** 2)
    return m


def _using(m: Any, w: Any) -> Any:
    m.obj.set_value(E((m.x[0] - w[0]) ** 2 + (m.x[1] - w[1]) ** 2))
    return m


def _param(rng: Rng, data: Any, **kwds: Any) -> Any:
    m = _base()
    m.w = RandomParam([0, 1], data=data, **kwds)
    return _using(m, m.w)


def _source(rng: Rng, data: Any) -> Any:
    m = _base()
    m.w = RandomParam([0, 1], source=RandomSource("w", data=data))
    return _using(m, m.w)


def _scenarios(cost: Callable[[Any, Any, int], Any], **kwds: Any) -> Any:
    """Five scenario blocks; ``cost`` builds the expression of one."""
    m = _base()

    @m.Block(range(5))
    def w(b: Any, s: int) -> None:
        b.cost = pyo.Expression(expr=cost(m, b, s))

    m.obj.set_value(E(m.w[:].cost, **kwds))
    return m


def _sampled(rng: Rng, bad: Any, later: bool) -> Any:
    calls: list[int] = []

    def sampler(generator: Rng, size: int) -> Any:
        calls.append(size)
        rows = generator.normal(size=(size, 2))
        if later and len(calls) <= 2:
            return rows
        poisoned = rows.tolist()
        poisoned[size // 2][0] = bad
        return poisoned

    m = _base()
    m.w = RandomParam([0, 1], sampler=sampler)
    return _using(m, m.w)


def _weights(rng: Rng, bad: Any) -> list[Any]:
    weights: list[Any] = [0.2] * 5
    weights[int(rng.integers(5))] = bad
    return weights


def _in_block(bad: Any) -> Any:
    def cost(m: Any, b: Any, s: int) -> Any:
        b.p = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
        if s == 3:
            b.p.set_value(bad)
        return (m.x[0] - b.p) ** 2 + m.x[1] ** 2

    return _scenarios(cost)


def _mutable(bad: Any) -> Any:
    m = _base()
    m.w = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
    m.obj.set_value((m.x[0] - m.w) ** 2 + m.x[1] ** 2)
    m.w.set_value(bad)
    return m


def _number(bad: Any, build: Callable[[Any, Any], None]) -> Any:
    m = _base()
    build(m, bad)
    return m


def _right_hand_side(m: Any, bad: Any) -> None:
    m.w = pyo.Param(initialize=1.0, mutable=True, within=pyo.Any)
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] == m.w)
    m.w.set_value(bad)


def _start(m: Any, bad: Any) -> None:
    m.w = pyo.Var(initialize=1.0)
    m.row = pyo.Constraint(expr=m.x[0] + m.w >= 1)
    m.w.set_value(bad, skip_validation=True)


def _fixed(m: Any, bad: Any) -> None:
    m.w = pyo.Var(initialize=1.0)
    m.row = pyo.Constraint(expr=m.x[0] * pyo.exp(m.w) <= 1)
    m.w.fix(bad, skip_validation=True)


def _bound(m: Any, bad: Any) -> None:
    m.w = pyo.Var(initialize=1.0)
    m.row = pyo.Constraint(expr=m.x[0] + m.w >= 1)
    m.w.setlb(bad)


def _coefficient(m: Any, bad: Any) -> None:
    m.w = pyo.Constraint(expr=m.x[0] * bad + pyo.sin(m.x[1]) <= 1)


def _exponent(m: Any, bad: Any) -> None:
    m.w = pyo.Constraint(expr=(1 + m.x[0] ** 2) ** bad + m.x[1] <= 1)


def _fix_to(rng: Rng, bad: Any) -> Any:
    m = _param(rng, _good(rng))
    m.w.fix_to([1.0, bad])
    return m


#: place -> (model with a bad entry there, entries that are no mistake there)
PLACES: dict[str, tuple[Callable[[Rng, Any], Any], tuple[str, ...]]] = {
    "an entry of RandomParam(data=)": (lambda rng, bad: _param(rng, _poisoned(rng, bad)), ()),
    "an entry of RandomSource(data=)": (lambda rng, bad: _source(rng, _poisoned(rng, bad)), ()),
    "an entry of a frame": (
        lambda rng, bad: _param(rng, pd.DataFrame(_poisoned(rng, bad), columns=[0, 1])), ()),
    "an entry of a column": (
        lambda rng, bad: _param(rng, dict(enumerate(zip(*_poisoned(rng, bad), strict=True)))), ()),
    "what a sampler returns": (lambda rng, bad: _sampled(rng, bad, later=False), ()),
    "what a sampler returns later": (lambda rng, bad: _sampled(rng, bad, later=True), ()),
    "a weight of RandomParam": (
        lambda rng, bad: _param(rng, rng.uniform(1, 2, (5, 2)), weights=_weights(rng, bad)), ()),
    "a weight of scenarios": (
        lambda rng, bad: _scenarios(lambda m, b, s: (m.x[0] - s) ** 2 + m.x[1] ** 2,
                                    weights=_weights(rng, bad)), ()),
    "a scenario": (
        lambda rng, bad: _scenarios(lambda m, b, s: bad if s == 3 else (m.x[0] - s) ** 2), ()),
    "a Param of a scenario": (lambda rng, bad: _in_block(bad), ()),
    "a Param": (lambda rng, bad: _mutable(bad), ()),
    "a right-hand side": (lambda rng, bad: _number(bad, _right_hand_side), ()),
    "a starting value": (lambda rng, bad: _number(bad, _start), ("None",)),
    "a fixed value": (lambda rng, bad: _number(bad, _fixed), ()),
    "a bound": (lambda rng, bad: _number(bad, _bound), ("None", "-inf")),
    "a coefficient": (lambda rng, bad: _number(bad, _coefficient), ()),
    "an exponent": (lambda rng, bad: _number(bad, _exponent), ()),
    "fix_to": (_fix_to, ()),
    "a parameter of a distribution": (
        lambda rng, bad: _drawn([st.norm(), st.norm(bad, 1.0)]), ("masked", "list")),
}  # fmt: skip

#: places for whole tables
TABLE_PLACES: dict[str, tuple[Callable[[Rng, Any], Any], tuple[str, ...]]] = {
    "RandomParam(data=)": (_param, ("series",)),
    "RandomSource(data=)": (_source, ("series",)),
    "data= as a rule": (lambda rng, bad: _param(rng, lambda m: bad), ("series",)),
    "what a sampler returns": (lambda rng, bad: _returned(bad), ("frame with other names",)),
}


def _drawn(distribution: Any) -> Any:
    m = _base()
    m.w = RandomParam([0, 1], distribution=distribution)
    return _using(m, m.w)


def _returned(table: Any) -> Any:
    m = _base()
    m.w = RandomParam([0, 1], sampler=lambda rng, size: table)
    return _using(m, m.w)


def cases(rng: Rng) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(what is wrong, builder of the model) of all values in all places."""
    for place, (build, fine) in PLACES.items():
        for name, bad in SCALARS.items():
            if name not in fine:
                yield f"{name} as {place}", _later(build, rng, bad)
    for place, (build, fine) in TABLE_PLACES.items():
        for name, spoil in TABLES.items():
            if name not in fine:
                yield f"{name} as {place}", _later(build, rng, lambda s=spoil: s(_good(rng)))


def _later(build: Any, rng: Rng, bad: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: build(rng, bad())
