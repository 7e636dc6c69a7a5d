"""A run is continued with the problem it was made for, or not at all."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
import scipy.stats as st
from pyomo.contrib.solver.common.factory import SolverFactory

from pyomo_stochsqp import CVaR, E, RandomParam, RandomSource
from pyomo_stochsqp.compile import fingerprint
from pyomo_stochsqp.errors import CheckpointError
from tests.interface.models import WHATEVER_THE_END

TABLE = np.random.default_rng(1).normal(size=(200, 2))


def build(table=TABLE, weights=None, scale=1.0, level=0.9):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-4, 4), initialize=0.5)
    m.far = pyo.Var(bounds=(0, 9), initialize=1)
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.fixed = pyo.Var(initialize=3.0)
    m.fixed.fix()
    m.w = RandomParam([0, 1], data=table, weights=weights)
    m.v = RandomParam(distribution=st.norm(0, scale))
    m.cost = pyo.Objective(
        expr=E(pyo.exp(0.1 * m.x[0] * m.w[0]) + (m.x[1] - m.w[1]) ** 2 + m.fixed * m.far**2)
        + E((m.x[0] - m.v) ** 2)
    )
    m.balance = pyo.Constraint(expr=E(m.w[0] * m.x[0] + m.x[1]) + m.far >= -5)
    m.limit = pyo.Constraint(expr=m.x[0] + m.p * m.x[1] <= 50)
    m.risk = pyo.Constraint(expr=CVaR((m.x[0] - m.w[0]) ** 2, level) <= 1e4)
    m.scenario = pyo.Block(range(5), rule=lambda b, s: _scenario(m, b, s))
    m.spread = pyo.Constraint(expr=E(m.scenario[:].part) <= 1e3)
    return m


def _scenario(m, b, s):
    b.demand = pyo.Param(initialize=s, mutable=True)
    b.part = pyo.Expression(expr=(m.x[0] - b.demand) ** 2)


def solve(m, **options):
    solver = SolverFactory("stochsqp")
    solver.config.set_value(WHATEVER_THE_END)
    return solver.solve(m, **options)


def other_rows(row):
    table = TABLE.copy()
    table[row] += 1e-6
    return table


def changed(change):
    def model():
        m = build()
        change(m)
        return m

    return model


CHANGES = {
    r"the bounds of variable 'x\[1\]' changed": lambda m: m.x[1].setub(3.9),
    "the bounds of variable 'far' changed": lambda m: m.far.setlb(0.1),
    "the right-hand side of 'limit' changed": lambda m: m.limit.set_value(
        m.x[0] + m.p * m.x[1] <= 49
    ),
    "the right-hand side of 'balance' changed": lambda m: m.balance.set_value(
        (-5, m.balance.body, 60)
    ),
    "the expression of 'limit' or a number in it": lambda m: m.p.set_value(2.5),
    "the expression of 'cost' or a number in it": lambda m: m.fixed.set_value(4.0),
    r"the data of 'scenario.*'|the expression of 'spread'": lambda m: m.scenario[
        3
    ].demand.set_value(3.1),
    "the sense of the objective was 'minimise'": lambda m: m.cost.set_sense(pyo.maximize),
}
MODELS = [
    *((changed(change), complaint) for complaint, change in CHANGES.items()),
    (lambda: build(other_rows(0)), "the data of 'w' changed"),
    (lambda: build(other_rows(199)), "the data of 'w' changed"),
    (lambda: build(weights=np.linspace(1, 2, 200) / 300), "the weights of 'w'|was|numbers"),
    (lambda: build(scale=1.01), "the distribution of 'v' changed"),
    (lambda: build(level=0.91), "the expression of"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "run.npz"
    solve(build(), checkpoint=path, seed=1, max_iter=1)
    return path


@pytest.mark.parametrize(("model", "complaint"), MODELS)
def test_any_change_is_refused_by_name(saved, model, complaint):
    with pytest.raises(CheckpointError, match=complaint):
        solve(model(), resume=saved, max_iter=4)


def test_the_same_problem_is_continued_whatever_the_values_of_its_variables(saved):
    m = build(TABLE.copy())
    m.x[0].set_value(-3.0)
    results = solve(m, resume=saved, max_iter=99)
    np.testing.assert_array_equal(results.history.table, solve(build(), seed=1).history.table)


def test_a_changed_scaling_factor_is_refused(saved):
    m = build()
    m.scaling_factor = pyo.Suffix(direction=pyo.Suffix.EXPORT)
    m.scaling_factor[m.limit] = 10.0
    with pytest.raises(CheckpointError, match="the suffix scaling_factor"):
        solve(m, resume=saved)


def test_tables_of_all_kinds_have_digests(tmp_path):
    rows = np.random.default_rng(2).normal(size=(3000, 40))
    kinds = [rows, np.asfortranarray(rows), rows[::-1][::-1]]
    assert len({fingerprint.of_table(table) for table in kinds}) == 1
    assert fingerprint.of_table(rows.astype(np.float32)) != fingerprint.of_table(rows)
    sparse = sp.csr_array(np.where(rows > 1, rows, 0.0))
    before = fingerprint.of_table(sparse)
    sparse.data[-1] += 1.0
    assert fingerprint.of_table(sparse) != before
    assert fingerprint.of_table(np.empty((0, 3))) != fingerprint.of_table(np.empty((0, 4)))


def in_a_file(path):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam([0, 1], data=np.load(path, mmap_mode="r"))
    m.cost = pyo.Objective(expr=E((m.x - m.w[0]) ** 4 + m.w[1] * m.x))
    return m


def test_of_tables_in_files_stretches_are_read(tmp_path):
    table = np.random.default_rng(5).normal(size=(400_000, 2))
    np.save(tmp_path / "data.npy", table)
    solve(in_a_file(tmp_path / "data.npy"), checkpoint=tmp_path / "run.npz", seed=1, max_iter=1)
    for rows in (slice(0, 1), slice(399_999, None), slice(50_000, 90_000)):
        other = table.copy()
        other[rows] += 1.0
        np.save(tmp_path / "data.npy", other)
        with pytest.raises(CheckpointError, match="the data of 'w' changed"):
            solve(in_a_file(tmp_path / "data.npy"), resume=tmp_path / "run.npz")


def counting(source, **options):
    """The history of a run that changes over to machine code on its way."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=0.5)
    m.w = RandomParam(range(3), data=TABLE[:, [0, 1, 0]], source=RandomSource(source))
    m.cost = pyo.Objective(expr=E(sum((pyo.exp(m.x[j]) - m.w[j]) ** 2 for j in range(3))))
    m.row = pyo.Constraint(expr=E(sum(m.x[j] * m.w[j] for j in range(3))) == 0.1)
    return solve(m, algorithm="stochsqp", batch_growth="constant", seed=3, **options)


def test_a_resumed_run_changes_over_to_machine_code_where_the_first_one_did(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("pyomo_stochsqp.compile.evaluator.JIT_AFTER", 4e-4)
    path = tmp_path / "run.npz"
    whole = counting("a", max_iter=60, checkpoint=tmp_path / "other.npz", checkpoint_every=1)
    never = counting("a", max_iter=60, jit=False)
    assert not np.array_equal(whole.history.table, never.history.table)
    differ = np.flatnonzero((whole.history.table != never.history.table).any(axis=1))[0]
    for stop in (differ - 2, differ, differ + 2, 55):
        counting("a", max_iter=int(stop), checkpoint=path)
        resumed = counting("a", max_iter=60, resume=path)
        np.testing.assert_array_equal(resumed.history.table, whole.history.table)


def test_two_solves_of_one_solver_change_over_at_the_same_iteration(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr("pyomo_stochsqp.compile.evaluator.JIT_AFTER", 4e-4)
    m = build()
    solver = SolverFactory("stochsqp")
    solver.config.set_value({**WHATEVER_THE_END, "load_solutions": False})
    options = {"seed": 1, "max_iter": 40, "algorithm": "stochsqp", "tol_opt": 1e-12}
    runs = [solver.solve(m, **options) for _ in range(2)]
    np.testing.assert_array_equal(runs[0].history.table, runs[1].history.table)
