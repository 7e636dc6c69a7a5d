r"""Every option, declared once: name, symbol of the paper, default, range, meaning.

This table generates the solver's configuration, the validation of values, the table in the docs and
``python -m pyomo_stochsqp options``.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from ...baselines import BASELINES
from ...errors import OptionError
from ...kkt import REGISTRY
from ...recourse import GAP
from ...sample import METHODS
from ...solve import EXACT_SOLVERS, EXACT_TOLERANCE, MAX_ITER, MAX_SAMPLES, SAMPLED_TOLERANCE
from ...sqp import CURVATURES, GROWTHS, STEP_RULES
from .values import (
    OPEN_UNIT,
    POSITIVE,
    POSITIVE_OR_INF,
    Check,
    batch_sizes_given,
    communicator,
    curvature,
    flag,
    function,
    integer,
    lipschitz_pair,
    number,
    one_of,
    one_of_or_solver,
    optional,
    path,
    schedule,
)


@dataclass(frozen=True)
class Option:
    """One option. ``check(name, value)`` returns the value to use or raises OptionError."""

    name: str
    default: Any
    check: Check
    range: str
    meaning: str
    symbol: str = ""
    #: headings are in page.py; those of ``ALGORITHM_1`` have no effect on stages alone
    group: str = "common"


ALGORITHMS = ("stages", "stochsqp", *BASELINES)
DIRECTIONS = ("elastic", "plain")
#: the group of options that shape Algorithm 1 and nothing else
ALGORITHM_1 = "algorithm_1"

#: what a preset changes; 'paper' is Algorithm 1 as in the paper's Section "Numerical Results"
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "algorithm": "stochsqp",
        "sampling": "monte_carlo",
        "direction": "plain",
        "merit_restarts": False,
        "batch_growth": "constant",
        "beta": 1.0,
        "step_rule": "grid",
        "max_step": inf,
        "hessian": "identity",
        "scaling": "none",
        "merit_parameter": 0.1,
    },
}

OPTIONS: tuple[Option, ...] = (
    Option("seed", None, optional(integer(0)), "int >= 0",
           "random seed; drawn and reported when not given"),
    Option("tol_feas", None, optional(POSITIVE), "> 0",
           "tolerance of every constraint's certified violation, relative to the constraint's own "
           f"size; {SAMPLED_TOLERANCE:g} where it is sampled, {EXACT_TOLERANCE:g} where exact"),
    Option("tol_opt", None, optional(POSITIVE), "> 0",
           "tolerance of the certified distance to an optimum, relative to the size of the "
           f"objective and (times 3) of every variable; {SAMPLED_TOLERANCE:g} where sampled, "
           f"{EXACT_TOLERANCE:g} where exact"),
    Option("gap", None, optional(POSITIVE), "> 0",
           "models with Recourse: certified distance of the objective to the optimum, relative to "
           f"the objective; tol_opt, or {GAP:g}"),
    Option("max_samples", None, optional(number(0, inf)), ">= 0",
           f"scenarios that may be used; {MAX_SAMPLES:g} by default, max_iter * batch_size for "
           "growing batches of algorithm='stochsqp'"),
    Option("max_iter", None, optional(integer(0)), "int >= 0",
           f"iteration limit; none by default, {MAX_ITER} for algorithm='stochsqp' and the "
           "baselines"),
    Option("algorithm", "stages", one_of(ALGORITHMS), " | ".join(ALGORITHMS),
           "fixed samples that grow until the answer is certified; the paper's Algorithm 1 alone; "
           "or a baseline to compare it with"),
    Option("preset", "default", one_of(PRESETS), " | ".join(PRESETS),
           "values of the options that are not given: ours, or those of the paper"),
    Option("return_iterate", "best", one_of(("best", "last", "average", "random")),
           "best | last | average | random",
           "the point loaded: best by certificate, last, tail average, or drawn as in the theory"),
    Option("scaling", "auto", one_of(("auto", "none", "user")), "auto | none | user",
           "units of rows, objective and variables: by the Suffix 'scaling_factor' if the model "
           "has one, otherwise chosen from gradients; not at all; or by the Suffix alone"),
    Option("sampling", "auto", one_of(METHODS), " | ".join(METHODS),
           "how scenarios are spread: auto takes scrambled Sobol' sets for the samples of stages "
           "where all numbers have quantiles, and independent draws elsewhere", group="sampling"),
    Option("replacement", False, flag, "bool",
           "draw rows of finite data with replacement", group="sampling"),
    Option("sampled_phase", "auto", one_of(("auto", True, False)), "auto | True | False",
           "Algorithm 1 before the first stage, until noise dominates its direction; auto: where "
           "that saves time", group="sampling"),
    Option("batch_size", 64, batch_sizes_given, "int >= 1, or {source: int}",
           "scenarios drawn per iteration from each source; the first size if batches grow", "b",
           group=ALGORITHM_1),
    Option("batch_growth", "adaptive", one_of(GROWTHS), " | ".join(GROWTHS),
           "how batches grow: when noise dominates the direction, not at all, by growth_rate, or "
           "like 1/beta^2", group=ALGORITHM_1),
    Option("growth_rate", 1.01, number(1.0, inf), ">= 1",
           "factor per iteration of batch_growth='geometric'", group=ALGORITHM_1),
    Option("beta", "auto", schedule, "(0, 1], 'diminishing', sequence, function of k",
           "step-size schedule", r"\beta_k", group=ALGORITHM_1),
    Option("step_rule", "max", one_of(STEP_RULES), " | ".join(STEP_RULES),
           "step in [alpha_min, alpha_max]; 'grid' is the paper's", r"\alpha_k", group=ALGORITHM_1),
    Option("lipschitz", "auto", lipschitz_pair, "'auto', 'once' or (L, Gamma)",
           "Lipschitz constants: measured on the way, at the start only, or given",
           r"L, \Gamma", group=ALGORITHM_1),
    Option("max_step", 1.0, POSITIVE_OR_INF, "> 0", "largest step size; the paper has none",
           group=ALGORITHM_1),
    Option("hessian", "auto", curvature, f"{' | '.join(CURVATURES)}, diagonal, matrix, function",
           "curvature of the subproblem", "H_k", group=ALGORITHM_1),
    Option("merit_parameter", 1.0, POSITIVE, "> 0", "first merit parameter",
           r"\tau_0", group=ALGORITHM_1),
    Option("ratio_parameter", 1.0, POSITIVE, "> 0", "first ratio parameter",
           r"\xi_0", group=ALGORITHM_1),
    Option("decrease_fraction", 0.5, OPEN_UNIT, "(0, 1)",
           "share of the model reduction a step must achieve", r"\eta", group=ALGORITHM_1),
    Option("feasibility_share", 0.1, OPEN_UNIT, "(0, 1)",
           "share of the violation that the model reduction must contain", r"\sigma",
           group=ALGORITHM_1),
    Option("merit_decrease", 0.01, OPEN_UNIT, "(0, 1)", "least relative decrease of tau",
           r"\epsilon_\tau", group=ALGORITHM_1),
    Option("ratio_decrease", 0.01, OPEN_UNIT, "(0, 1)", "least relative decrease of xi",
           r"\epsilon_\xi", group=ALGORITHM_1),
    Option("step_range", 10.0, number(0, inf), ">= 0",
           "length of the step-size interval, times beta", r"\theta", group=ALGORITHM_1),
    Option("direction", "elastic", one_of(DIRECTIONS), " | ".join(DIRECTIONS),
           "subproblem of Algorithm 1: an elastic QP, or the paper's linear system where all "
           "constraints are equalities", group=ALGORITHM_1),
    Option("merit_restarts", True, flag, "bool",
           "tau and xi start anew at iterations 8, 16, 32, ...; the paper's never rise",
           group=ALGORITHM_1),
    Option("kkt_solver", "auto", one_of(("auto", *REGISTRY)),
           " | ".join(("auto", *REGISTRY)), "back end of the KKT system",
           group=ALGORITHM_1),
    Option("exact_solver", "auto", one_of_or_solver(EXACT_SOLVERS), " | ".join(EXACT_SOLVERS),
           "the engine that solves the program of a fixed sample: own ones and, where they fail, "
           "an installed library; or one alone. With linear Recourse any of Pyomo's solvers; "
           "HiGHS if it is left out", group="engine"),
    Option("jit", "auto", one_of(("auto", True, False)), "auto | True | False",
           "compile the evaluation with numba", group="engine"),
    Option("threads", 1, integer(1), "int >= 1",
           "of the linear algebra libraries, whatever OMP_NUM_THREADS says; one is fastest but for "
           "full matrices of many hundred variables", group="engine"),
    Option("comm", None, optional(communicator), "an mpi4py communicator",
           "ranks that share the work on large samples; all of them call solve", group="run"),
    Option("workers", 1, integer(1), "int >= 1",
           "processes that call samplers, where these are simulators", group="run"),
    Option("warm_start", False, flag, "bool",
           "start from the multipliers in the model's 'dual' Suffix, too", group="run"),
    Option("callback", None, optional(function), "function of the run's state",
           "called during the run; stops it by returning True", group="run"),
    Option("callback_every", 1, integer(1), "int >= 1",
           "iterations between two calls of the callback", group="run"),
    Option("checkpoint", None, optional(path), "file name",
           "where the run is saved, so that resume= can continue it", group="run"),
    Option("checkpoint_every", None, optional(integer(1)), "int >= 1",
           "iterations between two checkpoints; without it, as often as costs 1 % of the run",
           group="run"),
    Option("resume", None, optional(path), "file name",
           "continue the run saved in this checkpoint", group="run"),
)  # fmt: skip

BY_NAME = {o.name: o for o in OPTIONS}


def validated(given: Mapping[str, Any]) -> dict[str, Any]:
    """All options with their values; None is the default, an unknown name raises."""
    values = {o.name: o.default for o in OPTIONS}
    preset = given.get("preset")
    if preset is not None:
        values.update(PRESETS[BY_NAME["preset"].check("preset", preset)])
    for name, value in given.items():
        check_name(name)
        if value is not None:
            values[name] = BY_NAME[name].check(name, value)
    return values


def without_effect(given: Iterable[str], options: Mapping[str, Any]) -> list[str]:
    """Options that somebody gave and that this run will not look at."""
    if options["algorithm"] != "stages" or options["sampled_phase"] is True:
        return []
    return [name for name in given if BY_NAME[name].group == ALGORITHM_1]


def check_name(name: str, more: Iterable[str] = ()) -> None:
    """Raise for a name that is neither an option nor one of ``more``, and suggest the nearest."""
    known = [*BY_NAME, *more]
    if name not in known:
        raise unknown_option(name, known)


def unknown_option(name: str, known: Iterable[str]) -> OptionError:
    """The error for a misspelt option."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return OptionError(
        f"unknown option '{name}'.{hint} See 'python -m pyomo_stochsqp options' for all of them."
    )
