r"""One linear or mixed-integer program by HiGHS, with the bound that its dual proves.

    min c'x   s.t.   row_lower <= A x <= row_upper,   lower <= x <= upper,   some x_j integer

HiGHS is optional: it is imported here, where it is first needed. It runs in a thread, so that
Ctrl-C is heard: what was found until then is not lost.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...errors import MissingLibraryError

Array = NDArray[np.float64]


class Status(Enum):
    """How the solution of a program ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "out of time"
    INTERRUPTED = "Ctrl-C"
    FAILED = "numerical trouble"


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """See the module's docstring."""

    cost: Array
    matrix: Any  # scipy CSR
    row_lower: Array
    row_upper: Array
    lower: Array
    upper: Array
    integer: NDArray[np.bool_]
    constant: float = 0.0


@dataclass(frozen=True, eq=False)
class Solved:
    """What is known of a program's solution."""

    status: Status
    #: no point has a smaller objective; -inf if nothing was proved
    bound: float = -np.inf
    objective: float = np.inf
    x: Array = field(default_factory=lambda: np.empty(0))
    #: change of the objective per unit of each row's bound; none for integer programs
    row_duals: Array | None = None


#: seconds between two requests to end
AGAIN = 0.05


def highs() -> Any:
    """The library."""
    try:
        import highspy
    except ImportError:
        raise MissingLibraryError(
            "linear Recourse needs HiGHS: pip install 'pyomo_stochsqp[recourse]'. Without it, "
            "write the scenarios out with TransformationFactory('stochsqp.extensive_form') for "
            "another solver."
        ) from None
    return highspy


def loaded(program: LinearProgram, **options: Any) -> Any:
    """HiGHS with the program in it."""
    library = highs()
    solver = library.Highs()
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        solver.setOptionValue(name, value)
    model = library.HighsLp()
    model.num_col_, model.num_row_ = program.cost.size, program.row_lower.size
    model.col_cost_, model.offset_ = program.cost, program.constant
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    rows = sparse.csr_matrix(program.matrix)
    model.a_matrix_.format_ = library.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = rows.indptr, rows.indices
    model.a_matrix_.value_ = rows.data
    if program.integer.any():
        kinds = library.HighsVarType
        model.integrality_ = [kinds.kInteger if i else kinds.kContinuous for i in program.integer]
    solver.passModel(model)
    return solver


def status_of(solver: Any) -> Status:
    """How the last run of HiGHS ended."""
    ended, status = solver.getModelStatus(), highs().HighsModelStatus
    if ended == status.kOptimal:
        return Status.OPTIMAL
    if ended == status.kInfeasible:
        return Status.INFEASIBLE
    if ended == status.kUnbounded:
        return Status.UNBOUNDED
    if ended == status.kInterrupt:
        return Status.INTERRUPTED
    if ended in (status.kTimeLimit, status.kIterationLimit, status.kSolutionLimit):
        return Status.LIMIT
    return Status.FAILED


def run_highs(solver: Any) -> None:
    """Run HiGHS; Ctrl-C ends it early."""
    if threading.current_thread() is not threading.main_thread():
        solver.run()
        return
    if not solver.HandleUserInterrupt:
        solver.HandleUserInterrupt = True
    ended = threading.Event()  # Thread.join is no longer right after it was interrupted

    def run() -> None:
        try:
            solver.run()
        finally:
            ended.set()

    threading.Thread(target=run, daemon=True).start()
    interrupted = False
    while not ended.is_set():
        try:
            if interrupted:  # again and again: HiGHS forgets what it hears before it begins
                solver.cancelSolve()
            ended.wait(AGAIN if interrupted else None)
        except KeyboardInterrupt:
            interrupted = True


def solve_program(
    program: LinearProgram, seconds: float = np.inf, gap: float = 1e-6, method: str = "choose"
) -> Solved:
    """Solve it within so many seconds; integer programs to a relative gap."""
    options: dict[str, Any] = {"mip_rel_gap": gap, "solver": method}
    if np.isfinite(seconds):
        options["time_limit"] = max(seconds, 0.0)
    solver = loaded(program, **options)
    run_highs(solver)
    status = status_of(solver)
    undecided = solver.getModelStatus() == highs().HighsModelStatus.kUnboundedOrInfeasible
    if undecided or (status is Status.FAILED and method != "simplex"):
        solver.setOptionValue("presolve", "off")
        solver.setOptionValue("solver", "simplex")
        run_highs(solver)
        status = status_of(solver)
    if solver.getModelStatus() == highs().HighsModelStatus.kUnboundedOrInfeasible:
        anything = replace(program, cost=np.zeros_like(program.cost))
        feasible = solve_program(anything, seconds, gap, method).status is Status.OPTIMAL
        return Solved(Status.UNBOUNDED if feasible else Status.INFEASIBLE)
    return _solved(solver, status, bool(program.integer.any()))


def _solved(solver: Any, status: Status, integer: bool) -> Solved:
    info, solution = solver.getInfo(), solver.getSolution()
    early = status in (Status.LIMIT, Status.INTERRUPTED)
    if not (early or status is Status.OPTIMAL) or not solution.value_valid:
        return Solved(status, info.mip_dual_bound if integer and early else -np.inf)
    x, value = np.array(solution.col_value), info.objective_function_value
    if integer:
        return Solved(status, info.mip_dual_bound, value, x)
    if early:
        return Solved(status)
    return Solved(status, value, value, x, np.array(solution.row_dual))
