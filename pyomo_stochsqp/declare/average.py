r"""The sample average behind an E node: sum_s p_s expr_s(x), for every other Pyomo solver.

Only finite randomness has one. A RandomParam member is replaced by its number in row s.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.expr.visitor import replace_expressions

from ..errors import ModelError


def sample_average(node: Any) -> Any:
    """The average of an E node as an ordinary Pyomo expression."""
    from .expectation import random_members

    if node.scenarios is not None:
        p = node.probabilities()
        count = len(node.scenarios)
        return sum((1 / count if p is None else p[s]) * e for s, e in enumerate(node.scenarios))
    members = random_members(node.integrand)
    parts = {id(r.parent_component().source): r.parent_component().source for r in members}
    if not members:
        return node.integrand
    if len(parts) > 1 or any(p.size is None for p in parts.values()):
        raise ModelError(
            f"{node}: this expectation is not a finite sum, so it has no value and no other solver "
            "can read it. Solve with SolverFactory('stochsqp'), or discretise first with "
            "TransformationFactory('stochsqp.extensive_form')."
        )
    part = next(iter(parts.values())).freeze()
    size = part.size or 0
    total: Any = 0.0
    for s in range(size):
        numbers = {
            id(r): float(
                part.fields[r.parent_component().field].matrix[
                    s, r.parent_component().column(r.index())
                ]
            )
            for r in members
        }
        p = 1 / size if part.weights is None else float(part.weights[s])
        total = total + p * replace_expressions(node.integrand, numbers)
    return total
