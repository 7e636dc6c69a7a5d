r"""One stage's fixed sample, with the program that it makes of the problem."""

from __future__ import annotations

from collections.abc import Sequence

from ..certify.replicates import replicates_for
from ..nlp import SampleAverage
from ..oracle import (
    STAGE_STREAM,
    Oracle,
    PlugInOracle,
    Sample,
    draw_prefix,
    draw_replicates,
    spreads_evenly,
    whole_sample,
)

#: scenarios that second derivatives are averaged over: at least so many (unless an oracle with
#: formulas knows better), and so many per variable
CURVATURE, CURVATURE_PER_VARIABLE = 4096, 100
#: ... and one in so many of a drawn sample
SHARE_OF_CURVATURE = 16
#: a whole sample up to this multiple of that is used entirely
WORTH_A_SUBSAMPLE = 4


class StageSample:
    """Scenarios of one stage.

    ``replicates`` are independent parts, by which a point is certified; a part of finite data has
    none. ``exact``: all scenarios there are.
    """

    def __init__(
        self,
        oracle: Oracle,
        samples: Sequence[Sample],
        curvature: Sequence[Sample],
        replicates: Sequence[Sample] = (),
        exact: bool = False,
    ):
        self._oracle = oracle
        self.samples = samples
        self.curvature = curvature
        self.replicates = replicates
        self.exact = exact
        self.scenarios = sum(sample.scenarios for sample in samples)
        self.nlp = SampleAverage(oracle, samples, curvature)

    @property
    def kept(self) -> bool:
        """It is in memory, so that one more evaluation costs no drawing."""
        return all(sample.kept for sample in self.samples)

    @property
    def weight(self) -> float:
        """One over the variance of its solution, in some unit: where scenarios are spread evenly it
        falls at least with the square of their number."""
        return float(self.scenarios) ** (2 if spreads_evenly(self._oracle) else 1)

    @property
    def subsampled(self) -> bool:
        """Second derivatives are averaged over a part of the scenarios only."""
        return [id(sample) for sample in self.curvature] != [id(sample) for sample in self.samples]

    def with_all_curvature(self) -> StageSample:
        """The same with second derivatives over all of its scenarios."""
        return StageSample(self._oracle, self.samples, self.samples, self.replicates, self.exact)


def drawn_stage(oracle: Oracle, stage: int, points: int) -> StageSample:
    """R independent replicates of so many points."""
    batch = [points] * len(oracle.sources)
    drawn = draw_replicates(oracle, STAGE_STREAM, stage, batch, replicates_for(oracle))
    wanted = curvature_scenarios(oracle)
    if drawn.scenarios <= wanted * len(batch):
        curvature: Sequence[Sample] = drawn.pooled
    else:
        # a share of a large sample costs little and knows what few scenarios decide
        share = -(-len(drawn.parts) // SHARE_OF_CURVATURE)
        curvature = drawn.parts[: max(share, wanted // points)]
    return StageSample(oracle, drawn.pooled, curvature, drawn.parts)


def prefix_stage(oracle: Oracle, sizes: Sequence[int]) -> StageSample:
    """The first scenarios of one random order of finite data."""
    sample = draw_prefix(oracle, sizes)
    return StageSample(oracle, [sample], [_curvature_prefix(oracle, sizes) or sample])


def whole_stage(oracle: Oracle, sizes: Sequence[int]) -> StageSample:
    """All scenarios, or the program itself where there is no randomness."""
    whole = whole_sample(oracle)
    assert whole is not None
    curvature = None
    if whole.scenarios > WORTH_A_SUBSAMPLE * curvature_scenarios(oracle):
        curvature = _curvature_prefix(oracle, sizes)
    return StageSample(oracle, [whole], [curvature or whole], exact=True)


def curvature_scenarios(oracle: Oracle) -> int:
    wanted = oracle.for_curvature if isinstance(oracle, PlugInOracle) else CURVATURE
    return max(wanted, CURVATURE_PER_VARIABLE * oracle.problem.n)


def _curvature_prefix(oracle: Oracle, sizes: Sequence[int]) -> Sample | None:
    """Scenarios for second derivatives among those of finite data; None if that is all of them."""
    wanted = curvature_scenarios(oracle)
    if sum(sizes) <= wanted:
        return None
    share = wanted / sum(sizes)
    return draw_prefix(oracle, [max(1, int(share * size)) for size in sizes])
