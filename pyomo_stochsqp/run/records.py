r"""Records (dataclasses, named tuples, enumerations) as plain text and arrays, and back.

    packed(record)  ->  structure, arrays          structure: nested lists and dictionaries of
    unpacked(structure, arrays, classes)           numbers and texts that refer to arrays by number

Only classes that the reader names are ever made, so a file cannot bring its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def packed(record: Any, arrays: list[Array]) -> Any:
    """The structure of a record; its arrays are appended to ``arrays``.

    >>> from collections import namedtuple
    >>> P = namedtuple("P", "a b")
    >>> arrays = []
    >>> packed(P(3, np.ones(2)), arrays)
    {'record': 'P', 'a': 3, 'b': {'array': 0}}
    >>> unpacked(packed(P(3, None), arrays), arrays, [P])
    P(a=3, b=None)
    """
    if isinstance(record, np.generic):  # np.float64 is a float, too
        return record.item()
    if record is None or isinstance(record, (bool, int, float, str)):
        return record
    if isinstance(record, np.ndarray):
        arrays.append(record)
        return {"array": len(arrays) - 1}
    if isinstance(record, Enum):
        return {"enum": type(record).__name__, "name": record.name}
    names = _names(record)
    if names:
        parts = {name: packed(getattr(record, name), arrays) for name in names}
        return {"record": type(record).__name__, **parts}
    if isinstance(record, (tuple, list)):
        return [packed(item, arrays) for item in record]
    raise TypeError(f"a checkpoint cannot hold a {type(record).__name__}")


def unpacked(structure: Any, arrays: Sequence[Array], classes: Iterable[type]) -> Any:
    """The record behind a structure; raises KeyError or TypeError if it is none."""
    known = {c.__name__: c for c in classes}

    def make(item: Any) -> Any:
        if isinstance(item, list):
            return tuple(make(i) for i in item)
        if not isinstance(item, dict):
            return item
        if "array" in item:
            return arrays[item["array"]]
        if "enum" in item:
            return known[item["enum"]][item["name"]]  # type: ignore[index]
        parts = {name: make(value) for name, value in item.items() if name != "record"}
        return known[item["record"]](**parts)

    return make(structure)


def _names(record: Any) -> Sequence[str]:
    """The fields of a dataclass or a named tuple; nothing for anything else."""
    if is_dataclass(record):
        return [f.name for f in fields(record)]
    return getattr(record, "_fields", ())
