r"""What a row reader is: anything with a shape that can read consecutive rows.

    class Reader:
        shape = (rows, columns)

        def read(self, start, stop):
            "Rows start, ..., stop - 1: an array (stop - start, columns)."

That is enough. What more it may have, each with a default:

    columns          names of the columns; without, they are known by number
    take(rows)       rows with these numbers, which increase; else they are picked from blocks
    only(columns)    a reader of these columns (by position); else all are read and some are taken
    files            paths whose size and time must not change in mid-run
    scans            whether a few random rows take as long as a block of rows for each of them

A reader is asked by one thread at a time. To be pickled with its model, it must be picklable.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class RowReader(Protocol):
    """See the module's docstring."""

    #: rows and columns
    shape: tuple[int, int]

    def read(self, start: int, stop: int) -> Any:
        """Rows start, ..., stop - 1."""
