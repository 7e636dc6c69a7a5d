r"""Recourse: a Block for decisions that are made when the random numbers are known.

    @Recourse(m)
    def second(b):
        b.buy = Var(bounds=(0, None))
        b.meet = Constraint(expr=m.stock + b.buy >= m.demand)
        b.cost = Expression(expr=3 * b.buy)

It is written once. Its variables take other values in every scenario, its rows hold in all of them,
and RandomParams are legal in both. For Pyomo it is a Block like any other, so a model whose random
numbers are fixed (``fix_to``) is one scenario that every solver can read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pyomo.core.base import Block
from pyomo.core.base.block import BlockData, ScalarBlock

from ..errors import ModelError
from .randomness.random_param import RandomParam


class Recourse(ScalarBlock):
    """The second stage of a model, declared once.

    ``m.second = Recourse(rule=function)``, or as a decorator, ``@Recourse(m)``, of a function that
    gives the block its name and its components.

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo_stochsqp import E, RandomParam, Recourse
    >>> m = pyo.ConcreteModel()
    >>> m.stock = pyo.Var(bounds=(0, None))
    >>> m.demand = RandomParam(distribution=st.uniform(50, 100))
    >>> @Recourse(m)
    ... def second(b):
    ...     b.buy = pyo.Var(bounds=(0, None))
    ...     b.meet = pyo.Constraint(expr=m.stock + b.buy >= m.demand)
    >>> m.obj = pyo.Objective(expr=m.stock + E(3 * m.second.buy))
    >>> m.demand.fix_to(100)  # one scenario: any solver
    >>> m.second.meet.expr.to_string()
    'demand  <=  stock + second.buy'
    """

    def __new__(cls, *args: Any, **kwds: Any) -> Any:
        if args:
            if len(args) == 1 and isinstance(args[0], BlockData):
                return _decorator(args[0])
            raise ModelError(
                "Recourse is one block and has no index. Write one Recourse, and index the "
                "variables and rows in it."
            )
        return super().__new__(cls)

    def __init__(self, rule: Callable[[Any], Any] | None = None, **kwds: Any):
        super().__init__(rule=rule, **kwds)
        #: of rows outside that bound expectations of its variables: what a solution has found
        self.prices: dict[str, float] = {}


def _decorator(block: Any) -> Callable[[Callable[[Any], Any]], Any]:
    def declare(rule: Callable[[Any], Any]) -> Any:
        block.add_component(rule.__name__, Recourse(rule=rule))
        return block.component(rule.__name__)

    return declare


def recourse_blocks(model: Any) -> list[Any]:
    """The active Recourse blocks of a model."""
    found = [
        block
        for block in model.component_data_objects(Block, active=True, descend_into=True)
        if isinstance(block, Recourse)
    ]
    for block in found:
        outer = next((other for other in found if _is_inside(block, other)), None)
        if outer is not None:
            raise ModelError(
                f"Recourse '{block.name}' stands inside Recourse '{outer.name}': decisions in more "
                "than two stages are not supported. Use a multistage tool (mpi-sppy, SDDP), or let "
                "both be made at once, in one Recourse."
            )
    return found


def _is_inside(block: Any, other: Any) -> bool:
    parent = block.parent_block()
    while parent is not None:
        if parent is other:
            return True
        parent = parent.parent_block()
    return False


def decided_later(variables: Iterable[Any]) -> bool:
    """Whether one of the variables takes another value in every scenario."""
    for v in variables:
        block = v.parent_block()
        while block is not None:
            if isinstance(block, Recourse) and block.active:
                return with_recourse(v.model())
            block = block.parent_block()
    return False


def with_recourse(model: Any) -> bool:
    """Whether decisions are made after random numbers are known: with all of them fixed, there is
    one scenario, and its Recourse is a block like any other."""
    if not any(p.random for p in model.component_objects(RandomParam, descend_into=True)):
        return False
    return bool(recourse_blocks(model))
