"""Draws are reproducible, unbiased, and complete when the batch is."""

import numpy as np
import pytest
from scipy import stats

from pyomo_stochsqp.declare.program import Field, Part, Source
from pyomo_stochsqp.errors import OptionError
from pyomo_stochsqp.oracle import ITERATION_STREAM, VALIDATION_STREAM
from pyomo_stochsqp.sample import METHODS, Sampler

RUNS = 4000


def table(size, weights=None, name="table"):
    field = Field(name, 1, np.arange(size, dtype=float)[:, None])
    return Part(name, (field,), size=size, weights=weights)


def normal():
    law = stats.norm()
    return Part(
        "normal",
        (Field("w", 2),),
        draw=lambda rng, size: (rng.standard_normal((size, 2)),),
        from_uniform=lambda u: (law.ppf(u),),
        dimension=2,
    )


def rows(sampler, k, batch, stream=ITERATION_STREAM):
    return sampler.batch(stream, k, [batch]).batches[0].parts[0]


def test_equal_arguments_give_equal_draws_in_any_order():
    forward = Sampler([Source("t", (table(1000),))], seed=7)
    backward = Sampler([Source("t", (table(1000),))], seed=7)
    first = [rows(forward, k, 16).copy() for k in range(150)]
    second = {k: rows(backward, k, 16).copy() for k in reversed(range(150))}
    assert all(np.array_equal(first[k], second[k]) for k in range(150))


def test_seed_stream_iteration_and_source_all_matter():
    one = Sampler([Source("a", (table(10**6),)), Source("b", (table(10**6, name="b"),))], seed=1)
    other = Sampler([Source("a", (table(10**6),)), Source("b", (table(10**6, name="b"),))], seed=2)

    def drawn(sampler, stream, k):
        return [b.parts[0].tolist() for b in sampler.batch(stream, k, [8, 8]).batches]

    seen = [
        drawn(one, ITERATION_STREAM, 3),
        drawn(one, ITERATION_STREAM, 4),
        drawn(one, VALIDATION_STREAM, 3),
        drawn(other, ITERATION_STREAM, 3),
    ]
    flat = [tuple(r) for pair in seen for r in pair]
    assert len(set(flat)) == len(flat)


@pytest.mark.parametrize(("size", "batch"), [(10, 7), (1000, 16), (1000, 999)])
def test_without_replacement_rows_are_distinct_and_uniform(size, batch):
    sampler = Sampler([Source("t", (table(size),))], seed=3)
    counts = np.zeros(size)
    for k in range(300):
        r = rows(sampler, k, batch)
        assert len(set(r.tolist())) == batch
        counts[r] += 1
    # Counts are binomial(300, batch/size); each tail of every row is allowed one in 10^7.
    p = batch / size
    assert counts.min() >= stats.binom.ppf(1e-7, 300, p)
    assert counts.max() <= stats.binom.isf(1e-7, 300, p)


def test_given_probabilities_are_respected():
    p = np.array([0.5, 0.3, 0.2, 0.0])
    sampler = Sampler([Source("t", (table(4, p),))], seed=5)
    drawn = np.concatenate([rows(sampler, k, 2) for k in range(RUNS)])
    frequency = np.bincount(drawn, minlength=4) / drawn.size
    # 5 standard deviations of a frequency
    assert np.all(np.abs(frequency - p) <= 5 * np.sqrt(p * (1 - p) / drawn.size))
    assert frequency[3] == 0


def test_a_batch_as_large_as_the_source_is_the_source():
    p = np.array([0.25, 0.5, 0.25])
    sampler = Sampler([Source("t", (table(3, p),))], seed=5)
    assert sampler.size_of((10,)).whole and not sampler.size_of((2,)).whole
    (batch,) = sampler.batch(ITERATION_STREAM, 1, [10]).batches
    assert batch.parts[0] == slice(0, 3)
    assert np.array_equal(batch.weights, p)


def test_a_complete_product_has_every_combination_once():
    a, b = table(3, np.array([0.2, 0.3, 0.5]), "a"), table(2, name="b")
    sampler = Sampler([Source("a x b", (a, b))], seed=5)
    assert sampler.size_of((6,)).whole
    (batch,) = sampler.batch(0, 1, [6]).batches
    pairs = set(zip(batch.parts[0].tolist(), batch.parts[1].tolist(), strict=True))
    assert pairs == {(i, j) for i in range(3) for j in range(2)}
    assert batch.weights.sum() == pytest.approx(1.0)
    assert batch.weights[0] == pytest.approx(0.1)


def test_parts_of_a_product_are_drawn_independently():
    source = Source("a x b", (table(1000, name="a"), table(1000, name="b")))
    sampler = Sampler([source], seed=5)
    assert not sampler.size_of((500,)).whole
    (batch,) = sampler.batch(0, 1, [500]).batches
    # Correlation of 500 independent pairs: standard deviation 1/sqrt(500) = 0.045.
    assert abs(np.corrcoef(*batch.parts)[0, 1]) < 0.2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("part", [normal(), table(50)], ids=["normal", "table"])
def test_every_method_is_unbiased(method, part):
    sampler = Sampler([Source("s", (part,))], seed=11, method=method)
    means = []
    for k in range(RUNS):
        drawn = rows(sampler, k, 10)
        values = drawn[0][:, 0] if part.size is None else drawn
        means.append(np.mean(np.exp(values / 50)))
    exact = np.exp(0.5 / 2500) if part.size is None else np.exp(np.arange(50) / 50).mean()
    error = np.std(means) / np.sqrt(RUNS)
    assert abs(np.mean(means) - exact) <= 5 * error + 1e-12


@pytest.mark.parametrize("method", ["antithetic", "latin_hypercube", "sobol"])
def test_spread_methods_lower_the_variance_of_a_monotone_function(method):
    def spread(name):
        sampler = Sampler([Source("s", (normal(),))], seed=11, method=name)
        draws = (rows(sampler, k, 16)[0] for k in range(500))
        return np.var([np.exp(0.5 * d).mean() for d in draws])

    assert spread(method) < 0.5 * spread("monte_carlo")


def test_spread_methods_need_quantiles():
    part = Part("simulator", (Field("w", 1),), draw=lambda rng, n: (rng.random((n, 1)),))
    with pytest.raises(OptionError, match="simulator"):
        Sampler([Source("simulator", (part,))], seed=1, method="sobol")
    with pytest.raises(OptionError, match="unknown"):
        Sampler([], seed=1, method="halton")
