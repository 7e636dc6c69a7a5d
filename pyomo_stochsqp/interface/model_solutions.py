r"""``model.solutions`` after a legacy solve, which ``pyomo solve`` and its --summary read.

Pyomo asks the objective for its value when it writes results. An objective with expectations has no
value (a distribution) or a costly one (the average over all data), so the estimate of the solver is
written in its place.
"""

from __future__ import annotations

from typing import Any

from pyomo.core.base.label import CNameLabeler, CuidLabeler
from pyomo.core.base.PyomoModel import ModelSolutions


class EstimatedSolutions(ModelSolutions):
    """Pyomo's store of solutions, with an estimate of the objective."""

    def __init__(self, model: Any, objective: Any, estimate: float):
        super().__init__(model)
        self._objective = objective
        self._estimate = estimate

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {**state, "_objective": self._objective, "_estimate": self._estimate}

    def store_to(self, results: Any, cuid: bool = False, skip_stale_vars: bool = False) -> None:
        self._objective.deactivate()  # an inactive objective is not asked for its value
        try:
            super().store_to(results, cuid, skip_stale_vars)
        finally:
            self._objective.activate()
        label = (CuidLabeler() if cuid else CNameLabeler())(self._objective)
        for i in range(len(results.solution)):
            results.solution(i).objective[label] = {"Value": self._estimate}
