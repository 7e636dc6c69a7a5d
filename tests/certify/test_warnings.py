"""What a certificate notices on the way: tails, rare events, no variance, kinks, no values."""

from math import isnan

import numpy as np
import pytest

from pyomo_stochsqp.certify import Certifier, Look, Sizes
from pyomo_stochsqp.oracle import (
    SPREAD_STREAM,
    Estimate,
    EvaluationIssue,
    Problem,
    Sample,
    SourceInfo,
)

REPLICATES = 20


class Scripted:
    """min x1^2 + x2^2 with a row x1 + x2 = 0; ``script(stream, k)`` is added to f, g, c, J."""

    def __init__(self, script, heavy=False):
        self.problem = Problem.equalities([0.5, -0.5], 1)
        self.sources = (SourceInfo("w", None, heavy),)
        self._script = script

    def draw(self, stream, k, batch):
        return Sample((stream, k), scenarios=batch[0])

    def estimate(self, x, sample, objective=False):
        f, g, c, J = self._script(*sample.payload)
        return Estimate(
            2 * x + g, np.array([x.sum() + c]), np.array([1.0, 1.0]) + J, float(x @ x + f)
        )

    def hessian_pattern(self):
        return np.array([0, 1, 3]), np.array([0, 0, 1])

    def hessian(self, x, y, sample):
        return np.array([2.0, 0.0, 2.0])


def look(oracle, x=(0.1, -0.1), **changes):
    samples = [oracle.draw(1, r, [50]) for r in range(REPLICATES)]
    given = Look(0, Sizes.none(oracle.problem), 0.95, **changes)
    return Certifier(oracle).certify(np.array(x), np.zeros(1), samples, samples[:2], given)


def numbers(stream, k, size=1e-3):
    """Normal noise in all six numbers."""
    rng = np.random.default_rng((stream, k))
    e = size * rng.standard_normal(6)
    return e[0], e[1:3], e[3], e[4:]


def test_normal_noise_needs_no_caution():
    made, values = look(Scripted(numbers))
    assert not (made.heavy_tails or made.rare_events or made.spreading)
    assert isnan(made.objective_rounded)
    assert values.count == REPLICATES and values.scenarios == 50 * REPLICATES


@pytest.mark.parametrize("where", ["f", "g", "c"])
def test_one_replicate_far_from_the_others(where):
    def script(stream, k):
        f, g, c, J = numbers(stream, k)
        if (stream, k) == (1, 7):
            f, g, c = f + (where == "f"), g + (where == "g"), c + (where == "c")
        return f, g, c, J

    made, _ = look(Scripted(script))
    assert made.heavy_tails and not made.rare_events


def test_the_tails_of_a_gradient_are_those_of_the_lagrangian():
    """An outlier of J counts by the multiplier of its row."""

    def script(stream, k):
        f, g, c, J = numbers(stream, k)
        return f, g + np.array([3.0, 3.0]), c, J + 0.5 * ((stream, k) == (1, 7))

    assert look(Scripted(script))[0].heavy_tails

    def no_multiplier(stream, k):
        f, g, c, J = numbers(stream, k, 1e-9)
        return f, g, c, J + 0.1 * ((stream, k) == (1, 7))

    assert not look(Scripted(no_multiplier), x=(0.0, 0.0))[0].heavy_tails


@pytest.mark.parametrize("where", ["f", "g", "c"])
def test_events_that_few_replicates_and_no_pair_have_seen(where):
    def script(stream, k):
        seen = stream == 1 and k < 3
        f, g, c, J = numbers(stream, k)
        # what is not asked about has noise, in the pairs, too
        event = 0.1 * seen * (k + 1)
        return (
            event if where == "f" else f, g * 0.0 + event if where == "g" else g,
            event if where == "c" else c, J,
        )  # fmt: skip

    assert look(Scripted(script))[0].rare_events


def test_what_pairs_have_seen_is_not_rare():
    def script(stream, k):
        seen = (stream == 1 and k < 3) or (stream == SPREAD_STREAM and k == 4)
        return (0.1 * seen * (k + 1), *numbers(stream, k)[1:])

    assert not look(Scripted(script))[0].rare_events


def test_where_nothing_varies_nothing_was_seen():
    still = np.zeros(2)
    assert look(Scripted(lambda stream, k: (0.0, still, 0.0, still)))[0].rare_events
    # a Jacobian that varies is something
    moving = look(Scripted(lambda stream, k: (0.0, still, 0.0, numbers(stream, k)[3])))[0]
    assert not moving.rare_events
    # values that vary only in the pairs have been seen
    oracle = Scripted(lambda stream, k: (numbers(stream, k)[0] * (stream != 1), still, 0.0, still))
    assert not look(oracle)[0].rare_events


@pytest.mark.parametrize("heavy", [False, True])
def test_spreads_that_grow_with_the_sample(heavy):
    """Replicates of fifty scenarios that differ as much as single ones do."""

    def script(stream, k):
        f, g, c, J = numbers(stream, k)
        return (f * (30.0 if stream == 1 else 1.0), g, c, J)

    # sqrt(1000) of them show a spread of about 140 times that of pairs; none stands out
    assert look(Scripted(script, heavy))[0].spreading == heavy


class Kinked(Scripted):
    """Kinks add 3 / 4^level to f, 0.2 / 4^level to c, and noise that grows with the level."""

    rounded = True
    for_curvature = 10

    def __init__(self, rounded=True, broken=()):
        super().__init__(numbers)
        self.rounded, self._broken, self.asked, self.narrowing = rounded, broken, [], 0

    def narrow(self, level):
        self.asked.append(level)
        self.narrowing = level

    def estimate(self, x, sample, objective=False):
        e = super().estimate(x, sample, objective)
        e.f += 3.0 * 0.25**self.narrowing
        e.c = e.c + 0.2 * 0.25**self.narrowing
        e.g = e.g * (1.0 + self.narrowing * e.g[0])
        if self.narrowing in self._broken:
            e.issue = EvaluationIssue("row", f"level {self.narrowing}")
        return e

    def replicated(self, x, samples, objective=False):
        made = [self.estimate(x, s, objective) for s in samples]
        f, g, c, J = (np.mean([getattr(e, n) for e in made], axis=0) for n in ("f", "g", "c", "J"))
        return Estimate(g, c, J, float(f), made[0].issue), made

    def linearised(self, x, samples, about):
        assert len(about) == REPLICATES
        return [self.estimate(x, s, True) for s in samples]


def test_what_rounded_kinks_add_is_taken_off():
    oracle = Kinked()
    plain, rounded = look(oracle)[0], look(oracle, narrowing=2)[0]
    assert isnan(plain.objective_rounded) and oracle.asked == [2, 3, 2]
    assert rounded.objective_rounded == pytest.approx(3.0 / 16.0)
    exact = look(Scripted(numbers))[0]
    assert rounded.objective == pytest.approx(exact.objective)
    assert rounded.violation == pytest.approx(exact.violation, abs=1e-12)
    assert plain.objective == pytest.approx(exact.objective + 3.0)
    assert Certifier(oracle).rounded and not Certifier(Scripted(numbers)).rounded


def test_the_noise_of_kinks_counts_where_it_is_asked_for():
    quiet, noisy = (look(Kinked(), narrowing=1, noise_of_kinks=n)[1] for n in (False, True))
    assert quiet.g.mean(axis=0) == pytest.approx(noisy.g.mean(axis=0))
    assert not np.allclose(quiet.g.std(axis=0), noisy.g.std(axis=0), rtol=1e-3)
    oracle = Kinked()
    oracle.narrow(1)
    samples = [oracle.draw(1, r, [50]) for r in range(REPLICATES)]
    g = np.array([oracle.estimate(np.array([0.1, -0.1]), s, True).g for s in samples])
    assert quiet.g.std(axis=0) == pytest.approx(g.std(axis=0))


def test_an_oracle_without_kinks_is_not_asked_to_narrow_them():
    oracle = Kinked(rounded=False)
    assert isnan(look(oracle, narrowing=2)[0].objective_rounded) and oracle.asked == []


@pytest.mark.parametrize("level", [2, 3])
def test_a_point_that_is_undefined_with_narrower_kinks(level):
    issue = look(Kinked(broken=(level,)), narrowing=2)
    assert isinstance(issue, EvaluationIssue) and issue.message == f"level {level}"


def test_the_spread_of_the_objective_alone():
    oracle = Scripted(numbers)
    made, _ = look(oracle)
    found = Certifier(oracle).objective_spread(np.array([0.1, -0.1]), 0, [])
    assert found == made.objective_spread > 0.0


def test_an_objective_without_gradient():
    oracle = Scripted(lambda stream, k: numbers(stream, k))
    oracle.estimate = lambda x, sample, objective=False: Estimate(
        np.zeros(2), np.array([x.sum() + numbers(*sample.payload)[2]]), np.ones(2), 0.0
    )
    oracle.hessian = lambda x, y, sample: np.zeros(3)
    made, _ = look(oracle)
    assert not made.has_gradient and made.relative_gap == 0.0
