r"""Means pushed down.

    mean(c)                    =  c * share                      constants and variables
    mean(sum_k a_k t_k)        =  sum_k mean(a_k t_k)
    mean(a(w) t(x))            =  mean(a(w)) t(x)                data and variables separate
    mean(a(w) t(x, w))            stays a mean of a product

``share`` is 1, or the share of the drawn rows if only some rows of the source take part.
"""

from __future__ import annotations

from .form import Form
from .node import Coef, Node
from .normal_form import Algebra


class Means:
    """Means of forms and coefficients, with all remaining means as explicit nodes."""

    def __init__(self, algebra: Algebra):
        self._algebra = algebra

    def of_form(self, form: Form, share: Coef) -> Form:
        """The mean of a form, pushed down to data and to mixed nodes."""
        algebra, make = self._algebra, self._algebra.make
        form = algebra.opened(form, _has_means_of_its_own)
        result = algebra.form(algebra.coef_mul(share, form.const))
        for node, coef in form.terms.items():
            if not node.batch:
                mean = self.of_coefficient(coef, share)
                algebra.accumulate(result, algebra.multiply(mean, algebra.form(node)))
                continue
            scale, inner = coef, node
            if isinstance(coef, Node) and coef.batch:
                scale, data = algebra.split(algebra.form(coef))
                inner = make("prod", (data, node))
            algebra.accumulate(result, Form(0.0, {make("mean", (inner,)): scale}))
        return result

    def of_coefficient(self, coef: Coef, share: Coef) -> Form:
        """The mean of a coefficient, as a form of means of single nodes."""
        algebra = self._algebra
        if not (isinstance(coef, Node) and coef.batch):
            return algebra.form(algebra.coef_mul(share, coef))
        opened = algebra.form(coef)
        result = algebra.form(algebra.coef_mul(share, opened.const))
        for node, k in opened.terms.items():
            term = Form(0.0, {algebra.make("mean", (node,)): k})
            algebra.accumulate(result, term)
        return result


def _has_means_of_its_own(node: Node, coef: Coef) -> bool:
    """Whether coef * (c + sum k t) is better averaged summand by summand."""
    if not (isinstance(coef, Node) and coef.batch) or not node.batch:
        return True
    return all(t.op == "var" for t in node.args[2::2])
