"""Pyomo's test cases for legacy solvers, with this solver among the cases.

Pyomo's own list of cases and its own code that solves a model, loads the solution and compares
values, duals and reduced costs with its baselines; only the list gets one more entry. Where the
installed Pyomo has no baselines (its wheels leave them out), first-order conditions are checked
instead. Models of ``pyomo.kernel`` are another modelling language, which this package does not
read.
"""

import logging
import unittest
from pathlib import Path

import pytest
from pyomo.opt import TerminationCondition
from pyomo.solvers.tests import solvers, testcases
from pyomo.solvers.tests.models.base import all_models

import pyomo_stochsqp  # noqa: F401
from benchmarks.robust.check import conditions

CAPABILITIES = {"linear", "quadratic_objective", "quadratic_constraint"}


@pytest.fixture(scope="module")
def cases():
    before = logging.root.manager.disable
    solvers.test_solver_cases()
    solvers._test_solver_cases["stochsqp", "python"] = solvers.initialize(
        name="stochsqp", io="python", capabilities=CAPABILITIES, import_suffixes=["dual", "rc"]
    )
    yield {
        key[0]: case
        for key, case in testcases.generate_scenarios()
        if key[1:] == ("stochsqp", "python")
    }
    del solvers._test_solver_cases["stochsqp", "python"]
    logging.disable(before)


def applicable():
    return [
        name
        for name, model in sorted(all_models().items())
        if model.capabilities <= CAPABILITIES and not name.endswith("_kernel")
    ]


def test_most_of_pyomos_models_are_run(cases):
    assert set(applicable()) <= set(cases)
    assert len(applicable()) >= 18


@pytest.mark.parametrize("name", applicable())
def test_case(cases, name):
    case = cases[name]
    assert case.status == "ok"
    test = case.model()
    test.generate_model(case.testcase.import_suffixes)
    test.warmstart_model()
    opt, results = test.solve(
        "stochsqp", "python", case.testcase.io_options, case.testcase.options, False, False
    )
    test.post_solve_test_validation(unittest.TestCase(), results)
    ended = results["Solver"][0]["termination condition"]
    if ended in (TerminationCondition.unbounded, TerminationCondition.infeasible):
        return
    test.model.solutions.load_from(results, default_variable_value=opt.default_variable_value())
    if not Path(test.results_file).exists():
        assert conditions(test.model).worst <= 1e-6
        return
    right, message = test.validate_current_solution(
        suffixes=test.test_suffixes, exclude_suffixes=case.exclude_suffixes
    )
    assert right, message
