"""The version of this package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("pyomo_stochsqp")
except PackageNotFoundError:  # run from a source tree that was never installed
    VERSION = "0.0.0"


def version_tuple() -> tuple[int, ...]:
    """The leading numbers, as Pyomo wants them.

    >>> len(version_tuple()) == 3
    True
    """
    numbers = VERSION.split("+")[0].split(".")[:3]
    return tuple(int("".join(filter(str.isdigit, n)) or 0) for n in numbers)
