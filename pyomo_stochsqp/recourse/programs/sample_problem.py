r"""The problem of a sample: all of its scenarios in one program.

    min  c'x + sum_s p_s q_s'y_s
    s.t. rows of x,  cuts,   lower_s <= T_s x + W_s y_s <= upper_s   for every s

Its optimal value is on average no larger than that of the true problem: whatever is decided, it
must do as well on average as what is best for each sample by itself. So any valid bound of it, even
the dual bound of a MIP that was stopped, is a lower bound in expectation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...declare.recourse import AffineTwoStage, RandomNumbers
from ...value_function import Cut
from ..scenarios import Scenarios
from .linear_program import LinearProgram

Array = NDArray[np.float64]


def first_stage(
    program: AffineTwoStage, cuts: Sequence[Cut] = ()
) -> tuple[sparse.csr_matrix, Array, Array]:
    """(matrix, lower, upper) of the rows in x alone, cuts at the end."""
    own = program.A.fixed
    if not cuts:
        return own, program.row_lower, program.row_upper
    slopes = sparse.csr_matrix(np.array([cut.slope for cut in cuts]))
    return (
        sparse.vstack([own, slopes], format="csr"),
        np.concatenate((program.row_lower, np.full(len(cuts), -np.inf))),
        np.concatenate((program.row_upper, [cut.limit for cut in cuts])),
    )


def sample_problem(sample: Scenarios, cuts: Sequence[Cut] = ()) -> LinearProgram:
    """The program of a sample; x first, then y of every scenario."""
    p, n = sample.program, sample.count
    n1, n2, m2 = p.T.shape[1], p.W.shape[1], p.T.shape[0]
    own, low, up = first_stage(p, cuts)
    m1 = low.size
    own = own.tocoo()
    each = np.arange(n)[:, None]
    T_rows = (m1 + each * m2 + p.T.rows).ravel()
    W_rows = (m1 + each * m2 + p.W.rows).ravel()
    T_columns = np.broadcast_to(p.T.columns, (n, p.T.columns.size)).ravel()
    W_columns = (n1 + each * n2 + p.W.columns).ravel()
    rows = np.concatenate((own.row, T_rows, W_rows))
    columns = np.concatenate((own.col, T_columns, W_columns))
    entries = np.concatenate(
        (own.data, _filled(p.T.entries, sample.T, n), _filled(p.W.entries, sample.W, n))
    )
    matrix = sparse.coo_matrix((entries, (rows, columns)), (m1 + n * m2, n1 + n * n2)).tocsr()
    c, constant = sample.first_cost()
    return LinearProgram(
        np.concatenate((c, (sample.weights[:, None] * sample.q).ravel())),
        matrix,
        np.concatenate((low, sample.lower.ravel())),
        np.concatenate((up, sample.upper.ravel())),
        np.concatenate((p.x_lower, sample.y_lower.ravel())),
        np.concatenate((p.x_upper, sample.y_upper.ravel())),
        np.concatenate((p.x_integer, np.tile(p.y_integer, n))),
        constant,
    )


def _filled(entries: RandomNumbers, drawn: Array, count: int) -> Array:
    """All entries of a matrix for every scenario, one after the other."""
    whole = np.tile(entries.base, (count, 1))
    whole[:, entries.positions] = drawn
    return whole.ravel()
