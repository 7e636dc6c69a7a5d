"""Pyomo's own generic solver tests, run against this solver.

Pyomo's file is parameterised over its list of solvers with the package ``parameterized``. A
stand-in for that package records which list a test is meant for; every test that IPOPT must pass,
and that is not about NL files, is then run with our solver in its place.
"""

import importlib
import sys
import types
import unittest

import pytest
from pyomo.opt.base.solvers import LegacySolverFactory

from pyomo_stochsqp.interface.solver.legacy import LegacyStochSQP
from pyomo_stochsqp.interface.solver.solver import StochSQP

MODULE = "pyomo.contrib.solver.tests.solvers.test_solvers"


def _pyomo_module():
    stand_in = types.ModuleType("parameterized")

    class parameterized:
        @classmethod
        def expand(cls, input):
            def mark(function):
                function.meant_for = {case[0].removesuffix("_presolve") for case in input}
                return function

            return mark

    stand_in.parameterized = parameterized
    kept = sys.modules.get("parameterized")
    sys.modules["parameterized"] = stand_in
    try:
        module = importlib.import_module(MODULE)
    finally:
        if kept is None:
            del sys.modules["parameterized"]
        else:
            sys.modules["parameterized"] = kept
    # Where solvers differ, the expectations of a local nonlinear solver are ours.
    module.Ipopt = StochSQP
    module.dual_solvers.append(("stochsqp", StochSQP))
    return module


def _pyomo_tests():
    """(class, method) of every test meant for a continuous nonlinear solver."""
    module = _pyomo_module()
    for cls in vars(module).values():
        if isinstance(cls, type) and issubclass(cls, unittest.TestCase):
            for name, method in vars(cls).items():
                if {"ipopt"} < getattr(method, "meant_for", set()):
                    yield pytest.param(cls, name, id=f"{cls.__name__}.{name}")


@pytest.fixture(autouse=True)
def legacy_name():
    """Pyomo's tests ask the legacy factory for the name with '_v2' behind it."""
    LegacySolverFactory.register("stochsqp_v2")(LegacyStochSQP)
    yield
    LegacySolverFactory.unregister("stochsqp_v2")


@pytest.mark.parametrize(("cls", "name"), list(_pyomo_tests()))
def test_generic(cls, name):
    method = getattr(cls(name), name)
    takes_presolve = "use_presolve" in method.__code__.co_varnames
    try:
        method("stochsqp", StochSQP, *([None] if takes_presolve else []))
    except unittest.SkipTest as skipped:
        pytest.skip(str(skipped))


def test_nearly_all_of_pyomos_tests_are_run():
    assert len(list(_pyomo_tests())) >= 46
