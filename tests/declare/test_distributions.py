"""Quantile transforms and Gauss rules of distributions."""

import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import E, RandomParam, RandomSource
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.distributions.quadrature import gauss_rule, tensor_rule
from pyomo_stochsqp.errors import DataError


def part_of(width, **kwds):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(range(width), **kwds)
    m.obj = pyo.Objective(expr=E(sum(m.w[j] for j in range(width)) * m.x))
    return read_model(m).sources[0].parts[0]


def midpoints(count, dimension):
    return np.random.default_rng(0).random((count, dimension))


@pytest.mark.parametrize(
    "distribution",
    [
        st.gamma(2.0),
        st.norm([1.0, 2.0], [3.0, 4.0]),
        [st.norm(1, 2), st.uniform(0, 3)],
        st.rv_histogram((np.array([1.0, 2.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0]))),
        pytest.param("new", marks=pytest.mark.skipif(not hasattr(st, "Normal"), reason="scipy")),
    ],
    ids=["identical", "array parameters", "list", "histogram", "new style"],
)
def test_independent_members_use_quantiles(distribution):
    if isinstance(distribution, str):
        distribution = st.Normal(mu=1.0, sigma=2.0)
    part = part_of(2, distribution=distribution)
    assert part.dimension == 2
    (low,) = part.from_uniform(np.full((1, 2), 0.25))
    (high,) = part.from_uniform(np.full((1, 2), 0.75))
    (rows,) = part.draw(np.random.default_rng(0), 20_000)
    share = ((rows > low) & (rows < high)).mean(axis=0)
    # half of the mass lies between the quartiles; five standard errors are 5 * 0.5 / sqrt(20000)
    np.testing.assert_allclose(share, 0.5, atol=0.018)


@pytest.mark.parametrize("cov", [[[2.0, 0.5], [0.5, 1.0]], [[1.0, 1.0], [1.0, 1.0]]])
def test_a_multivariate_normal_is_coloured(cov):
    dist = st.multivariate_normal([1.0, -1.0], cov, allow_singular=True)
    part = part_of(2, distribution=dist)
    (rows,) = part.from_uniform(midpoints(40_000, 2))
    # standard error of a covariance of 40000 pairs is about 2 / sqrt(40000) = 0.01
    np.testing.assert_allclose(np.cov(rows.T), cov, atol=0.05)
    np.testing.assert_allclose(rows.mean(axis=0), [1.0, -1.0], atol=0.05)


@pytest.mark.parametrize(
    "kwds",
    [
        {"distribution": st.dirichlet([1.0, 2.0])},
        {"distribution": st.gaussian_kde(np.random.default_rng(0).normal(size=(2, 50)))},
        {"sampler": lambda rng, size: rng.random((size, 2))},
    ],
)
def test_what_has_no_quantiles_says_so(kwds):
    part = part_of(2, **kwds)
    assert part.from_uniform is None
    assert part.dimension == 0
    assert part.draw(np.random.default_rng(0), 3)[0].shape == (3, 2)


def test_fields_of_one_label_share_the_unit_cube():
    label = RandomSource("label")
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.a = RandomParam(distribution=st.norm(), source=label)
    m.b = RandomParam([0, 1], distribution=st.uniform(), source=label)
    m.obj = pyo.Objective(expr=E((m.a + m.b[0] + m.b[1]) * m.x))
    (part,) = read_model(m).sources[0].parts
    assert part.dimension == 3
    a, b = part.from_uniform(np.array([[0.5, 0.25, 0.75]]))
    np.testing.assert_allclose(a, [[0.0]], atol=1e-12)
    np.testing.assert_allclose(b, [[0.25, 0.75]])


def test_gauss_rules_of_the_textbook():
    nodes, weights = gauss_rule(st.norm(), 8)
    expected, mass = np.polynomial.hermite_e.hermegauss(8)
    # The measure is discretised first, which leaves 1e-10.
    np.testing.assert_allclose(nodes, expected, atol=1e-9)
    np.testing.assert_allclose(weights, mass / mass.sum(), atol=1e-9)
    nodes, weights = gauss_rule(st.uniform(-1, 2), 5)
    expected, mass = np.polynomial.legendre.leggauss(5)
    np.testing.assert_allclose(nodes, expected, atol=1e-12)
    np.testing.assert_allclose(weights, mass / 2, atol=1e-12)


@pytest.mark.parametrize(
    ("distribution", "moment"),
    [
        (st.gamma(2.5), lambda k: math.gamma(2.5 + k) / math.gamma(2.5)),
        (st.lognorm(0.5), lambda k: math.exp(k**2 * 0.25 / 2)),
        (st.expon(), math.factorial),
        (st.beta(0.5, 0.5), lambda k: math.comb(2 * k, k) / 4**k),
        (st.poisson(3.0), lambda k: [1, 3, 12, 57, 309, 1866][k]),
    ],
    ids=["gamma", "lognormal", "exponential", "arcsine", "poisson"],
)
def test_gauss_rules_are_exact_for_polynomials(distribution, moment):
    nodes, weights = gauss_rule(distribution, 3)
    found = [weights @ nodes**k for k in range(6)]
    # 3 nodes are exact to degree 5; poles of the density (arcsine) cost digits
    np.testing.assert_allclose(found, [moment(k) for k in range(6)], rtol=1e-6)


def test_few_atoms_are_taken_as_they_are():
    nodes, weights = gauss_rule(st.bernoulli(0.3), 10)
    np.testing.assert_allclose(nodes, [0.0, 1.0])
    np.testing.assert_allclose(weights, [0.7, 0.3])


def test_products_of_rules():
    points, weights = tensor_rule([gauss_rule(st.norm(), 3), gauss_rule(st.uniform(), 2)])
    assert points.shape == (6, 2)
    assert weights.sum() == pytest.approx(1.0)
    assert weights @ (points[:, 0] ** 2 * points[:, 1]) == pytest.approx(0.5)


@pytest.mark.parametrize("family", [st.norm, st.gamma, st.poisson, st.multivariate_normal])
def test_a_family_without_parameters_is_refused(family):
    """scipy.stats.norm can be called like a rule, and norm(model) is no distribution."""
    m = pyo.ConcreteModel()
    with pytest.raises(DataError, match=r"not a frozen scipy.stats distribution"):
        m.w = RandomParam(distribution=family)


def test_values_with_probabilities_are_complete_as_they_are():
    m = pyo.ConcreteModel()
    m.w = RandomParam(distribution=st.rv_discrete(values=([1, 5], [0.75, 0.25])))
    assert pyo.value(E(m.w)) == pytest.approx(2.0, abs=1e-3)


@pytest.mark.parametrize(("law", "moment"), [(st.cauchy(), "mean"), (st.t(1.5), "variance")])
def test_distributions_without_moments_are_hinted_at(law, moment, caplog):
    m = pyo.ConcreteModel()
    m.w = RandomParam(distribution=law)
    assert f"no finite {moment}" in caplog.text
    caplog.clear()
    m.v = RandomParam([0, 1], distribution=[st.norm(), law])
    assert "RandomParam 'v'" in caplog.text


def test_most_distributions_are_not(caplog):
    m = pyo.ConcreteModel()
    for i, law in enumerate((st.norm(), st.lognorm(2), st.t(3), st.multivariate_normal([0, 0]))):
        width = [0, 1] if i == 3 else [0]
        m.add_component(f"w{i}", RandomParam(width, distribution=law))
    assert not caplog.text
