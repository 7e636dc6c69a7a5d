r"""Streams and fields: where the numbers of a drawn row come from at run time.

A *stream* is a source as the generated code sees it. Usually that is the whole source. Explicit
scenarios of several structures are split into classes, one stream each; then

    mean over the batch = sum over classes of (1/B) sum over the drawn rows of the class ,

and a row number of the source is looked up among the rows of the class.

A *field* is a matrix of which a batch takes rows: the data of one RandomParam, or the coefficients
found by collapsing explicit scenarios.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...declare.program import StochasticProgram

Ints = NDArray[np.intp]


@dataclass(eq=False)
class FieldInfo:
    """One matrix. ``matrix`` is None for a field that is drawn or read: its rows come with the
    batch."""

    name: str
    stream: int
    part: int
    position: int
    width: int
    matrix: Any = None

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.matrix)


@dataclass(eq=False)
class EllInfo:
    """sum_k coefs[row, k] * x[indices[row, k]]: variables that differ from row to row."""

    stream: int
    indices: Ints
    coefs: NDArray[np.float64]
    #: entries that are not padding
    used: NDArray[np.bool_]
    #: ``coefs`` can change at reload
    mutable: bool = False

    def same(self, stream: int, indices: Ints, coefs: NDArray[np.float64]) -> bool:
        return (
            not self.mutable
            and self.stream == stream
            and np.array_equal(self.indices, indices)
            and np.array_equal(self.coefs, coefs)
        )


@dataclass(eq=False)
class Stream:
    """A source, or one class of its rows (``lookup[row]``: number in the class, or -1)."""

    source: int
    lookup: Ints | None = None

    @property
    def share(self) -> bool:
        return self.lookup is not None


@dataclass(eq=False)
class Streams:
    """All streams and fields of a program. Stream s < number of sources is source s itself."""

    streams: list[Stream] = field(default_factory=list)
    fields: list[FieldInfo] = field(default_factory=list)
    ells: list[EllInfo] = field(default_factory=list)
    #: id(RandomParam member) -> (field number, column)
    places: dict[int, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, program: StochasticProgram) -> Streams:
        result = cls()
        number: dict[tuple[int, int, int], int] = {}
        for s, source in enumerate(program.sources):
            result.streams.append(Stream(s))
            for p, part in enumerate(source.parts):
                for f, fld in enumerate(part.fields):
                    number[s, p, f] = len(result.fields)
                    matrix = None if part.stored else _readable(fld.matrix)
                    info = FieldInfo(fld.name, s, p, f, fld.width, matrix)
                    result.fields.append(info)
        for key, leaf in program.leaves.items():
            result.places[key] = (number[leaf.source, leaf.part, leaf.field], leaf.column)
        return result

    def add_class(self, source: int, rows: Ints, size: int) -> int:
        """A stream for the given rows of a source."""
        lookup = np.full(size, -1, dtype=np.intp)
        lookup[rows] = np.arange(rows.size)
        self.streams.append(Stream(source, lookup))
        return len(self.streams) - 1


def _readable(matrix: Any) -> Any:
    """A CSR matrix in canonical form or a plain array (a view: memory maps are not copied)."""
    if matrix is None:
        return None
    if sp.issparse(matrix):
        csr = matrix.tocsr()
        return csr if csr.dtype == np.float64 else csr.astype(np.float64)
    return np.asarray(matrix)
