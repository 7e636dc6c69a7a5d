"""Scenarios whose numbers are in files: what is read when, how often, and what is kept."""

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracle import whole_sample
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler, reading, rows, sampler

N = 40_000


class Watched:
    """A row reader that remembers what was read."""

    scans = False

    def __init__(self, table, scans=False):
        self._table = table
        self.shape = table.shape
        self.scans = scans
        self.blocks, self.taken = [], []

    def read(self, start, stop):
        self.blocks.append((start, stop))
        return self._table[start:stop]

    def take(self, numbers):
        assert (np.diff(numbers) > 0).all()
        self.taken.append(numbers.copy())
        return self._table[numbers]


def table():
    return np.random.default_rng(0).normal(size=(N, 2))


def oracle_of(data, weights=None, **options):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.5)
    m.w = RandomParam(range(2), data=data, weights=weights)
    m.obj = pyo.Objective(expr=E(pyo.exp(m.w[0] * m.x[0]) + (m.w[1] - m.x[1]) ** 2))
    program = read_model(m)
    drawn = Sampler(program.sources, 1, **options)
    return ModelOracle(program, compile_program(program, jit=False), drawn)


def estimates(oracle, sample):
    e = oracle.estimate(np.array([0.3, 0.2]), sample, True)
    return np.concatenate((e.g, [e.f]))


@pytest.mark.parametrize("batch", [1, 48, 64, 3000, 20_000])
@pytest.mark.parametrize("options", [{}, {"method": "sobol"}, {"replacement": True}], ids=str)
def test_batches_have_the_rows_that_tables_in_memory_have(batch, options):
    expected, found = oracle_of(table(), **options), oracle_of(Watched(table()), **options)
    for k in (0, 1, 5, 63, 64, 65, 2, 300):
        a = estimates(expected, expected.draw(0, k, [batch]))
        b = estimates(found, found.draw(0, k, [batch]))
        np.testing.assert_allclose(b, a, rtol=1e-13)


def test_weights_decide_which_rows_are_drawn():
    p = np.random.default_rng(1).random(N)
    p /= p.sum()
    expected, found = oracle_of(table(), p), oracle_of(Watched(table()), p)
    samples = (lambda o: o.draw(0, 3, [64]), lambda o: o.draw_prefix([9000]), whole_sample)
    for draw in samples:
        a, b = estimates(expected, draw(expected)), estimates(found, draw(found))
        np.testing.assert_allclose(b, a, rtol=1e-12)


def test_small_batches_are_read_a_block_at_a_time():
    reader = Watched(table())
    oracle = oracle_of(reader)
    reader.taken.clear()
    for k in range(32):
        estimates(oracle, oracle.draw(0, k, [64]))
    assert len(reader.taken) == 1  # 64 iterations; the next ones once half of them are through
    for k in range(32, 128):
        estimates(oracle, oracle.draw(0, k, [64]))
    assert len(reader.taken) in (2, 3)


def test_where_single_rows_cost_a_pass_many_iterations_are_read_together():
    reader = Watched(table(), scans=True)
    oracle = oracle_of(reader)
    reader.taken.clear()
    for k in range(1024):
        assert oracle.draw(0, k, [64]).payload.batches[0].size == 64
    assert len(reader.taken) == 1


def test_a_sample_that_fits_is_read_once():
    reader = Watched(table())
    oracle = oracle_of(reader)
    whole, prefix = whole_sample(oracle), oracle.draw_prefix([20_000])
    reader.blocks.clear(), reader.taken.clear()
    for _ in range(3):
        estimates(oracle, prefix), estimates(oracle, whole)
        oracle.hessian(np.array([0.3, 0.2]), np.zeros(0), prefix)
    assert sum(map(len, reader.taken)) == 20_000
    assert sum(stop - start for start, stop in reader.blocks) == N


def test_a_sample_that_does_not_fit_is_read_again_piece_by_piece(monkeypatch):
    reader = Watched(table())
    expected, found = oracle_of(table()), oracle_of(reader)
    monkeypatch.setattr(reading, "KEPT_NUMBERS", 10_000)
    reader.blocks.clear()
    for _ in range(2):
        a, b = estimates(expected, whole_sample(expected)), estimates(found, whole_sample(found))
        np.testing.assert_array_equal(b, a)
    assert sum(stop - start for start, stop in reader.blocks) == 2 * N
    assert max(stop - start for start, stop in reader.blocks) <= 8192
    for sample in (whole_sample(found), found.draw_prefix([30_000])):
        assert not sample.kept


def test_prefixes_that_do_not_fit_are_blocks_of_rows(monkeypatch):
    """Half of the table by 512 rows: a fair sample of a table whose rows are mixed, read once."""
    monkeypatch.setattr(rows, "BLOCK", 512)
    reader = Watched(table())
    oracle = oracle_of(reader)
    whole = estimates(oracle, whole_sample(oracle))
    monkeypatch.setattr(reading, "KEPT_NUMBERS", 1000)
    sample = oracle.draw_prefix([20_000])
    reader.blocks.clear(), reader.taken.clear()
    found = estimates(oracle, sample)
    np.testing.assert_allclose(found, whole, atol=0.05)
    single = sum(map(len, reader.taken))
    seen = sum(stop - start for start, stop in reader.blocks) + single
    assert seen == 20_000
    numbers = np.concatenate(
        [np.arange(N)[rows] if isinstance(rows, slice) else rows for rows in numbers_of(sample)]
    )
    assert np.unique(numbers).size == 20_000
    assert np.unique(numbers // 512).size <= 20_000 // 512 + 2


def numbers_of(sample):
    own = sample.payload.rows[0]
    return [own.batch(start, start + 1000)[1].numbers[0] for start in range(0, 20_000, 1000)]


def test_weighted_blocks_have_the_probabilities_of_their_rows(monkeypatch):
    monkeypatch.setattr(rows, "BLOCK", 512)
    monkeypatch.setattr(reading, "KEPT_NUMBERS", 1000)
    p = np.linspace(1.0, 3.0, N)
    p /= p.sum()
    sample = oracle_of(Watched(table()), p).draw_prefix([20_000])
    own = sample.payload.rows[0]
    total = 0.0
    for start in range(0, 20_000, 1000):
        share, batch = own.batch(start, start + 1000)
        assert batch.weights.sum() == pytest.approx(1.0)
        of = batch.numbers[0]
        of = np.arange(of.start, of.stop) if isinstance(of, slice) else of
        np.testing.assert_allclose(batch.weights, p[of] / p[of].sum())
        total += share
    assert total == pytest.approx(1.0)


def test_without_threads_pieces_are_read_in_turn(monkeypatch):
    """ulimit leaves no room for another thread."""
    monkeypatch.setattr(reading, "ThreadPoolExecutor", None)
    monkeypatch.setattr(reading, "address_space", lambda: 1e6)
    expected, found = oracle_of(table()), oracle_of(Watched(table()))
    for draw in (whole_sample, lambda o: o.draw(0, 40, [64])):
        a, b = estimates(expected, draw(expected)), estimates(found, draw(found))
        np.testing.assert_array_equal(b, a)


def test_a_limit_of_the_address_space_leaves_less_in_memory(monkeypatch):
    monkeypatch.setattr(reading, "address_space", lambda: 1e6)
    oracle = oracle_of(Watched(table()))
    assert not whole_sample(oracle).payload.kept
    monkeypatch.setattr(reading, "address_space", lambda: np.inf)
    assert whole_sample(oracle).payload.kept


def test_the_first_scenario_stands_in_for_a_source_that_is_through(monkeypatch):
    """Second derivatives of two sources of different size."""
    monkeypatch.setattr(reading, "KEPT_NUMBERS", 10)
    monkeypatch.setattr(sampler, "CHUNK", 1 << 13)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.5)
    a, b = table()[:, :1], table()[:9000, 1:]
    found = []
    for kind in (np.asarray, Watched):
        m.del_component("obj"), m.del_component("a"), m.del_component("b")
        m.a, m.b = RandomParam(data=kind(a)), RandomParam(data=kind(b))
        m.obj = pyo.Objective(expr=E(pyo.exp(m.a * m.x)) + E(pyo.exp(m.b * m.x)))
        program = read_model(m)
        drawn = Sampler(program.sources, 1)
        oracle = ModelOracle(program, compile_program(program, jit=False), drawn)
        found.append(oracle.hessian(np.array([0.3]), np.zeros(0), whole_sample(oracle)))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13)
