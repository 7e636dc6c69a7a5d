"""The examples in docstrings run; every public name has one."""

import doctest
import importlib
import pkgutil

import pytest

import pyomo_stochsqp

FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL | doctest.NORMALIZE_WHITESPACE
FINDER = doctest.DocTestFinder(exclude_empty=True)


def modules():
    """All modules of the package but the command line's entry."""
    found = ["pyomo_stochsqp"]
    for info in pkgutil.walk_packages(pyomo_stochsqp.__path__, "pyomo_stochsqp."):
        if not info.name.endswith("__main__"):
            found.append(info.name)
    return found


def examples_of(name):
    try:
        module = importlib.import_module(name)
    except ImportError:  # a back end whose library is optional
        return []
    return [test for test in FINDER.find(module) if test.examples]


@pytest.mark.parametrize("name", modules())
def test_examples_run(name):
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report = []
    for test in examples_of(name):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


@pytest.mark.parametrize("name", [n for n in pyomo_stochsqp.__all__ if not n.startswith("_")])
def test_public_names_have_an_example(name):
    found = FINDER.find(getattr(pyomo_stochsqp, name), name)
    assert any(test.examples for test in found), f"{name} has no example in its docstring"
