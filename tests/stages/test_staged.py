"""Runs in stages: what is drawn, what is certified, when they end."""

import itertools
import time

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st
from pyomo.opt import TerminationCondition as TC

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.interface.options.table import validated
from pyomo_stochsqp.method import Stop
from pyomo_stochsqp.sample import rows as rows_of_samples
from pyomo_stochsqp.solve import prepare
from tests.interface.models import tilting

TILT = np.sqrt(3.0) - 1.0


def run(m, **options):
    setup = prepare(m, validated({"seed": 1, **options}))
    return setup, setup.run()


def states(m, **options):
    """All states of a run."""
    setup = prepare(m, validated({"seed": 1, **options}))
    seen = []
    setup.run([lambda progress: seen.append(progress.state)])
    return setup, seen


def normal_sampler(rng, size):
    return 1 + rng.standard_normal((size, 1))


def mean_of(w):
    """min E(x - w)^2."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=5.0)
    m.w = w
    m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    return m


def test_every_certificate_is_made_on_scenarios_that_no_solve_has_seen():
    """A stage's sample is drawn when the point is certified; samples never repeat a number."""
    setup, seen = states(tilting())
    opened = [b for a, b in itertools.pairwise(seen) if b.stage > a.stage]
    assert [s.stage for s in opened] == list(range(1, len(opened) + 1))
    assert all(s.certificate is not None and s.certificate.scenarios == s.scenarios for s in opened)
    drawn = [setup.method._draw(s).samples[0].payload.batches for s in opened]
    values = [np.concatenate([f.ravel() for f in d[0].parts[0]]) for d in drawn]
    # Sobol' points have 30 bits, so that two of 80,000 may meet by chance
    assert len(np.unique(np.concatenate(values))) >= sum(v.size for v in values) - 10


def test_a_run_ends_with_the_first_certificate_that_meets_the_tolerances():
    setup, seen = states(tilting())
    last = seen[-1]
    assert last.ended is Stop.CONVERGED
    assert setup.tolerances.met(last.certificate)
    assert not any(
        s.certificate is not None and setup.tolerances.met(s.certificate) for s in seen[:-1]
    )


def test_looks_that_count_need_more_confidence_each():
    _, seen = states(tilting(), tol_feas=3e-5, tol_opt=3e-5)
    for state in seen:
        if state.certificate is not None and state.looks:
            assert state.certificate.confidence <= 1 - 0.05 * 6 / (np.pi * state.looks) ** 2 + 1e-12


def test_the_answer_uses_everything_that_was_drawn():
    """The mean of all samples' solutions: with 64 seeds its error has the size that all scenarios
    together allow, not that of the last sample."""
    errors, drawn = [], []
    for seed in range(64):
        m = mean_of(RandomParam(sampler=normal_sampler))
        _, outcome = run(m, seed=seed, tol_opt=1e-2)
        errors.append(outcome.best.x[0] - 1.0)
        drawn.append(outcome.state.samples)
    efficiency = 1.0 / np.mean(np.square(errors) * drawn)
    # one is the limit; a mean of 64 squares is known to within a third
    assert 0.66 < efficiency < 1.5


def test_samplers_are_asked_for_no_more_than_is_counted():
    asked = []

    def sampler(rng, size):
        asked.append(size)
        return normal_sampler(rng, size)

    m = mean_of(RandomParam(sampler=sampler))
    probing = sum(asked)
    _, outcome = run(m, tol_opt=1e-2)
    # 32 pairs for the spread of single scenarios: at the start, and for every certificate, of
    # which the last one is made twice
    spreads = 2 * 32 * (len(outcome.certificates) + 2)
    assert sum(asked) - probing <= outcome.state.samples + spreads


@pytest.mark.parametrize("size", [9_000, 100_000, 100_001])
def test_a_table_ends_with_the_whole_table(size):
    w = np.random.default_rng(0).standard_normal(size)
    _, seen = states(mean_of(RandomParam(data=w)))
    last = seen[-1]
    assert last.ended is Stop.CONVERGED and last.exact
    assert last.certificate.exact and last.scenarios == size
    assert last.x[0] == pytest.approx(w.mean(), abs=1e-9)


def test_stages_of_a_table_are_parts_of_each_other():
    m = mean_of(RandomParam(data=np.arange(100_000.0)))
    setup = prepare(m, validated({"seed": 3}))
    sizes = setup.method._finite
    rows = [set(setup.method._oracle.draw_prefix(s).payload.batches[0].parts[0].tolist())
            for s in sizes[:-1]]  # fmt: skip
    assert len(rows) == 2 and rows[0] < rows[1]


def test_a_model_without_randomness_has_one_stage():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=3.0)
    m.obj = pyo.Objective(expr=(m.x - 1) ** 4 + m.x**2)
    _, seen = states(m)
    assert {s.stage for s in seen} == {0}
    assert seen[-1].samples == 0


def test_weighted_tables_keep_their_weights():
    rng = np.random.default_rng(5)
    w, p = rng.standard_normal(20_000), rng.random(20_000)
    _, outcome = run(mean_of(RandomParam(data=w, weights=p / p.sum())))
    assert outcome.stop is Stop.CONVERGED
    assert outcome.best.x[0] == pytest.approx(np.average(w, weights=p), abs=1e-9)


def test_samples_that_do_not_fit_memory_give_the_same_answer(monkeypatch):
    _, kept = run(tilting(), tol_feas=1e-4, tol_opt=1e-4)
    monkeypatch.setattr(rows_of_samples, "KEPT_NUMBERS", 10_000)
    _, drawn_again = run(tilting(), tol_feas=1e-4, tol_opt=1e-4)
    assert drawn_again.stop is kept.stop is Stop.CONVERGED
    # the same scenarios, summed in another order; only what is in memory is pooled at the end
    assert drawn_again.best.x == pytest.approx(kept.best.x, rel=1e-4)
    assert drawn_again.state.stage == kept.state.stage


def test_limits_that_were_set_are_kept():
    for limit in (5_000, 50_000, 300_000):
        _, outcome = run(tilting(), tol_feas=1e-7, tol_opt=1e-7, max_samples=limit)
        assert outcome.stop is Stop.SAMPLE_LIMIT
        assert outcome.state.samples <= limit
    _, outcome = run(tilting(), tol_feas=1e-7, tol_opt=1e-7, max_iter=3)
    assert outcome.stop is Stop.ITERATION_LIMIT and outcome.state.k == 3


@pytest.mark.parametrize("limit", [0.2, 1.0])
def test_the_time_limit_is_kept(limit):
    m = mean_of(RandomParam(sampler=normal_sampler))
    began = time.perf_counter()
    results = pyo.SolverFactory("stochsqp").solve(m, tol_opt=1e-7, time_limit=limit)
    took = time.perf_counter() - began
    assert results.solver.termination_condition == TC.maxTimeLimit
    assert took <= 1.1 * limit + 0.5
    assert m.x.value == pytest.approx(1.0, abs=0.1)


def test_a_limit_leaves_the_best_certified_point():
    _, outcome = run(tilting(), tol_feas=1e-7, tol_opt=1e-7, max_samples=300_000)
    assert outcome.best is not None
    assert outcome.best.x[0] == pytest.approx(TILT, abs=outcome.best.displacement[0])
    assert outcome.best.displacement[0] < 1e-3


def many_rows(m=60):
    """Nonlinear moment conditions, one per variable: E exp(w x_i) = exp(t_i + t_i^2/2)."""
    model = pyo.ConcreteModel()
    t = np.linspace(0.1, 0.7, m)
    model.x = pyo.Var(range(m), initialize=0.4)
    model.w = RandomParam(distribution=st.norm(1, 1))
    model.obj = pyo.Objective(expr=sum(model.x[i] ** 2 for i in range(m)))

    @model.Constraint(range(m))
    def moment(model, i):
        return E(pyo.exp(model.x[i] * model.w)) == np.exp(t[i] + t[i] ** 2 / 2)

    return model, t


def test_algorithm_1_comes_first_where_it_pays():
    model, t = many_rows()
    _, seen = states(model)
    assert seen[0].phase == "sampled" and seen[-1].ended is Stop.CONVERGED
    assert seen[-1].x == pytest.approx(t, rel=5e-3)
    _, few = states(tilting())
    assert few[0].phase != "sampled"


@pytest.mark.parametrize("wanted", [True, False])
def test_the_sampled_phase_is_the_users_choice(wanted):
    _, seen = states(tilting(), sampled_phase=wanted)
    assert (seen[0].phase == "sampled") is wanted
    assert seen[-1].ended is Stop.CONVERGED
    assert seen[-1].x[0] == pytest.approx(TILT, rel=3e-3)


def test_a_saddle_is_left():
    """min E[(x^2 - w)^2] from 0, a maximum: the minima are +-sqrt(E w)."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(distribution=st.norm(4, 1))
    m.obj = pyo.Objective(expr=E((m.x**2 - m.w) ** 2))
    _, outcome = run(m)
    assert outcome.stop is Stop.CONVERGED
    assert abs(outcome.best.x[0]) == pytest.approx(2.0, rel=3e-3)


def test_an_unbounded_model_is_named_so():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.w = RandomParam(distribution=st.norm(1, 1))
    m.obj = pyo.Objective(expr=E(m.w * m.x))
    assert run(m)[1].stop is Stop.UNBOUNDED


def test_rows_that_only_noise_makes_contradictory_are_relaxed():
    """Two redundant rows over different samples of one mean: no x satisfies both exactly."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.0)
    for name in ("v", "w"):
        m.add_component(name, RandomParam(sampler=normal_sampler))
    m.one = pyo.Constraint(expr=E(m.v) * m.x[0] + m.x[1] == 2)
    m.two = pyo.Constraint(expr=E(m.w) * m.x[0] + m.x[1] == 2)
    m.obj = pyo.Objective(expr=m.x[0] ** 2 + m.x[1] ** 2)
    _, outcome = run(m, tol_feas=1e-2, tol_opt=1e-2)
    assert outcome.stop is not Stop.LOCALLY_INFEASIBLE
    if outcome.stop is Stop.CONVERGED:
        assert outcome.best.x.sum() == pytest.approx(2.0, abs=0.1)
