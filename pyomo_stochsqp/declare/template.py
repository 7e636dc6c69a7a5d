r"""Writing a template expression out for many scenarios: expr(x, w_1), expr(x, w_2), ...

The template is flattened once into a list of steps, one for each node that depends on a random
number; everything else is shared by all copies. Making a copy then runs through the steps, which is
several times as fast as Pyomo's general replacement visitor. An expectation inside is a number,
whatever stands under it, and is shared, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pyomo.core.expr.numvalue import native_numeric_types


class Template:
    """An expression whose leaves ``replaced`` (by id) get other numbers in every copy."""

    def __init__(self, expr: Any, replaced: Collection[int]):
        self._slots: list[Any] = []
        self._leaves: list[tuple[int, int]] = []  # (slot, id of the leaf)
        # (slot, node, slots of its arguments, whether it may turn out to be a number)
        self._steps: list[tuple[int, Any, list[int], bool]] = []
        self._depends: list[bool] = []
        self._root = self._flatten(expr, replaced)

    def copy(self, numbers: Mapping[int, Any]) -> Any:
        """The expression with these numbers (by id of the leaf)."""
        values = self._slots.copy()
        for slot, leaf in self._leaves:
            values[slot] = numbers[leaf]
        for slot, node, arguments, foldable in self._steps:
            args = [values[a] for a in arguments]
            if foldable and all([a.__class__ in native_numeric_types for a in args]):
                values[slot] = node._apply_operation(args)
            else:
                values[slot] = node.create_node_with_local_data(args)
        return values[self._root]

    def _flatten(self, expr: Any, replaced: Collection[int]) -> int:
        """Give every node a slot, arguments first; the slot of the expression itself."""
        known: dict[int, int] = {}
        stack = [(expr, False)]
        while stack:
            node, arguments_done = stack.pop()
            if id(node) in known:
                continue
            if id(node) in replaced:
                known[id(node)] = self._new_slot(node, True)
                self._leaves.append((known[id(node)], id(node)))
            elif _is_whole(node):
                known[id(node)] = self._new_slot(node, False)
            elif not arguments_done:
                stack.append((node, True))
                stack.extend((arg, False) for arg in node.args)
            else:
                arguments = [known[id(arg)] for arg in node.args]
                if node.is_named_expression_type():
                    known[id(node)] = arguments[0]
                else:
                    depends = any(self._depends[a] for a in arguments)
                    known[id(node)] = self._new_slot(node, depends)
                    if depends:
                        foldable = not node.is_potentially_variable()
                        self._steps.append((known[id(node)], node, arguments, foldable))
        return known[id(expr)]

    def _new_slot(self, node: Any, depends: bool) -> int:
        self._slots.append(node)
        self._depends.append(depends)
        return len(self._slots) - 1


def _is_whole(node: Any) -> bool:
    """Whether there is nothing to look for inside."""
    if node.__class__ in native_numeric_types or not node.is_expression_type():
        return True
    return getattr(node, "is_expectation", False)
