"""The Pyomo side.

options/        every option, declared once; configurations made of it
solver/         both of Pyomo's solver interfaces, results, solutions, resuming
command_line/   python -m pyomo_stochsqp
"""

from __future__ import annotations


def register() -> None:
    """Make SolverFactory('stochsqp') work in Pyomo's new and in its legacy interface."""
    from pyomo.contrib.solver.common.factory import SolverFactory

    from .solver.legacy import LegacyStochSQP
    from .solver.solver import StochSQP

    SolverFactory.register("stochsqp", doc="Stochastic SQP for models with expectations")(
        StochSQP, LegacyStochSQP
    )
