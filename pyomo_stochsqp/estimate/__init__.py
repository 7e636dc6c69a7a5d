"""Oracles: a compiled model with a sampler, and the paper's Gaussian noise model."""

from .gaussian import GaussianNoiseOracle
from .model import ModelOracle

__all__ = ["GaussianNoiseOracle", "ModelOracle"]
