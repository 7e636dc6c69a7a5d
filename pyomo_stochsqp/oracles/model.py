r"""The oracle of a Pyomo model: its compiled evaluator fed with sampled batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.var import VarData

from ..compile import Evaluator
from ..deadline import check_time
from ..declare import StochasticProgram
from ..declare.program import Batch
from ..oracle import PREFIX_STREAM, Estimate, Problem, Replicates, Sample, SourceInfo, Vector
from ..sample import FixedSample, Sampler, whole_size


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
        #: rows of every source that are evaluated at once
        self._rows = [evaluator.rows_at_once(s) for s in range(len(program.sources))]

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return Sample(*self._sampler.draw(stream, k, batch))

    def draw_replicates(self, stream: int, k: int, batch: Sequence[int], count: int) -> Replicates:
        fixed = self._sampler.replicates(stream, k, batch, count)
        parts = tuple(_sample(fixed, r, fixed.scenarios) for r in range(count))
        return Replicates(parts, (_sample(fixed, None, count * fixed.scenarios),))

    def draw_prefix(self, batch: Sequence[int], largest: Sequence[int]) -> Sample:
        batches = self._sampler.prefix(PREFIX_STREAM, batch, largest)
        return Sample(tuple(batches), sum(b.size for b in batches))

    def beginning(self, sample: Sample, size: int) -> Sample | None:
        """The first scenarios of a sample; None if it is no larger, or not in memory."""
        if isinstance(sample.payload, Unkept) or sample.exact:
            return None
        batches = sample.payload
        if max((b.size for b in batches), default=0) <= size:
            return None
        first = tuple(next(pieces(b, size))[1] for b in batches)
        return Sample(first, sum(b.size for b in first))

    def halves(self, sample: Sample, least: int) -> tuple[Sample, Sample] | None:
        """A batch in two equal parts; None if it has fewer scenarios of a source, or an end."""
        batches = sample.payload
        if sample.exact or isinstance(batches, Unkept) or min(b.size for b in batches) < least:
            return None
        parts = zip(*(_halves(b) for b in batches), strict=True)
        first, second = (Sample(tuple(p), sum(b.size for b in p)) for p in parts)
        return first, second

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        payload = sample.payload
        check_time()
        if isinstance(payload, Unkept):
            return self._evaluator.evaluate_pieces(x, payload.sources(), payload.sizes, objective)
        if sample.exact and sample.scenarios:
            return self._evaluator.evaluate_full(x, objective)
        if all(b.size <= rows for b, rows in zip(payload, self._rows, strict=True)):
            return self._evaluator.evaluate(x, payload, objective)
        parts = map(pieces, payload, self._rows)
        return self._evaluator.evaluate_pieces(x, parts, [b.size for b in payload], objective)

    @property
    def rounded(self) -> bool:
        """Whether kinks were rounded off by their spread."""
        return self._evaluator.program.rounded

    def narrow(self, level: int) -> None:
        """Round them off over widths so many times four times smaller."""
        self._evaluator.narrow(level)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._evaluator.hess_indptr, self._evaluator.hess_indices

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        payload = sample.payload
        check_time()
        if isinstance(payload, Unkept):
            return self._evaluator.hessian_pieces(x, y, [list(p) for p in payload.sources()])
        if sample.exact and sample.scenarios:
            return self._evaluator.hessian_full(x, y)
        return self._evaluator.hessian_pieces(
            x, y, [list(pieces(b, rows)) for b, rows in zip(payload, self._rows, strict=True)]
        )


class Unkept:
    """A sample too large for memory: its scenarios are drawn again whenever they are wanted."""

    def __init__(self, fixed: FixedSample, replicate: int | None, sources: int):
        self._fixed = fixed
        self._replicate = replicate
        self._sources = sources
        #: scenarios of every source
        self.sizes = fixed.sizes(replicate)

    def sources(self) -> Iterator[Iterator[tuple[float, Batch]]]:
        """The pieces of every source."""
        return (self._fixed.pieces(s, self._replicate) for s in range(self._sources))


def _sample(fixed: FixedSample, replicate: int | None, scenarios: int) -> Sample:
    batches = fixed.batches(replicate)
    if batches is None:
        return Sample(Unkept(fixed, replicate, fixed.source_count), scenarios, kept=False)
    return Sample(batches, scenarios)


def pieces(batch: Batch, size: int) -> Iterator[tuple[float, Batch]]:
    """(share, piece) of a batch, so that memory stays bounded; a small batch is one piece."""
    if batch.size <= size:
        yield 1.0, batch
        return
    for start in range(0, batch.size, size):
        check_time()
        rows = slice(start, min(start + size, batch.size))
        parts = tuple(
            tuple(f[rows] for f in part) if isinstance(part, tuple) else _rows(part, rows)
            for part in batch.parts
        )
        length = rows.stop - rows.start
        if batch.weights is None:
            yield length / batch.size, Batch(length, parts)
            continue
        weights = batch.weights[rows]
        share = float(weights.sum())
        if share > 0.0:
            yield share, Batch(length, parts, weights / share)


def _halves(batch: Batch) -> tuple[Batch, Batch]:
    """Its first and its second half; of an odd number the last scenario is in neither."""
    first, second, *_ = pieces(batch, batch.size // 2)
    return first[1], second[1]


def _rows(part: Any, rows: slice) -> Any:
    """Row numbers of a piece; a slice of the table stays one."""
    if isinstance(part, slice):
        return slice(part.start + rows.start, part.start + rows.stop)
    return part[rows]


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
