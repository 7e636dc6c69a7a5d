"""A pass that several share gives the same bits as that of one."""

from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from scipy import stats

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import STAGE_STREAM, estimates, whole_sample
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.oracles.passes import CurvatureTerms, MeanTerms, Share, share_of
from pyomo_stochsqp.pairwise import RunningSum
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.sample import rows as rows_of_samples

LIMITS = [64, 32]


def model():
    rng = np.random.default_rng(0)
    p = rng.random(3000)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize={0: 0.3, 1: 0.9})
    m.t = RandomParam([0, 1], data=rng.normal(1, 0.3, (3000, 2)), weights=p / p.sum())
    m.w = RandomParam(distribution=stats.norm(0, 1))
    m.obj = pyo.Objective(expr=E(pyo.exp(m.t[0] * m.x[0]) + m.t[1] * m.x[1] ** 2))
    m.row = pyo.Constraint(expr=E(pyo.log(2 + (m.x[0] - m.w) ** 2)) + pyo.sin(m.x[1]) <= 3)
    return m


@pytest.fixture
def oracle(monkeypatch):
    program = read_model(model())
    made = ModelOracle(program, compile_program(program), Sampler(program.sources, 1))
    monkeypatch.setattr(made, "_limits", LIMITS)
    return made


def divided(make, ranks):
    """The sums of processes that each see only their own terms."""
    count = sum(t.count for t in make())
    bounds = np.linspace(0, count, ranks + 1).astype(int)
    whole = Share([RunningSum() for _ in make()])
    for first, last in pairwise(bounds.tolist()):
        whole = whole.with_next(share_of(make(), first, last))
    return whole


@pytest.mark.parametrize("ranks", [2, 3, 4, 7])
def test_equal_bits_for_any_division(oracle, ranks):
    x, y = np.array([0.3, 0.9]), np.array([1.5])
    evaluator = oracle._evaluator

    def samples():
        sampler = Sampler(evaluator.program.sources, 1)
        fixed = sampler.replicates(STAGE_STREAM, 1, [200, 200], 3)
        return [fixed, sampler.replicate(fixed, 1), sampler.batch(0, 4, [1000, 10_000])]

    def means():
        return [MeanTerms(evaluator, s, LIMITS, x) for s in samples()]

    def curvatures():
        return [CurvatureTerms(evaluator, s, LIMITS, x, y) for s in samples()]

    for terms in (means, curvatures):
        alone = share_of(terms(), 0, sum(t.count for t in terms()))
        together = divided(terms, ranks)
        for a, b in zip(alone.sums, together.sums, strict=True):
            assert np.array_equal(a.total(), b.total())


def test_estimates_of_several_samples_are_those_of_each(oracle):
    x = np.array([0.3, 0.9])
    drawn = oracle.draw_replicates(STAGE_STREAM, 1, [200, 40], 3)
    for one, other in zip(
        estimates(oracle, x, drawn.parts, True),
        [oracle.estimate(x, part, True) for part in drawn.parts],
        strict=True,
    ):
        assert one.f == other.f and np.array_equal(one.J, other.J)
    pooled = oracle.estimate(x, drawn.pooled[0], True)
    mean = np.mean([e.f for e in estimates(oracle, x, drawn.parts, True)])
    assert pooled.f == pytest.approx(mean, rel=1e-12)


def test_what_is_drawn_again_gives_the_same_bits(oracle, monkeypatch):
    x, y = np.array([0.3, 0.9]), np.array([1.5])
    kept = oracle.draw_replicates(STAGE_STREAM, 1, [3000, 10_000], 2).pooled[0]
    before = oracle.estimate(x, kept, True), oracle.hessian(x, y, kept)
    assert kept.kept
    monkeypatch.setattr(rows_of_samples, "KEPT_NUMBERS", 100)
    oracle._sampler = Sampler(oracle._evaluator.program.sources, 1)
    again = oracle.draw_replicates(STAGE_STREAM, 1, [3000, 10_000], 2).pooled[0]
    assert not again.kept
    after = oracle.estimate(x, again, True), oracle.hessian(x, y, again)
    assert before[0].f == after[0].f and np.array_equal(before[0].J, after[0].J)
    assert np.array_equal(before[1], after[1])


def test_the_first_trouble_counts_whoever_meets_it(monkeypatch):
    """Rows 700 and 2100 of the table are outside the domain; different processes meet them."""
    data = np.full(3000, 5.0)
    data[[700, 2100]] = -5.0
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.t = RandomParam(data=data)
    m.obj = pyo.Objective(expr=E(pyo.log(m.x + m.t)))
    program = read_model(m)
    oracle = ModelOracle(program, compile_program(program, jit=False), Sampler(program.sources, 1))
    monkeypatch.setattr(oracle, "_limits", [100])
    sample = whole_sample(oracle)

    def terms():
        return [MeanTerms(oracle._evaluator, sample.payload, [100], np.array([1.0]))]

    for ranks in (1, 2, 3, 30):
        j, v, issue = divided(terms, ranks).issue
        assert (j, v, issue.scenario) == (0, 7, 700)
    made = estimates(oracle, np.array([1.0]), [sample, sample])
    assert len(made) == 1 and made[0].issue.scenario == 700
