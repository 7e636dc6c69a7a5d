r"""From a model and options to a finished run, one line per layer:

declare -> compile -> sample -> estimate -> kkt -> sqp -> report
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..baselines import make_baseline
from ..compile import Evaluator, compile_program
from ..declare import StochasticProgram, read_model
from ..errors import EmptyModelError, OptionError
from ..estimate import ModelOracle
from ..oracle import Oracle, SourceInfo, Vector
from ..report import Budget, Certifier, Method, Observer, Outcome, Progress, Tolerances, run
from ..report.random_iterate import RandomIterate
from ..sample import Sampler
from ..sqp import Assembly, Choices, Parameters, assemble, make_schedule, unscaled
from .scaling import user_scaling
from .solution import starting_duals

#: defaults of tol_feas and tol_opt, which are relative (see report/certificate.py)
SAMPLED_TOLERANCE = 1e-3
EXACT_TOLERANCE = 1e-6
#: rows up to which a full pass costs no more than the rest of an iteration: used whole at once
SMALL_TABLE = 4096
#: rows up to which the derived sample budget has room for this many full passes
MEDIUM_TABLE = 100_000
PASSES = 300

Compiler = Callable[[StochasticProgram, Any], Evaluator]


@dataclass(frozen=True)
class Setup:
    """A model made ready to run."""

    program: StochasticProgram
    oracle: Oracle
    assembly: Assembly
    certifier: Certifier
    budget: Budget
    tolerances: Tolerances
    seed: int
    #: the point to return: best, last, average or random
    answer: str = "best"
    #: multipliers to start from, in the user's units
    multipliers: Vector | None = None

    @property
    def backend(self) -> str:
        """The KKT back end, in words."""
        return self.assembly.kkt

    def beginning(self) -> Progress:
        """The run before its first iteration."""
        state = self.assembly.method.start(self.oracle.problem.x0)
        if self.multipliers is not None:
            factors = self.assembly.scaling
            state = replace(state, y=self.multipliers * factors.objective / factors.rows)
        return Progress.beginning(state, state.COLUMNS)

    def run(
        self,
        observers: Sequence[Observer] = (),
        progress: Progress | None = None,
        at_end: Callable[[Progress], None] | None = None,
    ) -> Outcome:
        """Run to the end, from the beginning or from where ``progress`` stands."""
        if self.answer == "random":
            # First, so that a checkpoint of this iteration holds its draw.
            observers = (RandomIterate(self.seed), *observers)
        return run(
            self.assembly.method,
            self.beginning() if progress is None else progress,
            self.certifier,
            self.budget,
            self.tolerances,
            observers,
            self.answer,
            at_end,
        )


def prepare(
    model: Any,
    options: Mapping[str, Any],
    time_limit: float | None = None,
    start: Vector | None = None,
    compiler: Compiler = compile_program,
) -> Setup:
    """Everything before the first iteration; ``start`` replaces the values of the Vars."""
    seed = options["seed"] if options["seed"] is not None else secrets.randbits(32)
    program = read_model(model)
    if not program.variables:
        raise EmptyModelError(f"Model '{model.name}' has no free variables.")
    evaluator = compiler(program, options["jit"])
    sampler = Sampler(program.sources, seed, options["sampling"], options["replacement"])
    oracle = ModelOracle(program, evaluator, sampler)
    if start is not None and start.size == oracle.problem.n:
        oracle.problem = replace(oracle.problem, x0=start)
    sizes = batch_sizes(options["batch_size"], oracle.sources)
    if options["batch_growth"] == "adaptive" and _grows(options):
        sizes = _whole_small_tables(sizes, oracle.sources)
    assembly = assemble(oracle, _choices(options, sizes, program, oracle))
    certifier = Certifier(oracle, assembly.subproblem.multipliers, assembly.scaling.units())
    if options["algorithm"] != "stochsqp":
        baseline = _baseline(options, sizes, oracle)
        assembly = replace(assembly, method=baseline, scaling=unscaled(oracle.problem))
    return Setup(
        program,
        oracle,
        assembly,
        certifier,
        _budget(options, sizes, oracle.sources, time_limit),
        _tolerances(options, oracle),
        seed,
        options["return_iterate"],
        starting_duals(program) if options["warm_start"] else None,
    )


def _choices(
    options: Mapping[str, Any], sizes: tuple[int, ...], program: StochasticProgram, oracle: Oracle
) -> Choices:
    """The options in the words of the algorithm."""
    scaling = None
    if options["scaling"] == "none":
        scaling = unscaled(oracle.problem)
    elif options["scaling"] == "user":
        scaling = user_scaling(program)
    return Choices(
        batch=sizes,
        growth=options["batch_growth"],
        growth_rate=options["growth_rate"],
        beta=options["beta"],
        lipschitz=options["lipschitz"],
        hessian=options["hessian"],
        scaling=scaling,
        kkt_solver=options["kkt_solver"],
        literal=options["preset"] == "paper",
        parameters=Parameters(
            tau0=options["merit_parameter"],
            xi0=options["ratio_parameter"],
            eta=options["decrease_fraction"],
            sigma=options["feasibility_share"],
            eps_tau=options["merit_decrease"],
            eps_xi=options["ratio_decrease"],
            theta=options["step_range"],
            step_rule=options["step_rule"],
            step_cap=options["max_step"],
            restarts=options["preset"] != "paper",
        ),
    )


def _baseline(options: Mapping[str, Any], sizes: tuple[int, ...], oracle: Oracle) -> Method:
    """Another method for the same model; its batches are constant, so beta has to diminish."""
    beta = "diminishing" if options["beta"] == "auto" else options["beta"]
    constants = None if isinstance(options["lipschitz"], str) else options["lipschitz"]
    return make_baseline(
        options["algorithm"],
        oracle,
        sizes,
        make_schedule(beta),
        options["merit_parameter"],
        constants,
    )


def _grows(options: Mapping[str, Any]) -> bool:
    return options["batch_growth"] != "constant" and options["algorithm"] == "stochsqp"


def _budget(
    options: Mapping[str, Any],
    sizes: tuple[int, ...],
    sources: Sequence[SourceInfo],
    time_limit: float | None,
) -> Budget:
    """The limits; growing batches get a sample budget, with room for the exact phase."""
    max_samples = options["max_samples"]
    if max_samples is None:
        max_samples = np.inf
        if sizes and _grows(options):
            rows = [s.size for s in sources]
            passes = sum(r for r in rows if r is not None) if None not in rows else 0
            passes = PASSES * passes if passes <= MEDIUM_TABLE else 0
            max_samples = max(options["max_iter"] * sum(sizes), passes)
    return Budget(options["max_iter"], max_samples, np.inf if time_limit is None else time_limit)


def _tolerances(options: Mapping[str, Any], oracle: Oracle) -> Tolerances:
    sampled = any(s.size is None for s in oracle.sources)
    default = SAMPLED_TOLERANCE if sampled else EXACT_TOLERANCE
    return Tolerances(options["tol_feas"] or default, options["tol_opt"] or default)


def _whole_small_tables(sizes: tuple[int, ...], sources: Sequence[SourceInfo]) -> tuple[int, ...]:
    """Sampling pays only where a full pass costs more than the work around it."""
    rows = [s.size for s in sources]
    known = [r for r in rows if r is not None]
    return tuple(known) if len(known) == len(rows) and sum(known) <= SMALL_TABLE else sizes


def batch_sizes(batch_size: Any, sources: Sequence[SourceInfo]) -> tuple[int, ...]:
    """One size per source, from a number or a mapping of source names."""
    if not isinstance(batch_size, Mapping):
        return (batch_size,) * len(sources)
    names = [s.name for s in sources]
    for name in batch_size:
        if name not in names:
            raise OptionError(
                f"batch_size names the source '{name}', but the model's sources are "
                f"{', '.join(names) or 'none'}."
            )
    missing = [n for n in names if n not in batch_size]
    if missing:
        raise OptionError(f"batch_size gives no size for the source '{missing[0]}'.")
    return tuple(batch_size[n] for n in names)
