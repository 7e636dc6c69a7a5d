r"""Combinations of exponentials that must not overflow where their value is moderate.

log(c + k exp(u))      =  log c + softplus(u + log(k/c))
log(sum_i k_i exp u_i) =  lse(u_1 + log k_1, ...)
1 / (1 + exp(u))       =  expit(-u)
exp(u) expit(-u)       =  expit(u)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .form import Form
from .node import Node, is_one

if TYPE_CHECKING:
    from .normal_form import Algebra


def log(algebra: Algebra, form: Form) -> Form | None:
    """log of a positive combination of exponentials, or None."""
    const = form.const
    if const.__class__ is not float or const < 0.0:
        return None
    for node, coef in form.terms.items():
        if node.op != "exp" or coef.__class__ is not float or coef <= 0.0:
            return None
    assert isinstance(const, float)
    shifted = []
    for node, coef in form.terms.items():
        u = Form()
        algebra.accumulate(u, algebra.form(node.args[0]))
        assert isinstance(coef, float)
        algebra.accumulate(u, Form(math.log(coef)))
        shifted.append(u)
    if len(shifted) > 1:
        inner: list[Any] = [algebra.node(u) for u in shifted]
        if const > 0.0:
            inner.append(math.log(const))
        return Form(0.0, {algebra.make("lse", tuple(inner)): 1.0})
    (u,) = shifted
    if const == 0.0:
        return u
    algebra.accumulate(u, Form(-math.log(const)))
    return Form(math.log(const), {algebra.make("softplus", (algebra.node(u),)): 1.0})


def inverse(algebra: Algebra, base: Form) -> Form | None:
    """1 / (1 + exp(u)), or None."""
    if len(base.terms) != 1 or not is_one(base.const):
        return None
    ((node, coef),) = base.terms.items()
    if node.op != "exp" or not is_one(coef):
        return None
    return Form(0.0, {algebra.make("expit", (_negated(algebra, node.args[0]),)): 1.0})


def product(algebra: Algebra, a: Node, b: Node) -> Node | None:
    """exp(u) * expit(-u) in either order, or None."""
    for left, right in ((a, b), (b, a)):
        if (
            left.op == "exp"
            and right.op == "expit"
            and right.args[0] is _negated(algebra, left.args[0])
        ):
            return algebra.make("expit", left.args)
    return None


def _negated(algebra: Algebra, node: Node) -> Node:
    return algebra.node(algebra.scale(algebra.form(node), -1.0))
