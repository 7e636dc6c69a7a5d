r"""Models with nonlinear recourse, with their answers where these have closed forms.

shortage   min x/4 + E[(w - x)_+^2],  w in [0, 1]:  x = 1/2
licences   max E[w y - y^2/2] - x/5,  E y <= x:     x = 0.32, at the price 0.2
network    three plants with saturating yields feed three markets; gamma demand
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyomo.environ as pyo
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, Recourse

YIELDS = ((1.2, 0.6, 0.4), (0.5, 1.1, 0.7), (0.3, 0.6, 1.3))
COSTS, SHORTAGE = (1.0, 1.1, 0.9), (4.0, 5.0, 4.5)


def shortage() -> Any:
    """See the module's docstring."""
    m = pyo.ConcreteModel("shortage")
    m.x = pyo.Var(bounds=(0, 2), initialize=0.9)
    m.w = RandomParam(distribution=st.uniform(0, 1))

    @Recourse(m)
    def second(b: Any) -> None:
        b.y = pyo.Var(bounds=(0, None))
        b.meet = pyo.Constraint(expr=m.x + b.y >= m.w)

    m.cost = pyo.Objective(expr=m.x / 4 + E(m.second.y**2))
    return m


def licences() -> Any:
    """See the module's docstring."""
    m = pyo.ConcreteModel("licences")
    m.x = pyo.Var(bounds=(0, 2), initialize=0.1)
    m.w = RandomParam(distribution=st.uniform(0, 1))

    @Recourse(m)
    def second(b: Any) -> None:
        b.y = pyo.Var(bounds=(0, 5))

    gain = E(m.w * m.second.y - m.second.y**2 / 2)
    m.gain = pyo.Objective(expr=gain - m.x / 5, sense=pyo.maximize)
    m.emitted = pyo.Constraint(expr=E(m.second.y) <= m.x)
    return m


def network(capped: bool = False, data: Any = None) -> Any:
    """See the module's docstring; ``capped``: the mean of emissions is bounded."""
    m, three = pyo.ConcreteModel("network"), range(3)
    m.size = pyo.Var(three, bounds=(0, None), initialize=8.0)
    gamma = {"distribution": [st.gamma(4, scale=1.5)] * 3}
    m.demand = RandomParam(three, **(gamma if data is None else {"data": data}))

    @Recourse(m)
    def second(b: Any) -> None:
        b.feed = pyo.Var(three, three, bounds=(0, None))
        b.short = pyo.Var(three, bounds=(0, None))

        @b.Constraint(three)
        def capacity(b: Any, i: int) -> Any:
            return sum(b.feed[i, j] for j in three) <= m.size[i]

        @b.Constraint(three)
        def meet(b: Any, j: int) -> Any:
            made = sum(4 * YIELDS[i][j] * (1 - pyo.exp(-b.feed[i, j] / 4)) for i in three)
            return made + b.short[j] >= m.demand[j]

    short, feed = m.second.short, m.second.feed
    first = sum(COSTS[i] * m.size[i] + 0.02 * m.size[i] ** 2 for i in three)
    lost = sum(SHORTAGE[j] * short[j] + 0.15 * short[j] ** 2 for j in three)
    m.cost = pyo.Objective(expr=first + E(lost))
    if capped:
        emitted = sum((1 + i) * feed[i, j] ** 2 for i in three for j in three)
        m.emitted = pyo.Constraint(expr=E(emitted) + 0.1 * m.size[0] ** 2 <= 60)
    return m


#: name -> (model, {variable: its value})
CLOSED: dict[str, tuple[Callable[[], Any], dict[str, float]]] = {
    "shortage": (shortage, {"x": 0.5}),
    "licences": (licences, {"x": 0.32}),
}
