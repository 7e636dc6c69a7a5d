r"""The back ends by name, and which of them can be used here.

A back end is one file of ``backends`` with a function ``build(pattern, reason, regularise)``. Its
file imports its library, and is itself imported only when the back end is wanted. Naming one whose
library is missing is an error that says what to install: nothing else is put in its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from ..errors import MissingLibraryError, OptionError
from .auto import choose
from .pattern import KKTPattern
from .protocol import KKTBackend


@dataclass(frozen=True)
class Registered:
    """Where a back end lives and what it needs."""

    file: str
    library: str
    distribution: str
    remedy: str


REGISTRY: dict[str, Registered] = {
    "dense": Registered("dense", "scipy.linalg", "scipy", "pip install scipy"),
    "ldl": Registered("ldl", "qdldl", "qdldl", "pip install qdldl"),
    "cholmod": Registered(
        "cholmod",
        "sksparse.cholmod",
        "scikit-sparse",
        "pip install 'pyomo_stochsqp[cholmod]' (built against SuiteSparse: on Debian and Ubuntu "
        "first apt install libsuitesparse-dev)",
    ),
    "superlu": Registered("superlu", "scipy.sparse.linalg", "scipy", "pip install scipy"),
}


@cache
def importable(name: str) -> bool:
    """Whether a back end's library can be imported, found out by importing it."""
    try:
        import_module(REGISTRY[name].library)
    except ImportError:
        return False
    return True


def make_backend(pattern: KKTPattern, name: str = "auto", regularise: bool = True) -> KKTBackend:
    """A back end for this pattern: the one named, or the one the measured rule picks.

    With ``regularise=False`` dependent rows are an error (see protocol.py).
    """
    if name == "auto":
        name, reason = choose(pattern, importable)
    elif name not in REGISTRY:
        known = ", ".join(["auto", *REGISTRY])
        raise OptionError(f"unknown KKT back end {name!r}: choose one of {known}")
    else:
        reason = "named by the user"
    registered = REGISTRY[name]
    if not importable(name):
        raise MissingLibraryError(
            f"the KKT back end {name!r} needs {registered.distribution}, which cannot be imported: "
            f"{registered.remedy}, or leave the choice to 'auto'"
        )
    build = import_module(f".backends.{registered.file}", __package__).build
    backend: KKTBackend = build(pattern, reason, regularise)
    return backend
