"""Runs on hand-written oracles, for tests of what a run tells about itself."""

from __future__ import annotations

from pyomo_stochsqp.report import Budget, Certifier, Progress, Tolerances, run
from pyomo_stochsqp.sqp import Choices, State, assemble
from tests.sqp.oracles import tilting

TOLERANCES = Tolerances(1e-9, 1e-9)


class Runner:
    """A method on an oracle, ready to run as often as wanted."""

    def __init__(self, oracle=None, growth="constant"):
        self.oracle = oracle or tilting()
        assembly = assemble(self.oracle, Choices(batch=(32,), growth=growth))
        self.method = assembly.method
        self.certifier = Certifier(self.oracle, assembly.subproblem.multipliers)

    def beginning(self):
        return Progress.beginning(self.method.start(self.oracle.problem.x0), State.COLUMNS)

    def run(self, iterations, observers=(), progress=None, **budget):
        return run(
            self.method,
            progress or self.beginning(),
            self.certifier,
            Budget(iterations, **budget),
            TOLERANCES,
            observers,
        )
