r"""SMPS: two-stage programs as three text files, the format of the public test sets.

    core (.cor, .core)          one scenario, as an MPS file
    time (.tim, .time)          the first column and the first row of every stage
    stochastic (.sto, .stoch)   what is random: INDEP (single entries), BLOCKS (entries that are
                                drawn together), SCENARIOS (whole scenarios)

An entry is (column, row) of the core file; the column RHS stands for the right-hand side, the
objective's row for costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DataError

Entry = tuple[str, str]  # column ("" is the right-hand side), row


@dataclass
class Core:
    """The MPS file."""

    objective: str = ""
    #: row -> N, E, L or G, in order
    senses: dict[str, str] = field(default_factory=dict)
    #: columns in order; those that are integer
    columns: dict[str, int] = field(default_factory=dict)
    integer: set[str] = field(default_factory=set)
    entries: dict[Entry, float] = field(default_factory=dict)
    ranges: dict[str, float] = field(default_factory=dict)
    bounds: dict[str, list[float]] = field(default_factory=dict)
    maximise: bool = False


@dataclass
class Outcomes:
    """Entries that are drawn together."""

    entries: list[Entry]
    #: discrete: one row of numbers per outcome, and probabilities
    values: Any = None
    probabilities: Any = None
    #: or a law for a single entry, (NORMAL, UNIFORM, ...) and its parameters
    law: str = ""
    parameters: tuple[float, ...] = ()


@dataclass
class Smps:
    """The three files."""

    name: str
    core: Core
    first_columns: list[str]
    first_rows: list[str]
    random: list[Outcomes]


def read_smps(path: Any) -> Smps:
    """The files that belong to one of them, to a path without suffix, or to ``model.smps``, a
    text file with their names."""
    core_file, time_file, random_file = _files(Path(path))
    core = _core(core_file)
    columns, rows = _periods(time_file, core)
    return Smps(core_file.stem, core, columns, rows, _random(random_file, core))


_BOUNDS = ("UP", "LO", "FX", "FR", "MI", "PL", "BV", "UI", "LI")
_SUFFIXES = ((".cor", ".core", ".mps"), (".tim", ".time"), (".sto", ".stoch"))


def _files(path: Path) -> tuple[Path, Path, Path]:
    if path.suffix == ".smps" and path.is_file():
        named = [path.parent / line.strip() for line in path.read_text().split() if line.strip()]
        candidates = {suffix: f for f in named for suffix in (f.suffix,)}
    elif path.is_dir():
        candidates = {f.suffix: f for f in sorted(path.iterdir())}
    else:
        stem = path.stem if path.suffix else path.name
        found = path.parent.glob(f"{stem}.*") if path.parent.is_dir() else ()
        candidates = {f.suffix: f for f in sorted(found)}
    files = []
    for suffixes in _SUFFIXES:
        file = next((candidates[s] for s in suffixes if s in candidates), None)
        if file is None or not file.is_file():
            raise DataError(f"{path}: there is no file {' or '.join(suffixes)} for this model.")
        files.append(file)
    return files[0], files[1], files[2]


def _lines(file: Path) -> Iterator[tuple[bool, list[str], str]]:
    """(whether a section begins, words, where) of every line that says something."""
    with open(file) as text:
        for number, line in enumerate(text, 1):
            words = line.split()
            if words and not line.startswith("*"):
                yield not line[0].isspace(), words, f"{file.name}, line {number}"


def _number(word: str, where: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise DataError(f"{where}: '{word}' is no number.") from None


def _core(file: Path) -> Core:
    core, section, integer = Core(), "", False
    for begins, words, where in _lines(file):
        if begins:
            section = words[0].upper()
            if section == "OBJSENSE" and len(words) > 1:
                core.maximise = words[1].upper().startswith("MAX")
        elif section == "OBJSENSE":
            core.maximise = words[0].upper().startswith("MAX")
        elif section == "ROWS":
            _row(core, words)
        elif section == "COLUMNS":
            if len(words) > 1 and words[1].upper() == "'MARKER'":
                integer = words[2].upper() == "'INTORG'"
                continue
            core.columns.setdefault(words[0], len(core.columns))
            if integer:
                core.integer.add(words[0])
            for row, number in zip(words[1::2], words[2::2], strict=False):
                if row in core.senses:
                    at = (words[0], row)
                    core.entries[at] = core.entries.get(at, 0.0) + _number(number, where)
        elif section in ("RHS", "RANGES"):
            pairs = words if len(words) % 2 == 0 else words[1:]
            for row, number in zip(pairs[::2], pairs[1::2], strict=True):
                if section == "RHS":
                    core.entries["", row] = _number(number, where)
                else:
                    core.ranges[row] = _number(number, where)
        elif section == "BOUNDS":
            _bound(core, words, where)
    return core


def _row(core: Core, words: list[str]) -> None:
    if words[0].upper() == "N":
        if core.objective:
            return  # further free rows say nothing
        core.objective = words[1]
    core.senses[words[1]] = words[0].upper()


def _bound(core: Core, words: list[str], where: str) -> None:
    kind = words[0].upper()
    if kind not in _BOUNDS:
        raise DataError(f"{where}: a bound of kind '{kind}' is not supported.")
    bare = kind in ("FR", "MI", "PL", "BV")
    at = words[1:] if (words[1] in core.columns and len(words) <= 3 - bare) else words[2:]
    low, up = core.bounds.setdefault(at[0], [0.0, inf])
    value = 0.0 if bare else _number(at[1], where)
    if kind in ("UP", "UI"):
        up = value
        low = -inf if value < 0.0 and low == 0.0 else low
    elif kind in ("LO", "LI"):
        low = value
    elif kind == "FX":
        low = up = value
    elif kind in ("FR", "MI"):
        low = -inf
    elif kind == "BV":
        low, up = 0.0, 1.0
    if kind in ("BV", "UI", "LI"):
        core.integer.add(at[0])
    core.bounds[at[0]] = [low, up]


def _periods(file: Path, core: Core) -> tuple[list[str], list[str]]:
    starts = [words for begins, words, _ in _lines(file) if not begins]
    if len(starts) != 2:
        raise DataError(
            f"{file.name}: {len(starts)} stages; programs of two stages can be read. Use a "
            "multistage tool for others."
        )
    column, row = starts[1][:2]
    columns, rows = list(core.columns), [r for r, s in core.senses.items() if s != "N"]
    if column not in core.columns or (row not in rows and row != core.objective):
        raise DataError(f"{file.name}: '{column}' or '{row}' is not in the core file.")
    return columns[: columns.index(column)], rows[: rows.index(row)] if row in rows else []


def _random(file: Path, core: Core) -> list[Outcomes]:
    found: list[Outcomes] = []
    section, law = "", "DISCRETE"
    reader: Any = None
    for begins, words, where in _lines(file):
        if begins:
            section, law = words[0].upper(), (words[1].upper() if len(words) > 1 else "DISCRETE")
            reader = _READERS.get(section)
            reader = None if reader is None else reader(core, law)
            if reader is None and section not in ("STOCH", "ENDATA"):
                raise DataError(f"{where}: section '{section}' is not supported.")
        elif reader is not None:
            reader.line(words, where)
        if begins and section == "ENDATA":
            break
        if reader is not None and reader not in found:
            found.append(reader)
    return [outcomes for r in found for outcomes in r.made()]  # type: ignore[attr-defined]


def _entry(core: Core, column: str, row: str, where: str) -> Entry:
    """Columns that are no variables stand for the right-hand side."""
    if row not in core.senses:
        raise DataError(f"{where}: row '{row}' is not in the core file.")
    return (column if column in core.columns else "", row)


class _Indep:
    """Entries with laws of their own: column row value [period] probability."""

    def __init__(self, core: Core, law: str):
        self._core, self._law = core, law
        self._found: dict[Entry, list[tuple[float, ...]]] = {}

    def line(self, words: list[str], where: str) -> None:
        at = _entry(self._core, words[0], words[1], where)
        numbers = [words[2], words[-1]]
        self._found.setdefault(at, []).append(tuple(_number(w, where) for w in numbers))

    def made(self) -> list[Outcomes]:
        if self._law != "DISCRETE":
            return [
                Outcomes([at], law=self._law, parameters=pair[0])
                for at, pair in self._found.items()
            ]
        made = []
        for at, pairs in self._found.items():
            values, p = np.array(sorted(pairs)).T
            made.append(Outcomes([at], values[:, None], p / p.sum()))
        return made


class _Blocks:
    """BL name period probability, then the entries of that outcome."""

    def __init__(self, core: Core, law: str):
        if law != "DISCRETE":
            raise DataError(f"BLOCKS {law} is not supported; blocks of outcomes (DISCRETE) are.")
        self._core = core
        self._outcomes: dict[str, list[tuple[float, dict[Entry, float]]]] = {}
        self._open: dict[Entry, float] = {}

    def line(self, words: list[str], where: str) -> None:
        if words[0] == "BL":
            self._open = {}
            self._outcomes.setdefault(words[1], []).append((_number(words[-1], where), self._open))
            return
        for row, number in zip(words[1::2], words[2::2], strict=False):
            self._open[_entry(self._core, words[0], row, where)] = _number(number, where)

    def made(self) -> list[Outcomes]:
        return [_joint(self._core, outcomes) for outcomes in self._outcomes.values()]


class _Scenarios:
    """SC name parent probability period, then the entries that differ from the parent."""

    def __init__(self, core: Core, law: str):
        self._core = core
        self._entries: dict[str, dict[Entry, float]] = {}
        self._outcomes: list[tuple[float, dict[Entry, float]]] = []
        self._open: dict[Entry, float] = {}

    def line(self, words: list[str], where: str) -> None:
        if words[0] == "SC":
            self._open = dict(self._entries.get(words[2].strip("'"), {}))
            self._entries[words[1]] = self._open
            self._outcomes.append((_number(words[3], where), self._open))
            return
        for row, number in zip(words[1::2], words[2::2], strict=False):
            self._open[_entry(self._core, words[0], row, where)] = _number(number, where)

    def made(self) -> list[Outcomes]:
        return [_joint(self._core, self._outcomes)]


def _joint(core: Core, outcomes: list[tuple[float, dict[Entry, float]]]) -> Outcomes:
    """One table; what an outcome does not mention is as in its first one, or in the core file."""
    entries = list({at: None for _, found in outcomes for at in found})
    first = outcomes[0][1]
    values = [
        [found.get(at, first.get(at, core.entries.get(at, 0.0))) for at in entries]
        for _, found in outcomes
    ]
    p = np.array([p for p, _ in outcomes])
    return Outcomes(entries, np.array(values, dtype=float), p / p.sum())


_READERS: dict[str, Any] = {"INDEP": _Indep, "BLOCKS": _Blocks, "SCENARIOS": _Scenarios}
