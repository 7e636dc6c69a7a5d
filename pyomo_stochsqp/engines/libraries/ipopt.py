r"""IPOPT through cyipopt, and POUNCE, a port of it with the same interface."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...oracle import Vector
from ..protocol import Ending
from .callbacks import Callbacks
from .engine import Answer, Iterate, Library

MAX_ITERATIONS = 3000
#: numbers from here on are no bounds
NO_BOUND = 2e19
#: what a start with multipliers, taken for one near a solution, begins with
WARM = {"warm_start_init_point": "yes", "mu_init": 1e-6}

#: IPOPT's return codes
_ENDINGS = {
    0: Ending.SOLVED,
    1: Ending.SOLVED,
    2: Ending.INFEASIBLE,
    4: Ending.UNBOUNDED,
    6: Ending.SOLVED,
    -1: Ending.LIMIT,
    -13: Ending.UNDEFINED,
}


class _Functions:
    """The object that both libraries call."""

    def __init__(self, program: Callbacks, report: Callable[[Iterate], None], y: Vector):
        self._program = program
        self._report = report
        self._y = y
        if program.nlp.second_order:
            self.hessianstructure = lambda: program.hessian_entries
            self.hessian = self._hessian

    def objective(self, x: Vector) -> float:
        return self._program.objective(x)

    def gradient(self, x: Vector) -> Vector:
        return self._program.at(x).g

    def constraints(self, x: Vector) -> Vector:
        return self._program.at(x).c

    def jacobianstructure(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return self._program.problem.jac_rows, self._program.problem.jac_indices

    def jacobian(self, x: Vector) -> Vector:
        return self._program.at(x).J

    def _hessian(self, x: Vector, y: Vector, sigma: float) -> Vector:
        self._y = np.array(y)
        return self._program.hessian(x, sigma, y)

    def intermediate(self, *_: Any) -> bool:
        """After every iteration: the last point that was looked at is the one it has taken."""
        try:
            self._report(Iterate(self._program.x, self._y))
        except BaseException as trouble:
            self._program.trouble = trouble
            return False
        return self._program.trouble is None


def through(module: str) -> Library:
    """The loop of cyipopt or of pounce."""

    def solve(
        program: Callbacks,
        x: Vector,
        y: Vector,
        tolerance: float,
        report: Callable[[Iterate], None],
    ) -> Answer:
        problem = program.problem
        made = import_module(module).Problem(
            n=problem.n, m=problem.m, problem_obj=_Functions(program, report, y),
            lb=_finite(problem.x_lower), ub=_finite(problem.x_upper),
            cl=_finite(problem.row_lower), cu=_finite(problem.row_upper),
        )  # fmt: skip
        options = {"tol": tolerance, "max_iter": MAX_ITERATIONS, "print_level": 0, "sb": "yes"}
        if not program.nlp.second_order:
            options["hessian_approximation"] = "limited-memory"
        more = {}
        if y.any():
            options |= WARM
            more["lagrange"] = y
        for name, value in options.items():
            made.add_option(name, value)
        found, info = made.solve(x, **more)
        ending = _ENDINGS.get(int(info["status"]), Ending.STALLED)
        return Answer(np.array(found), np.array(info["mult_g"]), ending)

    return solve


def _finite(bounds: Vector) -> Vector:
    return np.clip(bounds, -NO_BOUND, NO_BOUND)
