"""L and Gamma from secants: against the formulas of the file's head, and where they are known."""

import numpy as np
import pytest

from pyomo_stochsqp.oracle import Estimate, EvaluationIssue, Jacobian, Problem, Sample, SourceInfo
from pyomo_stochsqp.sqp import lipschitz
from pyomo_stochsqp.sqp.lipschitz import Constants

RNG = np.random.default_rng(4)
A = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 4.0]])
Q = np.array([np.diag([2.0, 0.0, -1.0]), np.array([[0.0, 1.0, 0], [1, 0, 0], [0, 0, 0.5]])])


class Quadratic:
    """grad f = A x, row i of J = Q_i x; remembers where and on what it was asked."""

    def __init__(self, x0=(1.0, -2.0, 0.5)):
        self.problem = Problem.equalities(np.array(x0), 2)
        self.sources = (SourceInfo("w", None),)
        self.asked = []
        self.outside = lambda x: False

    def draw(self, stream, k, batch):
        return Sample((stream, k, tuple(batch)), scenarios=batch[0])

    def estimate(self, x, sample, objective=False):
        self.asked.append((x.copy(), sample.payload))
        issue = EvaluationIssue("obj", "log of a negative number") if self.outside(x) else None
        c = 0.5 * np.einsum("i,kij,j->k", x, Q, x)
        return Estimate(A @ x, c, (Q @ x).ravel(), issue=issue)


def at(x):
    oracle = Quadratic()
    return oracle.estimate(np.asarray(x, dtype=float), oracle.draw(0, 0, (1,)))


JACOBIAN = Jacobian(Quadratic().problem)


@pytest.mark.parametrize("scale", [1e-4, 1.0, 30.0])
def test_secants_are_curvatures_along_the_step(scale):
    x, s = RNG.normal(size=3), scale * RNG.normal(size=3)
    length = 2.5 * float(s @ s)  # as if H were 2.5
    L, Gamma = lipschitz.secants(at(x), at(x + s), s, length, JACOBIAN)
    assert L == pytest.approx(abs(s @ A @ s) / length, rel=1e-6)
    bend = sum(abs(s @ q @ s) for q in Q)
    assert Gamma == pytest.approx(bend / length, rel=1e-6)


def test_negative_curvature_counts_by_its_size():
    minus = Estimate(-at([1, 0, 0]).g, at([1, 0, 0]).c, -at([1, 0, 0]).J)
    here = Estimate(np.zeros(3), np.zeros(2), np.zeros(6))
    s = np.array([1.0, 0.0, 0.0])
    L, Gamma = lipschitz.secants(here, minus, s, 1.0, JACOBIAN)
    assert L == pytest.approx(3.0)
    assert Gamma == pytest.approx(2.0)


def test_without_rows_there_is_no_gamma():
    here = Estimate(np.array([1.0]), np.zeros(0), np.zeros(0))
    there = Estimate(np.array([3.0]), np.zeros(0), np.zeros(0))
    jacobian = Jacobian(Problem.equalities(np.zeros(1), 0))
    found = lipschitz.secants(here, there, np.ones(1), 1.0, jacobian)
    assert found == pytest.approx((2.0, 0.0), rel=1e-12)


def test_rounding_of_rows_is_measured_by_the_size_of_their_terms():
    """1e13 and -1e13 in one row cancel in J s, not in what rounding may have done to it: 2 of 4."""
    here = Estimate(np.zeros(3), np.zeros(2), np.array([1e13, -1e13, 0.0, 0, 0, 0]))
    there = Estimate(np.zeros(3), np.zeros(2), here.J + np.array([2.0, 2.0, 0, 0, 0, 0]))
    s = np.array([1.0, 1.0, 0.0])
    _, Gamma = lipschitz.secants(here, there, s, 1.0, JACOBIAN)
    assert Gamma == pytest.approx(4.0 - 2e13 * lipschitz.ROUNDING, rel=1e-2)


def test_rounding_is_no_curvature():
    """Differences of a tiny step below 1e-13 of the gradient are taken off, and never negative."""
    s = 1e-12 * np.array([1.0, 1.0, 0.0])
    g, J = np.array([1e3, -1e3, 0.0]), np.array([1e3, 0.0, 0, 0, -1e3, 0])
    here = Estimate(g, np.zeros(2), J)
    noise_g, noise_J = 1e-11 * np.array([1.0, 1, 0]), 1e-11 * np.array([1.0, 0, 0, 0, 1, 0])
    there = Estimate(g + noise_g, np.zeros(2), J + noise_J)
    assert lipschitz.secants(here, there, s, float(s @ s), JACOBIAN) == (0.0, 0.0)
    # a thousand times more is news, of which rounding takes a share
    there = Estimate(g + 1e3 * noise_g, np.zeros(2), J + 1e3 * noise_J)
    L, Gamma = lipschitz.secants(here, there, s, float(s @ s), JACOBIAN)
    full_L = abs(s @ (there.g - g)) / float(s @ s)
    full_Gamma = np.abs((there.J - J).reshape(2, 3) @ s).sum() / float(s @ s)
    share_L = 1e-13 * (np.abs(s) @ np.abs(g)) / float(s @ s)
    share_Gamma = 1e-13 * (np.abs(J).reshape(2, 3) @ np.abs(s)).sum() / float(s @ s)
    assert L == pytest.approx(full_L - share_L, rel=1e-12)
    assert Gamma == pytest.approx(full_Gamma - share_Gamma, rel=1e-12)
    assert L < full_L * (1 - 1e-3) and Gamma < full_Gamma * (1 - 1e-3)


@pytest.mark.parametrize(
    ("L", "Gamma", "new", "risen_at"),
    [
        (5.0, 0.1, (9.0, 2.7, 4), 4),  # decays by 0.9
        (10.0, 3.0, (12.0, 3.6, 4), 4),  # 1.2 times the secant; not yet a rise
        (20.0, 0.1, (24.0, 2.7, 7), 7),  # L rises by more than 1.5
        (5.0, 5.0, (9.0, 6.0, 7), 7),  # Gamma does
        (12.4, 3.7, (14.88, 4.44, 4), 4),  # just below 1.5 times the old values
        (12.6, 3.7, (15.12, 4.44, 7), 7),
        (12.4, 3.8, (14.88, 4.56, 7), 7),
    ],
)
def test_the_update_rule(L, Gamma, new, risen_at):
    found = lipschitz.updated(Constants(10.0, 3.0, 4), 7, L, Gamma)
    assert found == pytest.approx(new)
    assert found.risen_at == risen_at


def test_when_a_check_is_due():
    """At every iteration up to twenty after the last rise, then every tenth."""
    constants = Constants(1.0, 1.0, risen_at=100)
    due = [k for k in range(101, 160) if constants.due(k)]
    assert due == [*range(101, 121), 130, 140, 150]


def test_constants_follow_the_norm():
    before = Constants(6.0, 2.0, 3)
    assert before.in_norm(4.0, 1.0) == (24.0, 8.0, 3)
    assert before.in_norm(1.0, 2.0) == (3.0, 1.0, 3)
    assert before.in_norm(1.0, 1.0) is before
    assert before.in_norm(1.0, 0.0) is before
    assert before.in_norm(1.0, np.nan) is before


@pytest.mark.parametrize("x0", [(1.0, -2.0, 0.5), (0.0, 0.0, 0.0), (3e4, 1e4, 0.0)])
def test_first_values_from_three_directions(x0):
    oracle = Quadratic(x0)
    found = lipschitz.initial(oracle, np.array(x0), (16,), JACOBIAN)
    points = np.array([x for x, _ in oracle.asked])
    assert len({payload for _, payload in oracle.asked}) == 1, "one sample for all"
    assert oracle.asked[0][1][2] == (16,)
    steps = points[1:] - points[0]
    assert len(steps) == 3
    # of length 1e-4 relative to the largest entry, or to one
    assert np.linalg.norm(steps, axis=1) == pytest.approx(1e-4 * (np.abs(x0).max() or 1.0))
    curvature = [abs(s @ A @ s) / (s @ s) for s in steps]
    bends = [sum(abs(s @ q @ s) for q in Q) / (s @ s) for s in steps]
    assert found.L == pytest.approx(1.2 * max(curvature), rel=1e-5)
    assert found.Gamma == pytest.approx(1.2 * max(bends), rel=1e-5)
    assert found.risen_at == 0


def test_first_values_where_some_points_are_outside_the_domain():
    oracle = Quadratic()
    whole = lipschitz.initial(oracle, oracle.problem.x0, (1,), JACOBIAN)
    points = [x for x, _ in oracle.asked]
    oracle.outside = lambda x: np.array_equal(x, points[1])
    part = lipschitz.initial(oracle, oracle.problem.x0, (1,), JACOBIAN)
    left = [(p - points[0]) for p in points[2:]]
    assert part.L == pytest.approx(1.2 * max(abs(s @ A @ s) / (s @ s) for s in left), rel=1e-5)
    assert 0 < part.L <= whole.L and 0 < part.Gamma <= whole.Gamma
    oracle.outside = lambda x: np.array_equal(x, points[0])
    assert lipschitz.initial(oracle, oracle.problem.x0, (1,), JACOBIAN) == (0.0, 0.0, 0)
