"""A run in stages: fixed samples that grow, each certifying what the one before has found.

staged   the method
sampled  Algorithm 1 before the first stage
plan     how large the samples are
sample   one stage's sample and its program
state    what a step leaves behind
"""

from .sampled import SampledPhase, SampledState
from .staged import EngineFactory, Engines, Staged
from .state import Found, StagedState

__all__ = [
    "EngineFactory",
    "Engines",
    "Found",
    "SampledPhase",
    "SampledState",
    "Staged",
    "StagedState",
]
