r"""Recourse: decisions that are made when the random numbers are known.

    min_x  f(x) + E[ Q(x, w) ],      Q(x, w) = min_y { q(w, x, y) : rows of x, y and w hold }

two_stage     the record of a two-stage program, as expressions
read          a model becomes that record
affine        a record with affine functions, as matrices that depend on w
lookup        random numbers of drawn scenarios
written_out   one copy of the second stage for every scenario
"""

from .affine import AffineTwoStage, NotAffineError, affine, bounds, row_bounds
from .lookup import leaves_of
from .read import read_two_stage
from .two_stage import MeanRow, RandomMatrix, RandomNumbers, TwoStage, TwoStageRow
from .written_out import write_recourse_out

__all__ = [
    "AffineTwoStage",
    "MeanRow",
    "NotAffineError",
    "RandomMatrix",
    "RandomNumbers",
    "TwoStage",
    "TwoStageRow",
    "affine",
    "bounds",
    "leaves_of",
    "read_two_stage",
    "row_bounds",
    "write_recourse_out",
]
