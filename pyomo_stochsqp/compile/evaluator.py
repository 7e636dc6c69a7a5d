r"""The evaluator: estimates of (grad f, c, J) on a batch of scenarios.

    g = sign * mean grad F(x, w),    c = mean C(x, w),    J = mean grad C(x, w)^T

averaged over the rows of a batch, exact parts evaluated exactly. The work is done by generated
functions (vectors/function.py); this class keeps them, their constants and the fixed pattern of J.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyomo.common.gc_manager import PauseGC

from ..declare.program import Batch, StochasticProgram
from ..declare.width_factor import narrowed
from ..oracle import Estimate, EvaluationIssue
from .diagnose import diagnose
from .graph.block import constants
from .graph.cost import RATE, Cost
from .graph.hessian_plan import HessianPlan
from .graph.layout import Pattern
from .loops.jit import Compiled, NotCompilable, installed
from .plan import Plan
from .vectors.function import FUNCTIONS, Evaluate, Generated, Variant, generate
from .vectors.hessian_code import Hessian, generate_hessian
from .vectors.kernels import quiet_caller, under_errstate
from .vectors.namespace import Space

logger = logging.getLogger("pyomo_stochsqp")

Floats = NDArray[np.float64]
#: Estimated seconds of work after which jit='auto' compiles (which itself takes seconds), and those
#: of a single pass through a fixed sample, of which there will be ten or twenty; operations per row
#: up to which that makes passes faster.
JIT_AFTER, JIT_PASS, JIT_PER_ROW = 5.0, 0.5, 1000

#: Longest generated source that jit='auto' compiles: numba's time grows faster than the source.
JIT_SOURCE = 40_000

#: Share of a piece's work that its exact part may take.
CHEAP = 0.05

#: Raised by scalar arithmetic where array arithmetic gives NaN or infinity.
_DOMAIN_ERRORS = (ValueError, OverflowError, ZeroDivisionError)

#: Rows of one piece of a large sample: columns of so many numbers stay in the cache. Fewer, if they
#: need more than so many elementary operations. All are powers of two.
ROWS, OPERATIONS, FEWEST_ROWS = 2**13, 2**22, 16


def compile_program(program: StochasticProgram, jit: Any = "auto") -> Evaluator:
    """An evaluator for a program.

    ``jit``: True compiles with numba now, 'auto' does so once much work was done and numba is
    installed, False never.

    >>> import pyomo.environ as pyo, numpy as np
    >>> from pyomo_stochsqp import E, RandomParam
    >>> from pyomo_stochsqp.declare import read_model
    >>> from pyomo_stochsqp.declare.program import Batch
    >>> m = pyo.ConcreteModel()
    >>> m.x = pyo.Var(initialize=1.0)
    >>> m.w = RandomParam(data=np.array([1.0, 3.0]))
    >>> m.obj = pyo.Objective(expr=E((m.x - m.w) ** 2))
    >>> evaluator = compile_program(read_model(m))
    >>> estimate = evaluator.evaluate(np.array([0.0]), [Batch(2, (np.array([0, 1]),))])
    >>> estimate.g.tolist()
    [-4.0]
    """
    # Compiling makes very many small objects and no cycles among them.
    with PauseGC():
        if not program.definitions:
            return Evaluator(program, jit)
        levels = range(1 + program.definitions[-1].level)
        inner = [Evaluator(program.of_level(level), jit) for level in levels]
        return Evaluator(program.in_symbols(), jit, inner)


class Evaluator:
    """Evaluates one program. The pattern of J and the order of variables never change.

    Where formulas of expectations occur, the numbers t in them are variables here, and ``levels``
    evaluate their definitions (declare/program.py), one after the other.
    """

    def __init__(
        self, program: StochasticProgram, jit: Any = "auto", levels: Sequence[Evaluator] = ()
    ):
        self.levels = levels
        #: how many times four times smaller than usual the widths of rounded kinks are
        self.narrowing = 0
        self.program = program
        self.variables: Sequence[Any] = program.variables
        self.plan = Plan(program)
        self.pattern = Pattern(self.plan)
        self.n, self.m = self.pattern.n, self.pattern.m
        self.jac_indptr, self.jac_indices = self.pattern.indptr, self.pattern.indices
        self._space = Space(FUNCTIONS)
        self._parts = frozenset([-1, *range(len(self.plan.streams.streams))])
        self._variants: dict[Variant, Generated] = {}
        self._g = slice(0, self.n)
        self._c = slice(self.n, self.n + self.m)
        self._J = slice(self.n + self.m, self.pattern.f)
        self._quietly = quiet_caller()
        self._base()
        #: the function of an iteration, once it is asked for
        self._evaluate: Evaluate | None = None
        #: what numba has compiled; None: it cannot
        self._compiled: dict[Variant, Compiled | None] = {}
        self._hessians: dict[bool, Hessian] = {}
        self._second_space = Space(FUNCTIONS)
        #: estimated seconds of NumPy work after which compiling iterations, passes pays
        self._until_jit, self._jit_pass = inf, inf
        self._changes_over = False
        self._rows = [self._rows_at_once(s) for s in range(len(program.sources))]
        if jit is True:
            self._jit_pass = 0.0
            self._compile()
        elif jit == "auto" and installed() and self._can_be_compiled_soon():
            self._until_jit = JIT_AFTER
            self._changes_over = True
            self._jit_pass = JIT_PASS if self._has_short_rows() else inf

    def evaluate(self, x: Floats, batches: Sequence[Batch], objective: bool = False) -> Estimate:
        """Estimates on a batch of every source; f only when the objective is asked for."""
        if objective:
            return self.as_estimate(*self.at_once(x, batches))
        function = self._evaluate or self._first_function()
        if self._until_jit < inf:
            function = self._count_work(batches)
        if function.__class__ is not Compiled:
            for batch in batches:
                if batch.weights is not None:
                    function = self._function(Variant(self._parts, True))
                    batches = [_with_weights(b) for b in batches]
                    break
        error = None
        try:
            out, check = self._call(function, x, batches)
        except _DOMAIN_ERRORS as e:
            out, check, error = self._undefined(), nan, e
        if not check < inf:
            return self.as_estimate(out, self._issue(out, x, batches, error), objective)
        return Estimate(out[self._g], out[self._c], out[self._J])

    def at_once(self, x: Floats, batches: Sequence[Batch]) -> tuple[Floats, EvaluationIssue | None]:
        """All results on a batch of every source, which is one of many or one of all rows."""
        weighted = any(batch.weights is not None for batch in batches)
        if weighted:
            batches = [_with_weights(b) for b in batches]
        compiled = self._worth_compiling([b.size for b in batches])
        return self._checked(Variant(self._parts, weighted, True), x, batches, compiled)

    def piece(
        self, x: Floats, source: int, batch: Batch, sizes: Sequence[int]
    ) -> tuple[Floats, EvaluationIssue | None]:
        """All results on a piece of one source, of ``sizes`` rows of every source in all.

        Sources add up. The mean over the pieces, each with its share of the source, is the result
        but for the exact part (see :meth:`finished`).
        """
        mine = self._parts if self._exact_with_pieces else self._streams_of(source)
        variant = Variant(mine, batch.weights is not None, True)
        batches: list[Any] = [None] * len(self.program.sources)
        batches[source] = batch
        return self._checked(variant, x, batches, self._worth_compiling(sizes))

    def finished(
        self, x: Floats, total: Floats, sizes: Sequence[int]
    ) -> tuple[Floats, EvaluationIssue | None]:
        """All results, from the mean over pieces."""
        if self._exact_with_pieces:
            return total, None
        exact = Variant(frozenset([-1]), False, True)
        out, issue = self._checked(exact, x, (), self._worth_compiling(sizes))
        return total + out, issue

    def as_estimate(
        self, out: Floats, issue: EvaluationIssue | None, objective: bool = True
    ) -> Estimate:
        """Results in the words of an oracle."""
        f = float(out[self.pattern.f]) if objective else None
        return Estimate(out[self._g], out[self._c], out[self._J], f, issue)

    @cached_property
    def _exact_with_pieces(self) -> bool:
        """Whether the exact part is so cheap that every piece may compute it, too: shares sum to
        one, and one function does for batches and pieces."""
        if len(self.program.sources) != 1:
            return False
        exact = self.costs[-1].seconds(0) if -1 in self.costs else 0.0
        linear = len(self.plan.linear[0]) * RATE
        return exact + linear <= CHEAP * self.work(self._rows)

    def hessian(self, x: Floats, y: Floats, batches: Sequence[Batch]) -> Floats:
        """sign * grad^2 f + sum_i y_i grad^2 c_i on a batch: the values of the upper triangle.

        The pattern (compressed columns) is ``hess_indptr``, ``hess_indices``. Code for second
        derivatives is generated on first use.
        """
        weighted = any(b.weights is not None for b in batches)
        if weighted:
            batches = [_with_weights(b) for b in batches]
        if weighted not in self._hessians:
            self._hessians[weighted] = generate_hessian(
                self._second.plan, self._second, self._second_space, weighted
            )
        multipliers = np.concatenate(([1.0], y))
        try:
            values = self._call(self._hessians[weighted], x, multipliers, batches)
        except _DOMAIN_ERRORS:
            values = np.full(self._second.size, nan)
        return values[: self._second.nnz]

    @property
    def work_left(self) -> float:
        """Estimated seconds of work until iterations are evaluated by machine code."""
        if not self._changes_over:
            return inf
        return max(self._until_jit, 0.0) if self._until_jit < inf else 0.0

    @work_left.setter
    def work_left(self, left: float | None) -> None:
        """Continue a count; None begins a new one."""
        if not self._changes_over:
            return
        self._until_jit = JIT_AFTER if left is None else left
        self._evaluate = None
        if self._until_jit <= 0.0:
            self._compile()

    @property
    def objective_constant(self) -> float:
        """The part of the objective that depends on nothing."""
        return float(constants(self.plan.constants[:1])[0])

    @property
    def hess_indptr(self) -> NDArray[np.intp]:
        return self._second.indptr

    @property
    def hess_indices(self) -> NDArray[np.intp]:
        return self._second.indices

    @cached_property
    def _second(self) -> HessianPlan:
        with PauseGC():
            return HessianPlan(self.plan.written_out())

    def reload(self) -> None:
        """Read mutable Params and values of fixed variables again; nothing is recompiled."""
        self._reload(0)

    def narrow(self, level: int) -> None:
        """Round kinks off over widths that are so many times four times smaller than usual."""
        if level != self.narrowing and self.program.rounded:
            with narrowed(level):
                self._reload(level)

    def _reload(self, narrowing: int) -> None:
        self.narrowing = narrowing
        for level in self.levels:
            level._reload(narrowing)
        self.plan.refresh()
        self._space.reload()
        self._base()
        if "_second" in self.__dict__:
            self._second_space.reload()
        for compiled in self._compiled.values():
            if compiled is not None:
                compiled.reload(self._space.names["base"])

    def source_code(self) -> str:
        """The generated code of an iteration."""
        return self._generated(Variant(self._parts)).source

    def describe(self, source: bool = False) -> str:
        """What was recognised in the model; with ``source`` also the generated code."""
        from .explain import describe

        return describe(self, source)

    @cached_property
    def costs(self) -> dict[int, Cost]:
        """The estimated work of every stream, and of the exact part (-1)."""
        return self._generated(Variant(self._parts, objective=True)).costs

    def work(self, sizes: Sequence[int]) -> float:
        """Estimated seconds of one evaluation with the given batch sizes."""
        total = 0.0
        for stream, cost in self.costs.items():
            rows = 0 if stream < 0 else sizes[self.plan.streams.streams[stream].source]
            total += cost.seconds(rows)
        return total

    # -- inside -----------------------------------------------------------------------------------

    def _streams_of(self, source: int) -> frozenset[int]:
        streams = self.plan.streams.streams
        return frozenset(k for k, stream in enumerate(streams) if stream.source == source)

    def rows_at_once(self, source: int) -> int:
        """Rows of one piece of a large sample."""
        return self._rows[source]

    def _rows_at_once(self, source: int) -> int:
        per_row = sum(self.costs[k].per_row for k in self._streams_of(source) if k in self.costs)
        return min(max(_power_of_two(OPERATIONS // (per_row + 1)), FEWEST_ROWS), ROWS)

    def _worth_compiling(self, sizes: Sequence[int]) -> bool:
        """Whether a pass through so many rows of every source is one for numba."""
        return self._jit_pass < inf and self.work(sizes) >= self._jit_pass

    def _can_be_compiled_soon(self) -> bool:
        return len(self._generated(Variant(self._parts, objective=True)).source) < JIT_SOURCE

    def _has_short_rows(self) -> bool:
        """Where rows are long, array operations are as fast as loops."""
        return all(cost.per_row <= JIT_PER_ROW for cost in self.costs.values())

    def _count_work(self, batches: Sequence[Batch]) -> Evaluate:
        """Compile once enough work was done. The count does not depend on the clock, so that the
        same run always switches at the same call."""
        self._until_jit -= self.work([b.size for b in batches])
        if self._until_jit <= 0.0:
            self._compile()
        return self._evaluate or self._first_function()

    def _first_function(self) -> Evaluate:
        self._evaluate = self._function(Variant(self._parts))
        return self._evaluate

    def _compile(self) -> None:
        self._until_jit = inf
        self._evaluate = self._compiled_for(Variant(self._parts)) or self._evaluate

    def _compiled_for(self, variant: Variant) -> Compiled | None:
        variant = replace(variant, weighted=False)
        if variant not in self._compiled:
            try:
                made = Compiled(self.plan, self.pattern, self._space.names["base"], variant)
            except NotCompilable:
                made = None
            self._compiled[variant] = made
        return self._compiled[variant]

    def _function(self, variant: Variant, compiled: bool = False) -> Evaluate:
        if compiled:
            machine_code = self._compiled_for(variant)
            if machine_code is not None:
                return machine_code
        return self._generated(variant).function

    def _generated(self, variant: Variant) -> Generated:
        known = self._variants.get(variant)
        if known is None:
            known = self._variants[variant] = generate(
                self.plan, self.pattern, self._space, variant
            )
        return known

    def _base(self) -> None:
        """Constants of ``out``: values of constant parts, derivatives of linear rows."""
        base = np.zeros(self.pattern.size)
        targets = np.arange(self.m + 1)
        values = self.pattern.values(targets)
        base[values] = constants(self.plan.constants)
        rows, columns, coefs = self.plan.linear
        places = self.pattern.derivatives(
            np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
        )
        np.add.at(base, places, constants(coefs))
        constant = zip(values.tolist(), self.plan.constants, strict=True)
        present = {p for p, k in constant if k != 0.0}
        self._space.set_base(base, present.union(places.tolist()))

    def _checked(
        self, variant: Variant, x: Floats, batches: Sequence[Any], compiled: bool
    ) -> tuple[Floats, EvaluationIssue | None]:
        """Results, with an issue where they are not finite."""
        error = None
        try:
            out, check = self._call(self._function(variant, compiled), x, batches)
        except _DOMAIN_ERRORS as e:
            out, check, error = self._undefined(), nan, e
        if check < inf:
            return out, None
        return out, self._issue(out, x, batches, error)

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self._quietly(function, *args)
        except RuntimeError:
            # Another thread is evaluating, and only one at a time can use the prepared context.
            return under_errstate(function, *args)
        except NotCompilable as reason:
            return self._call(self._instead_of(function, reason), *args)

    def _instead_of(self, compiled: Callable[..., Any], reason: NotCompilable) -> Evaluate:
        """The NumPy code in place of what numba could not compile after all."""
        logger.warning("numba cannot compile this model, NumPy goes on (%s)", reason)
        variant = next(v for v, made in self._compiled.items() if made is compiled)
        self._compiled[variant] = None
        if self._evaluate is compiled:
            self._evaluate = self._function(variant)

        def in_numpy(x: Floats, batches: Sequence[Any]) -> tuple[Floats, float]:
            weighted = any(b is not None and b.weights is not None for b in batches)
            if weighted:
                batches = [None if b is None else _with_weights(b) for b in batches]
            return self._function(replace(variant, weighted=weighted))(x, batches)

        return in_numpy

    def _undefined(self) -> Floats:
        return np.full(self.pattern.size, nan)

    def _issue(
        self, out: Floats, x: Floats, batches: Sequence[Any], error: Exception | None = None
    ) -> EvaluationIssue | None:
        """What is wrong with results that may not be finite."""
        bad = ~np.isfinite(out)
        if not bad.any():
            return None
        suspects = self.pattern.functions_at(bad)
        issue = diagnose(self.plan, x, batches, suspects)
        if issue is None and isinstance(error, ValueError) and not self._fit(x, batches):
            raise error
        if issue is None:
            name = self.plan.names[suspects[0]]
            issue = EvaluationIssue(name, "the value or a derivative overflows")
        return issue

    def _fit(self, x: Floats, batches: Sequence[Any]) -> bool:
        """Whether a point and batches have the shapes that the code expects."""
        fields = [
            (field.width, np.shape(drawn), batch.size)
            for source, batch in zip(self.program.sources, batches, strict=False)
            if batch is not None
            for part, rows in zip(source.parts, batch.parts, strict=True)
            if part.size is None
            for field, drawn in zip(part.fields, rows, strict=True)
        ]
        return x.shape == (self.n,) and all(s == (size, width) for width, s, size in fields)


def _power_of_two(size: int) -> int:
    """The largest one that is no larger."""
    return 1 << (max(size, 1).bit_length() - 1)


def _with_weights(batch: Batch) -> Batch:
    if batch.weights is not None:
        return batch
    weights = np.full(batch.size, 1.0 / batch.size)
    return Batch(batch.size, batch.parts, weights, batch.numbers)
