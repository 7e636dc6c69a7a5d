r"""The oracle of a Pyomo model: its compiled evaluator fed with sampled batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.core.base.var import VarData

from ..compile import Evaluator
from ..declare import StochasticProgram
from ..declare.program import Batch
from ..oracle import Estimate, Problem, Sample, SourceInfo, Vector
from ..sample import Sampler, whole_size

#: rows of a batch evaluated at once
CHUNK_ROWS = 1 << 16


class ModelOracle:
    """Implements :class:`pyomo_stochsqp.oracle.Oracle` for a StochasticProgram."""

    def __init__(self, program: StochasticProgram, evaluator: Evaluator, sampler: Sampler):
        self.problem = problem_of(program, evaluator)
        self.sources: Sequence[SourceInfo] = tuple(
            SourceInfo(s.name, whole_size(s)) for s in program.sources
        )
        self._evaluator = evaluator
        self._sampler = sampler

    def draw(self, stream: int, k: int, batch: Sequence[int]) -> Sample:
        return Sample(*self._sampler.draw(stream, k, batch))

    def estimate(self, x: Vector, sample: Sample, objective: bool = False) -> Estimate:
        if sample.exact and sample.rows:
            return self._evaluator.evaluate_full(x, objective)
        pieces = _pieces(sample.payload)
        if len(pieces) == 1:
            return self._evaluator.evaluate(x, sample.payload, objective)
        return self._in_chunks(x, pieces, objective)

    def _in_chunks(self, x: Vector, pieces: list[Sequence[Batch]], objective: bool) -> Estimate:
        """The mean over the pieces of a large batch."""
        total: Estimate | None = None
        for piece in pieces:
            e = self._evaluator.evaluate(x, piece, objective)
            if e.issue is not None:
                return e
            if total is None:
                total = e
            else:
                total.g += e.g
                total.c += e.c
                total.J += e.J
                total.f = None if e.f is None or total.f is None else total.f + e.f
        assert total is not None
        count = len(pieces)
        total.g /= count
        total.c /= count
        total.J /= count
        total.f = None if total.f is None else total.f / count
        return total

    def full(self, x: Vector, objective: bool = False) -> Estimate:
        return self._evaluator.evaluate_full(x, objective)

    def hessian_pattern(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._evaluator.hess_indptr, self._evaluator.hess_indices

    def hessian(self, x: Vector, y: Vector, sample: Sample) -> Vector:
        if sample.exact and sample.rows:
            return self._evaluator.hessian_full(x, y)
        pieces = _pieces(sample.payload)
        return np.mean([self._evaluator.hessian(x, y, piece) for piece in pieces], axis=0)


def _pieces(batches: Sequence[Batch]) -> list[Sequence[Batch]]:
    """Large batches in equal pieces, so that memory stays bounded."""
    largest = 0
    for batch in batches:
        largest = max(largest, batch.size)
    if largest <= CHUNK_ROWS:
        return [batches]
    count = -(-largest // CHUNK_ROWS)
    return [[_piece(b, i, count) for b in batches] for i in range(count)]


def _piece(batch: Batch, piece: int, count: int) -> Batch:
    """One of ``count`` pieces of a batch drawn with equal weights (at least one row)."""
    start = piece * batch.size // count
    stop = max(start + 1, (piece + 1) * batch.size // count)
    rows = slice(start, stop)
    parts = tuple(
        tuple(f[rows] for f in part) if isinstance(part, tuple) else _rows(part, rows)
        for part in batch.parts
    )
    return Batch(stop - start, parts)


def _rows(part: Any, rows: slice) -> Any:
    """Row numbers of a piece; a slice of the table stays one."""
    if isinstance(part, slice):
        return slice(part.start + rows.start, part.start + rows.stop)
    return part[rows]


def problem_of(program: StochasticProgram, evaluator: Evaluator) -> Problem:
    """Sizes, bounds, starting point and pattern of a compiled program."""
    rows = program.rows
    return Problem(
        x0=np.array([float(v.value) for v in program.variables]),
        x_lower=np.array([_bound(v, v.lb, -np.inf) for v in program.variables]),
        x_upper=np.array([_bound(v, v.ub, np.inf) for v in program.variables]),
        row_lower=np.array([r.lower for r in rows], dtype=float),
        row_upper=np.array([r.upper for r in rows], dtype=float),
        jac_indptr=evaluator.jac_indptr,
        jac_indices=evaluator.jac_indices,
        exact_rows=np.array([not r.body.terms for r in rows], dtype=bool),
        exact_objective=not program.objective.terms,
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
