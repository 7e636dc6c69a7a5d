r"""Arrays of numbers and texts in one file (``.npz``), read without trust.

The file may come from anybody and may be damaged. So nothing is pickled, nothing is compressed, no
member is larger than the file, no array larger than its member, and every member has a checksum
(of the zip format) that must be right. Whatever else is wrong, there is one kind of error.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]


class NotPlainArrays(Exception):
    """A file holds something else."""


def packed_arrays(arrays: Arrays) -> memoryview:
    """The content of a file."""
    content = io.BytesIO()
    np.savez(content, **arrays)  # type: ignore[arg-type]
    return content.getbuffer()


def read_arrays(path: str) -> Arrays:
    """The arrays in a file; raises FileNotFoundError or NotPlainArrays."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise NotPlainArrays("it is not a regular file")
        size = os.path.getsize(path)
        with zipfile.ZipFile(path) as file:
            members = file.infolist()
            if sum(member.file_size for member in members) > size:
                raise NotPlainArrays("its parts are said to be larger than the whole")
            return dict(_member(file, member) for member in members)
    except (FileNotFoundError, NotPlainArrays):
        raise
    except Exception as error:  # there is no list of what a damaged file may raise
        raise NotPlainArrays(f"{type(error).__name__}: {error}") from error


def _member(file: zipfile.ZipFile, member: zipfile.ZipInfo) -> tuple[str, NDArray[Any]]:
    if not member.filename.endswith(".npy") or member.compress_type != zipfile.ZIP_STORED:
        raise NotPlainArrays(f"it holds '{member.filename}', which is no plain array")
    content = io.BytesIO(file.read(member))
    version = npy.read_magic(content)
    if version != (1, 0):
        raise NotPlainArrays(f"'{member.filename}' has another version")
    shape, fortran, dtype = npy.read_array_header_1_0(content)
    start, stop = content.tell(), len(content.getbuffer())
    if dtype.kind not in "biufU" or any(length < 0 for length in shape):
        raise NotPlainArrays(f"'{member.filename}' holds neither numbers nor texts")
    if prod(shape) * dtype.itemsize != stop - start:
        raise NotPlainArrays(f"'{member.filename}' has not the size that it is said to have")
    name = member.filename.removesuffix(".npy")
    if stop == start:
        return name, np.empty(shape, dtype)
    flat = np.frombuffer(content.getvalue(), dtype, prod(shape), start)
    if fortran:
        return name, flat.reshape(shape, order="F").copy("F")
    return name, flat.reshape(shape).copy()
