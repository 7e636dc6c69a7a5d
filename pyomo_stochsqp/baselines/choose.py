r"""A baseline by its name, with what it needs measured on the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..errors import OptionError
from ..method import Method
from ..oracle import Oracle
from .coordinate_differences import coordinate_constants
from .subgradient import StochasticSubgradient
from .tstom import TStoM, TStoMParameters

BASELINES = ("subgradient", "tstom")


def make_baseline(
    name: str,
    oracle: Oracle,
    batch: Sequence[int],
    beta: Callable[[int], float],
    tau: float,
    lipschitz_constants: tuple[float, float] | None = None,
) -> Method:
    """A method ready to run.

    (L, Gamma) not given are measured by coordinate differences at the starting point; TStoM's step
    sizes follow from them, because the paper's suit one problem only.
    """
    x = oracle.problem.x0
    constants = lipschitz_constants or coordinate_constants(oracle, x, batch)
    if name == "subgradient":
        return StochasticSubgradient(oracle, batch, beta, tau, constants)
    if name == "tstom":
        return TStoM(oracle, batch, TStoMParameters.automatic(oracle, x, batch, constants))
    raise OptionError(f"unknown baseline {name!r}; choose one of {', '.join(BASELINES)}.")
