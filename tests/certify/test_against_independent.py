"""Every number of a certificate against one that was written from the formulas (independent.py).

Nothing is round: variables in units of their own, a sparse J, curved rows, noise in everything.
"""

from dataclasses import fields

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certificate, Certifier, Look, Sizes
from pyomo_stochsqp.certify.located import Locator
from tests.certify.independent import NoisyQuadratic, expected

#: fields that are no numbers to compare, or that other tests are about
ELSEWHERE = {
    "x", "objective_rounded", "has_gradient", "saddle", "descent", "exact", "first_order",
    "heavy_tails", "rare_events", "spreading", "narrowing",
}  # fmt: skip


def program(seed=0, noise=(0.3, 0.2, 0.1, 0.05)):
    """Five variables; rows: an equality, one at its upper bound, one at its lower, one with slack.

    The first variable sits at its lower bound; the last is nearly zero. Returns (oracle, x, y,
    active rows with targets, held variables with their way).
    """
    rng = np.random.default_rng(seed)
    units = np.array([1.0, 30.0, 0.2, 5.0, 1.0])
    B = rng.standard_normal((5, 5))
    H = (B @ B.T + np.eye(5)) / np.outer(units, units)
    A = rng.standard_normal((4, 5)) / units * np.array([[1.0], [10.0], [0.3], [2.0]])
    A[0, 2] = A[1, 0] = A[3, 4] = 0.0
    Q = 0.1 * rng.standard_normal((4, 5, 5)) / np.outer(units, units)
    Q = 0.5 * (Q + Q.transpose(0, 2, 1))
    Q[np.where(A == 0)] = 0.0  # J keeps the pattern of A
    Q.transpose(0, 2, 1)[np.where(A == 0)] = 0.0
    solution = np.array([2.0, 25.0, -0.3, 3.0, 0.0])
    y = np.array([0.7, 0.4, -2.0, 0.0])
    pull = np.array([3.0, 0.0, 0.0, 0.0, 0.0])
    quiet = NoisyQuadratic(H, np.zeros(5), A, (np.zeros(4),) * 2, (np.zeros(5),) * 2, noise, Q)
    _, slope, c, J = quiet.exactly(solution)
    g = -slope - J.T @ y + pull
    low = np.array([c[0], -np.inf, c[2], c[3] - 50.0])
    high = np.array([c[0], c[1], c[2] + 40.0, c[3] + 70.0])
    bounds = np.array([2.0, -100, -100, -100, -100]), np.array([9.0, 100, 100, 100, 100])
    oracle = NoisyQuadratic(H, g, A, (low, high), bounds, noise, Q, constant=-4.0, seed=seed)
    x = solution + 0.01 * units * rng.standard_normal(5)
    x[0], x[4] = 2.01, 1e-3
    return oracle, x, y, {0: c[0], 1: c[1], 2: c[2]}, {0: -0.01}


def compared(certificate, wanted, rtol=1e-6):
    for name, value in wanted.items():
        found = np.asarray(getattr(certificate, name), dtype=float)
        size = np.abs(value).max(initial=0.0)
        assert found == pytest.approx(np.asarray(value), rel=rtol, abs=1e-9 * size), name


def certified(oracle, x, y, count, points=64, number=3, confidence=0.95):
    samples = [oracle.draw(1, r, [points]) for r in range(count)]
    sizes = Sizes(np.array([2.5, 0.0, 3.0, 0.0, 0.5]), 20.0)
    look = Look(number, sizes, confidence)
    made = Certifier(oracle).certify(x, y, samples, samples[:1], look)
    return made[0], samples, look


def test_nothing_is_forgotten():
    oracle, x, y, active, held = program()
    _, samples, look = certified(oracle, x, y, 20)
    names = set(expected(oracle, x, y, samples, look, active, held))
    assert names | ELSEWHERE == {f.name for f in fields(Certificate)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("count", "confidence"), [(16, 0.95), (17, 0.95), (64, 0.8), (40, 0.995)])
def test_full_matrices(seed, count, confidence):
    oracle, x, y, active, held = program(seed)
    made, samples, look = certified(oracle, x, y, count, confidence=confidence)
    compared(made, expected(oracle, x, y, samples, look, active, held))
    assert not (made.exact or made.saddle or made.first_order) and made.has_gradient


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [16, 40])
def test_sparse_matrices(monkeypatch, seed, count):
    monkeypatch.setattr(Locator, "located", lambda self, nlp, at: self._sparse.located(nlp, at))
    oracle, x, y, active, held = program(seed)
    made, samples, look = certified(oracle, x, y, count)
    compared(made, expected(oracle, x, y, samples, look, active, held, sparse=True))
