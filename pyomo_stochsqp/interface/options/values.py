r"""What an option's value may be: functions check(name, value) -> value, or raise OptionError."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

import numpy as np
from pyomo.opt import SolverFactory

from ...errors import OptionError
from ...sqp import CURVATURES, make_schedule

Check = Callable[[str, Any], Any]


def number(low: float, high: float, *, open_low: bool = False, open_high: bool = False) -> Check:
    """A real number in an interval."""

    def check(name: str, value: Any) -> float:
        try:
            v = float(value)
        except (TypeError, ValueError):
            raise OptionError(f"{name}={value!r} is not a number.") from None
        inside = (v > low if open_low else v >= low) and (v < high if open_high else v <= high)
        if not inside:
            left, right = "(" if open_low else "[", ")" if open_high else "]"
            raise OptionError(f"{name}={value!r} is outside {left}{low:g}, {high:g}{right}.")
        return v

    return check


def integer(low: int) -> Check:
    """A whole number, at least ``low``."""

    def check(name: str, value: Any) -> int:
        try:
            v = int(value)
            exact = v == float(value)
        except (TypeError, ValueError, OverflowError):
            exact = False
        if not exact or v < low:
            raise OptionError(f"{name}={value!r} must be a whole number, at least {low}.")
        return v

    return check


def one_of(choices: Iterable[Any]) -> Check:
    """One of a few names."""
    allowed = tuple(choices)

    def check(name: str, value: Any) -> Any:
        if value not in allowed:
            raise OptionError(
                f"{name}={value!r} is unknown; choose one of {', '.join(map(repr, allowed))}."
            )
        return value

    return check


def one_of_or_solver(choices: Iterable[Any]) -> Check:
    """One of a few names, or of the solvers that Pyomo knows."""
    check = one_of(choices)

    def known(name: str, value: Any) -> Any:
        return value if isinstance(value, str) and value in SolverFactory else check(name, value)

    return known


def optional(check: Check) -> Check:
    """None, or what ``check`` allows."""
    return lambda name, value: None if value is None else check(name, value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if value in (True, False):
        return bool(value)
    raise OptionError(f"{name}={value!r} must be True or False.")


def batch_sizes_given(name: str, value: Any) -> Any:
    """One size, or one for each named source."""
    whole = integer(1)
    if isinstance(value, Mapping):
        return {str(k): whole(f"{name}[{k!r}]", v) for k, v in value.items()}
    return whole(name, value)


def schedule(name: str, value: Any) -> Any:
    """A schedule of step sizes, in any of its forms."""
    if isinstance(value, str) and value not in ("auto", "diminishing"):
        value = number(0.0, 1.0, open_low=True)(name, value)
    if not isinstance(value, str) or value != "auto":
        make_schedule(value)
    return value


def lipschitz_pair(name: str, value: Any) -> Any:
    """'auto', 'once' or (L, Gamma)."""
    if isinstance(value, str) and value in ("auto", "once"):
        return value
    try:
        L, Gamma = (float(v) for v in value)
    except (TypeError, ValueError):
        raise OptionError(f"{name}={value!r}: give 'auto', 'once' or a pair (L, Gamma).") from None
    if not (L > 0.0 and Gamma >= 0.0):
        raise OptionError(f"{name}={value!r}: L must be positive and Gamma not negative.")
    return (L, Gamma)


def function(name: str, value: Any) -> Any:
    """Something to call."""
    if not callable(value):
        raise OptionError(f"{name}={value!r}: give a function of one argument, the run's state.")
    return value


def communicator(name: str, value: Any) -> Any:
    """What mpi4py calls one."""
    if any(not hasattr(value, method) for method in ("Get_rank", "Get_size", "send", "iprobe")):
        raise OptionError(f"{name}={value!r} is not a communicator; give mpi4py's MPI.COMM_WORLD.")
    return value


def path(name: str, value: Any) -> str:
    """A file name."""
    try:
        return os.fspath(value)
    except TypeError:
        raise OptionError(f"{name}={value!r} is not a file name.") from None


def curvature(name: str, value: Any) -> Any:
    """The name of a rule for H, a diagonal, a matrix, or a function of (k, x, y)."""
    if isinstance(value, str):
        return one_of(CURVATURES)(name, value)
    if callable(value):
        return value
    matrix = np.asarray(value, dtype=float)
    if matrix.ndim not in (1, 2) or not np.isfinite(matrix).all():
        raise OptionError(f"{name}: give a diagonal (n numbers) or a matrix (n x n) of numbers.")
    return matrix


OPEN_UNIT = number(0.0, 1.0, open_low=True, open_high=True)
POSITIVE = number(0.0, inf, open_low=True, open_high=True)
POSITIVE_OR_INF = number(0.0, inf, open_low=True)
