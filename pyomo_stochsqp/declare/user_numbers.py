r"""The user's numbers as floats, or an error that says which of them are none.

NumPy turns almost anything into floats: it drops the mask of a masked array and the imaginary part
of a complex number, counts the nanoseconds of a date, reads texts. Here

    real numbers, booleans           become floats
    masked or missing entries        become NaN, which is looked for where the numbers are read
    everything else                  raises :class:`NotNumbers`, with what to do about it
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..given import is_real, shown

Floats = NDArray[np.float64]

#: kinds of NumPy types that are no real numbers: what they are, and what to do
_REFUSED = {
    "c": ("complex numbers", "Take the real or the imaginary part."),
    "M": ("dates", "Say what number is meant, for example the days since a first date."),
    "m": ("time spans", "Divide them by a unit, for example by numpy.timedelta64(1, 'D')."),
    "U": ("texts", "Convert them to numbers first, for example with astype(float)."),
    "S": ("texts", "Convert them to numbers first, for example with astype(float)."),
    "T": ("texts", "Convert them to numbers first, for example with astype(float)."),
    "V": ("records", "Give a mapping from column name to array, or a DataFrame."),
}


class NotNumbers(DataError):
    """What was given is no array of real numbers."""


def as_floats(what: str, values: Any) -> Floats:
    """An array of floats; one that is given is not copied. ``what`` opens the error messages.

    >>> as_floats("w", [1, True, None])
    array([ 1.,  1., nan])
    >>> as_floats("w", np.array([1 + 2j]))
    Traceback (most recent call last):
    ...
    pyomo_stochsqp.declare.randomness.numbers.NotNumbers: w: there are complex numbers. Take ...
    """
    if isinstance(values, np.ma.MaskedArray):
        numbers = as_floats(what, values.data)
        mask = np.ma.getmaskarray(values)
        return np.where(mask, np.nan, numbers) if mask.any() else numbers
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise NotNumbers(
            f"{what}: {type(values).__name__} is not a table of numbers ({error}). Give a NumPy "
            "array, a DataFrame, a mapping of columns or a SciPy sparse matrix."
        ) from None
    check_kind(what, array.dtype)
    if array.dtype.kind == "O":
        return _each(what, array)
    return array.astype(float, copy=False)


def check_kind(what: str, dtype: Any) -> None:
    """Raise if arrays of this type cannot hold real numbers."""
    refused = _REFUSED.get(dtype.kind)
    if refused is not None:
        kind, remedy = refused
        raise NotNumbers(f"{what}: there are {kind}. {remedy}")


def _each(what: str, objects: NDArray[Any]) -> Floats:
    """Objects one by one: they may be numbers of other libraries, or entries that are missing."""
    numbers = np.empty(objects.shape)
    for place, item in np.ndenumerate(objects):
        numbers[place] = _one(what, item, place)
    return numbers


def _one(what: str, item: Any, place: tuple[int, ...]) -> float:
    if _is_missing(item):
        return np.nan
    if is_real(item):
        try:
            return float(item)
        except OverflowError:
            raise NotNumbers(
                f"{what}: a number at {_at(place)} is too large for a float. Change the units."
            ) from None
    raise NotNumbers(
        f"{what}: {shown(item)} at {_at(place)} is not a number but {_a(type(item).__name__)}. "
        "Convert or impute it first."
    )


def _is_missing(item: Any) -> bool:
    """None, masked, and what pandas puts in such places (which is not equal to itself)."""
    if item is None or item is np.ma.masked:
        return True
    return type(item).__name__ in ("NAType", "NaTType")


def _at(place: tuple[int, ...]) -> str:
    """A place in words."""
    return ", ".join(map(str, place)) if place else "its only place"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"
