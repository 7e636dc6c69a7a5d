"""Samples by name: any part of one, drawn by anybody, is the same scenarios."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from pyomo_stochsqp.declare.program import Field, Part, Source
from pyomo_stochsqp.oracle import ITERATION_STREAM, PROBE_STREAM, STAGE_STREAM
from pyomo_stochsqp.sample import Cut, Sampler
from pyomo_stochsqp.sample import rows as rows_of_samples
from pyomo_stochsqp.sample.streams import CHUNK, costly_chunk


def normal(asked=None, costly=False):
    law = stats.norm()

    def draw(rng, size):
        if asked is not None:
            asked.append(size)
        return (rng.standard_normal((size, 2)),)

    if costly:
        return Part("simulator", (Field("w", 2),), draw=draw, costly=True)
    return Part(
        "normal", (Field("w", 2),), draw=draw, dimension=2, from_uniform=lambda u: (law.ppf(u),)
    )


def table(size, weights=None):
    field = Field("t", 1, np.arange(size, dtype=float)[:, None])
    return Part("table", (field,), size=size, weights=weights)


KINDS = {
    "Sobol": (lambda: [normal()], "auto"),
    "independent": (lambda: [normal()], "monte_carlo"),
    "a simulator": (lambda: [normal(costly=True)], "auto"),
    "a product": (lambda: [normal(), table(500)], "auto"),
    "a simulator and a table": (lambda: [normal(costly=True), table(500)], "auto"),
    "latin hypercube": (lambda: [normal()], "latin_hypercube"),
}


def numbers(batch):
    """All numbers of a batch, one line per scenario."""
    columns = []
    for part in batch.parts:
        columns += list(part) if isinstance(part, tuple) else [np.asarray(part)[:, None]]
    return np.hstack(columns)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [3, 40, CHUNK + 100])
def test_any_part_of_a_fixed_sample_is_drawn_by_itself(kind, size):
    parts, method = KINDS[kind]

    def rows():
        source = Source("s", tuple(parts()))
        sampler = Sampler([source], seed=4, method=method)
        return sampler.replicates(STAGE_STREAM, 2, [size], 5).rows[0]

    everything = rows()
    everything.hold(0, everything.count)
    whole = numbers(everything.batch(0, everything.count)[1])
    assert len(np.unique(whole[:, 0])) > 0.9 * len(whole)
    rng = np.random.default_rng(0)
    for held in (False, True):
        mine = rows()
        for _ in range(6):
            start, stop = np.sort(rng.choice(everything.count + 1, 2, replace=False))
            if held:
                mine.hold(start, stop)
            share, batch = mine.batch(start, stop)
            assert share == pytest.approx((stop - start) / everything.count)
            assert np.array_equal(numbers(batch), whole[start:stop])


def test_what_is_held_is_drawn_once_and_nothing_else_is_drawn():
    asked = []
    sampler = Sampler([Source("s", (normal(asked, costly=True),))], seed=4)
    sample = sampler.replicates(STAGE_STREAM, 0, [64], 8)
    assert not asked
    rows = sample.rows[0]
    rows.hold(100, 130)  # in the second and third replicate, whose chunks have eight scenarios
    assert sum(asked) == 40
    rows.hold(128, 200)
    rows.hold(90, 100)
    assert sum(asked) == 200 - 88
    sampler.replicate(sample, 2).batches  # noqa: B018
    assert sum(asked) == 200 - 88


def test_what_does_not_fit_memory_is_drawn_again(monkeypatch):
    asked = []
    sampler = Sampler([Source("s", (normal(asked),))], seed=4, method="monte_carlo")
    fits = sampler.replicates(STAGE_STREAM, 0, [1000], 4)
    monkeypatch.setattr(rows_of_samples, "KEPT_NUMBERS", 5000)
    too_large = sampler.replicates(STAGE_STREAM, 1, [1000], 4)
    assert not too_large.kept and sampler.replicates(STAGE_STREAM, 0, [100], 4).kept
    rows = too_large.rows[0]
    rows.hold(0, 4000)
    for _ in range(2):
        for start in range(0, 4000, 250):
            rows.batch(start, start + 250)
    assert sum(asked) == 8000  # chunk by chunk, not piece by piece
    assert fits.rows[0].count == 4000


@pytest.mark.parametrize(("count", "each"), [(5000, 5000), (100_000, 100_000), (640, 10)])
@pytest.mark.parametrize("limit", [8, 64, 8192])
def test_pieces_hold_whole_replicates_or_lie_in_one(count, each, limit):
    cut = Cut(count, each, limit)
    pieces = [cut.piece(i) for i in range(len(cut))]
    assert pieces[0][0] == 0 and pieces[-1][1] == count
    assert all(a[1] == b[0] for a, b in pairwise(pieces))
    for start, stop in pieces:
        assert 0 < stop - start <= limit
        whole = start % each == 0 and stop % each == 0
        assert whole or start // each == (stop - 1) // each


def test_large_batches_have_distinct_rows_and_are_drawn_in_parts():
    sampler = Sampler([Source("t", (table(100_000),))], seed=3)
    drawn = [sampler.batch(ITERATION_STREAM, k, [3 * CHUNK]).rows[0] for k in (1, 2)]
    first, second = (rows.batch(0, rows.count)[1].parts[0] for rows in drawn)
    assert len(np.unique(first)) == 3 * CHUNK
    overlap = np.intersect1d(first, second).size
    # hypergeometric: mean n^2 / N, five standard deviations
    share = 3 * CHUNK / 100_000
    deviation = np.sqrt(3 * CHUNK * share) * (1 - share)
    assert abs(overlap - 3 * CHUNK * share) < 5 * deviation
    again = Sampler([Source("t", (table(100_000),))], seed=3)
    middle = again.batch(ITERATION_STREAM, 1, [3 * CHUNK]).rows[0].batch(CHUNK, CHUNK + 50)[1]
    assert np.array_equal(middle.parts[0], first[CHUNK : CHUNK + 50])


def test_a_finite_part_smaller_than_the_batch_is_drawn_with_repetition():
    source = Source("a x b", (table(5), normal()))
    batch = Sampler([source], seed=1).batch(ITERATION_STREAM, 1, [64]).batches[0]
    assert set(batch.parts[0].tolist()) == set(range(5))


def test_blocks_of_iterations_are_drawn_once_although_kinds_of_batches_alternate():
    asked = []
    sampler = Sampler([Source("s", (normal(asked),))], seed=4)
    iterations = 320
    for k in range(iterations):
        sampler.batch(ITERATION_STREAM, k, [64]).batches  # noqa: B018
        if k % 5 == 1:
            sampler.batch(ITERATION_STREAM, k, [32]).batches  # noqa: B018
            sampler.batch(PROBE_STREAM, k, [32]).batches  # noqa: B018
    # one block of every kind covers 64 iterations
    assert sum(asked) == iterations * (64 + 32 + 32)


def test_a_users_sampler_is_asked_for_nothing_before_an_evaluation():
    asked = []
    sampler = Sampler([Source("s", (normal(asked, costly=True),))], seed=4)
    batches = [sampler.batch(ITERATION_STREAM, k, [64]) for k in range(10)]
    assert not asked
    batches[3].batches  # noqa: B018
    batches[3].batches  # noqa: B018
    assert sum(asked) == 64 and max(asked) == costly_chunk(64) == 8


def test_sections_are_parts_of_the_sample_with_their_own_probabilities():
    p = np.arange(1.0, 101.0) / 5050.0
    sampler = Sampler([Source("t", (table(100, p),))], seed=3)
    prefix = sampler.prefix([60])
    half = sampler.section(prefix, [0], [30])
    (share, first), (rest, second) = half.rows[0].batch(0, 10), half.rows[0].batch(10, 30)
    assert share + rest == pytest.approx(1.0)
    rows = np.concatenate([first.parts[0], second.parts[0]])
    weights = np.concatenate([share * first.weights, rest * second.weights])
    assert np.array_equal(rows, prefix.rows[0].batch(0, 60)[1].parts[0][:30])
    assert weights == pytest.approx(p[rows] / p[rows].sum())
    shorter = set(sampler.prefix([20]).batches[0].parts[0].tolist())
    assert shorter < set(prefix.batches[0].parts[0].tolist())
