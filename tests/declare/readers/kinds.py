"""The same table in every kind of file and object that has a row reader."""

import numpy as np
import pytest

ROWS, COLUMNS = 700, 5
NAMES = ["a", "b", "c", "d", "e"]


def table():
    return np.random.default_rng(3).normal(1.0, 0.5, (ROWS, COLUMNS))


class Minimal:
    """The smallest row reader."""

    def __init__(self, rows):
        self._rows = rows
        self.shape = rows.shape

    def read(self, start, stop):
        return self._rows[start:stop]


class Named(Minimal):
    """One with all that is optional; it remembers what it was asked for."""

    def __init__(self, rows, columns, asked=None):
        super().__init__(rows)
        self.columns = columns
        self.asked = [] if asked is None else asked

    def take(self, rows):
        self.asked.append(np.array(rows))
        return self._rows[rows]

    def only(self, columns):
        return Named(self._rows[:, columns], [self.columns[j] for j in columns], self.asked)


def npy(folder, rows):
    np.save(folder / "t.npy", rows)
    return folder / "t.npy"


def npy_by_columns(folder, rows):
    np.save(folder / "t.npy", np.asfortranarray(rows))
    return str(folder / "t.npy")


def npy_files(folder, rows):
    np.save(folder / "1.npy", rows[:300])
    np.save(folder / "2.npy", rows[300:])
    return [folder / "1.npy", str(folder / "2.npy")]


def memory_map(folder, rows):
    return np.load(npy(folder, rows), mmap_mode="r")


def view_of_a_map(folder, rows):
    padded = np.zeros((2 * ROWS + 10, COLUMNS + 4))
    padded[10::2, 2:-2] = rows
    return np.load(npy(folder, padded), mmap_mode="r")[10::2, 2:-2]


def arrow_table(folder, rows):
    pa = pytest.importorskip("pyarrow")
    texts = pa.array([f"row {i}" for i in range(len(rows))])
    numbers = {name: rows[:, j] for j, name in enumerate(NAMES)}
    return pa.table({**numbers, "text": texts})


def parquet(folder, rows):
    content = arrow_table(folder, rows)
    from pyarrow.parquet import write_table

    write_table(content, folder / "t.parquet", row_group_size=90)
    return folder / "t.parquet"


def parquet_files(folder, rows):
    from pathlib import Path

    parts = []
    for name, part in (("1", rows[:300]), ("2", rows[300:])):
        (folder / name).mkdir()
        parts.append(Path(parquet(folder / name, part)))
    return parts


def parquet_folder(folder, rows):
    parquet_files(folder, rows)
    return folder


def feather(folder, rows):
    content = arrow_table(folder, rows)
    from pyarrow.feather import write_feather

    write_feather(content, str(folder / "t.feather"))
    return folder / "t.feather"


def hdf5(folder, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.h5", "w") as file:
        file["rows"] = rows
    return folder / "t.h5"


def hdf5_chunks(folder, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.h5", "w") as file:
        file.create_dataset("rows", data=rows, chunks=(64, 2), compression="gzip")
        file["other"] = np.ones(3)
    return h5py.File(folder / "t.h5")["rows"]


def hdf5_columns(folder, rows):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.h5", "w") as file:
        for j, name in enumerate(NAMES):
            file["days/" + name] = rows[:, j]
    return h5py.File(folder / "t.h5")["days"]


def hdf5_records(folder, rows):
    h5py = pytest.importorskip("h5py")
    records = np.zeros(len(rows), dtype=[("text", "S3"), *((name, float) for name in NAMES)])
    for j, name in enumerate(NAMES):
        records[name] = rows[:, j]
    with h5py.File(folder / "t.h5", "w") as file:
        file["rows"] = records
    return folder / "t.h5"


def minimal(folder, rows):
    return Minimal(rows)


def named(folder, rows):
    return Named(rows, NAMES)


WITH_NAMES = [
    arrow_table, parquet, parquet_files, parquet_folder, feather, hdf5_columns, hdf5_records, named,
]  # fmt: skip
KINDS = [
    npy, npy_by_columns, npy_files, memory_map, view_of_a_map, hdf5, hdf5_chunks, minimal,
    *WITH_NAMES,
]  # fmt: skip
