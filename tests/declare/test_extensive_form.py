"""TransformationFactory('stochsqp.extensive_form'): discretised models and the way back."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.errors import ModelError, OptionError


@pytest.fixture
def form():
    return pyo.TransformationFactory("stochsqp.extensive_form")


@pytest.fixture
def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.5)
    m.w = RandomParam([0, 1], distribution=st.multivariate_normal([1, 2], [[1.0, 0.5], [0.5, 2.0]]))
    m.obj = pyo.Objective(expr=E(sum((m.x[j] - m.w[j]) ** 2 for j in (0, 1))))
    m.con = pyo.Constraint(expr=E(pyo.exp(m.w[0] * m.x[0])) <= 9)
    return m


OBJECTIVE = 0.25 + 1.0 + 2.25 + 2.0  # sum of (x - mu)^2 + variance
CONSTRAINT = math.exp(0.5 + 0.125)  # E exp(w x) of a normal: exp(mu x + x^2/2)


@pytest.mark.parametrize(
    ("method", "count", "tolerance"),
    [
        ("monte_carlo", 4000, 0.5),  # standard error 5 / sqrt(4000) = 0.08
        ("latin_hypercube", 1000, 0.3),
        ("sobol", 1024, 0.1),
        ("quadrature", 100, 1e-6),  # 10 nodes per dimension, analytic integrands
    ],
)
def test_methods_agree_with_the_closed_form(form, model, method, count, tolerance):
    finite = form.create_using(model, n_scenarios=count, seed=1, method=method)
    assert pyo.value(finite.obj) == pytest.approx(OBJECTIVE, abs=tolerance)
    assert pyo.value(finite.con.body) == pytest.approx(CONSTRAINT, abs=tolerance)
    (source,) = read_model(finite).sources
    assert source.size == count
    assert read_model(model).sources[0].size is None  # the original is untouched


def test_seeds(form, model):
    def value(seed):
        return pyo.value(form.create_using(model, n_scenarios=10, seed=seed).obj)

    assert value(1) == value(1) != value(2)


def test_apply_to_changes_the_model_itself(form, model):
    form.apply_to(model, n_scenarios=16, method="quadrature")
    assert pyo.value(model.obj) == pytest.approx(OBJECTIVE)
    with pytest.raises(ModelError, match="already in the model itself"):
        form.propagate_solution(model)


def test_sources_that_meet_are_drawn_jointly(form):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(distribution=st.norm(1))
    m.b = RandomParam(data=[1.0, 2.0], weights=[0.25, 0.75])
    m.c = RandomParam(distribution=st.expon())
    m.obj = pyo.Objective(expr=E(m.a * m.b * m.x) + E(m.c * m.x))
    finite = form.create_using(m, n_scenarios=50, seed=0)
    assert [(s.name, s.size) for s in read_model(finite).sources] == [("a x b", 50), ("c", 50)]
    finite = form.create_using(m, n_scenarios=8, method="quadrature")
    assert pyo.value(finite.obj) == pytest.approx(1.75 + 1.0)  # two rows times four nodes


def test_joint_sources_stay_joint(form):
    cov = [[1.0, 0.9], [0.9, 1.0]]
    joint = RandomSource("market", distribution=st.multivariate_normal([0, 0], cov))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(source=joint, columns=0)
    m.b = RandomParam(source=joint, columns=1)
    m.obj = pyo.Objective(expr=E(m.a * m.b * m.x))
    finite = form.create_using(m, n_scenarios=9, method="quadrature")
    assert pyo.value(finite.obj) == pytest.approx(0.9)
    assert len(read_model(finite).sources) == 1


def test_finite_data_stays_unless_asked(form):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(data=np.arange(100.0))
    m.obj = pyo.Objective(expr=E(m.w * m.x))
    assert read_model(form.create_using(m)).sources[0].size == 100
    assert read_model(form.create_using(m, n_scenarios=7)).sources[0].size == 100
    finite = form.create_using(m, n_scenarios=7, sample_finite=True, seed=0)
    assert read_model(finite).sources[0].size == 7
    spread = form.create_using(m, n_scenarios=10, sample_finite=True, method="latin_hypercube")
    assert pyo.value(spread.obj) == pytest.approx(49.5, abs=5)  # one row out of each ten


def test_integer_variables_and_kinks_are_no_obstacle(form):
    m = pyo.ConcreteModel()
    m.n = pyo.Var(domain=pyo.Integers, initialize=1)
    m.w = RandomParam(distribution=st.uniform(0, 2))
    m.obj = pyo.Objective(expr=E(abs(m.n - m.w)))
    finite = form.create_using(m, n_scenarios=200, method="latin_hypercube", seed=0)
    assert pyo.value(finite.obj) == pytest.approx(0.5, abs=0.01)


def test_component_map_and_the_way_back(form, model):
    model.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    finite = form.create_using(model, n_scenarios=4, seed=0)
    new = form.component_map(finite)
    assert new[model.x[1]] is finite.x[1]
    assert new[model.con] is finite.con
    assert new[model.w] is finite.w
    finite.x[0].value, finite.x[1].value = 7.0, 8.0
    finite.dual[finite.con] = -3.0
    form.propagate_solution(finite)
    assert [v.value for v in model.x.values()] == [7.0, 8.0]
    assert model.dual[model.con] == -3.0
    other = model.clone()
    finite.x[0].value = 9.0
    form.propagate_solution(finite, other)
    assert other.x[0].value == 9.0


@pytest.mark.parametrize(
    ("random", "options", "message"),
    [
        ({"distribution": st.norm()}, {}, "'w' is not finite.*n_scenarios"),
        (
            {"sampler": lambda rng, size: rng.random(size)},
            {"n_scenarios": 4, "method": "sobol"},
            "needs quantiles, but source 'w'",
        ),
        (
            {"sampler": lambda rng, size: rng.random(size)},
            {"n_scenarios": 4, "method": "quadrature"},
            "'w' has neither.*monte_carlo",
        ),
        (
            {"distribution": st.norm()},
            {"n_scenarios": 1, "method": "quadrature"},
            "at least 2 nodes in each of the 1 dimensions",
        ),
        (
            {"distribution": st.norm([1.0], [2.0])},
            {"n_scenarios": 4, "method": "quadrature"},
            "source 'w'.*one distribution per member",
        ),
    ],
)
def test_refusals(form, random, options, message):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(**random)
    m.obj = pyo.Objective(expr=E(m.w * m.x))
    with pytest.raises(OptionError, match=message):
        form.create_using(m, **options)


def test_unknown_options_are_refused(form, model):
    with pytest.raises(ValueError, match="n_scenario"):
        form.create_using(model, n_scenario=4)
    with pytest.raises(ValueError, match="method"):
        form.create_using(model, n_scenarios=4, method="magic")


def test_a_linear_model_through_highs(form):
    solver = pyo.SolverFactory("appsi_highs")
    if not solver.available(exception_flag=False):
        pytest.skip("appsi_highs is not installed")
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0, bounds=(0, 10))
    m.w = RandomParam(distribution=st.gamma(2.0))
    m.obj = pyo.Objective(expr=m.x)
    m.con = pyo.Constraint(expr=E(m.w * m.x) >= 6)
    finite = form.create_using(m, n_scenarios=5, method="quadrature")
    solver.solve(finite)
    form.propagate_solution(finite)
    assert pyo.value(m.x) == pytest.approx(3.0)
