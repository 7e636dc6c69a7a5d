r"""Changes of a source file, one at a time, each of them a mistake that one could make.

    a + b, a * b, ...    the other operation; a alone; b alone  (1 - eta -> eta)
    a < b, a == b        the opposite
    a and b, not a, if a the other connective; without not; the opposite
    -a                   a
    f(a)                 a, for sqrt, abs, log, ceil, floor, square;  min <-> max
    f(a, b)              f(b, a)
    f(k)                 f(k - 1), for the iteration number k
    x += a               without the statement
    tau                  state.tau, the value before this iteration, where the function has both
    A_STREAM             ITERATION_STREAM, or VALIDATION_STREAM for that one
    3, 0.5               4, 1.0  (0 becomes 1)

Left alone: annotations, docstrings and texts of messages, what ``__init__`` stores, and numbers
below 1e-6, which are tolerances for rounding. Comparisons are reversed, not shifted by equality: of
two real numbers that are equal nobody speaks.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

OPPOSITE: dict[type, type] = {
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OTHER: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
#: operations of numbers; | & << may be types or sets
FUNCTIONS = {"sqrt", "abs", "log", "ceil", "floor", "square"}
SWAPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
SMALLEST_NUMBER = 1e-6


@dataclass(frozen=True)
class Mutant:
    """A changed source, and what was changed."""

    line: int
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.before}  ->  {self.after}"


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a source."""
    tree = ast.parse(source)
    sites = list(_sites(tree))
    seen = set()
    for node, replacement in sites:
        changed = _replaced(tree, node, replacement)
        text = ast.unparse(ast.fix_missing_locations(changed))
        if text in seen:
            continue
        seen.add(text)
        after = "(nothing)" if isinstance(replacement, ast.Pass) else ast.unparse(replacement)
        yield Mutant(node.lineno, _short(ast.unparse(node)), _short(after), text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


def _sites(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(node, what could stand in its place)."""
    for node, fields in _walk(tree, frozenset()):
        yield from ((node, other) for other in _replacements(node, fields))


def _walk(node: ast.AST, fields: frozenset[str]) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """Nodes that count, with the fields of ``state`` that the function around them reads."""
    if isinstance(node, ast.FunctionDef):
        if node.name == "__init__":
            return
        fields = frozenset(
            a.attr
            for a in ast.walk(node)
            if isinstance(a, ast.Attribute)
            and isinstance(a.value, ast.Name)
            and a.value.id == "state"
        )
    yield node, fields
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "bases", "arg", "defaults"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_text(child):
                yield from _walk(child, fields)


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        node = node.value
    return isinstance(node, (ast.JoinedStr, ast.Raise, ast.Assert, ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _replacements(node: ast.AST, fields: frozenset[str]) -> Iterator[ast.AST]:
    if isinstance(node, ast.BinOp) and type(node.op) in OTHER and not _has_text(node):
        yield _with(node, op=OTHER[type(node.op)]())
        yield node.left
        yield node.right
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield _with(node, ops=[OPPOSITE[type(node.ops[0])]()])
    elif isinstance(node, ast.Compare):
        for i in range(len(node.ops)):
            ops = list(node.ops)
            ops[i] = OPPOSITE[type(ops[i])]()
            yield _with(node, ops=ops)
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.And() if isinstance(node.op, ast.Or) else ast.Or())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not, ast.Invert)):
        yield node.operand
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)) and isinstance(
        node.test, (ast.Name, ast.Attribute, ast.Call)
    ):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.AugAssign):
        yield ast.Pass()
        if type(node.op) in OTHER:
            yield _with(node, op=OTHER[type(node.op)]())
    elif isinstance(node, ast.Call):
        yield from _calls(node)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in fields:
            yield ast.Attribute(ast.Name("state", ast.Load()), node.id, ast.Load())
        if node.id.endswith("_STREAM"):
            other = "VALIDATION" if node.id == "ITERATION_STREAM" else "ITERATION"
            yield (
                ast.parse(f"__import__('pyomo_stochsqp.oracle').oracle.{other}_STREAM")
                .body[0]
                .value
            )
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.value == 0:
            yield ast.Constant(type(node.value)(1))
        elif abs(node.value) >= SMALLEST_NUMBER:
            yield ast.Constant(node.value + 1 if isinstance(node.value, int) else 2 * node.value)


def _calls(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in FUNCTIONS and len(node.args) == 1 and not node.keywords:
        yield node.args[0]
    if name in SWAPPED:
        func = copy.deepcopy(node.func)
        if isinstance(func, ast.Attribute):
            func.attr = SWAPPED[name]
        elif isinstance(func, ast.Name):
            func.id = SWAPPED[name]
        yield _with(node, func=func)
    elif len(node.args) == 2 and name not in ("isinstance", "range", "getattr"):
        yield _with(node, args=node.args[::-1])
    for i, argument in enumerate(node.args):
        if isinstance(argument, ast.Name) and argument.id == "k":
            args = list(node.args)
            args[i] = ast.BinOp(argument, ast.Sub(), ast.Constant(1))
            yield _with(node, args=args)


def _has_text(node: ast.AST) -> bool:
    return any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in ast.walk(node))


def _with(node: ast.AST, **changes: object) -> ast.AST:
    """A copy with some fields changed; the children stay the same objects."""
    other = copy.copy(node)
    for name, value in changes.items():
        setattr(other, name, value)
    return other


def _replaced(tree: ast.Module, node: ast.AST, replacement: ast.AST) -> ast.Module:
    """A copy of the tree with one node replaced."""

    class Replace(ast.NodeTransformer):
        def visit(self, here: ast.AST) -> ast.AST:
            if here is node:
                return copy.deepcopy(replacement)
            new = copy.copy(here)
            for name, value in ast.iter_fields(here):
                if isinstance(value, list):
                    setattr(
                        new, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
                    )
                elif isinstance(value, ast.AST):
                    setattr(new, name, self.visit(value))
            return new

    changed = Replace().visit(tree)
    assert isinstance(changed, ast.Module)
    return changed
