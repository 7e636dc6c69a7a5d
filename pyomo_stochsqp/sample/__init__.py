"""Drawing scenario rows: counter-based streams, point sets, batches."""

from .points import METHODS
from .sampler import Sampler, whole_size

__all__ = ["METHODS", "Sampler", "whole_size"]
