"""The normal form  const + sum_k coef_k * node_k  of an expression (see normal_form.py)."""

from __future__ import annotations

from .node import Coef, Node


class Form:
    """const + sum of coef * node. ``const`` is constant; coefficients are free of variables."""

    __slots__ = ("const", "terms")

    def __init__(self, const: Coef = 0.0, terms: dict[Node, Coef] | None = None):
        self.const = const
        self.terms = {} if terms is None else terms

    @property
    def x(self) -> bool:
        """Depends on variables."""
        for t in self.terms:  # noqa: SIM110  (a generator costs more than the loop)
            if t.x:
                return True
        return False
