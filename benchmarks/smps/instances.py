r"""The test set of Linderoth, Shapiro and Wright (Annals of Operations Research 142, 2006).

gbd     fleet of aircraft, 646,425 scenarios          20term  vehicles, 1.1e12
lands   electricity, 1e6                              storm   cargo flights, 6e81
ssn     telecommunication network, 1e70

The exact value of a decision, for gbd and lands: W and q do not depend on the scenario, so

    Q(x, w) = max { pi'(h(w) - T(w) x) : pi a vertex of the dual's feasible set }

and few vertices are ever optimal. Those that HiGHS has met give a lower bound of Q for all
scenarios in one product; where HiGHS finds a higher value in fresh scenarios, its vertex is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pyomo_stochsqp import from_smps
from pyomo_stochsqp.declare.recourse import AffineTwoStage, affine, read_two_stage
from pyomo_stochsqp.recourse import Drawing, SecondStage
from pyomo_stochsqp.recourse.scenarios import Scenarios


@dataclass(frozen=True)
class Instance:
    """A problem of the set."""

    name: str
    #: optimal value, and its standard error or rounding; ssn's is an upper bound
    reference: float
    uncertainty: float
    #: relative gap that is wanted, seconds that a run may take
    gap: float
    seconds: float
    #: scenarios of the plain extensive form
    sizes: tuple[int, ...]
    #: an optimal first stage in the model's order, where it is known
    best: tuple[float, ...] = ()


INSTANCES = {
    i.name: i
    for i in (
        Instance("gbd", 1655.6278474, 5e-8, 1e-3, 600.0, (16, 256, 1024)),
        Instance("lands", 225.6294, 5e-5, 1e-3, 600.0, (16, 256, 1024), (0.84, 3.40, 1.88, 5.88)),
        Instance("20term", 254311.55, 5.6, 2e-3, 600.0, (16, 64, 256)),
        Instance("storm", 15498739.41, 19.1, 1e-3, 600.0, (16, 64, 256)),
        Instance("ssn", 9.913, 0.022, 1e-3, 1200.0, (16, 64)),
    )
}


def read(data: Path, name: str) -> Any:
    """The Pyomo model."""
    return from_smps(data / name)


class ExactValue:
    """f(x) over all scenarios of a small instance."""

    CHUNK = 100_000
    TRIED = 500

    def __init__(self, model: Any):
        self._program: AffineTwoStage = affine(read_two_stage(model))
        p = self._program
        if p.q.random or p.W.entries.random or p.y_lower.random or p.y_upper.random:
            raise ValueError("costs and W must not be random")
        self._drawing = Drawing(p, 0, "monte_carlo")
        self._second = SecondStage(p)
        self._whole = self._drawing.whole()
        self._vertices = np.empty((0, p.W.shape[0]))
        self._tries = 0

    def __call__(self, x: np.ndarray) -> float:
        """The objective; vertices are added until fresh scenarios need no more."""
        while True:
            self._tries += 1
            fresh = self._drawing.draw(1, self._tries, self.TRIED)
            truth = self._second.react(x, fresh, duals=True)
            short = truth.values - self._values(x, fresh) > 1e-7 * (1.0 + np.abs(truth.values))
            if not short.any():
                break
            assert truth.duals is not None
            both = np.vstack((self._vertices, truth.duals[short]))
            self._vertices = both[np.unique(both.round(9), axis=0, return_index=True)[1]]
        c, constant = self._whole.first_cost()
        return float(c @ x) + constant + float(self._whole.weights @ self._values(x, self._whole))

    def _values(self, x: np.ndarray, scenarios: Scenarios) -> np.ndarray:
        """The highest of all vertices met so far, in every scenario."""
        if not len(self._vertices):
            return np.full(scenarios.count, -np.inf)
        return np.concatenate([self._highest(x, s) for s in self._chunks(scenarios)])

    def _highest(self, x: np.ndarray, s: Scenarios) -> np.ndarray:
        shift = s.shifts(x)
        up, down = np.maximum(self._vertices, 0.0), np.minimum(self._vertices, 0.0)
        finite = [np.where(np.isfinite(b), b, 0.0) - shift for b in (s.lower, s.upper)]
        # a dual of a row's lower bound is positive; bounds of y are 0 or infinite in these models
        return (finite[0] @ up.T + finite[1] @ down.T).max(axis=1)

    def _chunks(self, scenarios: Scenarios) -> Iterator[Scenarios]:
        for start in range(0, scenarios.count, self.CHUNK):
            yield scenarios.some(slice(start, start + self.CHUNK))


def best_value(instance: Instance, exact: ExactValue) -> float:
    """The optimum, to all digits where an optimal first stage is known."""
    return exact(np.array(instance.best)) if instance.best else instance.reference
