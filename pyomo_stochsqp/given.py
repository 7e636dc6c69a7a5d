r"""What the user gave: single numbers, and functions that are asked.

A Param, a bound or the value of a Var may hold anything: None, a text, a date, a complex number.
:func:`real` is the float behind it, or an error that names the component. :func:`asked` calls what
may raise anything (a sampler, a rule, Pyomo's own evaluation) and names the component, too.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np
from pyomo.core.expr import value

from .deadline import OutOfTime
from .errors import DataError, ModelError, StochSQPError

#: NumPy registers time spans as whole numbers
_SPANS = (np.timedelta64, np.datetime64)


def is_real(item: Any) -> bool:
    """Whether a plain object (nothing of Pyomo's) is a real number."""
    return isinstance(item, (Real, Decimal, Fraction, np.bool_)) and not isinstance(item, _SPANS)


def real(what: Any, item: Any, infinite: bool = False) -> float:
    """The number behind an object; infinity only where it has a meaning.

    ``what`` opens the message: a text, a component, or a part of one, ("a bound of", component).
    Names are made only if they are needed: they cost more than reading a row.
    """
    if item.__class__ is float and isfinite(item):
        return item
    number = item
    if hasattr(item, "is_numeric_type"):
        number = asked(what, value, item, raises=ModelError)
    if not is_real(number):
        raise ModelError(
            f"{_named(what)} is {shown(number)}, which is no real number. Give it a number."
        )
    try:
        number = float(number)
    except OverflowError:
        raise ModelError(f"{_named(what)} is too large for a float. Change the units.") from None
    if not (isfinite(number) or (infinite and number == number)):
        raise ModelError(f"{_named(what)} is {number}. Give it a finite number.")
    return number


def asked(
    what: Any, function: Callable[..., Any], *args: Any, raises: type[StochSQPError] = DataError
) -> Any:
    """What a function returns that works on what the user gave; an error that names the component
    if it raises."""
    try:
        return function(*args)
    except (StochSQPError, OutOfTime):
        raise
    except Exception as error:
        raise raises(failed(_named(what), error)) from error


def failed(what: str, error: Exception) -> str:
    """The message for an exception that is not ours."""
    return f"{what} raised {type(error).__name__}: {error}. Correct what was given there."


def shown(item: Any) -> str:
    """An object in a message."""
    text = repr(item)
    return text if len(text) <= 40 else text[:37] + "..."


def _named(what: Any) -> str:
    if isinstance(what, str):
        return what
    if isinstance(what, tuple):
        return " ".join(map(_named, what))
    kind = getattr(what, "ctype", None)
    return f"{kind.__name__} '{what.name}'" if hasattr(what, "name") and kind else f"'{what}'"
