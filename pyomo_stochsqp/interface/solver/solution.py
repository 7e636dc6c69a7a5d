r"""From an outcome back to the Pyomo model: values, multipliers, reduced costs.

The algorithm minimises s f, with s = 1 to minimise and s = -1 to maximise f, and finds y with

    s grad f + J'y = r,        r_j = 0 unless variable j is at a bound.

Pyomo's dual is the change of the objective per unit of a constraint's bound, so

    dual = -s y,        reduced cost = s r,

for every kind of row, and for minimisation and maximisation alike. A variable that is not at one of
its bounds has reduced cost zero; what r holds there is the stationarity error of the certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pyomo.common.collections import ComponentMap
from pyomo.contrib.solver.common.solution_loader import SolutionLoader
from pyomo.contrib.solver.common.util import NoDualsError, NoReducedCostsError

from ...certify import Certificate
from ...declare import StochasticProgram
from ...oracle import Problem, Vector

#: a variable this close to a bound, relative to its size, is at it
AT_BOUND = 1e-6


class StochSQPSolutionLoader(SolutionLoader):
    """Gives one point to whoever asks; Pyomo's base class loads it into the model."""

    def __init__(
        self,
        program: StochasticProgram,
        x: Vector,
        duals: Vector | None = None,
        reduced_costs: Vector | None = None,
    ):
        self._pyomo_model = program.model
        self.program = program
        self._x = x
        self._duals = duals
        self._reduced_costs = reduced_costs

    @classmethod
    def of(
        cls, program: StochasticProgram, problem: Problem, certificate: Certificate
    ) -> StochSQPSolutionLoader:
        """The point of a certificate, with its multipliers."""
        c, s = certificate, program.sign
        near = AT_BOUND * (1.0 + np.abs(c.x))
        at_bound = (c.x <= problem.x_lower + near) | (c.x >= problem.x_upper - near)
        return cls(program, c.x, -s * c.y, np.where(at_bound, s * c.reduced_costs, 0.0))

    def arrays(self) -> tuple[Vector, Vector | None, Vector | None]:
        """Values, duals and reduced costs, in the program's order."""
        return self._x, self._duals, self._reduced_costs

    @property
    def has_duals(self) -> bool:
        """Whether the point has multipliers (it could be evaluated)."""
        return self._duals is not None

    def get_number_of_solutions(self) -> int:
        return 1

    def get_vars(self, vars_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        return _mapping(self.program.variables, self._x, vars_to_load)

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> Any:
        if self._duals is None:
            raise NoDualsError("The last point could not be evaluated, so it has no multipliers.")
        settled = self.program.settled
        rows = [*(row.component for row in self.program.rows), *settled]
        duals = np.concatenate((self._duals, np.zeros(len(settled))))
        return dict(_mapping(rows, duals, cons_to_load).items())

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        if self._reduced_costs is None:
            raise NoReducedCostsError("The last point could not be evaluated: no reduced costs.")
        return _mapping(self.program.variables, self._reduced_costs, vars_to_load)

    def load_import_suffixes(self) -> None:
        """Fill the suffixes 'dual' and 'rc' of the model, if it has them."""
        suffixes = self._collect_and_clear_import_suffixes()
        if self._duals is not None and "dual" in suffixes:
            suffixes["dual"].update(self.get_duals())
        if self._reduced_costs is not None and "rc" in suffixes:
            suffixes["rc"].update(self.get_reduced_costs())


def _mapping(
    components: Iterable[Any], values: Vector, wanted: Sequence[Any] | None
) -> ComponentMap:
    found = ComponentMap(zip(components, values.tolist(), strict=True))
    if wanted is None:
        return found
    return ComponentMap((c, found[c]) for c in wanted)
