r"""Every option, declared once: name, symbol of the paper, default, range, meaning.

This table generates the solver's configuration, the validation of values, the table in the docs and
``python -m pyomo_stochsqp options``.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from ..errors import OptionError
from ..sample import METHODS
from ..sqp import GROWTHS, STEP_RULES, make_schedule

Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Option:
    """One option. ``check(name, value)`` returns the value to use or raises OptionError."""

    name: str
    default: Any
    check: Check
    range: str
    meaning: str
    symbol: str = ""
    group: str = "common"


def number(low: float, high: float, *, open_low: bool = False, open_high: bool = False) -> Check:
    """A real number in an interval."""

    def check(name: str, value: Any) -> float:
        try:
            v = float(value)
        except (TypeError, ValueError):
            raise OptionError(f"{name}={value!r} is not a number.") from None
        inside = (v > low if open_low else v >= low) and (v < high if open_high else v <= high)
        if not inside:
            left, right = "(" if open_low else "[", ")" if open_high else "]"
            raise OptionError(f"{name}={value!r} is outside {left}{low:g}, {high:g}{right}.")
        return v

    return check


def integer(low: int) -> Check:
    """A whole number, at least ``low``."""

    def check(name: str, value: Any) -> int:
        try:
            v = int(value)
            exact = v == float(value)
        except (TypeError, ValueError, OverflowError):
            exact = False
        if not exact or v < low:
            raise OptionError(f"{name}={value!r} must be a whole number, at least {low}.")
        return v

    return check


def one_of(choices: Iterable[Any]) -> Check:
    """One of a few names."""
    allowed = tuple(choices)

    def check(name: str, value: Any) -> Any:
        if value not in allowed:
            raise OptionError(
                f"{name}={value!r} is unknown; choose one of {', '.join(map(repr, allowed))}."
            )
        return value

    return check


def optional(check: Check) -> Check:
    """None, or what ``check`` allows."""
    return lambda name, value: None if value is None else check(name, value)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if value in (True, False):
        return bool(value)
    raise OptionError(f"{name}={value!r} must be True or False.")


def _batch_size(name: str, value: Any) -> Any:
    whole = integer(1)
    if isinstance(value, Mapping):
        return {str(k): whole(f"{name}[{k!r}]", v) for k, v in value.items()}
    return whole(name, value)


def _beta(name: str, value: Any) -> Any:
    if isinstance(value, str) and value not in ("auto", "diminishing"):
        value = number(0.0, 1.0, open_low=True)(name, value)
    if value != "auto":
        make_schedule(value)
    return value


def _lipschitz(name: str, value: Any) -> Any:
    if value == "auto":
        return value
    try:
        L, Gamma = (float(v) for v in value)
    except (TypeError, ValueError):
        raise OptionError(f"{name}={value!r}: give 'auto' or a pair (L, Gamma).") from None
    if not (L > 0.0 and Gamma >= 0.0):
        raise OptionError(f"{name}={value!r}: L must be positive and Gamma not negative.")
    return (L, Gamma)


OPEN_UNIT = number(0.0, 1.0, open_low=True, open_high=True)
POSITIVE = number(0.0, inf, open_low=True, open_high=True)

OPTIONS: tuple[Option, ...] = (
    Option("batch_size", 64, _batch_size, "int >= 1, or {source: int}",
           "scenarios drawn per iteration from each source; the first size if batches grow", "b"),
    Option("seed", None, optional(integer(0)), "int >= 0",
           "random seed; drawn and reported when not given"),
    Option("max_iter", 3000, integer(0), "int >= 0", "iteration limit"),
    Option("max_samples", None, optional(number(0, inf)), ">= 0",
           "scenario budget; without it, growing batches may use max_iter * batch_size"),
    Option("tol_feas", 1e-4, POSITIVE, "> 0", "tolerance of the certified infeasibility"),
    Option("tol_opt", 1e-4, POSITIVE, "> 0", "tolerance of the certified stationarity error"),
    Option("batch_growth", "adaptive", one_of(GROWTHS), " | ".join(GROWTHS),
           "how batches grow: see 'Choosing batch sizes'", group="sampling"),
    Option("growth_rate", 1.01, number(1.0, inf), ">= 1",
           "factor per iteration of batch_growth='geometric'", group="sampling"),
    Option("sampling", "monte_carlo", one_of(METHODS), " | ".join(METHODS),
           "how a batch is spread", group="sampling"),
    Option("replacement", False, flag, "bool",
           "draw rows of finite data with replacement", group="sampling"),
    Option("beta", "auto", _beta, "(0, 1], 'diminishing', sequence, function of k",
           "step-size schedule", r"\beta_k", group="algorithm"),
    Option("step_rule", "max", one_of(STEP_RULES), " | ".join(STEP_RULES),
           "step in [alpha_min, alpha_max]; 'grid' is the paper's", r"\alpha_k", group="algorithm"),
    Option("lipschitz", "auto", _lipschitz, "'auto' or (L, Gamma)",
           "Lipschitz constants: measured on the way, or given", r"L, \Gamma", group="algorithm"),
    Option("merit_parameter", 0.1, POSITIVE, "> 0", "first merit parameter",
           r"\tau_0", group="algorithm"),
    Option("ratio_parameter", 1.0, POSITIVE, "> 0", "first ratio parameter",
           r"\xi_0", group="algorithm"),
    Option("decrease_fraction", 0.5, OPEN_UNIT, "(0, 1)",
           "share of the model reduction a step must achieve", r"\eta", group="algorithm"),
    Option("feasibility_share", 0.1, OPEN_UNIT, "(0, 1)",
           "share of the violation that the model reduction must contain", r"\sigma",
           group="algorithm"),
    Option("merit_decrease", 0.01, OPEN_UNIT, "(0, 1)", "least relative decrease of tau",
           r"\epsilon_\tau", group="algorithm"),
    Option("ratio_decrease", 0.01, OPEN_UNIT, "(0, 1)", "least relative decrease of xi",
           r"\epsilon_\xi", group="algorithm"),
    Option("step_range", 10.0, number(0, inf), ">= 0",
           "length of the step-size interval, times beta", r"\theta", group="algorithm"),
    Option("kkt_solver", "auto", one_of(("auto", "dense", "ldl", "cholmod", "superlu")),
           "auto | dense | ldl | cholmod | superlu", "back end of the KKT system", group="algorithm"),
    Option("jit", "auto", one_of(("auto", True, False)), "auto | True | False",
           "compile the evaluation with numba", group="engine"),
)  # fmt: skip

BY_NAME = {o.name: o for o in OPTIONS}


def validated(given: Mapping[str, Any]) -> dict[str, Any]:
    """All options with their values; unknown names raise and suggest the nearest one."""
    for name in given:
        if name not in BY_NAME:
            raise unknown_option(name, BY_NAME)
    return {
        o.name: o.check(o.name, given[o.name]) if o.name in given else o.default for o in OPTIONS
    }


def unknown_option(name: str, known: Iterable[str]) -> OptionError:
    """The error for a misspelt option."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return OptionError(
        f"unknown option '{name}'.{hint} See 'python -m pyomo_stochsqp options' for all of them."
    )
