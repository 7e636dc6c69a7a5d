"""Models without randomness: the exact phase reaches 1e-6 on the equality problems of CUTEst."""

import numpy as np
import pytest

from benchmarks.cutest import PROBLEMS, build
from pyomo_stochsqp.interface.options import validated
from pyomo_stochsqp.interface.pipeline import prepare
from pyomo_stochsqp.report import Stop

#: known optimal values (Hock & Schittkowski; Boggs & Tolle), where the solution is unique
VALUES = {
    "BT3": 4.09301,
    "BT4": -45.51055,
    "BT5": 961.71517,
    "BT11": 0.82489,
    "BT12": 6.18812,
    "HS6": 0.0,
    "HS7": -np.sqrt(3.0),
    "HS9": -0.5,
    "HS27": 0.04,
    "HS28": 0.0,
    "HS39": -1.0,
    "HS40": -0.25,
    "HS42": 13.8578644,
    "HS48": 0.0,
    "HS51": 0.0,
    "HS52": 5.32664756,
    "HS56": -3.456,
    "HS61": -143.6461422,
    "HS77": 0.24150513,
    "HS78": -2.91970041,
    "HS79": 0.0787768,
    "HS100LNP": 680.6300573,
    "HS111LNP": -47.7610913,
    "MARATOS": -1.0,
    "BYRDSPHR": -4.683300133,
}
#: half a minute to compile and run
SLOW = {"ELEC"}
#: the Jacobian loses rank at the solution, where multipliers are not unique
DEGENERATE = {"BT8"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in sorted(set(PROBLEMS) - DEGENERATE)
    ],
)
def test_cutest_problem_converges(name):
    outcome = prepare(build(name), validated({})).run()
    assert outcome.stop is Stop.CONVERGED, outcome.stop
    best = outcome.best
    assert best.exact
    # The KKT error in units of the gradients at the start (tolerances are relative).
    assert best.relative_infeasibility <= 1e-6 and best.relative_stationarity <= 1e-6
    assert best.infeasibility <= 1e-6
    if name in VALUES:
        assert best.objective == pytest.approx(VALUES[name], rel=1e-5, abs=1e-8)


@pytest.mark.parametrize("name", sorted(DEGENERATE))
def test_degenerate_problem_comes_close(name):
    outcome = prepare(build(name), validated({})).run()
    assert outcome.stop in (Stop.CONVERGED, Stop.STALLED)
    assert outcome.best.infeasibility <= 1e-8 and outcome.best.stationarity <= 1e-5


def test_convergence_is_superlinear_at_the_end():
    outcome = prepare(build("HS78"), validated({})).run()
    step = outcome.history["step_norm"]
    assert len(step) <= 12
    ratios = step[1:] / step[:-1]
    assert ratios[-1] < 0.05 and ratios[-2] < 0.3


def test_contradicting_rows_are_locally_infeasible():
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.obj = pyo.Objective(expr=m.x[0] ** 2 + m.x[1] ** 2)
    m.one = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    m.two = pyo.Constraint(expr=m.x[0] + m.x[1] == 2)
    assert prepare(m, validated({})).run().stop is Stop.LOCALLY_INFEASIBLE


def test_an_empty_circle_is_locally_infeasible():
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.obj = pyo.Objective(expr=m.x[0])
    m.circle = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 == -1)
    assert prepare(m, validated({})).run().stop is Stop.LOCALLY_INFEASIBLE


def test_an_objective_without_lower_bound_is_unbounded():
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.obj = pyo.Objective(expr=m.x[0] - m.x[1])
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    assert prepare(m, validated({})).run().stop is Stop.UNBOUNDED
