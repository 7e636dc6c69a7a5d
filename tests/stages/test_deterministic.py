"""Models without randomness are one stage: 1e-6 on the equality problems of CUTEst, and more."""

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo
import pytest

from benchmarks.cutest import PROBLEMS, build
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.solve import prepare

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
#: ten seconds to compile; six hundred iterations of the second engine, after the first has failed
SLOW = {"ELEC", "SPIN2OP"}


def solved(m, **options):
    return prepare(m, validated(options)).run()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in sorted(PROBLEMS)
    ],
)
def test_cutest_problem_converges(name):
    outcome = solved(build(name))
    assert outcome.stop is Stop.CONVERGED, outcome.stop
    best = outcome.best
    assert best.exact and not best.saddle
    assert best.relative_infeasibility_bound <= 1e-6 and best.relative_gap <= 1e-6
    assert best.infeasibility <= 1e-6
    if name in VALUES:
        assert best.objective == pytest.approx(VALUES[name], rel=1e-5, abs=1e-8)


def test_convergence_is_superlinear_at_the_end():
    outcome = solved(build("HS78"))
    step = outcome.history["step_norm"][:-1]  # the last iteration only sees that it is the last
    assert len(step) <= 12
    ratios = step[1:] / step[:-1]
    assert ratios[-1] < 0.05 and ratios[-2] < 0.3


def one_row(expression, objective=lambda x: x[0] ** 2 + x[1] ** 2):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.0)
    m.obj = pyo.Objective(expr=objective(m.x))
    m.row = pyo.Constraint(expr=expression(m.x))
    return m


def test_contradicting_rows_are_locally_infeasible():
    m = one_row(lambda x: x[0] + x[1] == 1)
    m.two = pyo.Constraint(expr=m.x[0] + m.x[1] == 2)
    assert solved(m).stop is Stop.LOCALLY_INFEASIBLE


def test_an_empty_circle_is_locally_infeasible():
    m = one_row(lambda x: x[0] ** 2 + x[1] ** 2 == -1, lambda x: x[0])
    assert solved(m).stop is Stop.LOCALLY_INFEASIBLE


def test_an_objective_without_lower_bound_is_unbounded():
    m = one_row(lambda x: x[0] + x[1] == 1, lambda x: x[0] - x[1])
    assert solved(m).stop is Stop.UNBOUNDED


@pytest.mark.parametrize("n", [3, 80, 301])
@pytest.mark.parametrize("start", [0.0, 1.0])
def test_a_row_whose_solution_is_zero_is_certified(n, start):
    """It has no size of its own there: neither bounds nor terms."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=1.0)
    m.x[0].set_value(start)
    m.obj = pyo.Objective(expr=sum((m.x[i] - 1) ** 2 for i in range(n)))
    m.zero = pyo.Constraint(expr=pyo.sin(m.x[0]) == 0)
    m.same = pyo.Constraint(expr=m.x[1] == m.x[0])
    outcome = solved(m)
    assert outcome.stop is Stop.CONVERGED
    assert np.abs(outcome.best.x[:2]).max() <= 1e-12


def pendulum(steps):
    """Swing down with bounded torque: 3 (steps + 1) variables, rows of three entries."""
    m = pyo.ConcreteModel()
    T, h = range(steps + 1), 4.0 / steps
    m.angle = pyo.Var(T, initialize=0.5)
    m.speed = pyo.Var(T, bounds=(-1.2, None), initialize=0.0)
    m.torque = pyo.Var(T, bounds=(-1.5, 1.5), initialize=0.0)
    m.cost = pyo.Objective(expr=h * sum(m.angle[t] ** 2 + 0.1 * m.torque[t] ** 2 for t in T))
    m.start = pyo.Constraint(expr=m.angle[0] == 1.0)
    m.rest = pyo.Constraint(expr=m.speed[0] == 0.0)

    @m.Constraint(range(steps))
    def turn(m, t):
        return m.angle[t + 1] == m.angle[t] + h * m.speed[t + 1]

    @m.Constraint(range(steps))
    def swing(m, t):
        pull = pyo.sin(m.angle[t + 1]) + m.torque[t + 1]
        return m.speed[t + 1] == m.speed[t] + h * pull

    return m


@pytest.mark.parametrize("steps", [10, 50, 400])
def test_sparse_models_converge_like_newton(steps):
    """33, 153 and 1203 variables: full matrices, either, sparse ones alone."""
    outcome = solved(pendulum(steps))
    assert outcome.stop is Stop.CONVERGED
    assert outcome.state.k <= 40
    assert outcome.best.infeasibility <= 1e-8 and outcome.best.relative_gap <= 1e-8


def test_linear_programs_have_no_second_derivatives():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 4), initialize=0.0)
    m.obj = pyo.Objective(expr=-m.x[0] - 2 * m.x[1])
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] <= 5)
    outcome = solved(m)
    assert outcome.stop is Stop.CONVERGED
    # an interior point stops a hundred-millionth before a vertex; its certificate goes on
    np.testing.assert_allclose(outcome.best.x, [1.0, 4.0], rtol=1e-9)


def swing_up(elements):
    """A cart swings its pendulum up: Radau collocation, one variable with a value, many without."""
    m = pyo.ConcreteModel()
    m.t = dae.ContinuousSet(bounds=(0, 4))
    m.angle, m.spin, m.speed = pyo.Var(m.t), pyo.Var(m.t), pyo.Var(m.t)
    m.place, m.force = pyo.Var(m.t, bounds=(-2, 2)), pyo.Var(m.t, bounds=(-20, 20))
    m.d_angle, m.d_spin = dae.DerivativeVar(m.angle), dae.DerivativeVar(m.spin)
    m.d_place, m.d_speed = dae.DerivativeVar(m.place), dae.DerivativeVar(m.speed)
    cart, bob, length, gravity = 1.0, 0.3, 0.5, 9.81

    @m.Constraint(m.t)
    def turns(m, t):
        return m.d_angle[t] == m.spin[t]

    @m.Constraint(m.t)
    def drives(m, t):
        return m.d_place[t] == m.speed[t]

    @m.Constraint(m.t)
    def pushed(m, t):
        sin, cos = pyo.sin(m.angle[t]), pyo.cos(m.angle[t])
        pulled = length * bob * sin * m.spin[t] ** 2 + bob * gravity * cos * sin
        return m.d_speed[t] * (cart + bob * sin**2) == pulled + m.force[t]

    @m.Constraint(m.t)
    def swings(m, t):
        sin, cos = pyo.sin(m.angle[t]), pyo.cos(m.angle[t])
        pulled = length * bob * cos * sin * m.spin[t] ** 2 + (cart + bob) * gravity * sin
        return m.d_spin[t] * length * (cart + bob * sin**2) == -(pulled + m.force[t] * cos)

    for var, end in ((m.angle, np.pi), (m.spin, 0), (m.place, 1), (m.speed, 0)):
        var[0].fix(0)
        var[4].fix(end)
    pyo.TransformationFactory("dae.collocation").apply_to(
        m, wrt=m.t, nfe=elements, ncp=3, scheme="LAGRANGE-RADAU"
    )
    m.effort = pyo.Objective(expr=sum(m.force[t] ** 2 for t in m.t) / len(m.t))
    return m


def test_steps_that_the_filter_makes_short_are_damped():
    # Without damping: thousands of iterations with steps of 1e-5. IPOPT finds the same objective.
    outcome = solved(swing_up(40))
    assert outcome.stop is Stop.CONVERGED
    assert outcome.best.objective == pytest.approx(4.775724, rel=1e-6)
    assert len(outcome.history) < 1000
