r"""Named formulas in Pyomo expressions: E[...], Variance[...], CVaR[...].

Pyomo's named expressions print what is inside, and their in-place operators change it; these print
their name and arguments, and are values.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from pyomo.common.autoslots import AutoSlots
from pyomo.core.base.expression import NamedExpressionData
from pyomo.core.expr import numeric_expr
from pyomo.core.expr.visitor import _EvaluationVisitor, _ToStringVisitor

from .symbol import Symbol


class NamedFormula(NamedExpressionData):
    """A named expression that is a value."""

    __slots__ = ()

    def to_string(
        self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any
    ) -> str:
        raise NotImplementedError

    def __init_subclass__(cls, **kwds: Any) -> None:
        super().__init_subclass__(**kwds)
        # It prints as a leaf, so that printing a model does not build what is inside.
        _ToStringVisitor._leaf_node_types.add(cls)

    def __str__(self) -> str:
        return self.to_string()

    @property
    def name(self) -> str:
        return str(self)

    def getname(self, *args: Any, **kwds: Any) -> str:
        return str(self)

    local_name = name

    # In-place operators of the base class act on the argument.
    def __iadd__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__add__(self, other)

    def __imul__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__mul__(self, other)

    def __itruediv__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__truediv__(self, other)

    def __ipow__(self, other: Any) -> Any:
        return numeric_expr.NumericValue.__pow__(self, other)


class FormulaData(NamedFormula):
    """An ordinary expression under a name of its own: label[arguments, parameter]."""

    __slots__ = ("_args_", "arguments", "label", "parameter")

    def __init__(self, label: str, arguments: tuple[Any, ...], expr: Any, parameter: Any = None):
        self._args_ = (expr,)
        self.label = label
        self.arguments = arguments
        self.parameter = parameter

    def create_node_with_local_data(self, values: Any, classtype: Any = None) -> FormulaData:
        return FormulaData(self.label, self.arguments, values[0], self.parameter)

    def to_string(
        self, verbose: Any = None, labeler: Any = None, smap: Any = None, **_: Any
    ) -> str:
        said = [str(a) for a in self.arguments]
        if self.parameter is not None:
            said.append(f"{self.parameter:g}")
        return f"{self.label}[{', '.join(said)}]"


class RandomFormula(NamedFormula):
    """A number that depends on a distribution: an expectation, a quantile.

    ``pyo.value`` asks the node for its value (:attr:`valuation`, see expected_value.py), so that a
    solved model can be printed and displayed.
    """

    __slots__ = ("_symbol", "compiled")
    # What is rebuilt on demand is left behind by copies and pickles.
    __autoslot_mappers__ = {"compiled": AutoSlots.encode_as_none}  # noqa: RUF012
    #: a number, whatever stands in it: no replacement of leaves goes inside
    is_expectation = True
    #: the Var that stands for it in an extensive form, if it needs one
    variable: Any = None

    #: the value of a node at the current point; set by whoever can compute it
    valuation: ClassVar[Callable[[Any], float] | None] = None

    def __init__(self) -> None:
        self._symbol: Symbol | None = None
        #: what :attr:`valuation` keeps from one value to the next
        self.compiled: Any = None

    @property
    def symbol(self) -> Symbol:
        """What stands for it inside formulas: always the same, so nothing is compiled twice."""
        if self._symbol is None:
            self._symbol = Symbol(self)
        return self._symbol

    def integrands(self) -> list[Any]:
        """The expressions that stand under expectations in it."""
        raise NotImplementedError

    @property
    def has_own_value(self) -> bool:
        """Its value is computed here, not by writing it out."""
        raise NotImplementedError

    def __call__(self, exception: Any = True) -> Any:
        if not self.has_own_value:
            return super().__call__(exception)
        assert RandomFormula.valuation is not None
        try:
            return RandomFormula.valuation(self)
        except ValueError:
            if exception:
                raise
            return None


_visit_leaf = _EvaluationVisitor.visiting_potential_leaf


def _visit_leaf_or_formula(visitor: Any, node: Any) -> tuple[bool, Any]:
    if isinstance(node, RandomFormula) and node.has_own_value:
        return True, node(exception=visitor.exception)
    return _visit_leaf(visitor, node)


_EvaluationVisitor.visiting_potential_leaf = _visit_leaf_or_formula
