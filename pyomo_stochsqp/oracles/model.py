r"""The oracle of a Pyomo model: its compiled evaluator fed with sampled batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.var import VarData

from ..compile import Evaluator
from ..deadline import check_time
from ..declare import StochasticProgram
from ..oracle import Estimate, Problem, Replicates, Sample, SourceInfo, Vector
from ..sample import Sampler, Scenarios, whole_size
from .passes import CurvatureTerms, MeanTerms, Pass, Share, Terms, share_of

if TYPE_CHECKING:
    from .shared import PassesOfRanks


class ModelOracle:
    """Implements the protocols of :mod:`pyomo_stochsqp.oracle` for a StochasticProgram."""

    def __init__(self, program: StochasticProgram, evaluator: Evaluator, sampler: Sampler):
        self.problem = problem_of(program, evaluator)
        self.sources: Sequence[SourceInfo] = tuple(
            SourceInfo(s.name, whole_size(s), any(p.heavy for p in s.parts))
            for s in program.sources
        )
        self.spreads_evenly = sampler.spreads_evenly
        self._evaluator = evaluator
        self._sampler = sampler
        #: ranks that share its passes
        self.crew: PassesOfRanks | None = None
        #: rows of every source that are evaluated at once
        self._limits = [evaluator.rows_at_once(s) for s in range(len(program.sources))]

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        batch = tuple(batch)
        size = self._sampler.size_of(batch)
        scenarios = self._sampler.batch(stream, k, batch)
        return Sample(scenarios, size.scenarios, size.whole, scenarios.kept)

    def draw_replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> Replicates:
        fixed = self._sampler.replicates(stream, k, batch, count)
        scenarios = sum(rows.each for rows in fixed.rows)
        parts = tuple(
            Sample(self._sampler.replicate(fixed, r), scenarios, kept=fixed.kept)
            for r in range(count)
        )
        return Replicates(parts, (Sample(fixed, count * scenarios, kept=fixed.kept),))

    def draw_prefix(self, batch: Sequence[int]) -> Sample:
        return _sample(self._sampler.prefix(batch))

    def beginning(self, sample: Sample, size: int) -> Sample | None:
        """The first scenarios of a sample; None if it is no larger, or not in memory."""
        scenarios = sample.payload
        if not sample.kept or sample.exact or scenarios.fits([size] * len(scenarios.sizes)):
            return None
        stops = [min(size, count) for count in scenarios.sizes]
        return _sample(self._sampler.section(scenarios, [0] * len(stops), stops))

    def halves(self, sample: Sample, least: int) -> tuple[Sample, Sample] | None:
        """A batch in two equal parts; None if it has fewer scenarios of a source, or an end.

        Of an odd number the last scenario is in neither.
        """
        sizes = sample.payload.sizes
        if sample.exact or min(sizes) < least:
            return None
        half = [size // 2 for size in sizes]
        both = [2 * size for size in half]
        first = self._sampler.section(sample.payload, [0] * len(half), half)
        return _sample(first), _sample(self._sampler.section(sample.payload, half, both))

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        scenarios = sample.payload
        if not scenarios.fits(self._limits):
            return self.estimates(x, [sample], objective)[0]
        check_time()
        if sample.exact and sample.scenarios:
            results = self._evaluator.at_once(x, scenarios.batches)
            return self._evaluator.as_estimate(*results, objective)
        return self._evaluator.evaluate(x, scenarios.batches, objective)

    def estimates(
        self, x: Vector, samples: Sequence[Sample], objective: bool = False
    ) -> list[Estimate]:
        evaluator = self._evaluator
        whole = Pass(x, None, [sample.payload for sample in samples])
        terms = self.mean_terms(whole)
        share = self._share(whole, terms)
        made = []
        for j, (own, total) in enumerate(zip(terms, share.sums, strict=True)):
            if share.issue is not None and share.issue[0] == j:
                nothing = np.full(evaluator.pattern.size, np.nan)
                made.append(evaluator.as_estimate(nothing, share.issue[2], objective))
                break
            made.append(evaluator.as_estimate(*own.finished(total.total()), objective))
            if made[-1].issue is not None:
                break
        return made

    @property
    def oracles(self) -> Sequence[ModelOracle]:
        """What makes the passes: itself."""
        return [self]

    @property
    def work_left(self) -> Vector:
        """Until the evaluator changes over to machine code."""
        return np.array([self._evaluator.work_left])

    @work_left.setter
    def work_left(self, left: Vector | None) -> None:
        self._evaluator.work_left = None if left is None or not left.size else float(left[0])

    @property
    def rounded(self) -> bool:
        """Whether kinks were rounded off by their spread."""
        return self._evaluator.program.rounded

    @property
    def narrowing(self) -> int:
        """How many times four times smaller than at first the widths are."""
        return self._evaluator.narrowing

    def narrow(self, level: int) -> None:
        """Round them off over widths so many times four times smaller."""
        self._evaluator.narrow(level)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._evaluator.hess_indptr, self._evaluator.hess_indices

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        whole = Pass(x, y, [sample.payload])
        (terms,) = self.curvature_terms(whole)
        return terms.finished(self._share(whole, [terms]).sums[0].total())

    # -- passes -----------------------------------------------------------------------------------

    def terms(self, of: Pass) -> Sequence[Terms]:
        """What a pass adds up."""
        return self.mean_terms(of) if of.y is None else self.curvature_terms(of)

    def mean_terms(self, of: Pass) -> list[MeanTerms]:
        return [MeanTerms(self._evaluator, s, self._limits, of.x) for s in of.samples]

    def curvature_terms(self, of: Pass) -> list[CurvatureTerms]:
        y = of.y
        assert y is not None
        return [CurvatureTerms(self._evaluator, s, self._limits, of.x, y) for s in of.samples]

    def _share(self, whole: Pass, terms: Sequence[Terms]) -> Share:
        if self.crew is not None:
            return self.crew.share(self, whole, terms)
        return share_of(terms, 0, sum(t.count for t in terms))


def _sample(scenarios: Scenarios) -> Sample:
    return Sample(scenarios, sum(scenarios.sizes), kept=scenarios.kept)


def problem_of(program: StochasticProgram, evaluator: Evaluator) -> Problem:
    """Sizes, bounds, starting point and pattern of a compiled program."""
    rows = program.rows
    return Problem(
        x0=program.start,
        x_lower=np.array([_bound(v, v.lb, -np.inf) for v in program.variables]),
        x_upper=np.array([_bound(v, v.ub, np.inf) for v in program.variables]),
        row_lower=np.array([r.lower for r in rows], dtype=float),
        row_upper=np.array([r.upper for r in rows], dtype=float),
        jac_indptr=evaluator.jac_indptr,
        jac_indices=evaluator.jac_indices,
        exact_rows=np.array([not r.body.sampled for r in rows], dtype=bool),
        objective_constant=evaluator.objective_constant,
        variable_names=_Names(program.variables),
        row_names=_Names([r.component for r in rows]),
    )


def _bound(variable: VarData, bound: float | None, absent: float) -> float:
    return absent if bound is None else float(bound)


class _Names(Sequence[str]):
    """Component names, made only when a message needs one (a name costs microseconds)."""

    def __init__(self, components: Sequence):
        self._components = components

    def __len__(self) -> int:
        return len(self._components)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [c.name for c in self._components[i]]
        return self._components[i].name

    def __reduce__(self) -> Any:
        return list, (list(self),)  # results are pickled without their model
