"""Drawing scenario rows.

sampler       batches of a program's sources, iteration by iteration
fixed         samples that are drawn once, in independent replicates
streams       counter-based random streams: what is drawn depends on names only
points        point sets of the unit cube: how a batch is spread
row_numbers   rows of finite data
"""

from .fixed import FixedSample
from .points import METHODS
from .sampler import Sampler, whole_size

__all__ = ["METHODS", "FixedSample", "Sampler", "whole_size"]
