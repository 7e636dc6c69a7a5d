r"""From a model and options to a finished run, one line per layer:

    declare -> compile -> sample -> estimate -> kkt -> sqp -> report
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compile import compile_program
from ..declare import StochasticProgram, read_model
from ..errors import OptionError
from ..estimate import ModelOracle
from ..kkt import KKTPattern, make_backend
from ..oracle import Jacobian, Oracle, SourceInfo
from ..report import Budget, Certifier, Outcome, Tolerances, run
from ..sample import Sampler
from ..sqp import (
    Batches,
    EqualitySubproblem,
    Identity,
    Parameters,
    State,
    StochasticSQP,
    make_schedule,
)


@dataclass(frozen=True)
class Setup:
    """A model made ready to run."""

    program: StochasticProgram
    oracle: Oracle
    method: StochasticSQP
    certifier: Certifier
    budget: Budget
    tolerances: Tolerances
    seed: int
    backend: str

    def run(self, observers: Sequence[Any] = ()) -> Outcome:
        """Run to the end."""
        return run(
            self.method,
            State.COLUMNS,
            self.oracle.problem.x0,
            self.certifier,
            self.budget,
            self.tolerances,
            observers,
        )


def prepare(model: Any, options: Mapping[str, Any], time_limit: float | None = None) -> Setup:
    """Everything before the first iteration."""
    seed = options["seed"] if options["seed"] is not None else secrets.randbits(32)
    program = read_model(model)
    evaluator = compile_program(program, jit=options["jit"])
    sampler = Sampler(program.sources, seed, options["sampling"], options["replacement"])
    oracle = ModelOracle(program, evaluator, sampler)
    problem = oracle.problem
    pattern = KKTPattern(problem.n, problem.m, problem.jac_indptr, problem.jac_indices)
    backend = make_backend(pattern, options["kkt_solver"])
    subproblem = EqualitySubproblem(problem, backend, Jacobian(problem))
    growth = options["batch_growth"]
    beta = options["beta"]
    if beta == "auto":
        beta = "diminishing" if growth in ("constant", "variance") and oracle.sources else 1.0
    schedule = make_schedule(beta)
    sizes = batch_sizes(options["batch_size"], oracle.sources)
    lipschitz = options["lipschitz"]
    method = StochasticSQP(
        oracle,
        subproblem,
        Identity(),
        Batches(oracle.sources, sizes, growth, options["growth_rate"], schedule),
        schedule,
        Parameters(
            tau0=options["merit_parameter"],
            xi0=options["ratio_parameter"],
            eta=options["decrease_fraction"],
            sigma=options["feasibility_share"],
            eps_tau=options["merit_decrease"],
            eps_xi=options["ratio_decrease"],
            theta=options["step_range"],
            step_rule=options["step_rule"],
        ),
        None if lipschitz == "auto" else lipschitz,
    )
    max_samples = options["max_samples"]
    if max_samples is None:
        grows = growth != "constant" and sizes
        max_samples = options["max_iter"] * sum(sizes) if grows else np.inf
    return Setup(
        program,
        oracle,
        method,
        Certifier(oracle, subproblem.multipliers),
        Budget(options["max_iter"], max_samples, np.inf if time_limit is None else time_limit),
        Tolerances(options["tol_feas"], options["tol_opt"]),
        seed,
        backend.describe(),
    )


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
