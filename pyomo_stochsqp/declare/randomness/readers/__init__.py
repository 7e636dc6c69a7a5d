"""Tables that are read while they are used: files, and whatever has a row reader.

protocol    what a row reader is
opening     the one place where kinds of data get their reader
stored      a table behind a reader, with the face of a matrix
placed      numbers at regular places of a file: .npy, memory maps, contiguous HDF5
streamed    tables that come in batches of columns: Parquet, Arrow datasets; tables of Arrow
hdf5        datasets of HDF5
joined      several files, one after the other
"""

from .opening import opened
from .protocol import RowReader
from .stored import Stored

__all__ = ["RowReader", "Stored", "opened"]
