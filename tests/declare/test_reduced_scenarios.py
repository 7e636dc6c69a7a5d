"""Few scenarios for many."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource


def reduced(count, **numbers):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam([0, 1], **numbers)
    m.cost = pyo.Objective(expr=E((m.x - m.w[0]) ** 2 + m.w[1]))
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    form.apply_to(m, n_scenarios=count, method="kmeans", seed=1, sample_finite=True)
    return m


def test_clusters_of_a_table_are_found_with_their_weights():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [10.0, 1.0], [0.0, 5.0]])
    rows = np.repeat(centres, [600, 300, 100], axis=0) + 0.1 * rng.standard_normal((1000, 2))
    weights = np.repeat([1.0, 1.0, 4.0], [600, 300, 100]) / 1300.0
    m = reduced(3, data=rows, weights=weights)
    found = m.w.origin.rows(np.arange(m.w.origin.size))
    order = np.lexsort(found.T)  # by the second column
    np.testing.assert_allclose(found[order], centres, atol=0.05)
    expected = np.array([600.0, 300.0, 400.0]) / 1300.0
    np.testing.assert_allclose(np.asarray(m.w.source.weights)[order], expected)
    kept = np.asarray(m.w.source.weights) @ found
    np.testing.assert_allclose(kept, weights @ rows, rtol=1e-12)


def test_more_scenarios_come_closer():
    """The variance of a normal number, of which clusters lose their own."""
    values = []
    for count in (2, 8, 32):
        m = reduced(count, distribution=st.norm(0.0, 1.0))
        values.append(pyo.value(m.cost))
    # best quantizer of a normal number for two points: variance 2/pi; here jointly with another one
    assert values[0] < values[1] < values[2]
    assert values[2] == pytest.approx(1.0, abs=0.12)


def test_one_number_by_two_points():
    """They are at +-sqrt(2/pi)."""
    m = pyo.ConcreteModel()
    m.w = RandomParam(distribution=st.norm())
    m.cost = pyo.Objective(expr=E(m.w**2))
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    found = form.create_using(m, n_scenarios=2, method="kmeans", seed=2).w.origin
    points = np.sort(found.rows([0, 1])[:, 0])
    # 20,000 draws: a standard error of .004 for the mean of each half
    np.testing.assert_allclose(points, [-np.sqrt(2 / np.pi), np.sqrt(2 / np.pi)], atol=0.03)


def test_samplers_and_joint_sources_are_reduced_jointly():
    source = RandomSource("both", sampler=lambda rng, size: rng.integers(0, 2, (size, 1)) * [1, 9])
    m = pyo.ConcreteModel()
    m.a = RandomParam(source=source, columns=0)
    m.b = RandomParam(source=source, columns=1)
    m.cost = pyo.Objective(expr=E(m.a * m.b))
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    made = form.create_using(m, n_scenarios=5, method="kmeans", seed=3)
    # there are only two different rows
    assert made.a.origin.size == 2
    assert pyo.value(made.cost) == pytest.approx(4.5, abs=0.2)
