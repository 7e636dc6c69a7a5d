"""Drawing scenario rows: counter-based streams, point sets, batches."""

from .points import METHODS
from .sampler import Sampler

__all__ = ["METHODS", "Sampler"]
