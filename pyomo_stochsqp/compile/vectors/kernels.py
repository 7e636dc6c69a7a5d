r"""The few array operations that NumPy itself does not offer at low overhead.

Sparse rows of a batch are kept as three arrays (pointers, columns, values). SciPy's compiled loops
are called directly: making a ``csr_matrix`` object for every batch costs more than the product.
"""

from __future__ import annotations

import contextvars
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import _sparsetools
from scipy.special import expit as array_expit

Floats = NDArray[np.float64]
Sparse = tuple[Any, Any, Any]


class _Uniform(dict[int, Floats]):
    """size -> the weights 1/size of a plain mean."""

    def __missing__(self, size: int) -> Floats:
        if len(self) > 64:
            self.clear()
        weights = self[size] = np.full(size, 1.0 / size)
        return weights


uniform = _Uniform()


def quiet_caller() -> Callable[..., Any]:
    """call(function, *args) without floating-point warnings, for one thread at a time.

    Entering a prepared context costs a tenth of ``np.errstate``, which matters at a few
    microseconds per evaluation. Before NumPy 2 the error state was not part of the context.
    """
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return under_errstate
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")

    return context.run


def under_errstate(function: Callable[..., Any], *args: Any) -> Any:
    """call(function, *args) without floating-point warnings, in any thread."""
    with np.errstate(all="ignore"):
        return function(*args)


def sparse_rows(matrix: Any, rows: Any) -> Sparse:
    """The chosen rows of a CSR matrix."""
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    if rows.__class__ is slice:
        start, stop, step = rows.indices(matrix.shape[0])
        if step == 1:
            a, b = indptr[start], indptr[stop]
            return indptr[start : stop + 1] - a, indices[a:b], data[a:b]
        rows = np.arange(start, stop, step)
    rows = rows.astype(indptr.dtype, copy=False)
    begin = indptr.take(rows)
    pointers = np.empty(rows.size + 1, dtype=indptr.dtype)
    pointers[0] = 0
    np.cumsum(indptr.take(rows + 1) - begin, out=pointers[1:])
    total = int(pointers[-1])
    columns = np.empty(total, dtype=indices.dtype)
    values = np.empty(total)
    _sparsetools.csr_row_index(rows.size, rows, indptr, indices, data, columns, values)
    return pointers, columns, values


def sparse_dot(sparse: Sparse, x: Floats) -> Floats:
    """rows @ x."""
    pointers, columns, values = sparse
    size = pointers.size - 1
    out = np.zeros(size)
    _sparsetools.csr_matvec(size, x.size, pointers, columns, values, x, out)
    return out


def dot_sparse(e: Floats, sparse: Sparse, width: int) -> Floats:
    """e @ rows."""
    pointers, columns, values = sparse
    out = np.zeros(width)
    _sparsetools.csc_matvec(width, pointers.size - 1, pointers, columns, values, e, out)
    return out


def sparse_dense(sparse: Sparse, width: int) -> Floats:
    """The rows as an array."""
    pointers, columns, values = sparse
    size = pointers.size - 1
    out = np.zeros((size, width))
    _sparsetools.csr_todense(size, width, pointers, columns, values, out)
    return out


def spread(x: Floats, columns: Any, width: int) -> Floats:
    """Values at the columns they belong to, zero elsewhere."""
    out = np.zeros(width)
    np.add.at(out, columns, x)
    return out


def assemble(pointers: Any, columns: Any, ones: Floats, values: Floats, out: Floats) -> None:
    """out += S @ values, for a fixed 0-1 matrix S."""
    _sparsetools.csr_matvec(out.size, values.size, pointers, columns, ones, values, out)


def softplus(a: Any) -> Any:
    """log(1 + exp(a))."""
    return np.logaddexp(0.0, a)


def lse(*args: Any) -> Any:
    """log(sum exp(a)), shifted so that nothing overflows."""
    top = args[0]
    for a in args[1:]:
        top = np.maximum(top, a)
    total = np.exp(args[0] - top)
    for a in args[1:]:
        total = total + np.exp(a - top)
    return top + np.log(total)


def falling1(a: Any, b: Any) -> Any:
    """b a^(b-1), the derivative of a^b; 0 where b is."""
    return np.where(np.equal(b, 0.0), 0.0, b * np.power(a, np.subtract(b, 1.0)))


def falling2(a: Any, b: Any) -> Any:
    """b (b-1) a^(b-2); 0 where b is 0 or 1."""
    factor = b * np.subtract(b, 1.0)
    return np.where(np.equal(factor, 0.0), 0.0, factor * np.power(a, np.subtract(b, 2.0)))


def powlog1(a: Any, b: Any) -> Any:
    """a^b log(a); 0 where a^b vanishes at a = 0."""
    power = np.power(a, b)
    return np.where(np.equal(a, 0.0) & np.equal(power, 0.0), 0.0, power * np.log(a))


def powlog2(a: Any, b: Any) -> Any:
    """a^b log(a)^2."""
    power = np.power(a, b)
    return np.where(np.equal(a, 0.0) & np.equal(power, 0.0), 0.0, power * np.log(a) ** 2)


def scalar_falling1(a: float, b: float) -> float:
    return 0.0 if b == 0.0 else b * math.pow(a, b - 1.0)


def scalar_falling2(a: float, b: float) -> float:
    factor = b * (b - 1.0)
    return 0.0 if factor == 0.0 else factor * math.pow(a, b - 2.0)


def scalar_powlog1(a: float, b: float) -> float:
    power = math.pow(a, b)
    return 0.0 if a == power == 0.0 else power * math.log(a)


def scalar_powlog2(a: float, b: float) -> float:
    power = math.pow(a, b)
    return 0.0 if a == power == 0.0 else power * math.log(a) ** 2


def zero(a: Any) -> Any:
    """0 where a is finite, not a number elsewhere."""
    return 0.0 * a


def scalar_softplus(a: float) -> float:
    return max(a, 0.0) + math.log1p(math.exp(-abs(a)))


def scalar_expit(a: float) -> float:
    if a >= 0.0:
        return 1.0 / (1.0 + math.exp(-a))
    e = math.exp(a)
    return e / (1.0 + e)


def scalar_lse(*args: float) -> float:
    top = max(args)
    return top + math.log(math.fsum(math.exp(a - top) for a in args))


ARRAY_FUNCTIONS: dict[str, Any] = {
    "exp": np.exp,
    "log": np.log,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "pow": np.power,
    "recip": np.reciprocal,
    "abs": np.abs,
    "floor": np.floor,
    "ceil": np.ceil,
    "max": lambda *args: np.maximum.reduce(np.broadcast_arrays(*args)),
    "min": lambda *args: np.minimum.reduce(np.broadcast_arrays(*args)),
    "where_lt": lambda a, b, yes, no: np.where(np.less(a, b), yes, no),
    "where_le": lambda a, b, yes, no: np.where(np.less_equal(a, b), yes, no),
    "where_eq": lambda a, b, yes, no: np.where(np.equal(a, b), yes, no),
    "softplus": softplus,
    "expit": array_expit,
    "lse": lse,
    "falling1": falling1,
    "falling2": falling2,
    "powlog1": powlog1,
    "powlog2": powlog2,
    "zero": zero,
}

SCALAR_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ARRAY_FUNCTIONS if hasattr(math, name)},
    "pow": math.pow,
    "recip": lambda a: 1.0 / a,
    "softplus": scalar_softplus,
    "expit": scalar_expit,
    "lse": scalar_lse,
    "falling1": scalar_falling1,
    "falling2": scalar_falling2,
    "powlog1": scalar_powlog1,
    "powlog2": scalar_powlog2,
    "zero": zero,
}
