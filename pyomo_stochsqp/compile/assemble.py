r"""From named results to the flat vector ``out``.

Every result is a float or an array with known positions in ``out``. A position may receive several
contributions (a constant, terms of several blocks). Small programs list all entries at once; others
start from the constants and place arrays by slices where they can, otherwise through

    out += S @ concatenate(arrays)

with a fixed 0-1 matrix S.
"""

from __future__ import annotations

import numpy as np

from .access import Inputs
from .block import Ints
from .pattern import Pattern

#: Programs up to this many results are listed entry by entry, if all results are floats.
SMALL = 200


class Results:
    """Collects results and writes the closing lines of a generated function."""

    def __init__(self, pattern: Pattern, inputs: Inputs, base: bool):
        self._pattern = pattern
        self._inputs = inputs
        self._base = base
        self._floats: dict[int, list[str]] = {}
        self._arrays: list[tuple[str, Ints]] = []
        self._scattered: list[tuple[str, str]] = []

    def add(self, name: str, positions: Ints, array: bool) -> None:
        """A float (added to one or more positions) or an array with one position per entry."""
        if array:
            self._arrays.append((name, positions))
        else:
            for p in positions.tolist():
                self._floats.setdefault(p, []).append(name)

    def scatter(self, positions: str, values: str) -> None:
        """An array whose positions depend on the drawn rows."""
        self._scattered.append((positions, values))

    def lines(self) -> list[str]:
        size = self._pattern.size
        if size <= SMALL and not self._arrays and not self._scattered:
            return [f"out = array(({', '.join(self._entry(p) for p in range(size))}))"]
        lines = [f"out = {'base.copy()' if self._base else f'zeros({size})'}"]
        if self._floats:
            places = self._inputs.array(np.array(list(self._floats), dtype=np.intp))
            values = ", ".join("+".join(names) for names in self._floats.values())
            lines.append(f"out[{places}] += ({values},)")
        lines += self._array_lines()
        for positions, values in self._scattered:
            lines.append(f"add_at(out, ({positions}).ravel(), {values}.ravel())")
        return lines

    def _entry(self, p: int) -> str:
        names = list(self._floats.get(p, []))
        if self._base and p in self._inputs.space.base_positions:
            names.insert(0, f"base{p}")
        return "+".join(names) if names else "0.0"

    def _array_lines(self) -> list[str]:
        if not self._arrays:
            return []
        everything = np.concatenate([p for _, p in self._arrays])
        touched = np.bincount(everything, minlength=self._pattern.size)
        touched[list(self._floats)] += 1
        if self._base:
            touched[list(self._inputs.space.base_positions)] += 1
        lines, rest = [], []
        for name, positions in self._arrays:
            alone = bool((touched[positions] == 1).all())
            first = int(positions[0])
            run = np.array_equal(positions, np.arange(first, first + positions.size))
            if run and alone:
                lines.append(f"out[{first}:{first + positions.size}] = {name}")
            elif run:
                lines.append(f"out[{first}:{first + positions.size}] += {name}")
            else:
                rest.append((name, positions, alone))
        if rest:
            lines.append(self._placed(rest))
        return lines

    def _placed(self, rest: list[tuple[str, Ints, bool]]) -> str:
        names = [name for name, _, _ in rest]
        values = names[0] if len(names) == 1 else f"concatenate(({', '.join(names)}))"
        positions = np.concatenate([p for _, p, _ in rest])
        if all(alone for _, _, alone in rest):
            return f"out[{self._inputs.array(positions)}] = {values}"
        order = np.argsort(positions, kind="stable").astype(np.int32)
        pointers = np.searchsorted(positions[order], np.arange(self._pattern.size + 1))
        array = self._inputs.array
        pointer_name = array(pointers.astype(np.int32))
        ones = array(np.ones(positions.size))
        return f"assemble({pointer_name}, {array(order)}, {ones}, {values}, out)"
