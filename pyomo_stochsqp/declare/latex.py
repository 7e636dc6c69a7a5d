r"""LaTeX of models with expectations, by Pyomo's own printer.

The printer knows a fixed set of node types, so a copy of the model is made in which random numbers
are plain symbols and E is a function called \mathbb{E} (\mathbb{E}_s over explicit scenarios, of
which the first is shown); Variance, CVaR and the like are functions, too.
"""

from __future__ import annotations

from typing import Any

from pyomo.contrib.latex_printer import latex_printer
from pyomo.core.base import Constraint, Objective, Var
from pyomo.core.expr.numeric_expr import UnaryFunctionExpression

from .expectation import ExpectationData
from .formula_node import FormulaData
from .randomness.random_param import RandomParam
from .scan import scan
from .template import Template


def to_latex(model: Any, **options: Any) -> str:
    r"""The LaTeX text of a model; options are those of Pyomo's ``latex_printer``.

    >>> import pyomo.environ as pyo, scipy.stats as st
    >>> from pyomo_stochsqp import E, RandomParam
    >>> from pyomo_stochsqp.declare import to_latex
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var()
    >>> m.w = RandomParam(distribution=st.norm())
    >>> m.obj = pyo.Objective(expr=E(pyo.exp(m.w * m.x)))
    >>> print(to_latex(m).splitlines()[2].strip())
    & & \mathbb{E} \left( \exp \left( w x \right)  \right)  & \label{obj:unknown_obj}
    """
    copy = model.clone()
    symbols = _symbols(copy)
    for component in copy.component_objects((Objective, Constraint), active=True):
        component._rule = None  # the printer would call it again, and meet E again
        for data in component.values():
            data.set_value(_rewritten(data.expr, symbols))
    return str(latex_printer(copy, **options))


def _symbols(model: Any) -> dict[int, Any]:
    """Put a Var of the same name in the place of every RandomParam."""
    symbols = {}
    for component in list(model.component_objects(RandomParam)):
        members = list(component.items())
        block, name = component.parent_block(), component.local_name
        index = [component.index_set()] if component.is_indexed() else []
        block.del_component(component)
        stand_in = Var(*index)
        block.add_component(name, stand_in)
        symbols.update({id(member): stand_in[key] for key, member in members})
    return symbols


def _rewritten(expr: Any, symbols: dict[int, Any]) -> Any:
    seen = scan(expr)
    found = {**seen.expectations, **_formulas(seen.named)}
    replaced = {key: _function(node, symbols) for key, node in found.items()}
    return Template(expr, replaced).copy(replaced)


def _formulas(named: dict[int, Any]) -> dict[int, Any]:
    """Named formulas of one argument; those of more are written out."""
    return {
        key: node
        for key, node in named.items()
        if isinstance(node, FormulaData) and len(node.arguments) == 1
    }


def _function(node: Any, symbols: dict[int, Any]) -> Any:
    if isinstance(node, ExpectationData):
        over = node.integrand if node.explicit is None else node.explicit
        name = "mathbb{E}" if node.explicit is None else "mathbb{E}_s"
    else:
        (over,) = node.arguments
        name = f"mathrm{{{node.label}}}"
        if node.parameter is not None:
            name += f"_{{{node.parameter:g}}}"
    inside = over.first() if hasattr(over, "first") else Template(over, symbols).copy(symbols)
    return UnaryFunctionExpression((_rewritten(inside, symbols),), name=name, fcn=None)
