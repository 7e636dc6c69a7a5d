"""Pyomo's own generic solver tests, run against this solver.

Pyomo's file is parameterised over its list of solvers with the package ``parameterized``. A
stand-in for that package records which list a test is meant for; every test that IPOPT must pass,
and that is not about NL files, is then run with our solver in its place.
"""

import importlib
import sys
import types
import unittest
from contextlib import contextmanager

import pyomo.environ as pyo
import pytest
from pyomo.core.expr.visitor import identify_variables
from pyomo.opt.base.solvers import LegacySolverFactory

from pyomo_stochsqp.interface.legacy import LegacyStochSQP
from pyomo_stochsqp.interface.solver import StochSQP

MODULE = "pyomo.contrib.solver.tests.solvers.test_solvers"
ACCURATE = {"tol_opt": 1e-8, "tol_feas": 1e-8}


@contextmanager
def starting_values(model, keep):
    """Pyomo's tests leave Vars without values, which we refuse: start them at zero."""
    filled = []
    for part in model.component_data_objects((pyo.Objective, pyo.Constraint), active=True):
        for var in identify_variables(part.expr, include_fixed=False):
            if var.value is None:
                low, high = var.bounds
                var.set_value(max(low or 0.0, min(0.0, 0.0 if high is None else high)))
                filled.append(var)
    loaded = False
    try:
        yield
        loaded = keep
    finally:
        if not loaded:
            for var in filled:
                var.set_value(None)


class Accurate(StochSQP):
    """What Pyomo's tests take for granted: seven digits, and raising unless optimal."""

    CONFIG = StochSQP.CONFIG(value={**ACCURATE, "raise_exception_on_nonoptimal_result": True})
    name = "stochsqp"

    def solve(self, model, **kwds):
        keep = kwds.get("load_solutions", self.config.load_solutions)
        with starting_values(model, keep):
            return super().solve(model, **kwds)


class AccurateLegacy(LegacyStochSQP):
    def solve(self, model, load_solutions=True, **kwds):
        with starting_values(model, load_solutions):
            return super().solve(model, load_solutions=load_solutions, **ACCURATE, **kwds)


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
    module.dual_solvers.append(("stochsqp", Accurate))
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
    LegacySolverFactory.register("stochsqp_v2")(AccurateLegacy)
    yield
    LegacySolverFactory.unregister("stochsqp_v2")


@pytest.mark.parametrize(("cls", "name"), list(_pyomo_tests()))
def test_generic(cls, name):
    method = getattr(cls(name), name)
    takes_presolve = "use_presolve" in method.__code__.co_varnames
    try:
        method("stochsqp", Accurate, *([None] if takes_presolve else []))
    except unittest.SkipTest as skipped:
        pytest.skip(str(skipped))


def test_nearly_all_of_pyomos_tests_are_run():
    assert len(list(_pyomo_tests())) >= 46
