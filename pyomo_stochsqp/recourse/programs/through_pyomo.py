r"""The problem of a sample by any solver that Pyomo knows.

The matrices become a Pyomo model, built anew for every sample; so HiGHS, which takes matrices, is
several times faster where it solves the program as fast. Of a linear program the optimal value is
the bound; of an integer one, what the solver says that it has proved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from ...declare.recourse import AffineTwoStage
from ...errors import MissingLibraryError, OptionError
from .extensive import SampledSolver
from .linear_program import LinearProgram, Solved, Status

_ENDED = {
    "optimal": Status.OPTIMAL,
    "globallyOptimal": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "maxTimeLimit": Status.LIMIT,
}


def check_solver(name: str) -> None:
    """Whether Pyomo has this solver here."""
    if name not in pyo.SolverFactory:
        raise OptionError(
            f"exact_solver='{name}' is no solver that Pyomo knows. Samples of linear Recourse are "
            "solved by 'highs' or by Pyomo's solvers of linear programs."
        )
    if not pyo.SolverFactory(name).available(exception_flag=False):
        raise MissingLibraryError(
            f"exact_solver='{name}' is not available here: install the solver and its license, or "
            "leave the choice to 'auto', which is HiGHS."
        )


class PyomoSampledSolver(SampledSolver):
    """Solves problems of samples with a solver of Pyomo's, with its own options."""

    def __init__(self, program: AffineTwoStage, gap: float, name: str):
        super().__init__(program, gap)
        check_solver(name)
        self._name = name
        self._solver = pyo.SolverFactory(name)

    def _solved(self, program: LinearProgram, seconds: float) -> Solved:
        m = pyomo_model(program)
        limit = {} if seconds == np.inf else {"timelimit": max(seconds, 0.1)}
        results = self._solver.solve(m, load_solutions=False, **limit)
        status = _ENDED.get(str(results.solver.termination_condition), Status.FAILED)
        integer = bool(program.integer.any())
        if status in (Status.INFEASIBLE, Status.UNBOUNDED, Status.FAILED):
            return Solved(status)
        if status is Status.LIMIT and not integer:
            return Solved(status)
        bound = _proved(results) if integer else -np.inf
        if not len(results.solution):
            return Solved(status, bound)
        m.solutions.load_from(results)
        x = np.array([v.value for v in m.x.values()], dtype=float)
        objective = float(pyo.value(m.cost))
        if not integer:
            duals = np.array([m.dual.get(c, 0.0) for c in m.row.values()], dtype=float)
            return Solved(status, objective, objective, x, duals)
        if not np.isfinite(bound):
            raise OptionError(
                f"exact_solver='{self._name}' has told no bound that it has proved for an integer "
                "program, so nothing could be certified. Choose another solver, or leave the "
                "choice to 'auto'."
            )
        return Solved(status, min(bound, objective), objective, x)


def pyomo_model(program: LinearProgram) -> Any:
    """The program with x[j] and row[i]; rows without variables have no place there."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(program.cost.size))
    for v, low, up, integer in zip(
        m.x.values(), program.lower, program.upper, program.integer, strict=True
    ):
        v.setlb(None if low == -np.inf else low)
        v.setub(None if up == np.inf else up)
        if integer:
            v.domain = pyo.Integers
    x = list(m.x.values())
    A = program.matrix.tocsr()
    m.row = pyo.Constraint(range(program.row_lower.size))
    for i, (low, up) in enumerate(zip(program.row_lower, program.row_upper, strict=True)):
        entries = slice(A.indptr[i], A.indptr[i + 1])
        body = LinearExpression(
            constant=0.0,
            linear_coefs=A.data[entries].tolist(),
            linear_vars=[x[j] for j in A.indices[entries]],
        )
        if low == up:
            m.row[i] = (body, float(low))
        else:
            m.row[i] = (None if low == -np.inf else low, body, None if up == np.inf else up)
    cost = LinearExpression(
        constant=program.constant, linear_coefs=program.cost.tolist(), linear_vars=x
    )
    m.cost = pyo.Objective(expr=cost)
    if not program.integer.any():
        m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def _proved(results: Any) -> float:
    try:
        return float(results.problem.lower_bound)
    except (TypeError, ValueError):
        return -np.inf
