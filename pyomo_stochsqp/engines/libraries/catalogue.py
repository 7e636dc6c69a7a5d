r"""The libraries by name, and which of them can be used here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

from ...errors import MissingLibraryError
from . import uno
from .engine import Library, LibraryEngine
from .ipopt import through


@dataclass(frozen=True)
class Entry:
    """A library, the module it lives in, and how to install it."""

    solve: Library
    module: str
    remedy: str


LIBRARIES: dict[str, Entry] = {
    "uno": Entry(uno.solve, "unopy", "pip install 'pyomo_stochsqp[nlp]'"),
    "ipopt": Entry(
        through("cyipopt"), "cyipopt", "install IPOPT and then pip install cyipopt, or use conda"
    ),
    "pounce": Entry(through("pounce"), "pounce", "pip install pounce-solver"),
}


@cache
def installed() -> tuple[str, ...]:
    """The libraries that are here, found without importing them: that may take a second."""
    return tuple(name for name, entry in LIBRARIES.items() if find_spec(entry.module) is not None)


@cache
def library(name: str) -> type[LibraryEngine]:
    """The engine of a library; raises if it is not installed."""
    entry = LIBRARIES[name]
    if name not in installed():
        raise MissingLibraryError(
            f"exact_solver='{name}' needs the Python package {entry.module}, which cannot be "
            f"imported: {entry.remedy}, or leave the choice to 'auto'."
        )
    return type(
        f"{name.capitalize()}Engine",
        (LibraryEngine,),
        {"name": name, "library": staticmethod(entry.solve), "__doc__": f"{name} as an engine."},
    )
