"""Copulas against closed forms, and the block bootstrap."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import (
    BlockBootstrap,
    E,
    GaussianCopula,
    RandomParam,
    RandomSource,
    StudentCopula,
    evaluate,
)
from pyomo_stochsqp.errors import DataError, OptionError

HALF = [[1.0, 0.5], [0.5, 1.0]]
MARGINALS = [st.gamma(2.0), st.lognorm(0.4)]


def sampled(copula, marginals=MARGINALS, count=200_000):
    m = pyo.ConcreteModel()
    m.w = RandomParam([0, 1], distribution=marginals, copula=copula)
    return m.w.origin.draw(np.random.default_rng(1), count)


@pytest.mark.parametrize("copula", [HALF, GaussianCopula(HALF), StudentCopula(HALF, 4)])
def test_marginals_are_kept_and_ranks_are_as_in_theory(copula):
    rows = sampled(copula, count=20_000)
    for j, law in enumerate(MARGINALS):
        assert st.kstest(rows[:, j], law.cdf).pvalue > 1e-4
    tau = st.kendalltau(*rows[:4000].T).statistic
    assert tau == pytest.approx(2 / np.pi * np.arcsin(0.5), abs=0.04)  # 4 standard errors
    if not isinstance(copula, StudentCopula):
        rho = st.spearmanr(*rows.T).statistic
        assert rho == pytest.approx(6 / np.pi * np.arcsin(0.25), abs=0.03)


def test_extremes_come_together_under_a_student_copula():
    """Tail dependence: 2 T_{df+1}(-sqrt((df + 1)(1 - r)/(1 + r))) against 0."""
    both = [np.mean((sampled(c, [st.uniform()] * 2) > 0.999).all(axis=1)) / 1e-3
            for c in (GaussianCopula(HALF), StudentCopula(HALF, 3))]  # fmt: skip
    limit = 2 * st.t(4).cdf(-np.sqrt(4 * 0.5 / 1.5))
    assert both[0] < 0.2 < both[1]
    assert both[1] == pytest.approx(limit, abs=0.12)  # 200 events, the limit is not reached


def test_lognormal_numbers_in_closed_form():
    """exp of normals with correlation r: E[ab] = exp(s^2 (1 + r)). QMC and Monte Carlo alike."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam(["a", "b"], distribution=st.lognorm(0.5), copula=HALF)
    m.cost = pyo.Objective(expr=E((m.x - m.w["a"] * m.w["b"]) ** 2))
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pyo.assert_optimal_termination(results)
    assert m.x.value == pytest.approx(np.exp(0.25 * 1.5), rel=1e-3)
    low, high = evaluate(m, m.w["a"] * m.w["b"], seed=2, confidence=0.999)["w[a]*w[b]"].interval
    assert low <= np.exp(0.25 * 1.5) <= high


def test_perfect_correlation_and_sources():
    source = RandomSource("both", distribution=MARGINALS, copula=[[1.0, 1.0], [1.0, 1.0]])
    m = pyo.ConcreteModel()
    m.a = RandomParam(source=source, columns=0)
    m.b = RandomParam(source=source, columns=1)
    rows = source.origin.draw(np.random.default_rng(0), 100)
    np.testing.assert_allclose(MARGINALS[0].cdf(rows[:, 0]), MARGINALS[1].cdf(rows[:, 1]))
    clone = pyo.ConcreteModel.clone(m)
    assert clone.a.source.origin.copula.width == 2


def test_the_extensive_form_draws_with_the_copula():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.w = RandomParam([0, 1], distribution=st.norm(), copula=HALF)
    m.cost = pyo.Objective(expr=E((m.x - m.w[0] * m.w[1]) ** 2))
    transformation = pyo.TransformationFactory("stochsqp.extensive_form")
    ef = transformation.create_using(m, n_scenarios=4096, seed=1, method="sobol")
    ef.x.set_value(0.0)
    assert pyo.value(ef.cost) == pytest.approx(1 + 2 * 0.25, rel=0.03)  # E[(ab)^2] = 1 + 2 r^2
    with pytest.raises(OptionError, match="no Gauss rule"):
        transformation.create_using(m, n_scenarios=16, method="quadrature")


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"copula": [[1.0, 0.5, 0.1]]}, "correlation matrix"),
        ({"copula": [[1.0, 0.5], [0.4, 1.0]]}, "symmetric"),
        ({"copula": [[4.0, 0.5], [0.5, 1.0]]}, "ones on its diagonal"),
        ({"copula": [[1.0, 2.0], [2.0, 1.0]]}, "not positive semidefinite"),
        ({"copula": np.eye(3)}, "3 rows for 2 members"),
        ({"copula": HALF, "distribution": st.multivariate_normal([0, 0])}, "one per member"),
    ],
)
def test_wrong_copulas_are_refused_by_name(keywords, message):
    m = pyo.ConcreteModel()
    with pytest.raises(DataError, match=message) as caught:
        m.w = RandomParam([0, 1], **{"distribution": st.norm(), **keywords})
    assert "copula=" in str(caught.value)


def test_copulas_join_distributions_only():
    m = pyo.ConcreteModel()
    with pytest.raises(DataError, match=r"'w'.*joins the marginals"):
        m.w = RandomParam([0, 1], data=np.ones((3, 2)), copula=HALF)
    with pytest.raises(DataError, match="df=0"):
        StudentCopula(HALF, 0)


def test_blocks_of_a_series_stay_together():
    series = np.arange(10.0)
    rows = BlockBootstrap(series, horizon=5, block=2)(np.random.default_rng(0), 4000)
    assert rows.shape == (4000, 5)
    np.testing.assert_array_equal((rows[:, 1] - rows[:, 0]) % 10, 1)
    np.testing.assert_array_equal((rows[:, 3] - rows[:, 2]) % 10, 1)
    counts = np.bincount(rows[:, 4].astype(int), minlength=10)
    assert st.chisquare(counts).pvalue > 1e-4
    two = BlockBootstrap(np.column_stack((series, -series)), horizon=3, block=3)
    joint = two(np.random.default_rng(0), 7)
    np.testing.assert_array_equal(joint[:, 0::2], -joint[:, 1::2])
    m = pyo.ConcreteModel()
    m.w = RandomParam([0, 1, 2], ["up", "down"], sampler=two)
    assert m.w.column((1, "down")) == 3


def test_wrong_series_are_refused():
    with pytest.raises(DataError, match="finite numbers"):
        BlockBootstrap([1.0, np.nan], horizon=2)
    with pytest.raises(DataError, match="block=4"):
        BlockBootstrap([1.0, 2.0], horizon=2, block=4)
