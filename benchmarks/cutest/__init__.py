"""The 44 equality-constrained CUTEst problems of the paper's first study, as Pyomo models."""

from benchmarks.cutest.problems import PROBLEMS, build

__all__ = ["PROBLEMS", "build"]
