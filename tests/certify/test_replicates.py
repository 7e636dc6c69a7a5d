"""Independent replicates: standard errors, quantiles, and signs that they cannot be trusted."""

from dataclasses import replace
from math import pi, sqrt

import numpy as np
import pytest
from scipy import stats

from pyomo_stochsqp.certify.replicates import (
    Values,
    estimated,
    heavy_tailed,
    look_confidence,
    quantile,
    rare_events,
    replicates_for,
    spreading,
    standard_error,
    unrounded,
)
from pyomo_stochsqp.oracle import Estimate, EvaluationIssue, Sample, SourceInfo

RNG = np.random.default_rng(5)


def test_standard_errors():
    values = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0], [5.0, 0.0]])
    assert standard_error(values) == pytest.approx([sqrt(10.0 / 3.0) / 2.0, 0.0])
    assert standard_error(values[:2, 0]) == pytest.approx(0.5)
    assert (standard_error(values[:1]) == 0.0).all()


@pytest.mark.parametrize(("count", "factor"), [(2, 1.3), (16, 1.3), (17, 1.0), (64, 1.0)])
@pytest.mark.parametrize("numbers", [0, 1, 7])
@pytest.mark.parametrize("confidence", [0.95, 0.6])
def test_quantiles(count, factor, numbers, confidence):
    """Bonferroni: k intervals at 1 - (1 - confidence) / k each."""
    level = 1.0 - (1.0 - confidence) / max(numbers, 1)
    interval = stats.t(count - 1).interval(level)[1]
    assert quantile(confidence, count, numbers) == pytest.approx(factor * interval, rel=1e-9)
    assert quantile(confidence, 1, numbers) == 0.0


def test_looks_share_an_error_of_five_percent():
    errors = [1.0 - look_confidence(j) for j in range(1, 20_000)]
    assert sum(errors) == pytest.approx(0.05, rel=1e-3)
    assert errors[3] == pytest.approx(errors[0] / 16.0) == pytest.approx(0.3 / pi**2 / 16.0)


# -- values ---------------------------------------------------------------------------------------


def values(count=5, scenarios=100):
    return Values(
        RNG.standard_normal(count), RNG.standard_normal((count, 3)),
        RNG.standard_normal((count, 2)), RNG.standard_normal((count, 6)), scenarios,
    )  # fmt: skip


def every(v):
    return np.column_stack([v.f[:, None], v.g, v.c, v.J])


def pooled():
    f, g, c, J = (RNG.standard_normal(k) for k in (1, 3, 2, 6))
    return Estimate(g, c, J, float(f[0])), np.concatenate((f, g, c, J))


def test_means_and_values_about_another_mean():
    v, (centre, numbers) = values(), pooled()
    mean = v.mean()
    assert np.concatenate(([mean.f], mean.g, mean.c, mean.J)) == pytest.approx(every(v).mean(0))
    other = v.about(centre)
    assert every(other).mean(axis=0) == pytest.approx(numbers)
    assert every(other) - numbers == pytest.approx(every(v) - every(v).mean(axis=0))
    assert other.scenarios == v.scenarios and v.count == 5


def test_the_jackknife_moves_replicates_past_the_pooled_value():
    """P + (P - V) / (R - 1), and the deviations as they were."""
    v, (whole, P) = values(), pooled()
    moved = every(v.jackknifed(whole))
    V = every(v).mean(axis=0)
    assert moved.mean(axis=0) == pytest.approx(P + (P - V) / 4.0)
    assert moved - moved.mean(axis=0) == pytest.approx(every(v) - V)


def test_the_jackknife_removes_a_bias_of_first_order():
    """t^2 of a mean t over n scenarios is biased by var / n."""
    rng = np.random.default_rng(7)
    R, n, true = 8, 20, 0.0
    off, plain = [], []
    for _ in range(4000):
        w = rng.standard_normal((R, n))
        f = w.mean(axis=1) ** 2
        v = Values(f, *(np.zeros((R, 0)) for _ in range(3)), R * n)
        nothing = (np.zeros(0),) * 3
        off.append(v.jackknifed(Estimate(*nothing, float(w.mean() ** 2))).f.mean() - true)
        plain.append(float(w.mean() ** 2) - true)
    assert np.mean(plain) == pytest.approx(1.0 / (R * n), rel=0.15)
    assert abs(np.mean(off)) < 5.0 * np.std(off) / sqrt(4000)


def test_part_of_the_way_to_other_values():
    v, w = values(), values()
    assert every(v.towards(w, 0.25)) == pytest.approx(0.75 * every(v) + 0.25 * every(w))
    assert every(v.towards(w, 4.0 / 3.0)) == pytest.approx((4 * every(w) - every(v)) / 3)


class Recorded:
    """An oracle that returns the payload of the sample as f, g, c and J."""

    sources = (SourceInfo("w", None),)
    problem = None

    def draw(self, stream, k, batch):
        raise AssertionError("nothing is drawn here")

    def estimate(self, x, sample, objective=False):
        assert objective
        p = np.array(sample.payload, dtype=float)
        issue = EvaluationIssue("row", "undefined") if p[0] < 0 else None
        return Estimate(p[1:2], p[2:3], p[3:], float(p[0]), issue)


class PlugIn(Recorded):
    """One with formulas: together, samples give the square of what they give on average."""

    rounded, narrowing = True, 0
    for_curvature = 0

    def __init__(self):
        self.levels = [0]

    def narrow(self, level):
        self.levels.append(level)

    def replicated(self, x, samples, objective=False):
        made = [self.estimate(x, s, objective) for s in samples]
        for e in made:
            e.f *= 0.25 ** self.levels[-1]
        whole = self.estimate(x, replace(samples[0], payload=samples[0].payload), objective)
        whole.f = 100.0
        if self.levels[-1] > 8:
            whole.issue = EvaluationIssue("row", "all of it")
        return whole, made

    def linearised(self, x, samples, about):
        raise AssertionError("nothing is linearised here")


def samples(*payloads):
    return [Sample(p, scenarios=10) for p in payloads]


def test_estimates_of_every_replicate():
    v = estimated(Recorded(), None, samples([1, 2, 3, 4, 5], [2, 3, 4, 5, 7]))
    assert v.f.tolist() == [1, 2] and v.g.tolist() == [[2], [3]] and v.c.tolist() == [[3], [4]]
    assert v.J.tolist() == [[4, 5], [5, 7]] and v.scenarios == 20
    issue = estimated(Recorded(), None, samples([1, 2, 3, 4], [-1, 2, 3, 4]))
    assert isinstance(issue, EvaluationIssue)


def test_formulas_are_jackknifed_if_there_is_more_than_one_sample():
    v = estimated(PlugIn(), None, samples([1, 2, 3, 4], [3, 2, 3, 4]))
    assert v.f.mean() == pytest.approx(100.0 + (100.0 - 2.0) / 1.0)
    one = estimated(PlugIn(), None, samples([1, 2, 3, 4]))
    assert one.f.tolist() == [1]
    broken = PlugIn()
    broken.narrow(9)
    assert estimated(broken, None, samples([1, 2, 3, 4], [3, 2, 3, 4])).message == "all of it"


class Linear(PlugIn):
    """An error of first order in the width of its kinks."""

    def estimate(self, x, sample, objective=False):
        e = super().estimate(x, sample, objective)
        e.f = 7.0 + 3.0 * 0.25 ** self.levels[-1]
        return e


def test_kinks_are_extrapolated_to_no_width():
    """V + (V' - V) / (1 - 1/4), and the oracle is left as it was."""
    oracle, parts = Linear(), samples([16, 2, 3, 4])
    oracle.narrow(2)
    v = Values.of([oracle.estimate(None, s, True) for s in parts], 10)
    assert v.f[0] != 7.0
    assert unrounded(oracle, None, parts, 2, v).f == pytest.approx([7.0])
    assert oracle.levels == [0, 2, 3, 2]
    issue = unrounded(oracle, None, samples([-1, 2, 3, 4]), 2, v)
    assert isinstance(issue, EvaluationIssue) and oracle.levels[-2:] == [3, 2]


def test_how_many_replicates():
    class Spread(Recorded):
        def draw_replicates(self, stream, k, batch, count): ...

        def draw_prefix(self, batch): ...

        def estimates(self, x, samples, objective=False): ...

    assert replicates_for(Recorded()) == 64
    for evenly, number in ((True, 16), (False, 64)):
        oracle = Spread()
        oracle.spreads_evenly = evenly
        assert replicates_for(oracle) == number


# -- signs that they cannot be trusted ------------------------------------------------------------


@pytest.mark.parametrize("count", [4, 16, 64])
@pytest.mark.parametrize("columns", [1, 5])
def test_grubbs_test_at_its_critical_value(count, columns):
    """One in a thousand, over all columns: G = max |v - mean| / s against its exact quantile."""
    t = stats.t(count - 2).ppf(1 - 1e-3 / (2 * count * columns))
    critical = (count - 1) / sqrt(count) * sqrt(t**2 / (count - 2 + t**2))

    def with_ratio(ratio):
        """A column whose first number has that ratio: the others are alternating around zero."""
        rest = np.resize([1.0, -1.0], count - 1)
        rest -= rest.mean()
        low, high = 0.0, 1e6
        for _ in range(200):
            first = 0.5 * (low + high)
            column = np.concatenate(([first], rest))
            G = abs(column[0] - column.mean()) / column.std(ddof=1)
            low, high = (first, high) if ratio > G else (low, first)
        return column

    for ratio, alarm in ((critical * (1 - 1e-3), False), (critical * (1 + 1e-4), True)):
        if ratio >= (count - 1) / sqrt(count):
            continue  # no larger one is possible
        matrix = np.tile(np.resize([1.0, -1.0], count)[:, None], (1, columns))
        matrix[:, -1] = -with_ratio(ratio)
        assert heavy_tailed(matrix) == alarm
        assert heavy_tailed(1e9 + 1e3 * matrix) == alarm  # where it is does not matter


def test_no_tails_without_numbers_or_variation():
    assert not heavy_tailed(np.array([[0.0], [0.0], [1e9]]))  # three are too few
    assert not heavy_tailed(np.zeros((20, 0)))
    constant = np.full((20, 1), 3.0)
    constant[4] += 1e-13  # rounding
    assert not heavy_tailed(constant)
    constant[4] += 1e-9
    assert heavy_tailed(constant)


def test_events_in_a_few_replicates_are_rare():
    """A column that varies, but has the same number in more than half of the replicates."""
    for different, rare in ((0, False), (1, True), (7, True), (8, False), (16, False)):
        column = np.zeros((16, 2))
        column[:different, 1] = np.arange(1.0, different + 1)
        assert rare_events(column) == rare
    odd = np.zeros((5, 1))
    odd[:2, 0] = 1.0, 2.0
    assert rare_events(odd)  # three of five


def spread_out(factor_typical=40.0, factor_pairs=0.5, outlier=30.0, suspect=False, level=0.0):
    """Means of 100 scenarios in 20 replicates: sqrt(100) se is ``factor_typical`` times the typical
    spread and 1 / ``factor_pairs`` times that of pairs; one replicate is ``outlier`` median
    deviations away."""
    column = np.resize([1.0, -1.0], 20)
    column[0] = outlier
    many = float(standard_error(column[:, None])[0]) * 10.0
    typical, pairs = np.array([many / factor_typical]), np.array([many * factor_pairs])
    return spreading(level + column[:, None], pairs, typical, 100, suspect)


def test_a_spread_that_grows_with_the_sample():
    assert spread_out()
    assert not spread_out(factor_typical=29.0) and spread_out(factor_typical=31.0)
    # known to be as large by a few dozen scenarios
    assert not spread_out(factor_pairs=3.4) and spread_out(factor_pairs=3.2)
    # no replicate stands out
    assert not spread_out(outlier=19.0) and spread_out(outlier=21.5)
    # whoever is known to have no variance needs no more than the first
    assert spread_out(factor_pairs=9.0, outlier=1.0, suspect=True)
    assert not spread_out(factor_typical=29.0, suspect=True)
    # rounding is no spread
    assert spread_out(level=1e10) and not spread_out(level=1e15)


def test_spreads_are_seen_column_by_column():
    """One that grows, and another one with an outlier, do not make one that does both."""
    grows, stands = np.resize([1.0, -1.0], 20), np.resize([1.0, -1.0], 20)
    stands[0] = 50.0
    values = np.column_stack([grows, stands])
    many = standard_error(values) * 10.0
    typical = many / np.array([40.0, 2.0])
    assert not spreading(values, 0.1 * many, typical, 100, False)
    assert spreading(values, 0.1 * many, many / 40.0, 100, False)


def test_a_typical_spread_of_zero_is_rounding_of_the_numbers():
    values = np.resize([1.0, -1.0], 20)[:, None].copy()
    values[0] = 50.0
    assert spreading(values, np.zeros(1), np.zeros(1), 100, False)
    assert not spreading(np.ones((20, 1)), np.zeros(1), np.zeros(1), 100, False)
