r"""Numbering the randomness of a model: parts, the sources they form, and where leaves read.

A part is one joint random vector. Parts that meet in one integrand must be drawn together, so they
are united into one source (union-find); all others stay independent sources with batch sizes of
their own.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ..expectation import ExpectationData
from ..program import Leaf, Part, Source
from .random_param import RandomParamData
from .scenario_set import Scenarios
from .source import RandomSource, freeze
from .tables import same_data

logger = logging.getLogger("pyomo_stochsqp")


class Randomness:
    """Collects parts while functions are read; :meth:`organise` then makes the sources."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}  # what identifies a part -> its number
        self._owner: list[int] = []  # union-find over part numbers
        self._sources: dict[int, RandomSource] = {}  # part number -> what it is drawn from
        self._explicit: dict[int, Part] = {}  # part number -> its scenarios
        self._readers: dict[int, dict[int, Any]] = {}  # part number -> RandomParams that read it
        self._random: dict[int, tuple[RandomParamData, int]] = {}  # id(member) -> (member, part)
        #: source number of each part; filled by :meth:`organise`
        self.source_number: list[int] = []

    def part_of(self, sources: Sequence[RandomSource], random: Sequence[RandomParamData]) -> int:
        """The number of one of the parts of an integrand, after uniting them all."""
        numbers = []
        for source in sources:
            number = self._numbered(id(source))
            self._sources[number] = source
            numbers.append(number)
        for member in random:
            component = member.parent_component()
            number = self._number[id(component.source)]
            self._readers.setdefault(number, {})[id(component)] = component
            self._random[id(member)] = (member, number)
        if len(numbers) > 1:
            _warn_of_shared_tables(random)
        for other in numbers[1:]:
            self._owner[self._root(other)] = self._root(numbers[0])
        return numbers[0]

    def part_of_scenarios(self, node: ExpectationData, resolved: Scenarios) -> int:
        """The part of explicit scenarios: equal blocks, keys and weights are one part."""
        explicit = node.explicit
        assert explicit is not None
        weights = None if resolved.weights is None else resolved.weights.tobytes()
        known = len(self._owner)
        number = self._numbered((explicit.identity, tuple(resolved.keys), weights))
        if number == known:
            if any(part.name == resolved.name for part in self._explicit.values()):
                logger.warning(
                    "Expectations over '%s' differ in their scenarios or weights, so they are "
                    "sampled independently. Give all of them the same weights= if they should "
                    "describe the same randomness.",
                    resolved.name,
                )
            self._explicit[number] = Part(
                resolved.name,
                (),
                size=len(resolved.keys),
                weights=resolved.weights,
                scenario_keys=resolved.keys,
            )
        return number

    def used_sources(self) -> set[int]:
        """id of every RandomSource that occurs."""
        return {id(source) for source in self._sources.values()}

    def organise(self) -> tuple[list[Source], dict[int, Leaf]]:
        """(sources, leaves) of the model, once all of its functions were read."""
        groups: dict[int, list[int]] = {}
        for number in range(len(self._owner)):
            groups.setdefault(self._root(number), []).append(number)
        self.source_number = [0] * len(self._owner)
        position = [0] * len(self._owner)
        sources: list[Source] = []
        taken: set[str] = set()
        for numbers in groups.values():
            for i, number in enumerate(numbers):
                self.source_number[number] = len(sources)
                position[number] = i
            parts = tuple(self._part(number) for number in numbers)
            sources.append(Source(_unused(" x ".join(p.name for p in parts), taken), parts))
        leaves = {}
        for key, (member, number) in self._random.items():
            component = member.parent_component()
            shared = component.source.origin is not None
            field = 0 if shared else list(self._readers[number]).index(id(component))
            column = component.column(member.index())
            s, p = self.source_number[number], position[number]
            read = sources[s].parts[p].fields[field].taken
            leaves[key] = Leaf(s, p, field, column if read is None else read.index(column))
        return sources, leaves

    def _part(self, number: int) -> Part:
        if number in self._explicit:
            return self._explicit[number]
        members = [member for member, own in self._random.values() if own == number]
        return freeze(self._sources[number], list(self._readers[number].values()), members)

    def _numbered(self, identity: Any) -> int:
        number = self._number.setdefault(identity, len(self._owner))
        if number == len(self._owner):
            self._owner.append(number)
        return number

    def _root(self, number: int) -> int:
        while self._owner[number] != number:
            number = self._owner[number]
        return number


def _unused(name: str, taken: set[str]) -> str:
    """Sources are told apart by name in options and reports."""
    unique, count = name, 1
    while unique in taken:
        count += 1
        unique = f"{name}_{count}"
    taken.add(unique)
    return unique


def _warn_of_shared_tables(random: Sequence[RandomParamData]) -> None:
    """Two RandomParams over one table look as if its rows were meant to be drawn together."""
    components = {id(c): c for c in (r.parent_component() for r in random)}
    for a, b in combinations(components.values(), 2):
        if a.source is not b.source and same_data(a.origin, b.origin):
            logger.warning(
                "RandomParams '%s' and '%s' read the same table but are independent, so their rows "
                "are combined freely. If each row belongs together, declare both with the same "
                "source=RandomSource(data=...).",
                a.name,
                b.name,
            )
