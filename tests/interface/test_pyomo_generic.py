"""Pyomo's own generic solver tests, run against this solver.

Pyomo's file is parameterised over its list of solvers with the package ``parameterized``. A stand-in
for that package records which list a test is meant for; every test that IPOPT must pass, and that
is not about NL files, is then run with our solver in its place.
"""

import importlib
import sys
import types
import unittest

import pyomo.environ as pyo
import pytest

from pyomo_stochsqp.interface.solver import StochSQP

MODULE = "pyomo.contrib.solver.tests.solvers.test_solvers"


class Accurate(StochSQP):
    """Fits what Pyomo's tests take for granted: seven digits, and Vars without values at zero."""

    CONFIG = StochSQP.CONFIG(value={"tol_opt": 1e-8, "tol_feas": 1e-8})
    name = "stochsqp"

    def solve(self, model, **kwds):
        for var in model.model().component_data_objects(pyo.Var):
            if var.value is None and not var.fixed:
                low, high = var.bounds
                var.set_value(max(low or 0.0, min(0.0, 0.0 if high is None else high)))
        return super().solve(model, **kwds)


def _pyomo_tests():
    """(class, method) of every test meant for a continuous nonlinear solver."""
    stand_in = types.ModuleType("parameterized")

    class parameterized:  # noqa: N801
        @classmethod
        def expand(cls, input):  # noqa: A002
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
    for cls in (module.TestDualSignConvention, module.TestSolvers):
        for name, method in vars(cls).items():
            if {"ipopt"} < getattr(method, "meant_for", set()):
                yield pytest.param(cls, name, id=f"{cls.__name__}.{name}")


@pytest.mark.parametrize(("cls", "name"), list(_pyomo_tests()))
def test_generic(cls, name):
    method = getattr(cls(name), name)
    arguments = ("stochsqp", Accurate)
    takes_presolve = "use_presolve" in method.__code__.co_varnames
    try:
        method(*arguments, *([None] if takes_presolve else []))
    except unittest.SkipTest as skipped:
        pytest.skip(str(skipped))
