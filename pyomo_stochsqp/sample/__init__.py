"""Drawing scenario rows.

sampler       samples of a program's sources, by name
scenarios     a sample: what is drawn where and when it is evaluated
rows          the scenarios of one source in it, in pieces
draws         drawing them, a chunk at a time; blocks, small batches of many iterations at once
simulation    calls of users' samplers; workers, processes that make them
streams       counter-based random streams: what is drawn depends on names only
order         a random order of the rows of a table
reading       rows of tables that are in files
points        point sets of the unit cube: how a batch is spread
row_numbers   rows of finite data
"""

from .points import METHODS
from .rows import Cut, whole_size
from .sampler import Sampler
from .scenarios import Scenarios

__all__ = ["METHODS", "Cut", "Sampler", "Scenarios", "whole_size"]
