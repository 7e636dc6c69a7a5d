r"""From named results to the flat vector ``out``.

Every result is a float or an array with known positions in ``out``. A position may receive several
contributions (a constant, terms of several blocks). Small programs list all entries at once; others
start from the constants and place arrays by slices where they can, otherwise through

    out += S @ concatenate(arrays)

with a fixed 0-1 matrix S.
"""

from __future__ import annotations

import numpy as np

from ..graph.block import Ints
from .inputs import Inputs
from .namespace import SMALL
from .statement import Statements


class Results:
    """Collects results and writes the lines that put them together."""

    def __init__(self, size: int, inputs: Inputs, base: bool):
        self._size = size
        self._inputs = inputs
        self._base: set[int] = inputs.space.base_positions if base else set()
        self._start = "base.copy()" if base else f"zeros({size})"
        self._floats: dict[int, list[str]] = {}
        self._arrays: list[tuple[list[str], Ints]] = []
        self._many: list[tuple[str, str, Ints]] = []
        self._scattered: list[tuple[str, str]] = []
        #: every result is written exactly once
        self._covered = False
        #: name -> stretch of ``out`` in which it is to be computed
        self.places: dict[str, str] = {}
        #: names that the closing lines read
        self.kept: list[str] = []

    def add(self, name: str, positions: Ints, array: bool) -> None:
        """A float (added to one or more positions) or an array with one position per entry."""
        if array:
            for names, others in self._arrays:
                if np.array_equal(others, positions):
                    names.append(name)
                    return
            self._arrays.append(([name], positions))
        elif positions.size > 8:
            # The same number for many instances.
            ones = self._inputs.array(np.ones(positions.size))
            self._many.append((name, ones, positions))
        else:
            for p in positions.tolist():
                self._floats.setdefault(p, []).append(name)

    def scatter(self, positions: str, values: str) -> None:
        """An array whose positions depend on the drawn rows."""
        self._scattered.append((positions, values))
        self.kept.append(values)

    def lines(self, body: Statements) -> tuple[list[str], list[str]]:
        """(opening, closing) lines; sums of arrays are added to the body."""
        size = self._size
        for name, ones, where in self._many:
            self.add(body.infix("*", name, ones, shape=(False, True)), where, True)
        if size <= SMALL and not self._arrays and not self._scattered:
            return [], [f"out = array(({', '.join(self._entry(p) for p in range(size))},))"]
        lines = []
        if self._floats:
            places = self._inputs.array(np.array(list(self._floats), dtype=np.intp))
            values = ", ".join("+".join(names) for names in self._floats.values())
            lines.append(f"out[{places}] += ({values},)")
        lines += self._array_lines(body)
        for positions, name in self._scattered:
            lines.append(f"add_at(out, ({positions}).ravel(), {name}.ravel())")
        if self._covered:
            # Nothing is added to, so only the places that nobody writes need a number.
            return [f"out = empty({size})", f"out[{size - 2}:] = 0.0"], lines
        return [f"out = {self._start}"], lines

    def _entry(self, p: int) -> str:
        names = list(self._floats.get(p, []))
        if p in self._base:
            names.insert(0, f"base{p}")
        return "+".join(names) if names else "0.0"

    def _array_lines(self, body: Statements) -> list[str]:
        if not self._arrays:
            return []
        everything = np.concatenate([p for _, p in self._arrays])
        touched = np.bincount(everything, minlength=self._size)
        touched[list(self._floats)] += 1
        touched[list(self._base)] += 1
        lines, rest = [], []
        for names, positions in self._arrays:
            name = names[0]
            for other in names[1:]:
                name = body.infix("+", name, other, shape=(False, True))
            alone = bool((touched[positions] == 1).all())
            first, stop = int(positions[0]), int(positions[0]) + positions.size
            run = np.array_equal(positions, np.arange(first, stop))
            if not run:
                rest.append((name, positions, alone))
            elif alone and name not in self.places:
                self.places[name] = f"out[{first}:{stop}]"
            else:
                lines.append(f"out[{first}:{stop}] {'' if alone else '+'}= {name}")
                self.kept.append(name)
        if rest:
            lines.append(self._placed(rest))
            self.kept += [name for name, _, _ in rest]
        once = bool((touched[:-2] == 1).all()) and not touched[-2:].any()
        self._covered = once and not (self._floats or self._base or self._scattered)
        return lines

    def _placed(self, rest: list[tuple[str, Ints, bool]]) -> str:
        names = [name for name, _, _ in rest]
        values = names[0] if len(names) == 1 else f"concatenate(({', '.join(names)}))"
        positions = np.concatenate([p for _, p, _ in rest])
        if all(alone for _, _, alone in rest):
            first, stop = int(positions.min()), int(positions.max()) + 1
            if stop - first > positions.size:
                return f"out[{self._inputs.array(positions)}] = {values}"
            # They fill a stretch of out in another order: gathering is faster than scattering.
            gather = self._inputs.array(np.argsort(positions))
            return f"{values}.take({gather}, None, out[{first}:{stop}], 'clip')"
        order = np.argsort(positions, kind="stable").astype(np.int32)
        pointers = np.searchsorted(positions[order], np.arange(self._size + 1))
        array = self._inputs.array
        pointer_name = array(pointers.astype(np.int32))
        ones = array(np.ones(positions.size))
        return f"assemble({pointer_name}, {array(order)}, {ones}, {values}, out)"
