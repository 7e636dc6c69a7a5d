r"""Statements of the generated code, and the reuse of memory among them.

A statement sets one name. Elementwise operations name their ufunc, so that a second pass can let
them write where an operand, used here for the last time, is stored:

    t3 = t1*t2;  t4 = exp(t3)      ->      t3 = t1*t2;  exp(t3, t3)

and results that fill a stretch of ``out`` are computed there, not copied. With large batches this
saves as much time as the arithmetic costs, because fresh memory has to be fetched first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..algebra.node import SMOOTH

#: operator -> ufunc, for operations written infix
OPERATORS = {"*": "multiply", "+": "add", "-": "subtract", "/": "divide"}

_NAME = re.compile(r"[A-Za-z]\w*")

#: functions of one array that accept a place to write to
UFUNCS = frozenset((*SMOOTH, "expit"))


@dataclass
class Statement:
    """name = form with its arguments. ``shape`` is (batched, grouped); None: unknown or scalar."""

    name: str
    form: str
    args: tuple[str, ...]
    shape: tuple[bool, bool] | None = None
    #: called with the arguments and a place to write to, it does the same
    ufunc: str | None = None


class Statements:
    """A list of statements under construction."""

    def __init__(self, prefix: str):
        self.items: list[Statement] = []
        self._prefix = prefix

    def set(
        self,
        form: str,
        *args: str,
        shape: tuple[bool, bool] | None = None,
        ufunc: str | None = None,
        name: str | None = None,
    ) -> str:
        """Adds a statement and returns the name it sets."""
        if name is None:
            name = f"{self._prefix}{len(self.items)}"
        self.items.append(Statement(name, form, args, shape, ufunc))
        return name

    def infix(
        self,
        op: str,
        a: str,
        b: str,
        shape: tuple[bool, bool] | None = None,
        name: str | None = None,
    ) -> str:
        """a op b."""
        return self.set(f"{{0}}{op}{{1}}", a, b, shape=shape, ufunc=OPERATORS[op], name=name)


def scheduled(inputs: list[Statement], body: list[Statement]) -> list[Statement]:
    """The body with every input fetched just before it is first read, while it stays in the cache;
    inputs that the body does not read come last."""
    waiting = {s.name: s for s in inputs}
    result: list[Statement] = []

    def fetch(statement: Statement) -> None:
        for name in _NAME.findall(statement.form + " " + " ".join(statement.args)):
            needed = waiting.pop(name, None)
            if needed is not None:
                fetch(needed)
                result.append(needed)

    for statement in body:
        fetch(statement)
        result.append(statement)
    for name in list(waiting):
        if name in waiting:
            needed = waiting.pop(name)
            fetch(needed)
            result.append(needed)
    return result


def written(
    statements: list[Statement], places: dict[str, str], kept: Iterable[str], closing: list[str]
) -> tuple[list[str], list[str]]:
    """(lines of the statements, closing lines) with memory reused.

    ``places``: name -> stretch of ``out`` it is computed in; ``kept``: names read by ``closing``.
    """
    last: dict[str, int] = {}
    for i, s in enumerate(statements):
        for a in s.args:
            last[_base(a)] = i
    for name in kept:
        last[name] = len(statements)
    rename: dict[str, str] = {}
    #: memory of temporaries: name -> (shape, last statement that reads it)
    owned: dict[str, tuple[tuple[bool, bool], int]] = {}
    lines = []
    for i, s in enumerate(statements):
        args = [_renamed(a, rename) for a in s.args]
        place = places.get(s.name)
        if place is not None and s.ufunc is not None:
            lines.append(f"{s.name} = {s.ufunc}({', '.join(args)}, {place})")
            continue
        target = None
        if s.ufunc is not None and s.ufunc != "dot" and s.shape is not None and any(s.shape):
            target = next((a for a in args if owned.get(a) == (s.shape, i)), None)
        if target is not None and s.shape is not None:
            lines.append(f"{s.ufunc}({', '.join(args)}, {target})")
            rename[s.name] = target
            owned[target] = (s.shape, last.get(s.name, i))
        else:
            lines.append(f"{s.name} = {s.form.format(*args)}")
            if s.shape is not None and any(s.shape):
                owned[s.name] = (s.shape, last.get(s.name, i))
        if place is not None:
            lines.append(f"{place} = {rename.get(s.name, s.name)}")
    # Results that no statement computes (x itself, constants) are copied.
    computed = {s.name for s in statements}
    lines += [f"{place} = {name}" for name, place in places.items() if name not in computed]
    if rename:
        pattern = re.compile(r"\b(" + "|".join(rename) + r")\b")
        closing = [pattern.sub(lambda m: rename[m[0]], line) for line in closing]
    return lines, closing


def _base(arg: str) -> str:
    """The name an argument refers to (x[:, None] refers to x)."""
    return arg.partition("[")[0].partition(".")[0]


def _renamed(arg: str, rename: dict[str, str]) -> str:
    base = _base(arg)
    new = rename.get(base)
    return arg if new is None else new + arg[len(base) :]
