r"""Splitting E[a(x, w) + b(x, v)] for independent w and v into E[a] + E[b].

A sum over independent sources does not need joint draws of them, so each source keeps its own batch
size. An integrand with a single source is kept whole, and its deterministic summands with it: the
compiler sees more structure that way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyomo.core.expr import numeric_expr as ne

from ..randomness.random_param import RandomParamData
from ..randomness.source import RandomSource
from ..scan import Contents, scan


@dataclass(frozen=True, eq=False)
class Summand:
    """A part of an integrand, with the sources it mixes (none if it is deterministic)."""

    expression: Any
    sources: tuple[RandomSource, ...]
    random: tuple[RandomParamData, ...]


def summands(integrand: Any, contents: Contents) -> list[Summand]:
    """One summand per set of sources that meet in it."""
    random = tuple(contents.random.values())
    sources = sources_of(random)
    if len(sources) <= 1:
        return [Summand(integrand, sources, random)]
    groups: dict[frozenset[int], list[tuple[Any, Contents]]] = {}
    for term in _terms(integrand):
        inside = scan(term)
        key = frozenset(id(s) for s in sources_of(tuple(inside.random.values())))
        groups.setdefault(key, []).append((term, inside))
    made = []
    for group in groups.values():
        members = {i: r for _, inside in group for i, r in inside.random.items()}
        random = tuple(members.values())
        total = group[0][0] if len(group) == 1 else ne.SumExpression([t for t, _ in group])
        made.append(Summand(total, sources_of(random), random))
    return made


def sources_of(random: tuple[RandomParamData, ...]) -> tuple[RandomSource, ...]:
    """The distinct sources of RandomParam members, in order of appearance."""
    found = {id(s): s for s in (r.parent_component().source for r in random)}
    return tuple(found.values())


def _terms(expr: Any) -> list[Any]:
    """Top-level summands, through named expressions and signs."""
    found = []
    stack = [(expr, False)]
    while stack:
        e, negative = stack.pop()
        if isinstance(e, ne.SumExpression):
            stack.extend((arg, negative) for arg in reversed(e.args))
        elif isinstance(e, ne.NegationExpression):
            stack.append((e.args[0], not negative))
        elif hasattr(e, "is_named_expression_type") and e.is_named_expression_type():
            stack.append((e.args[0], negative))
        else:
            found.append(-e if negative else e)
    return found
