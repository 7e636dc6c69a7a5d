r"""What a model must satisfy before it is compiled; every message names component and remedy."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from math import inf
from typing import Any

from pyomo.core.base import Block, Constraint, Expression, Objective, Param, Set, Suffix, Var
from pyomo.core.base.component import ActiveComponent
from pyomo.core.expr import value

from ...errors import InfeasibleModelError, ModelError
from ...given import asked, real, shown
from ..randomness.random_param import RandomParam
from ..randomness.tables import Table
from ..scan import Contents, random_inside
from .terms import shortened

logger = logging.getLogger("pyomo_stochsqp")

#: Violation up to which a constraint without variables counts as satisfied.
_CONSTANT_ROW_TOLERANCE = 1e-8

_REMEDIES = {
    "Disjunct": "Fix the choice and apply TransformationFactory('gdp.fix_disjuncts').",
    "Disjunction": "Fix the choice and apply TransformationFactory('gdp.fix_disjuncts').",
    "SOSConstraint": "It restricts variables to a discrete pattern; deactivate it.",
    "LogicalConstraint": "Deactivate it: it restricts Boolean variables.",
    "Complementarity": "Apply TransformationFactory('mpec.simple_nonlinear') first.",
    "Arc": "Apply TransformationFactory('network.expand_arcs') first.",
}

_SMOOTH_INSTEAD = {
    "abs": "smooth_abs(z, width), or a variable t with t >= z and t >= -z",
    "max": "smooth_max(a, b, width=...), or the variable of an epigraph, t >= a and t >= b",
    "min": "smooth_min(a, b, width=...), or the variable of a hypograph, t <= a and t <= b",
    "Expr_if": "a smooth blend of the two branches",
    "floor": "the continuous quantity itself",
    "ceil": "the continuous quantity itself",
    "an external function": "Pyomo's own functions",
}


def check_constructed(model: Any) -> None:
    if not model.is_constructed():
        raise ModelError(
            f"Model '{model.name}' is abstract and not constructed. Call create_instance() and use "
            "the instance."
        )


def check_components(model: Any) -> None:
    """Refuse active components that would otherwise be silently ignored."""
    known = {Block, Objective, Constraint, Var, Param, Expression, Set, Suffix}
    for block in model.block_data_objects(active=True, descend_into=True):
        for ctype in block.collect_ctypes(active=None, descend_into=False):
            if ctype in known or not issubclass(ctype, ActiveComponent):
                continue
            found = block.component_data_objects(ctype, active=True, descend_into=False)
            for component in found:
                kind = ctype.__name__
                remedy = _REMEDIES.get(kind, "Deactivate it, or transform the model first.")
                raise ModelError(f"{kind} '{component.name}' cannot be handled. {remedy}")


def check_contents(seen: Contents, where: Any, outside: bool = False, *scenario: Any) -> None:
    """Refuse what may not stand in an expression: ``outside`` of E, or under it.

    ``scenario`` is the key of an explicit scenario.
    """
    if seen.foreign is not None:
        place = f" scenario {scenario[0]!r}:" if scenario else ""
        raise ModelError(
            f"'{where.name}':{place} {_in_words(seen.foreign[0])} stands where a number or an "
            "expression should. Give it a value, or take a member of what is indexed."
        )
    if seen.circular is not None:
        raise ModelError(
            f"'{where.name}': Expression '{seen.circular.name}' contains itself. Set it to an "
            "expression that does not use it."
        )
    if seen.random and (outside or scenario):
        member = next(iter(seen.random.values()))
        if outside:
            recourse = ""
            if getattr(where, "ctype", None) is Constraint:
                recourse = (
                    " If it is to hold in every scenario, with decisions that are made when the "
                    "numbers are known, put these and the row into a Recourse block."
                )
            raise ModelError(
                f"'{where.name}': RandomParam '{member.name}' is used outside an expectation. Put "
                "the term that uses it under E(...), or fix it to numbers with fix_to(...)."
                + recourse
            )
        raise ModelError(
            f"'{where.name}': RandomParam '{member.name}' is used inside an explicit scenario. A "
            "scenario has its own numbers: use Params of the block, or write one template E(expr) "
            "with RandomParams."
        )
    if seen.obstacle is not None:
        name, node = seen.obstacle
        raise ModelError(
            f"'{where.name}': {shortened(node)} is not a differentiable function of the variables "
            f"({name}). Use {_SMOOTH_INSTEAD.get(name, 'a smooth approximation')} instead."
        )
    if seen.valueless is not None:
        raise ModelError(
            f"'{where.name}': variable '{seen.valueless.name}' is fixed but has no value. Say "
            "fix(value)."
        )


def _in_words(item: Any) -> str:
    if item is None:
        return "an Expression without a value"
    return f"'{item.name}', which is indexed," if hasattr(item, "is_indexed") else shown(item)


def check_variables(model: Any, found: dict[int, Any]) -> list[Any]:
    """The variables in order of declaration, all of them continuous."""
    ordered = {id(v): v for v in model.component_data_objects(Var) if id(v) in found}
    ordered.update(found)  # those declared outside of the block that is solved
    variables = list(ordered.values())
    root = model.model()
    blocks: dict[int, bool] = {}
    for v in variables:
        block = v.parent_block()
        own = blocks.get(id(block))
        if own is None:
            own = blocks[id(block)] = block is not None and block.model() is root
        if not own:
            raise ModelError(
                f"Variable '{v.name}' belongs to another model than '{model.name}'. Build "
                "expressions from the variables of the model that is solved."
            )
        if not v.is_continuous():
            raise ModelError(
                f"Variable '{v.name}' is {'binary' if v.is_binary() else 'integer'}. Fix it, or "
                "relax it with TransformationFactory('core.relax_integer_vars')."
            )
        check_interval(v, *bounds_of(v))
    return variables


def bounds_of(v: Any) -> tuple[float, float]:
    """The bounds of a variable, infinite where it has none."""
    lower, upper = asked(("the bounds of", v), lambda: (v.lower, v.upper), raises=ModelError)
    low = -inf if lower is None else real(("the lower bound of", v), lower, infinite=True)
    high = inf if upper is None else real(("the upper bound of", v), upper, infinite=True)
    return low, high


def check_row_can_hold(name: str, body: Any, lower: float, upper: float) -> None:
    """A constraint without free variables is left out if it holds, and is an error if not."""
    number = None if _drawn(body) else value(body, exception=False)
    if number is None:  # the expectation of a distribution is known by estimates only
        logger.warning(
            "Constraint '%s' has no free variables, so no step can change its expectation; it is "
            "left out.",
            name,
        )
        return
    if not lower - _CONSTANT_ROW_TOLERANCE <= number <= upper + _CONSTANT_ROW_TOLERANCE:
        raise InfeasibleModelError(
            f"Constraint '{name}' has no free variables and is violated: {lower:g} <= {number:g} "
            f"<= {upper:g} does not hold. Unfix a variable of it, or deactivate it."
        )


def _drawn(expr: Any) -> bool:
    """Whether an expectation over a distribution stands in it."""
    return any(not isinstance(r.parent_component().origin, Table) for r in random_inside(expr))


def check_interval(component: Any, lower: float, upper: float) -> None:
    """Some number lies between the bounds of a variable or constraint."""
    if lower > upper or lower == inf or upper == -inf:
        kind = "Constraint" if component.ctype is Constraint else "Variable"
        raise InfeasibleModelError(
            f"{kind} '{component.name}' has a lower bound of {lower:g} and an upper bound of "
            f"{upper:g}: no value lies between them. Correct one of the two."
        )


def check_every_source_is_used(model: Any, used: set[int]) -> None:
    """Random data that no expectation reads was probably lost when an expression was built."""
    unused = [
        p
        for p in model.component_objects(RandomParam, active=True, descend_into=True)
        if not p.is_reference() and p.random and id(p.source) not in used
    ]
    if not unused:
        return
    waiting = {
        id(r.parent_component().source)
        for expr in _all_expressions(model)
        for r in random_inside(expr)
    }
    for component in unused:
        if id(component.source) not in waiting:
            raise ModelError(
                f"RandomParam '{component.name}' appears in no expectation of the model. Was it "
                "turned into a number while an expression was built, multiplied by 0, or "
                "forgotten? Use it under E(...), or remove it with del_component."
            )


def _all_expressions(model: Any) -> Iterable[Any]:
    """Expressions of all components, deactivated ones too: they may be switched on again."""
    for data in model.component_data_objects((Objective, Constraint, Expression)):
        parts = (data.lower, data.body, data.upper) if data.ctype is Constraint else (data.expr,)
        yield from (part for part in parts if part is not None)
    for v in model.component_data_objects(Var):
        yield from (bound for bound in (v.lower, v.upper) if bound is not None)
