r"""Reading LIBSVM text files: one example per line, ``label index:value index:value ...``.

A reader of our own: the format is one line of grammar, and scikit-learn, whose loader would do,
is not otherwise needed. The features become a dense array: the largest set here is 32 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ADDRESS = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary.html"


@dataclass(frozen=True)
class DataSet:
    """A data set of the study: file names it goes by, its dimension, LIBSVM's own two labels."""

    files: tuple[str, ...]
    n: int
    raw_labels: tuple[float, float]
    #: examples used, if not all: the first of a fixed permutation
    examples: int | None = None


DATA_SETS = {
    "a9a": DataSet(("a9a", "a9a.txt"), 123, (-1, 1)),
    "ionosphere": DataSet(("ionosphere_scale", "ionosphere"), 34, (-1, 1)),
    # The paper says N = 5,500; the file has 8,124 and the choice is not documented.
    "mushrooms": DataSet(("mushrooms", "mushrooms.txt"), 112, (1, 2), 5500),
    "phishing": DataSet(("phishing", "phishing.txt"), 68, (0, 1)),
    "sonar": DataSet(("sonar_scale", "sonar"), 60, (-1, 1)),
}


def load(name: str, directory: str | Path, raw_labels: bool = False) -> tuple[Array, Array]:
    """(features, labels) of a data set; labels are -1 and 1, or LIBSVM's own."""
    record = DATA_SETS[name]
    path = _find(name, record, Path(directory))
    X, y = read(path, record.n)
    y = np.where(y == y.min(), *(record.raw_labels if raw_labels else (-1.0, 1.0)))
    if record.examples is not None and record.examples < len(y):
        chosen = np.random.default_rng(0).permutation(len(y))[: record.examples]
        X, y = X[chosen], y[chosen]
    return X, y


def read(path: str | Path, n: int) -> tuple[Array, Array]:
    """Features (N, n) and labels (N,) of a LIBSVM file; indices count from one."""
    labels, rows, columns, values = [], [], [], []
    with open(path) as file:
        for number, line in enumerate(filter(str.strip, file)):
            label, *entries = line.split()
            labels.append(float(label))
            for entry in entries:
                index, _, value = entry.partition(":")
                rows.append(number)
                columns.append(int(index) - 1)
                values.append(float(value))
    X = np.zeros((len(labels), n))
    X[rows, columns] = values
    return X, np.array(labels)


def write_made_up(name: str, directory: str | Path, examples: int = 300) -> Path:
    """A file in the format and dimension of a data set, with made-up numbers: for a trial run."""
    record = DATA_SETS[name]
    rng = np.random.default_rng(record.n)
    X = rng.uniform(-1.0, 1.0, (examples, record.n))
    y = np.where(X @ rng.standard_normal(record.n) + rng.logistic(size=examples) > 0, 1, -1)
    lines = (
        f"{label:+d} " + " ".join(f"{j}:{value:.5g}" for j, value in enumerate(row, 1))
        for label, row in zip(y, X, strict=True)
    )
    path = Path(directory) / record.files[0]
    path.write_text("\n".join(lines) + "\n")
    return path


def available(name: str, directory: str | Path) -> bool:
    """Whether a data set's file is there."""
    return any((Path(directory) / file).is_file() for file in DATA_SETS[name].files)


def _find(name: str, record: DataSet, directory: Path) -> Path:
    for file in record.files:
        if (directory / file).is_file():
            return directory / file
    raise FileNotFoundError(
        f"{directory} has no file for the data set '{name}' ({' or '.join(record.files)}). "
        f"Download it from {ADDRESS}, unpack it there, or name another directory with --data-dir."
    )
