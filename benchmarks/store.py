r"""Results on disk: one append-only file of JSON lines, one line per finished instance.

Every line carries the settings and the seed that made it, so a run that is started again skips what
is there and continues. A line that was cut off by a crash is dropped when the file is next opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Key = tuple[Any, ...]


class ResultFile:
    """Records that can be looked up by the values of their key fields."""

    def __init__(self, path: str | Path, key: tuple[str, ...]):
        self.path = Path(path)
        self._fields = key
        self._records: dict[Key, Record] = {}
        if self.path.exists():
            self._read()

    def _read(self) -> None:
        lines = self.path.read_text().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):
            self.path.write_text("".join(whole))
        for line in whole:
            record = json.loads(line)
            self._records[self.key(record)] = record

    def key(self, record: Record) -> Key:
        """The values of the key fields."""
        return tuple(record[name] for name in self._fields)

    def __contains__(self, key: Key) -> bool:
        return key in self._records

    def __getitem__(self, key: Key) -> Record:
        return self._records[key]

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records.values())

    def __len__(self) -> int:
        return len(self._records)

    def append(self, record: Record) -> None:
        """Keep one record, on disk first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(record, separators=(",", ":")) + "\n")
        self._records[self.key(record)] = record


def short(value: Any, digits: int = 4) -> Any:
    """Numbers with a few digits, in nested lists and mappings: what a result file needs.

    >>> short({"a": [0.123456, 1e-9], "n": 5})
    {'a': [0.1235, 1e-09], 'n': 5}
    """
    if isinstance(value, dict):
        return {k: short(v, digits) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [short(v, digits) for v in value]
    if isinstance(value, bool) or not isinstance(value, float):
        return value
    return float(f"{value:.{digits}g}")
