"""What an algorithm may ask, answered.

model      by a compiled Pyomo model and sampled batches
gaussian   by an exact oracle with the paper's Gaussian errors
"""

from .gaussian import GaussianNoiseOracle
from .model import ModelOracle

__all__ = ["GaussianNoiseOracle", "ModelOracle"]
