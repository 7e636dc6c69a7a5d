"""Runs on hand-written oracles, for tests of what a run tells about itself."""

from __future__ import annotations

from pyomo_stochsqp.certify import Certifier, Tolerances
from pyomo_stochsqp.engines import TrustRegion
from pyomo_stochsqp.run import Budget, Judge, Looked, Progress, run
from pyomo_stochsqp.sqp import Choices, assemble
from pyomo_stochsqp.stages import Engines, Staged
from tests.sqp.oracles import tilting

#: out of reach: runs end by their budgets
TOLERANCES = Tolerances(1e-9, 1e-9)
#: scenarios of a run in stages
MOST = 100_000


class Runner:
    """A method on an oracle, ready to run as often as wanted."""

    def __init__(self, oracle=None, growth="constant", tolerances=TOLERANCES, most=MOST):
        self.most = most
        self.oracle = oracle or tilting()
        self.tolerances = tolerances
        self.certifier = Certifier(self.oracle)
        self.method = self.make_method(growth)

    def make_method(self, growth):
        """Algorithm 1, looked at from time to time."""
        assembly = assemble(self.oracle, Choices(batch=(32,), growth=growth))
        return Looked(
            assembly.method, self.oracle, self.certifier, self.tolerances, assembly.scaling
        )

    def beginning(self):
        state = self.method.start(self.oracle.problem.x0)
        return Progress.beginning(state)

    def run(self, iterations, observers=(), progress=None, answer="best", **budget):
        return run(
            self.method,
            progress or self.beginning(),
            Judge(self.oracle, self.certifier),
            Budget(iterations, **budget),
            self.tolerances,
            observers,
            answer,
        )


class StagedRunner(Runner):
    """The same in stages. Without second derivatives, so one engine is all there is."""

    def make_method(self, growth):
        engines = Engines([TrustRegion], [TrustRegion], [TrustRegion])
        return Staged(self.oracle, self.certifier, self.tolerances, engines, max_samples=self.most)
