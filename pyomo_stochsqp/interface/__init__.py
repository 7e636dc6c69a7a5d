"""The Pyomo side: options, both solver interfaces, results, the command line."""

from __future__ import annotations


def register() -> None:
    """Make SolverFactory('stochsqp') work in Pyomo's new and in its legacy interface."""
    from pyomo.contrib.solver.common.factory import SolverFactory

    from .legacy import LegacyStochSQP
    from .solver import StochSQP

    SolverFactory.register("stochsqp", doc="Stochastic SQP for models with expectations")(
        StochSQP, LegacyStochSQP
    )
