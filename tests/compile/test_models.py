"""Whole models against Pyomo's own values and derivatives, on drawn rows and on all of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from tests.compile import models
from tests.compile.in_pieces import in_pieces, whole
from tests.compile.reference import assert_matches, reference


def draw(program: Any, seed: int = 0, weighted: bool = False) -> list[Batch]:
    """A batch of each source, of a size of its own."""
    rng = np.random.default_rng(seed)
    batches = []
    for s, source in enumerate(program.sources):
        size = 5 + 2 * s
        parts: list[Any] = []
        for part in source.parts:
            drawn = part.size is None
            parts.append(part.draw(rng, size) if drawn else rng.integers(0, part.size, size))
        weights = rng.dirichlet(np.ones(size)) if weighted else None
        batches.append(Batch(size, tuple(parts), weights))
    return batches


def point(evaluator: Any, seed: int = 3) -> Any:
    return np.random.default_rng(seed).uniform(0.2, 0.9, evaluator.n)


@pytest.mark.parametrize("build", models.ALL)
@pytest.mark.parametrize("weighted", [False, True])
def test_drawn_rows(build: Callable[[], Any], weighted: bool) -> None:
    program = read_model(build())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    for seed in range(2):
        batches = draw(program, seed, weighted)
        expected = reference(program, x, batches)
        assert_matches(evaluator, evaluator.evaluate(x, batches, objective=True), expected)
        assert_matches(evaluator, evaluator.evaluate(x, batches), expected)


@pytest.mark.parametrize("build", [m for m in models.ALL if m is not models.several_sources])
def test_all_rows(build: Callable[[], Any]) -> None:
    """Chunks of any size give the average over all rows, with the probabilities of the rows."""
    program = read_model(build())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    full = []
    for source in program.sources:
        shape = [p.size for p in source.parts]
        rows = np.unravel_index(np.arange(source.size), shape)
        weights = np.ones(source.size)
        for part, r in zip(source.parts, rows, strict=True):
            weights *= np.full(r.size, 1 / part.size) if part.weights is None else part.weights[r]
        full.append(Batch(source.size, rows, weights))
    expected = reference(program, x, full)
    for chunk in (3, 16, 100_000):
        estimate = in_pieces(evaluator, x, whole(program), chunk)
        assert_matches(evaluator, estimate, expected)


def test_slices_are_rows() -> None:
    program = read_model(models.logistic())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    a = evaluator.evaluate(x, [Batch(6, (slice(4, 10),))])
    b = evaluator.evaluate(x, [Batch(6, (np.arange(4, 10),))])
    np.testing.assert_allclose(a.g, b.g, rtol=1e-14)
    np.testing.assert_allclose(a.J, b.J, rtol=1e-14)


def test_threads() -> None:
    """Several threads may use one evaluator at the same time."""
    program = read_model(models.groups())
    evaluator = compile_program(program, jit=False)
    x, batches = point(evaluator), draw(program)
    expected = evaluator.evaluate(x, batches).J
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: evaluator.evaluate(x, batches).J, range(200)))
    for found in answers:
        np.testing.assert_array_equal(found, expected)


def test_answers_are_fresh_arrays() -> None:
    program = read_model(models.groups())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    batches = draw(program)
    first = evaluator.evaluate(x, batches)
    kept = [first.g.copy(), first.c.copy(), first.J.copy()]
    evaluator.evaluate(x + 1.0, batches)
    for a, b in zip((first.g, first.c, first.J), kept, strict=True):
        np.testing.assert_array_equal(a, b)


def test_pattern_is_sorted_and_complete() -> None:
    for build in models.ALL:
        evaluator = compile_program(read_model(build()), jit=False)
        for i in range(evaluator.m):
            row = evaluator.jac_indices[evaluator.jac_indptr[i] : evaluator.jac_indptr[i + 1]]
            assert (np.diff(row) > 0).all()
        assert evaluator.jac_indptr[-1] == evaluator.jac_indices.size


@pytest.mark.parametrize("build", models.ALL)
def test_central_differences(build: Callable[[], Any]) -> None:
    """A second opinion that shares nothing with symbolic derivatives."""
    program = read_model(build())
    evaluator = compile_program(program, jit=False)
    x = point(evaluator)
    batches = draw(program, 5)
    estimate = evaluator.evaluate(x, batches, objective=True)
    h = 1e-6
    rng = np.random.default_rng(1)
    for _ in range(3):
        d = rng.normal(size=evaluator.n)
        up = evaluator.evaluate(x + h * d, batches, objective=True)
        down = evaluator.evaluate(x - h * d, batches, objective=True)
        assert up.f is not None and down.f is not None
        np.testing.assert_allclose((up.f - down.f) / (2 * h), estimate.g @ d, rtol=1e-5, atol=1e-6)
        owner = np.repeat(np.arange(evaluator.m), np.diff(evaluator.jac_indptr))
        Jd = np.bincount(owner, estimate.J * d[evaluator.jac_indices], minlength=evaluator.m)
        np.testing.assert_allclose((up.c - down.c) / (2 * h), Jd, rtol=1e-5, atol=1e-6)
