"""The examples in docstrings of the interface and of reports do what they show."""

import doctest
import importlib
import pkgutil

import pytest

import pyomo_stochsqp.interface
import pyomo_stochsqp.report

MODULES = sorted(
    module.name
    for package in (pyomo_stochsqp.interface, pyomo_stochsqp.report)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert found.failed == 0
