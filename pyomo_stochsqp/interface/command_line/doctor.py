"""What is installed here and what it is used for: the text to paste into a report."""

from __future__ import annotations

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from threadpoolctl import threadpool_info

from ...kkt import REGISTRY, importable
from ...version import VERSION
from .demo import EXACT_X, build_model

#: (distribution, module, what it is for) of everything that is used if it is there
OPTIONAL = (
    ("scikit-sparse", "sksparse", "KKT back end cholmod"),
    ("numba", "numba", "compiled evaluation (jit)"),
    ("unopy", "unopy", "engine uno"),
    ("cyipopt", "cyipopt", "engine ipopt"),
    ("pounce-solver", "pounce", "engine pounce"),
    ("highspy", "highspy", "two-stage models (Recourse)"),
    ("mpi4py", "mpi4py", "processes that share the work (comm)"),
    ("pyarrow", "pyarrow", "tables of Parquet and Arrow"),
    ("h5py", "h5py", "tables of HDF5"),
    ("matplotlib", "matplotlib", "plots"),
    ("pandas", "pandas", "data frames"),
)
REQUIRED = ("numpy", "scipy", "pyomo", "qdldl", "threadpoolctl")


def arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> int:
    """Print it; 1 if the built-in example is not solved."""
    print(f"pyomo_stochsqp {VERSION}")
    print(f"Python         {platform.python_version()}")
    print(f"Platform       {platform.platform()}, {os.cpu_count()} processors")
    print("\nRequired")
    for name in REQUIRED:
        print(f"  {name:15}{_version(name)}")
    print("\nOptional")
    for name, module, purpose in OPTIONAL:
        found = _version(name) if find_spec(module) is not None else "-"
        print(f"  {name:15}{found:12}{purpose}")
    usable = ", ".join(name for name in REGISTRY if importable(name))
    print(f"\nKKT back ends  {usable}")
    print(f"BLAS           {'; '.join(_blas()) or 'unknown'}; a solve takes 1 (threads=)")
    return _tried()


def _tried() -> int:
    """The built-in example, solved."""
    import pyomo.environ as pyo

    m = build_model()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    right = abs(m.x.value - EXACT_X) < 1e-2
    print(f"Example        {results.message}; the answer is {'right' if right else 'WRONG'}")
    return 0 if right else 1


def _blas() -> list[str]:
    """The linear algebra libraries that are loaded."""
    return [
        f"{library['internal_api']} {library['version']} with {library['num_threads']} threads"
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
