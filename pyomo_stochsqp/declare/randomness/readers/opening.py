r"""The one place where kinds of data get their row reader.

    a path               by its suffix: .npy, .parquet, .h5, .arrow ...; a folder is a dataset
    a list of paths      one table after the other
    objects              memory maps, tables and datasets of Arrow, datasets and groups of HDF5
    a row reader         (protocol.py) as it is

Everything else (arrays, DataFrames, mappings) is in memory and needs none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ....errors import DataError, StochSQPError
from .hdf5 import hdf5_rows
from .joined import joined
from .placed import npy_rows
from .protocol import RowReader
from .stored import Stored
from .streamed import arrow, arrow_rows, dataset_rows, parquet_rows


def _folder(name: str, path: str) -> RowReader:
    """Files of one format, perhaps in folders that are called after what they hold."""
    arrow(name)
    from pyarrow.dataset import dataset

    return dataset_rows(name, dataset(path, partitioning="hive"))


def _arrow_file(name: str, path: str) -> RowReader:
    arrow(name)
    from pyarrow.dataset import dataset

    return dataset_rows(name, dataset(path, format="ipc"))


SUFFIXES: dict[str, Callable[[str, str], RowReader]] = {
    ".npy": npy_rows,
    ".parquet": parquet_rows,
    ".pq": parquet_rows,
    ".arrow": _arrow_file,
    ".feather": _arrow_file,
    ".h5": hdf5_rows,
    ".hdf5": hdf5_rows,
}


def opened(name: str, data: Any) -> Any:
    """The data as a :class:`Stored` table, if they are to be read while they are used; else as they
    are."""
    if isinstance(data, Stored):
        return data
    if isinstance(data, (str, os.PathLike)):
        stored = Stored(name, _file(name, os.fspath(data)))
        stored.path = os.path.abspath(data)
        return stored
    if isinstance(data, (list, tuple)) and data and all(_is_path(item) for item in data):
        tables = [Stored(os.fspath(path), _file(name, os.fspath(path))) for path in data]
        return Stored(name, joined(name, tables))
    reader = _of_object(name, data)
    return data if reader is None else Stored(name, reader)


def _is_path(item: Any) -> bool:
    """A text is one only if it could be: lists of texts may be meant as data."""
    if isinstance(item, str):
        return os.path.splitext(item)[1] in SUFFIXES
    return isinstance(item, os.PathLike)


def _file(name: str, path: str) -> RowReader:
    if not os.path.exists(path):
        raise DataError(
            f"{name}: there is no file '{path}' (here: {os.getcwd()}). Correct the path."
        )
    suffix = os.path.splitext(path)[1].lower()
    reader = _folder if os.path.isdir(path) else SUFFIXES.get(suffix)
    if reader is None:
        raise DataError(
            f"{name}: '{path}' ends in none of {', '.join(SUFFIXES)}. Read it yourself, for "
            "example with pandas, and give the DataFrame; or give a row reader."
        )
    try:
        return reader(name, path)
    except StochSQPError:
        raise
    except (OSError, ValueError) as error:  # those of Arrow and HDF5 are among them
        raise DataError(f"{name}: '{path}' cannot be read ({error}). Write it again.") from error


def _of_object(name: str, data: Any) -> RowReader | None:
    if isinstance(data, np.ndarray):
        return None
    library = type(data).__module__.split(".")[0]
    if library == "h5py":
        return hdf5_rows(name, data)
    if library == "pyarrow":
        return arrow_rows(data) if hasattr(data, "column_names") else dataset_rows(name, data)
    return data if isinstance(data, RowReader) else None
