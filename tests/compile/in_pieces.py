"""An evaluation as a mean over pieces, put together by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyomo_stochsqp.declare.program import Batch
from pyomo_stochsqp.oracle import Estimate
from pyomo_stochsqp.sample.rows import piece_of, whole_batch


def in_pieces(evaluator: Any, x: Any, batches: Sequence[Batch], limit: int) -> Estimate:
    """The estimate on batches, ``limit`` rows at a time; the first issue ends it."""
    sizes = [batch.size for batch in batches]
    total = np.zeros(evaluator.pattern.size)
    for s, batch in enumerate(batches):
        for start in range(0, batch.size, limit):
            share, piece = piece_of(batch, start, min(limit, batch.size - start))
            out, issue = evaluator.piece(x, s, piece, sizes)
            if issue is not None:
                return evaluator.as_estimate(out, issue)
            total += share * out
    return evaluator.as_estimate(*evaluator.finished(x, total, sizes))


def whole(program: Any) -> list[Batch]:
    """All rows of all sources."""
    return [whole_batch(source) for source in program.sources]
