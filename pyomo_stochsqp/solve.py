r"""The front door: from a model and options to a finished run, one line per room.

declare -> compile, sample -> oracles -> stages (or sqp, baselines), certify -> run
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .baselines import RECORDS as BASELINE_RECORDS
from .baselines import make_baseline
from .certify import Certificate, Certifier, JudgedMethod, Sizes, Tolerances
from .compile import Evaluator, compile_program
from .declare import StochasticProgram, read_model
from .declare.reading import scaling_factors, starting_duals
from .engines import Ending, FeasibleFirst, Interior, TrustRegion
from .engines.libraries import LIBRARIES, LibraryState, installed, library
from .errors import EmptyModelError, OptionError
from .method import Stop
from .oracle import Oracle, SecondOrderOracle, SourceInfo, Vector
from .oracles import Eliminated, Jackknifed, ModelOracle, model_oracle
from .run import Budget, Judge, Looked, Observer, Outcome, Progress, run
from .run.looks import LookedState
from .run.random_iterate import RandomIterate
from .sample import Sampler
from .scaling import Factors, Scaling, unscaled
from .sqp import Choices, Parameters, StochasticSQP, assemble, make_schedule
from .sqp.average import TailAverage
from .stages import RECORDS as STAGE_RECORDS
from .stages import EngineFactory, Engines, SampledPhase, SampledState, Staged
from .value_function import ValueFunction

#: defaults of tol_feas and tol_opt, which are relative (see certify/certificate.py)
SAMPLED_TOLERANCE = 1e-3
EXACT_TOLERANCE = 1e-6
#: limits of runs for which nobody has set any: scenarios of stages, iterations of Algorithm 1
MAX_SAMPLES = 1e9
MAX_ITER = 3000
#: variables up to which an engine with full matrices comes first, and up to which it is used at all
FEW, LARGEST_FULL = 300, 1000
#: constraints with expectations from which on Algorithm 1 before the stages costs no time
MANY_SAMPLED_ROWS = 50

#: the records that the states of all methods are made of: what a checkpoint may hold
RECORDS: tuple[type, ...] = (
    *STAGE_RECORDS, SampledState, LookedState, TailAverage, Certificate, Sizes, Stop, Ending,
    *TrustRegion.RECORDS, *FeasibleFirst.RECORDS, LibraryState, *StochasticSQP.RECORDS,
    *BASELINE_RECORDS,
)  # fmt: skip

Compiler = Callable[[StochasticProgram, Any], Evaluator]


@dataclass(frozen=True)
class Setup:
    """A model made ready to run."""

    program: StochasticProgram
    evaluator: Evaluator
    oracle: Oracle
    method: JudgedMethod
    certifier: Certifier
    budget: Budget
    tolerances: Tolerances
    seed: int
    #: how the method's multipliers become those of the user's problem
    scaling: Scaling
    #: what the method is, and what it solves its linear systems with, in words
    description: str
    #: the point to return: best, last, average or random
    answer: str = "best"
    #: multipliers to start from
    multipliers: Vector | None = None

    def beginning(self) -> Progress:
        """The run before its first iteration."""
        state = self.method.start(self.oracle.problem.x0)
        if self.multipliers is not None:
            state = state.with_multipliers(self.scaling.own_multipliers(self.multipliers))
        return Progress.beginning(state)

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
            self.method,
            self.beginning() if progress is None else progress,
            Judge(self.oracle, self.certifier),
            self.budget,
            self.tolerances,
            observers,
            self.answer,
            at_end,
        )


@dataclass(frozen=True)
class Task:
    """A model that can be evaluated, and what its run is to be like."""

    options: Mapping[str, Any]
    program: StochasticProgram
    evaluator: Evaluator
    oracle: ModelOracle | Eliminated | ValueFunction
    certifier: Certifier
    tolerances: Tolerances
    batch: tuple[int, ...]
    budget: Budget
    seed: int
    sampler: Sampler

    def close(self) -> None:
        """Nothing will be drawn any more."""
        self.sampler.close()


def prepare(
    model: Any,
    options: Mapping[str, Any],
    start: Vector | None = None,
    compiler: Compiler = compile_program,
) -> Setup:
    """Everything before the first iteration; ``start`` replaces the values of the Vars."""
    return set_up(read(model, options, start, compiler))


def read(
    model: Any,
    options: Mapping[str, Any],
    start: Vector | None = None,
    compiler: Compiler = compile_program,
) -> Task:
    """A model as something that can be evaluated."""
    seed = seed_of(options)
    program = read_model(model)
    if not program.variables:
        raise EmptyModelError(f"Model '{model.name}' has no free variables.")
    evaluator = compiler(program, options["jit"])
    sampler = Sampler(
        program.sources, seed, options["sampling"], options["replacement"], options["workers"]
    )
    oracle = model_oracle(program, evaluator, sampler)
    if start is not None and start.size == oracle.problem.n:
        oracle.problem = replace(oracle.problem, x0=start)
    return task_of(options, program, evaluator, oracle, seed, sampler)


def seed_of(options: Mapping[str, Any]) -> int:
    """The user's, or a random one."""
    return options["seed"] if options["seed"] is not None else secrets.randbits(32)


def task_of(
    options: Mapping[str, Any],
    program: StochasticProgram,
    evaluator: Evaluator,
    oracle: ModelOracle | Eliminated | ValueFunction,
    seed: int,
    sampler: Sampler,
) -> Task:
    """What the run of any oracle is to be like."""
    batch = batch_sizes(options["batch_size"], oracle.sources)
    return Task(
        options,
        program,
        evaluator,
        oracle,
        Certifier(oracle),
        _tolerances(options, oracle),
        batch,
        _budget(options, batch),
        seed,
        sampler,
    )


def set_up(task: Task) -> Setup:
    """The method that solves it."""
    options = task.options
    build = {"stages": _staged, "stochsqp": _algorithm_1}.get(options["algorithm"], _baseline)
    method, scaling, description = build(task)
    return Setup(
        program=task.program,
        evaluator=task.evaluator,
        oracle=task.oracle,
        method=method,
        certifier=task.certifier,
        budget=task.budget,
        tolerances=task.tolerances,
        seed=task.seed,
        scaling=scaling,
        description=description,
        answer=options["return_iterate"],
        multipliers=starting_duals(task.program) if options["warm_start"] else None,
    )


Built = tuple[JudgedMethod, Scaling, str]


def _staged(task: Task) -> Built:
    """Fixed samples that grow."""
    oracle, phase = task.oracle, None
    costly = any(part.costly for source in task.program.sources for part in source.parts)
    if _pays(task.options["sampled_phase"], oracle, costly):
        phase = SampledPhase(assemble(_for_batches(oracle), _choices(task)).method)
    engines = engines_for(oracle, task.options["exact_solver"])
    method = Staged(
        oracle, task.certifier, task.tolerances, engines, phase, costly,
        task.budget.max_samples, _factors(task),
    )  # fmt: skip
    before = "" if phase is None else "Algorithm 1, then "
    exact = all(source.size is not None for source in oracle.sources)
    names = ", ".join(engine.name for engine in (engines.exact if exact else engines.first))
    return method, unscaled(oracle.problem), f"{before}stages; engines: {names}"


def _pays(wanted: Any, oracle: Oracle, costly: bool) -> bool:
    """Whether Algorithm 1 comes before the stages."""
    if wanted != "auto":
        return bool(wanted)
    endless = any(source.size is None for source in oracle.sources)
    return endless and not costly and int((~oracle.problem.exact_rows).sum()) >= MANY_SAMPLED_ROWS


def engines_for(oracle: Oracle, wanted: str = "auto") -> Engines:
    """The engines that are asked, in turn.

    Full matrices for few variables; an interior point for many, and where those fail; then a
    library, where one is installed.
    """
    if wanted not in EXACT_SOLVERS:
        raise OptionError(
            f"exact_solver='{wanted}' solves the samples of models with linear Recourse, and this "
            f"one has none; choose one of {', '.join(map(repr, EXACT_SOLVERS))}."
        )
    if wanted != "auto":
        return Engines.always(_OWN[wanted] if wanted in _OWN else [library(wanted)])
    more: list[EngineFactory] = [library(name) for name in installed()[:1]]
    n = oracle.problem.n
    if not isinstance(oracle, SecondOrderOracle):
        return Engines.always([TrustRegion, *more])
    if n <= FEW:
        near: list[EngineFactory] = [TrustRegion, Interior, *more]
        far: list[EngineFactory] = [Interior, TrustRegion, *more]
        finite = all(source.size is not None for source in oracle.sources)
        return Engines(exact=far, first=far if finite else near, warm=near)
    full: list[EngineFactory] = [TrustRegion] if n <= LARGEST_FULL else []
    return Engines.always([Interior, FeasibleFirst, *full, *more])


_OWN: dict[str, list[EngineFactory]] = {
    "interior": [Interior, FeasibleFirst],
    "sqp": [TrustRegion],
}
#: values of the option exact_solver
EXACT_SOLVERS = ("auto", *_OWN, *LIBRARIES)


def _algorithm_1(task: Task) -> Built:
    """The paper's method alone."""
    assembly = assemble(_for_batches(task.oracle), _choices(task))
    method = Looked(assembly.method, task.oracle, task.certifier, task.tolerances, assembly.scaling)
    return method, assembly.scaling, f"Algorithm 1, {assembly.kkt}"


def _baseline(task: Task) -> Built:
    """Another method for the same model; its batches are constant, so beta has to diminish."""
    options = task.options
    beta = "diminishing" if options["beta"] == "auto" else options["beta"]
    constants = None if isinstance(options["lipschitz"], str) else options["lipschitz"]
    method = make_baseline(
        options["algorithm"],
        task.oracle,
        task.batch,
        make_schedule(beta),
        options["merit_parameter"],
        constants,
    )
    looked = Looked(method, task.oracle, task.certifier, task.tolerances)
    return looked, unscaled(task.oracle.problem), options["algorithm"]


def _for_batches(oracle: Oracle) -> Oracle:
    """What Algorithm 1 sees: formulas of small batches are biased."""
    return Jackknifed(oracle) if isinstance(oracle, Eliminated) else oracle


def _choices(task: Task) -> Choices:
    """The options in the words of Algorithm 1."""
    options, given = task.options, _factors(task)
    scaling = None if given is None else Scaling(given.rows, given.objective)
    return Choices(
        batch=task.batch,
        growth=options["batch_growth"],
        growth_rate=options["growth_rate"],
        beta=options["beta"],
        lipschitz=options["lipschitz"],
        hessian=options["hessian"],
        scaling=scaling,
        kkt_solver=options["kkt_solver"],
        elastic=options["direction"] == "elastic",
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
            restarts=options["merit_restarts"],
        ),
    )


def _factors(task: Task) -> Factors | None:
    """The user's scales, or none of them; None leaves them to the methods."""
    problem, wanted = task.oracle.problem, task.options["scaling"]
    if wanted == "none":
        return Factors.none(problem)
    given = scaling_factors(task.program)
    return Factors.none(problem) if given is None and wanted == "user" else given


def _budget(options: Mapping[str, Any], batch: tuple[int, ...]) -> Budget:
    """The limits that the user has set, and generous ones where there are none."""
    max_iter, max_samples = options["max_iter"], options["max_samples"]
    if options["algorithm"] == "stages":
        return Budget(
            np.inf if max_iter is None else max_iter,
            MAX_SAMPLES if max_samples is None else max_samples,
            max_samples_given=max_samples is not None,
        )
    max_iter = MAX_ITER if max_iter is None else max_iter
    if max_samples is None:
        # growing batches are to use what constant ones would have
        grows = options["batch_growth"] != "constant" and options["algorithm"] == "stochsqp"
        max_samples = max_iter * sum(batch) if batch and grows else np.inf
    return Budget(max_iter, max_samples, max_samples_given=options["max_samples"] is not None)


def _tolerances(options: Mapping[str, Any], oracle: Oracle) -> Tolerances:
    sampled = any(s.size is None for s in oracle.sources)
    default = SAMPLED_TOLERANCE if sampled else EXACT_TOLERANCE
    return Tolerances(options["tol_feas"] or default, options["tol_opt"] or default)


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
