"""A run in stages: fixed samples that grow, each certifying what the one before has found.

staged   the method: open a stage, solve its program, close it
judging  what a stage's sample says of a point
solving  the engines at work on a stage's program
sampled  Algorithm 1 before the first stage
plan     how large the samples are
sample   one stage's sample and its program
state    what a step leaves behind
"""

from .sampled import SampledPhase, SampledState
from .solving import EngineFactory, Engines
from .staged import Staged
from .state import RECORDS, StagedState

__all__ = [
    "RECORDS",
    "EngineFactory",
    "Engines",
    "SampledPhase",
    "SampledState",
    "Staged",
    "StagedState",
]
