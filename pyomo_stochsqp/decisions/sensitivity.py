r"""What the optimum does when a number of the model changes.

With the active rows A and the variables H that sit at bounds, a solution is a root of

    grad f(x, p) + J_A(x, p)' y = 0  (free variables),    c_A(x, p) = b_A(p),    x_H = b_H(p),

and the implicit function theorem gives its derivative with respect to p,

    [ H   J_A' ] [ dx ]     [ d(grad f + J_A'y)/dp ]
    [ J_A      ] [ dy ] = - [ d(c_A - b_A)/dp      ],    dx_H = db_H/dp,    df* = df/dp + grad f'dx.

Derivatives with respect to p are central differences of the functions at the solution: nothing is
solved again. Where scenarios are drawn, all of it is done on independent replicates, each with a
solution of its own, whose spread gives the intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.environ as pyo
from scipy.sparse import block_array, csc_array, csr_array, diags_array, triu, vstack
from scipy.sparse.linalg import splu

from ..certify.active_set import ActiveSet, active_set
from ..certify.replicates import quantile, standard_error
from ..compile import CompilerCache
from ..declare import StochasticProgram, read_model
from ..declare.recourse_block import with_recourse
from ..errors import ModelError, OptionError
from ..nlp import SampleAverage
from ..oracle import (
    EVALUATION_STREAM,
    Estimate,
    Jacobian,
    PlugInOracle,
    Problem,
    Sample,
    Vector,
    draw_replicates,
    whole_sample,
)
from ..oracles import model_oracle
from ..sample import Sampler
from ..text_table import Printed, Shown, TextTable
from .parameters import Parameter, parameters_of

REPLICATES = 8
#: Newton steps that a solution gets on a sample of its own, and when it is one
STEPS, CONVERGED = 20, 1e-11
#: a row or bound whose multiplier and distance are both this small may be active or not
UNDECIDED = 1e-6
#: a variable that moves by more than this many of its lengths, for a step of the parameter of 1e-4
#: of its size, is not held by the model
LOOSE = 1.0
#: variables whose derivatives are printed
PRINTED = 5


@dataclass(frozen=True)
class Derivative:
    """Of the optimum with respect to one parameter."""

    parameter: str
    objective: float
    standard_error: float
    interval: tuple[float, float]
    #: of the variables, by name
    variables: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Sensitivity(Printed):
    """Derivatives of the optimal objective and of the solution; prints as a table."""

    derivatives: tuple[Derivative, ...]
    confidence: float
    #: what should be known before the numbers are believed
    cautions: tuple[str, ...] = ()
    _by_component: Mapping[int, tuple[str, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def __getitem__(self, parameter: Any) -> Derivative:
        name = parameter
        if not isinstance(parameter, str):
            names = self._by_component.get(id(parameter), ())
            if len(names) != 1:
                raise KeyError(f"'{parameter}' has {len(names)} derivatives; name one: {names}.")
            name = names[0]
        for one in self.derivatives:
            if one.parameter == name:
                return one
        known = ", ".join(f"'{one.parameter}'" for one in self.derivatives)
        raise KeyError(f"'{name}' is not among the parameters {known}.")

    def __iter__(self) -> Iterator[Derivative]:
        return iter(self.derivatives)

    def __len__(self) -> int:
        return len(self.derivatives)

    def to_pandas(self) -> Any:
        """A DataFrame: a row for every parameter, columns for the objective and the variables."""
        import pandas

        rows = {d.parameter: {"objective": d.objective, **d.variables} for d in self.derivatives}
        return pandas.DataFrame.from_dict(rows, orient="index")

    def table(self) -> TextTable:
        """The table that is printed; the first few variables."""
        names = list(self.derivatives[0].variables)[:PRINTED] if self.derivatives else []
        header = ("d/d", "objective", f"{self.confidence:.0%} interval", *names)
        rows = []
        for d in self.derivatives:
            low, high = d.interval
            exact = d.standard_error == 0.0
            interval = "exact" if exact else f"[{low:.5g}, {high:.5g}]"
            moves = [f"{d.variables[name]:.5g}" for name in names]
            rows.append((d.parameter, f"{d.objective:.6g}", interval, *moves))
        return TextTable(header, rows, title="Derivatives of the optimum")

    def shown(self) -> list[Shown]:
        return [self.table(), *self.cautions]


def sensitivity(
    model: Any,
    *parameters: Any,
    results: Any = None,
    samples: int = 65_536,
    seed: int = 0,
    confidence: float = 0.95,
    options: Mapping[str, Any] | None = None,
) -> Sensitivity:
    """Derivatives of the optimal objective and of the solution.

    ``parameters`` are mutable Params, Constraints (their right-hand sides) and RandomParams (their
    means and spreads). ``results`` are those of a solve of the model as it stands; without them the
    model is solved first, with ``options``.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam, sensitivity
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.p = pyo.Param(initialize=3.0, mutable=True)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> m.row = pyo.Constraint(expr=m.x >= m.p)
    >>> s = sensitivity(m, m.p, m.w)
    >>> print(s)
    Derivatives of the optimum
    d/d          objective  95% interval  x
    ---------------------------------------
    p                    2         exact  1
    mean of w           -2         exact  0
    spread of w          2         exact  0
    >>> round(s[m.p].variables["x"], 6)
    1.0
    """
    if not parameters:
        raise OptionError("sensitivity: name at least one Param, Constraint or RandomParam.")
    if not 0.0 < confidence < 1.0:
        raise OptionError(f"confidence={confidence} is not between 0 and 1.")
    if with_recourse(model):
        raise ModelError(
            f"sensitivity: model '{model.name}' has Recourse, whose second stages are no part of "
            "the program that is differentiated. Use pareto, which solves it along a Param, or "
            "write the scenarios out with 'stochsqp.extensive_form'."
        )
    named = {id(given): parameters_of(given) for given in parameters}
    changes = [p for mine in named.values() for p in mine]
    if results is None:
        with_seed = {"seed": seed, **(options or {})}
        results = pyo.SolverFactory("stochsqp").solve(model, **with_seed)
    certificate = getattr(results, "certificate", None)
    if certificate is None:
        raise ModelError(
            f"Model '{model.name}': the results hold no certified point, so there is no optimum "
            "whose derivatives could be taken. Look at results.message."
        )
    reading = _Reading(model, certificate.narrowing, samples, seed)
    program, nlps = reading.now()
    if len(program.variables) != certificate.x.size or len(program.rows) != certificate.y.size:
        raise ModelError(
            f"Model '{model.name}' is not the one that the results belong to: other variables or "
            "constraints. Solve it again."
        )
    solutions = []
    cautions: list[str] = []
    for nlp in nlps:
        solution = _Solution.near(nlp, certificate, model.name)
        solutions.append(solution)
        cautions += [c for c in solution.cautions(program) if c not in cautions]
    derivatives = tuple(
        _derivative(parameter, reading, solutions, confidence) for parameter in changes
    )
    cautions += _flat(changes, derivatives, certificate, program)
    by_component = {key: tuple(p.name for p in mine) for key, mine in named.items()}
    return Sensitivity(derivatives, confidence, tuple(cautions), by_component)


class _Reading:
    """The model as it stands at the moment, on the same scenarios every time."""

    def __init__(self, model: Any, narrowing: int, samples: int, seed: int):
        self._model = model
        #: kinks are as wide as they were for the certified point
        self._narrowing = narrowing
        self._compile = CompilerCache()
        self._samples = samples
        self._seed = seed

    def now(self) -> tuple[StochasticProgram, list[SampleAverage]]:
        """(the program, its functions on every replicate: a single one if they are exact)."""
        program = read_model(self._model)
        oracle = model_oracle(program, self._compile(program), Sampler(program.sources, self._seed))
        if isinstance(oracle, PlugInOracle):
            oracle.narrow(self._narrowing)
        whole = whole_sample(oracle)
        parts: Sequence[Sample] = [] if whole is None else [whole]
        if whole is None:
            batch = [self._samples // REPLICATES] * len(oracle.sources)
            parts = draw_replicates(oracle, EVALUATION_STREAM, 1, batch, REPLICATES).parts
        return program, [SampleAverage(oracle, [part]) for part in parts]


class _Solution:
    """The solution of one sample near a certified point, with its linear system."""

    def __init__(self, nlp: SampleAverage, active: ActiveSet, x: Vector, y: Vector, name: str):
        self.problem: Problem = nlp.problem
        self.active = active
        self._nlp = nlp
        self._name = name
        self._jacobian = Jacobian(self.problem)
        self.x, self.y = x, y
        self.estimate = nlp.evaluate(x)

    @classmethod
    def near(cls, nlp: SampleAverage, certificate: Any, name: str) -> _Solution:
        """Newton's method from a certified point, which says what is active."""
        problem, c = nlp.problem, certificate
        active = active_set(
            problem, c.x, nlp.evaluate(c.x).c, c.reduced_costs, c.y,
            np.maximum(c.row_size, 1e-300), c.variable_size, c.objective_size or 1.0,
        )  # fmt: skip
        y = np.where(active.rows, c.y, 0.0)
        at = cls(nlp, active, np.where(active.held, c.x + active.shift, c.x), y, name)
        for _ in range(STEPS):
            pull, rows = at.residual(at.estimate, at.problem)
            dx, dy = at.step(-pull, -rows, np.zeros(at.problem.n))
            at = cls(nlp, active, at.x + dx, at.y + dy, name)
            if np.all(np.abs(dx) <= CONVERGED * np.maximum(c.variable_size, 1e-300)):
                break
        return at

    def residual(self, estimate: Estimate, problem: Problem) -> tuple[Vector, Vector]:
        """(gradient of the Lagrangian of free variables, active rows minus their bounds)."""
        if estimate.issue is not None:
            raise ModelError(f"The model cannot be evaluated near its optimum: {estimate.issue}.")
        active = self.active
        pull = estimate.g + self._jacobian.transposed(estimate.J, self.y)
        bound = np.where(active.side > 0.0, problem.row_upper, problem.row_lower)
        with np.errstate(invalid="ignore"):
            rows = np.where(active.rows, estimate.c - bound, 0.0)
        return np.where(active.held, 0.0, pull), rows

    def step(self, pull: Vector, rows: Vector, held: Vector) -> tuple[Vector, Vector]:
        """(dx, dy) of the linear system; held variables move by ``held``."""
        if not hasattr(self, "_factors"):
            self._factors, self._coupling = self._factorised()
        problem, active = self.problem, self.active
        right = np.concatenate((pull, rows)) - self._coupling @ held
        right[: problem.n][active.held] = held[active.held]
        right[problem.n :][~active.rows] = 0.0
        found = self._factors.solve(right)
        if not np.all(np.isfinite(found)):
            raise ModelError(self._no_derivative())
        return found[: problem.n], found[problem.n :]

    def _factorised(self) -> tuple[Any, Any]:
        """(factors of the system, its columns of held variables)."""
        problem, active = self.problem, self.active
        indptr, indices = self._nlp.hessian_pattern()
        values = self._nlp.hessian(self.x, self.y)
        upper = csc_array((values, indices, indptr), shape=(problem.n, problem.n))
        H = upper + triu(upper, 1).T
        J = csr_array(
            (self.estimate.J, problem.jac_indices, problem.jac_indptr), shape=(problem.m, problem.n)
        )
        keep_x = np.where(active.held, 0.0, 1.0)
        keep_y = np.where(active.rows, 1.0, 0.0)
        free, kept = diags_array(keep_x), diags_array(keep_y)
        top = free @ H @ free + diags_array(1.0 - keep_x)
        side = free @ J.T @ kept
        K = csc_array(block_array([[top, side], [side.T, diags_array(1.0 - keep_y)]]))
        try:
            return splu(K), csr_array(vstack([free @ H, kept @ J]))
        except RuntimeError:
            raise ModelError(self._no_derivative()) from None

    def _no_derivative(self) -> str:
        return (
            f"Model '{self._name}': the optimum has no derivative: the solution or its multipliers "
            "are not unique. A small quadratic term in the objective makes a solution unique; "
            "constraints that repeat each other can be removed."
        )

    def objective_and_residuals(self, nlp: SampleAverage) -> tuple[float, Vector, Vector, Vector]:
        """(f, both residuals, bounds of held variables) at this point, for a changed model."""
        estimate, problem = nlp.evaluate(self.x), nlp.problem
        pull, rows = self.residual(estimate, problem)
        bound = np.where(self.active.bound > 0.0, problem.x_upper, problem.x_lower)
        assert estimate.f is not None
        return estimate.f, pull, rows, np.where(self.active.held, bound, 0.0)

    def cautions(self, program: StochasticProgram) -> list[str]:
        """Rows and bounds on the edge: derivatives differ on either side."""
        problem, active, c = self.problem, self.active, self.estimate.c
        size = np.maximum(np.abs(c), 1.0)
        weight = max(float(np.abs(self.y).max(initial=0.0)), 1e-300)
        inequality = problem.row_lower < problem.row_upper
        at_bound = np.minimum(np.abs(c - problem.row_lower), np.abs(problem.row_upper - c)) / size
        weak = inequality & (at_bound < UNDECIDED) & (np.abs(self.y) < UNDECIDED * weight)
        lost = problem.violation(c) > UNDECIDED * size
        said = [
            f"'{program.rows[i].name}' is at its bound without a multiplier: derivatives hold on "
            "one side only."
            for i in np.flatnonzero(weak).tolist()
        ]
        said += [
            f"'{program.rows[i].name}' may be active or not, as far as the sample can tell."
            for i in np.flatnonzero(lost & ~active.rows).tolist()
        ]
        return said


def _flat(
    changes: Sequence[Parameter],
    derivatives: Sequence[Derivative],
    certificate: Any,
    program: StochasticProgram,
) -> list[str]:
    """Variables that the optimum leaves free, but for rounding."""
    loose = {
        v.name
        for p, d in zip(changes, derivatives, strict=True)
        for v, length in zip(program.variables, certificate.variable_size.tolist(), strict=True)
        if not abs(d.variables[v.name]) * p.step <= LOOSE * length
    }
    return [
        f"The optimum hardly depends on '{v.name}': it may lie anywhere on a flat stretch, its "
        "derivatives mean nothing, and those of the objective hold on one side at most."
        for v in program.variables
        if v.name in loose
    ]


def _derivative(
    parameter: Parameter,
    reading: _Reading,
    solutions: Sequence[_Solution],
    confidence: float,
) -> Derivative:
    """Central differences of all functions, one linear system per replicate."""
    sides = []
    names: list[str] = []
    for h in (parameter.step, -parameter.step):
        with parameter.changed(h) as shifts:
            program, nlps = reading.now()
            names = [v.name for v in program.variables]
            shift = np.array([shifts.get(id(row.component), 0.0) for row in program.rows])
            values = [
                s.objective_and_residuals(nlp) for s, nlp in zip(solutions, nlps, strict=True)
            ]
            sides.append([(f, a, np.where(s.active.rows, b - shift, 0.0), e)
                          for s, (f, a, b, e) in zip(solutions, values, strict=True)])  # fmt: skip
    objective, moves = [], []
    for solution, above, below in zip(solutions, *sides, strict=True):
        f, pull, rows, held = (
            (up - down) / (2.0 * parameter.step) for up, down in zip(above, below, strict=True)
        )
        dx, _ = solution.step(-pull, -rows, held)
        objective.append(program.sign * (f + solution.estimate.g @ dx))
        moves.append(dx)
    each = np.array(objective)[:, None]
    error = float(standard_error(each)[0]) if len(solutions) > 1 else 0.0
    value = float(each.mean())
    reach = quantile(confidence, len(solutions)) * error if error else 0.0
    mean_move = np.mean(moves, axis=0).tolist()
    return Derivative(
        parameter.name, value, error, (value - reach, value + reach),
        dict(zip(names, mean_move, strict=True)),
    )  # fmt: skip
