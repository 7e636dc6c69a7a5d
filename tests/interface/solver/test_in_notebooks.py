"""Results and certificates as a notebook shows them."""

import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp import E, RandomParam
from tests.test_text_table import Reader


def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(["<b>", "c"], initialize=0.5)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x["<b>"] ** 2 + (m.x["c"] - 1) ** 2)
    m.moment = pyo.Constraint(expr=E(pyo.exp(m.w * m.x["<b>"])) == pyo.exp(1))
    return m


@pytest.mark.parametrize("factory", [pyo.SolverFactory, SolverFactory], ids=["legacy", "new"])
def test_results_of_both_interfaces(factory):
    results = factory("stochsqp").solve(model(), seed=1)
    read = Reader(results._repr_html_())
    cells = dict(read.cells)
    assert results.message in "".join(read.texts)
    assert float(cells["objective"].split()[0]) == pytest.approx(results.certificate.objective)
    assert cells["certified"] == str(results.certificate)
    assert cells["run"].startswith(f"{results.iteration_count} iterations")


def test_a_certificate_names_rows_and_variables():
    results = pyo.SolverFactory("stochsqp").solve(model(), seed=1)
    head, *rows = Reader(results.certificate._repr_html_()).cells
    assert head[-1].startswith("within (9")
    bounds = {name: float(bound) for name, _, bound in rows}
    assert set(bounds) == {"objective", "x[<b>]", "x[c]", "moment"}
    for name, bound in {**results.certificate.variables, **results.certificate.rows}.items():
        assert bounds[name] == pytest.approx(bound, rel=0.05)


def test_the_worst_of_many_variables():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(30), initialize=0.0)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.cost = pyo.Objective(expr=sum((m.x[j] - 1) ** 2 for j in m.x) + E((m.x[20] - m.w) ** 2))
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    rows = Reader(results.certificate._repr_html_()).cells
    assert len(rows) == 1 + 1 + 6
    assert any(row[0] == "x[20]" for row in rows)


def test_cautions_are_shown():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=st.lognorm(3))
    m.cost = pyo.Objective(expr=E((m.x - m.w) ** 2))
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1, max_samples=2000)
    assert results.certificate.cautions
    for html in (results._repr_html_(), results.certificate._repr_html_()):
        assert results.certificate.cautions[0] in html


def test_a_model_that_was_not_solved_shows_the_message():
    m = model()
    m.never = pyo.Constraint(expr=m.x["c"] == 0)
    m.x["c"].fix(1)
    results = pyo.SolverFactory("stochsqp").solve(m)
    read = Reader(results._repr_html_())
    assert results.message in "".join(read.texts) and "c77d0a" in results._repr_html_()
