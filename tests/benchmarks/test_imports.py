"""Every module of benchmarks/ can be imported: names of the package that it uses still exist."""

import importlib
import pkgutil

import pytest

import benchmarks

#: extras, and what belongs to an environment of its own (benchmarks/cutest/make_reference.py)
ELSEWHERE = {"sif2jax", "jax", "casadi", "mpi4py", "sksparse"}
MODULES = [info.name for info in pkgutil.walk_packages(benchmarks.__path__, "benchmarks.")]


def test_there_are_modules():
    assert len(MODULES) >= 40


@pytest.mark.parametrize("name", MODULES)
def test_imports(name):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in ELSEWHERE:
            raise
