"""The functionals have the values that NumPy gives, over tables, distributions and scenarios."""

import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import (
    Correlation,
    Covariance,
    CVaR,
    E,
    Entropic,
    Probability,
    Quantile,
    RandomParam,
    SemiDeviation,
    Std,
    Variance,
    evaluate,
    positive_part,
    smooth_abs,
    smooth_max,
    smooth_min,
)
from pyomo_stochsqp.declare import to_latex
from pyomo_stochsqp.errors import ModelError

ROWS = np.random.default_rng(0).normal([1.0, 2.0], [0.5, 1.0], (4000, 2))
X = np.array([0.7, 0.4])
P = ROWS @ X

#: (functional of a portfolio p and a number r, the same of NumPy arrays)
MOMENTS = [
    (lambda p, r: Variance(p), lambda p, r: p.var()),
    (lambda p, r: Std(p), lambda p, r: p.std()),
    (lambda p, r: Covariance(p, r), lambda p, r: np.cov(p, r, ddof=0)[0, 1]),
    (lambda p, r: Correlation(p, r), lambda p, r: np.corrcoef(p, r)[0, 1]),
    (lambda p, r: Entropic(p, 2.0), lambda p, r: np.log(np.exp(2 * p).mean()) / 2),
    (lambda p, r: E(p) / E(r * p), lambda p, r: p.mean() / (r * p).mean()),
    (lambda p, r: pyo.log(E(pyo.exp(p - E(p)))), lambda p, r: np.log(np.exp(p - p.mean()).mean())),
    (lambda p, r: E((p - E(p)) ** 4) / Variance(p) ** 2, lambda p, r: st.kurtosis(p) + 3),
    (lambda p, r: E(r * E(p * E(r))), lambda p, r: r.mean() * p.mean() * r.mean()),
]
#: (..., the error that rounding kinks off over 2 % of the spread may make): a quarter of it at most
TAILS = [
    (lambda p, r: Quantile(p, 0.9), lambda p, r: np.quantile(p, 0.9), 0.01),
    (lambda p, r: CVaR(p, 0.9), lambda p, r: np.sort(p)[-400:].mean(), 1e-3),
    (lambda p, r: Probability(p <= 1.6), lambda p, r: (p <= 1.6).mean(), 2e-3),
    (lambda p, r: Probability(p >= 1.6), lambda p, r: (p >= 1.6).mean(), 2e-3),
    (lambda p, r: SemiDeviation(p), lambda p, r: np.maximum(p - p.mean(), 0).mean(), 1e-4),
    (
        lambda p, r: SemiDeviation(p, 2),
        lambda p, r: np.sqrt((np.maximum(p - p.mean(), 0) ** 2).mean()),
        1e-5,
    ),
]


@pytest.fixture
def m():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=dict(enumerate(X)))
    m.w = RandomParam([0, 1], data=ROWS)
    return m


def portfolio(m):
    return m.w[0] * m.x[0] + m.w[1] * m.x[1]


@pytest.mark.parametrize(("functional", "numpy"), MOMENTS)
def test_moments_over_a_table(m, functional, numpy):
    found = pyo.value(functional(portfolio(m), m.w[0]))
    assert found == pytest.approx(numpy(P, ROWS[:, 0]), rel=1e-10)


@pytest.mark.parametrize(("functional", "numpy", "error"), TAILS)
def test_tails_over_a_table(m, functional, numpy, error):
    found = pyo.value(functional(portfolio(m), m.w[0]))
    assert found == pytest.approx(numpy(P, ROWS[:, 0]), abs=error)


@pytest.mark.parametrize("weighted", [False, True])
def test_over_scenarios_as_over_a_table(weighted):
    """Blocks, lists and mappings, with probabilities or without."""
    rows = ROWS[:50]
    probabilities = np.linspace(1, 2, 50) / np.linspace(1, 2, 50).sum() if weighted else None
    table = pyo.ConcreteModel()
    table.x = pyo.Var([0, 1], initialize=dict(enumerate(X)))
    table.w = RandomParam([0, 1], data=rows, weights=probabilities)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=dict(enumerate(X)))

    @m.Block(range(50))
    def s(b, i):
        b.p = pyo.Expression(expr=rows[i, 0] * m.x[0] + rows[i, 1] * m.x[1])
        b.r = pyo.Expression(expr=rows[i, 0])

    given = {} if probabilities is None else {"weights": dict(enumerate(probabilities))}
    p = portfolio(table)
    for one, two in [
        (Variance(p), Variance(m.s[:].p, **given)),
        (Std(p), Std([m.s[i].p for i in range(50)], **given)),
        (Covariance(p, table.w[0]), Covariance(m.s[:].p, m.s[:].r, **given)),
        (Correlation(p, table.w[0]), Correlation(m.s[:].p, m.s[:].r, **given)),
        (Entropic(p, 2.0), Entropic(m.s[:].p, 2.0, **given)),
        (CVaR(p, 0.8), CVaR(m.s[:].p, 0.8, **given)),
        (Quantile(p, 0.81), Quantile({i: m.s[i].p for i in range(50)}, 0.81, **given)),
        (SemiDeviation(p), SemiDeviation(m.s[:].p, **given)),
        (Probability(p - 1.5), Probability([m.s[i].p - 1.5 for i in range(50)], **given)),
    ]:
        assert pyo.value(two) == pytest.approx(pyo.value(one), rel=1e-9)


NORMAL = st.norm(2.0, 3.0)


@pytest.mark.parametrize(
    ("functional", "exact"),
    [
        (lambda w: Variance(w), 9.0),
        (lambda w: Entropic(w, 0.2), 2.0 + 0.1 * 9.0),
        (lambda w: Quantile(w, 0.95), NORMAL.ppf(0.95)),
        (lambda w: CVaR(w, 0.95), 2.0 + 3.0 * st.norm.pdf(st.norm.ppf(0.95)) / 0.05),
        (lambda w: CVaR(w, 0.99), 2.0 + 3.0 * st.norm.pdf(st.norm.ppf(0.99)) / 0.01),
        (lambda w: SemiDeviation(w), 3.0 / np.sqrt(2 * np.pi)),
        (lambda w: SemiDeviation(w, 2), 3.0 / np.sqrt(2)),
        (lambda w: Probability(w <= 4.0), NORMAL.cdf(4.0)),
        (lambda w: E(abs(w - 2.0)), 3.0 * np.sqrt(2 / np.pi)),
        (lambda w: E(positive_part(w - 2.0)), 3.0 / np.sqrt(2 * np.pi)),
    ],
)
def test_over_a_normal_number(functional, exact):
    """2^14 evenly spread scenarios, and kinks rounded off: three digits."""
    m = pyo.ConcreteModel()
    m.w = RandomParam(distribution=NORMAL)
    assert pyo.value(functional(m.w)) == pytest.approx(exact, rel=1e-3)


def test_large_means_cost_no_digits():
    """E[w^2] - E[w]^2 has no digit left here."""
    m = pyo.ConcreteModel()
    rows = 1e9 + ROWS[:, 0]
    m.w = RandomParam(data=rows)
    assert pyo.value(Variance(m.w)) == pytest.approx(rows.var(), rel=1e-6)
    assert pyo.value(Entropic(m.w, 2.0) - 1e9) == pytest.approx(
        np.log(np.exp(2 * (rows - 1e9)).mean()) / 2, rel=1e-5
    )


def test_kinks_rounded_off():
    z = np.linspace(-5, 5, 1001)
    for width in (1e-3, 0.1, 1.0):
        part = np.array([positive_part(float(v), width) for v in z])
        assert (part >= np.maximum(z, 0) - 1e-15).all()
        assert (part - np.maximum(z, 0)).max() == pytest.approx(3 * width / 16)
        assert smooth_abs(0.0, width) == pytest.approx(3 * width / 8)
    assert smooth_max(1.0, 3.0, 2.0, width=1e-6) == pytest.approx(3.0)
    assert smooth_min(1.0, 3.0, 2.0, width=1e-6) == pytest.approx(1.0)


def test_a_fixed_random_parameter_reaches_inner_expectations(m):
    m.v = RandomParam(data=np.arange(4.0))
    e = E(m.v * E(m.w[0]))
    assert pyo.value(e) == pytest.approx(1.5 * ROWS[:, 0].mean())
    m.w.fix_to([3.0, 0.0])
    assert pyo.value(e) == pytest.approx(4.5)
    assert pyo.value(Variance(m.v * E(m.w[0]))) == pytest.approx(9 * 1.25)


def test_evaluate_gives_errors_by_the_delta_method():
    """The ratio of two means, over 100 seeds: 90 % of 90 % intervals, give or take 9."""
    m = pyo.ConcreteModel()
    m.w = RandomParam([0, 1], sampler=lambda rng, n: rng.normal([1.0, 2.0], [0.5, 1.0], (n, 2)))
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=m.x * E(m.w[1] ** 2) / E(m.w[0]))
    inside = 0
    for seed in range(100):
        low, high = evaluate(m, samples=1024, seed=seed, confidence=0.9)["obj"].interval
        inside += low <= 5.0 <= high
    assert 81 <= inside <= 99


# -- as parts of models ---------------------------------------------------------------------------


def test_names_and_latex(m):
    p = portfolio(m)
    m.obj = pyo.Objective(expr=Std(p) - E(p))
    m.risk = pyo.Constraint(expr=CVaR(-p, 0.9) <= 1)
    m.chance = pyo.Constraint(expr=Probability(p >= 0) >= 0.9)
    assert str(m.obj.expr) == "Std[w[0]*x[0] + w[1]*x[1]] - E[w[0]*x[0] + w[1]*x[1]]"
    assert str(m.risk.body) == "CVaR[- (w[0]*x[0] + w[1]*x[1]), 0.9]"
    assert "P[" in str(m.chance.body)
    text = to_latex(m)
    assert r"\mathrm{Std}" in text and r"\mathrm{CVaR}_{0.9}" in text and r"\mathrm{P}" in text


def test_copies_are_models_of_their_own(m):
    m.obj = pyo.Objective(expr=CVaR(-portfolio(m), 0.9) + m.x[0] ** 2 + m.x[1] ** 2)
    before = pyo.value(m.obj)
    for other in (m.clone(), pickle.loads(pickle.dumps(m))):
        assert pyo.value(other.obj) == pytest.approx(before, rel=1e-12)
        other.x[0].set_value(0.0)
        assert pyo.value(other.obj) != pytest.approx(before, rel=1e-3)
        assert pyo.value(m.obj) == before


def test_the_value_of_a_nested_expectation_is_linear_in_the_data():
    """The inner mean once, not once for every row: 40 times the rows, far less than 1600 times."""
    terms = {}
    for n in (50, 2000):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(initialize=1.0)
        m.w = RandomParam(data=np.arange(float(n)))
        average = Variance(m.w * m.x).args[0].args[0]
        seen, stack = 0, [average]
        known = set()
        while stack:
            e = stack.pop()
            if hasattr(e, "args") and id(e) not in known:
                known.add(id(e))
                seen += 1
                stack.extend(e.args)
        terms[n] = seen
    assert terms[2000] <= 45 * terms[50]


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda w: CVaR(w, 95), ("level=95", "between 0 and 1")),
        (lambda w: Quantile(w, 0.0), ("level=0.0",)),
        (lambda w: Quantile(w, 0.9, width=-1.0), ("width=-1.0", "positive")),
        (lambda w: Entropic(w, -1.0), ("theta", "positive")),
        (lambda w: SemiDeviation(w, 3), ("order",)),
        (lambda w: Probability(w == 1.0), ("one inequality",)),
        (lambda w: Variance(w, weights=[1.0]), ("weights=", "explicit scenarios")),
        (lambda w: Covariance(w, [1.0, 2.0]), ("cannot be averaged together",)),
    ],
)
def test_mistakes(m, build, words):
    with pytest.raises(ModelError) as caught:
        build(m.w[0])
    assert all(word in str(caught.value) for word in words), caught.value


def test_scenarios_must_be_the_same():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.obj = pyo.Objective(expr=Covariance([m.x, 2 * m.x], [m.x, m.x, m.x]))
    with pytest.raises(ModelError, match="not the same scenarios"):
        pyo.value(m.obj)


def test_a_certain_chance_is_refused(m):
    m.obj = pyo.Objective(expr=m.x[0])
    m.sure = pyo.Constraint(expr=Probability(portfolio(m) >= 0) >= 1)
    with pytest.raises(ModelError, match="no chance constraint"):
        pyo.SolverFactory("stochsqp").solve(m)
