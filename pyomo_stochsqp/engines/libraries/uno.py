r"""Uno with its preset 'ipopt': a filter interior point with MUMPS.

Its other preset is not offered: its QP solver cannot run in two threads, and overran time limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...oracle import Vector
from ..protocol import Ending
from .callbacks import Callbacks
from .engine import Answer, Iterate

MAX_ITERATIONS = 3000
#: a start with multipliers is taken for one near a solution
WARM_BARRIER = 1e-6

_ENDINGS = {
    "FEASIBLE_KKT_POINT": Ending.SOLVED,
    "INFEASIBLE_STATIONARY_POINT": Ending.INFEASIBLE,
    "UNBOUNDED": Ending.UNBOUNDED,
    "UNBOUNDED_OBJECTIVE": Ending.UNBOUNDED,
    "ITERATION_LIMIT": Ending.LIMIT,
}


def solve(
    program: Callbacks, x: Vector, y: Vector, tolerance: float, report: Callable[[Iterate], None]
) -> Answer:
    """Solve from (x, y)."""
    import unopy

    problem = program.problem
    model = unopy.Model(
        unopy.PROBLEM_NONLINEAR, problem.n, problem.x_lower.tolist(), problem.x_upper.tolist(),
        unopy.ZERO_BASED_INDEXING,
    )  # fmt: skip

    def into(values: Callable[[Any], Vector]) -> Callable[[Any, Any], None]:
        def fill(at: Any, out: Any) -> None:
            out[:] = values(at)

        return fill

    model.set_objective(
        unopy.MINIMIZE, program.objective, into(lambda at: program.at(np.array(at)).g)
    )
    if problem.m:
        model.set_constraints(
            problem.m, into(lambda at: program.at(np.array(at)).c),
            problem.row_lower.tolist(), problem.row_upper.tolist(),
            problem.jac_rows.size, problem.jac_rows.tolist(), problem.jac_indices.tolist(),
            into(lambda at: program.at(np.array(at)).J),
        )  # fmt: skip
    model.set_lagrangian_sign_convention(unopy.MULTIPLIER_POSITIVE)
    solver = unopy.UnoSolver()
    solver.set_preset("ipopt")
    if program.nlp.second_order:
        rows, columns = program.hessian_entries

        def hessian(at: Any, sigma: float, weights: Any, out: Any) -> None:
            out[:] = program.hessian(np.array(at), sigma, np.array(weights))

        model.set_lagrangian_hessian(
            rows.size, unopy.LOWER_TRIANGLE, rows.tolist(), columns.tolist(), hessian
        )
    else:
        solver.set_option("hessian_model", "LBFGS")
    model.set_initial_primal_iterate(x.tolist())
    if y.any():
        model.set_initial_dual_iterate(y.tolist())
        solver.set_option("barrier_initial_parameter", WARM_BARRIER)
    solver.set_option("logger", "SILENT")
    solver.set_option("primal_tolerance", tolerance)
    solver.set_option("dual_tolerance", tolerance)
    solver.set_option("max_iterations", MAX_ITERATIONS)

    def after_iteration(at: Any, _lower: Any, _upper: Any, weights: Any, *_: Any) -> bool:
        try:
            # Uno's own variables come first, slacks of its rows behind them
            report(Iterate(np.array(at)[: problem.n], np.array(weights)[: problem.m]))
        except BaseException as trouble:
            program.trouble = trouble
            return True
        return program.trouble is not None

    solver.set_termination_callback(after_iteration)
    result = solver.optimize(model)
    status = result.optimization_status.name
    status = result.solution_status.name if status == "SUCCESS" else status
    return Answer(
        np.array(result.primal_solution)[: problem.n],
        np.array(result.constraint_dual_solution)[: problem.m],
        _ENDINGS.get(status, Ending.STALLED),
    )
