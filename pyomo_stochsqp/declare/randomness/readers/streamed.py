r"""Tables of columns: Parquet files and Arrow datasets, which come in batches; Arrow tables.

A Parquet file is a few row groups, whose columns are compressed page by page. A row group can be
read from its beginning only, so consecutive reads go on where the last one has ended, and random
rows take a pass through all row groups that hold one of them. Batches are small: whatever the size
of a row group is, a few megabytes are in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError, MissingLibraryError
from .placed import address_space

#: rows of a batch, and bytes that are read ahead of every column
BATCH, BUFFER = 1 << 14, 1 << 16

#: (rows, how to read them from the first one: some columns as batches)
Run = tuple[int, Callable[[list[str]], Iterator[Any]]]


def arrow(name: str) -> Any:
    """The library. Where the address space is limited, it must not reserve a part of it."""
    if address_space() < inf:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        import pyarrow
    except ImportError as error:
        raise MissingLibraryError(
            f"{name}: Parquet files and Arrow tables need pyarrow. Install it with: "
            'pip install "pyomo_stochsqp[tables]"'
        ) from error
    return pyarrow


class StreamedRows:
    """Runs that follow each other, each of which is read from its beginning."""

    scans = True

    def __init__(
        self,
        make: Callable[..., tuple[list[Run], list[str]]],
        given: Any,
        files: Sequence[str],
        columns: Sequence[str],
    ):
        self._make, self._given = make, given
        self.files = list(files)
        self.columns = list(columns)
        self._runs, _ = make(given)
        self._starts = np.concatenate(([0], np.cumsum([count for count, _ in self._runs])))
        self.shape = (int(self._starts[-1]), len(self.columns))
        #: batches to come, what is left of the last one, and the number of its first row
        self._batches: Iterator[Any] = iter(())
        self._left: NDArray[np.float64] = np.empty((0, len(self.columns)))
        self._position = -1

    def __reduce__(self) -> Any:
        return StreamedRows, (self._make, self._given, self.files, self.columns)

    def only(self, columns: Sequence[int]) -> StreamedRows:
        """Some columns of it."""
        names = [self.columns[j] for j in columns]
        return StreamedRows(self._make, self._given, self.files, names)

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Consecutive rows."""
        out = np.empty((stop - start, self.shape[1]))
        self._go_to(start)
        done = 0
        while done < stop - start:
            taken = self._next(stop - start - done)
            out[done : done + len(taken)] = taken
            done += len(taken)
        return out

    # -- inside -----------------------------------------------------------------------------------

    def _go_to(self, start: int) -> None:
        run = int(np.searchsorted(self._starts, start, side="right")) - 1
        if not self._starts[run] <= self._position <= start:
            self._begin(run)
        while self._position < start:
            self._next(start - self._position)

    def _begin(self, run: int) -> None:
        self._batches = self._runs[run][1](self.columns)
        self._left = self._left[:0]
        self._position = int(self._starts[run])

    def _next(self, most: int) -> NDArray[np.float64]:
        """At least one of the next rows."""
        while len(self._left) == 0:
            batch = next(self._batches, None)
            if batch is not None:
                self._left = as_rows(batch, self.columns)
                continue
            # the run is through: the next one begins where it should have ended
            run = int(np.searchsorted(self._starts, self._position, side="right")) - 1
            if self._starts[run] != self._position or run >= len(self._runs):
                raise DataError(
                    f"{', '.join(self.files) or 'the dataset'}: rows are missing after row "
                    f"{self._position}; the file is not complete. Write it again."
                )
            self._begin(run)
        taken, self._left = self._left[:most], self._left[most:]
        self._position += len(taken)
        return taken


class ArrowRows:
    """A table of Arrow that is in memory, or memory-mapped."""

    scans = False

    def __init__(self, table: Any, columns: Sequence[str]):
        self._table = table.select(list(columns))
        self.columns = list(columns)
        self.shape = (int(table.num_rows), len(self.columns))

    def only(self, columns: Sequence[int]) -> ArrowRows:
        """Some columns of it."""
        return ArrowRows(self._table, [self.columns[j] for j in columns])

    def read(self, start: int, stop: int) -> NDArray[np.float64]:
        """Consecutive rows."""
        return as_rows(self._table.slice(start, stop - start), self.columns)

    def take(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Rows with these numbers."""
        return as_rows(self._table.take(rows), self.columns)


def parquet_rows(name: str, path: str) -> StreamedRows:
    """A Parquet file."""
    arrow(name)
    path = os.path.abspath(path)
    _, columns = _parquet_runs(path)
    return StreamedRows(_parquet_runs, path, [path], columns)


def dataset_rows(name: str, dataset: Any) -> StreamedRows:
    """A dataset of Arrow: many files, partitions, other formats."""
    arrow(name)
    _, columns = _dataset_runs(dataset)
    return StreamedRows(_dataset_runs, dataset, getattr(dataset, "files", ()), columns)


def arrow_rows(table: Any) -> ArrowRows:
    """A table, or a record batch, of Arrow."""
    import pyarrow

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    return ArrowRows(table, numeric_columns(table.schema))


def numeric_columns(schema: Any) -> list[str]:
    """Those that are numbers; the others are left out, as in DataFrames."""
    import pyarrow

    kinds = pyarrow.types
    tests = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal, kinds.is_null)
    return [field.name for field in schema if any(test(field.type) for test in tests)]


def as_rows(batch: Any, columns: Sequence[str]) -> NDArray[np.float64]:
    """Columns of Arrow side by side, what is missing being NaN."""
    import pyarrow

    out = np.empty((batch.num_rows, len(columns)))
    for j, label in enumerate(columns):
        column = batch.column(label)
        if column.type != pyarrow.float64():
            column = column.cast(pyarrow.float64())
        out[:, j] = column.to_numpy(zero_copy_only=False)
    return out


def _parquet_runs(path: str) -> tuple[list[Run], list[str]]:
    """The row groups of a file."""
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)

    def run(group: int) -> Run:
        def opened(columns: list[str]) -> Iterator[Any]:
            batches: Iterator[Any] = file.iter_batches(
                BATCH, row_groups=[group], columns=columns, use_threads=False
            )
            return batches

        return int(file.metadata.row_group(group).num_rows), opened

    runs = [run(group) for group in range(file.metadata.num_row_groups)]
    return runs, numeric_columns(file.schema_arrow)


def _dataset_runs(dataset: Any) -> tuple[list[Run], list[str]]:
    """The fragments of a dataset; of Parquet files, their row groups."""
    fragments: list[Any] = []
    for fragment in dataset.get_fragments():
        split = getattr(fragment, "split_by_row_group", None)
        fragments += [fragment] if split is None else split()

    def run(fragment: Any) -> Run:
        def opened(columns: list[str]) -> Iterator[Any]:
            batches: Iterator[Any] = fragment.to_batches(
                schema=dataset.schema,
                columns=columns,
                batch_size=BATCH,
                batch_readahead=1,
                fragment_readahead=0,
                use_threads=False,
                **_options(fragment),
            )
            return batches

        groups = getattr(fragment, "row_groups", None)
        count = fragment.count_rows() if groups is None else sum(g.num_rows for g in groups)
        return int(count), opened

    return [run(fragment) for fragment in fragments], numeric_columns(dataset.schema)


def _options(fragment: Any) -> dict[str, Any]:
    """Reading Parquet page by page."""
    if type(fragment).__name__ != "ParquetFileFragment":
        return {}
    from pyarrow.dataset import ParquetFragmentScanOptions

    scan = ParquetFragmentScanOptions(
        use_buffered_stream=True, buffer_size=BUFFER, pre_buffer=False
    )
    return {"fragment_scan_options": scan}
