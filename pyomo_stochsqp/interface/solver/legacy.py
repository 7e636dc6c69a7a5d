r"""The solver of Pyomo's legacy interface: ``pyomo.environ.SolverFactory('stochsqp')``.

A class of its own rather than Pyomo's wrapper of new solvers: every option can be given as a
keyword, in ``options=`` or in ``opt.options``; nothing given to one solve stays for the next; an
infeasible model gives a status, not an exception.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyomo.common.enums import SolverAPIVersion
from pyomo.contrib.solver.common.config import TextIO_or_Logger
from pyomo.contrib.solver.common.results import SolutionStatus

from ...errors import OptionError
from ..options.legacy_options import TIME_LIMITS, LegacyOptions, options_from_text
from ..options.table import check_name
from .legacy_results import LegacyStochSQPResults, legacy_results, solution_of, wanted_suffixes
from .rescue import load_what_is_left
from .results import StochSQPResults
from .solver import StochSQP

logger = logging.getLogger("pyomo_stochsqp")

#: what Pyomo's legacy solvers accept besides options
KEYWORDS = (
    "tee", "load_solutions", "logfile", "solnfile", "timelimit", "time_limit", "report_timing",
    "solver_io", "suffixes", "options", "options_string", "solver_options", "keepfiles",
    "symbolic_solver_labels", "file_determinism", "warmstart",
    "raise_exception_on_nonoptimal_result",
)  # fmt: skip


class LegacyStochSQP:
    """Stochastic SQP for models with expectations, in Pyomo's legacy interface.

    >>> import pyomo.environ as pyo
    >>> import pyomo_stochsqp
    >>> opt = pyo.SolverFactory("stochsqp")
    >>> opt.options["batch_size"] = 128
    >>> opt.options["batchsize"] = 128
    Traceback (most recent call last):
    ...
    pyomo_stochsqp.errors.OptionError: unknown option 'batchsize'. Did you mean 'batch_size'? ...
    """

    name = "stochsqp"
    type = "stochsqp"
    #: continuous problems, linear or not; no integers, no SOS
    _capabilities = ("linear", "quadratic_objective", "quadratic_constraint", "nonlinear")

    def __init__(self, **kwds: Any):
        # Pyomo's factory turns an exception raised here into a solver that is "unavailable", so
        # what is wrong with the arguments is said at the first solve.
        kwds.pop("type", None)
        self.name = kwds.pop("name", self.name)
        self._solver = StochSQP(name=self.name)
        self._options = LegacyOptions()
        self._mistake: Exception | None = None
        try:
            _no_other_program(kwds.pop("solver_io", None), kwds.pop("executable", None))
            self._options.update(kwds.pop("options", None) or {})
            self._options.update(kwds.pop("solver_options", None) or {})
            self._options.update(kwds)
        except OptionError as mistake:
            self._mistake = mistake

    @property
    def options(self) -> LegacyOptions:
        """Options for every solve from now on."""
        return self._options

    @options.setter
    def options(self, given: Mapping[str, Any]) -> None:
        self._options = LegacyOptions(given)

    @property
    def config(self) -> Any:
        """The configuration of the new interface; ``options`` come on top of it."""
        return self._solver.config

    def set_options(self, given: str | Mapping[str, Any]) -> None:
        """Add options from a text ("batch_size=64 seed=1") or a mapping; None means not given."""
        found = options_from_text(given) if isinstance(given, str) else dict(given.items())
        self._options.update({k: v for k, v in found.items() if v is not None})

    def solve(self, model: Any, **kwds: Any) -> LegacyStochSQPResults:
        """Solve a model. Options given here are for this solve only."""
        if self._mistake is not None:
            raise self._mistake
        for name in kwds:
            check_name(name, KEYWORDS)
        _no_other_program(kwds.pop("solver_io", None), None)
        if kwds.pop("solnfile", None) is not None:
            raise OptionError("solnfile=: stochsqp writes no solution file; use results.write().")
        load_solutions = kwds.pop("load_solutions", True)
        report_timing = kwds.pop("report_timing", False)
        suffixes = _suffixes(kwds.pop("suffixes", None) or ())
        logfile = kwds.pop("logfile", None)
        tee = TextIO_or_Logger(kwds.pop("tee", False))
        options = self._merged(kwds)
        try:
            with _log_file(logfile) as more:
                results = self._solver.solve(model, tee=tee + more, load_solutions=False, **options)
        except BaseException as error:
            if load_solutions:
                load_what_is_left(error)
            raise
        legacy = self._deliver(model, results, load_solutions, suffixes)
        if report_timing:
            print(results.timing_info.timer)
        return legacy

    def _merged(self, kwds: dict[str, Any]) -> dict[str, Any]:
        """Lasting options, then those of this solve, then its keywords; for the new interface."""
        merged = LegacyOptions(self._options)
        merged.update(kwds.pop("options", None) or {})
        merged.update(kwds.pop("solver_options", None) or {})
        merged.update(options_from_text(kwds.pop("options_string", None) or ""))
        for name in ("keepfiles", "symbolic_solver_labels", "file_determinism"):
            kwds.pop(name, None)  # there are no files
        if "warmstart" in kwds:
            kwds["warm_start"] = kwds.pop("warmstart")
        raising = "raise_exception_on_nonoptimal_result"
        arguments = {raising: kwds.pop(raising, False)}
        merged.update({k: v for k, v in kwds.items() if v is not None})
        limits = [merged.pop(name) for name in TIME_LIMITS if name in merged]
        limits = [limit for limit in limits if limit is not None]
        if limits:
            arguments["time_limit"] = min(limits)
        return {**arguments, **merged}

    def _deliver(
        self, model: Any, results: StochSQPResults, load_solutions: bool, suffixes: set[str]
    ) -> LegacyStochSQPResults:
        """Load the point into the model, or put it into the results."""
        legacy = legacy_results(results, model)
        legacy._smap_id = legacy._smap = None
        if results.solution_status is SolutionStatus.noSolution:
            logger.warning("%s", results.extra_info.message)
            return legacy
        solution, symbols = solution_of(results, wanted_suffixes(model, suffixes))
        if not load_solutions:
            legacy.solution.insert(solution)
            legacy._smap_id, legacy._smap = id(symbols), symbols
            return legacy
        results.solution_loader.load_solution()
        if hasattr(model, "solutions"):  # a model, not a block inside one
            model.solutions.clear(clear_symbol_maps=False)
            model.solutions.add_symbol_map(symbols)
            model.solutions.add_solution(solution, id(symbols))
        return legacy

    def available(self, exception_flag: bool = True) -> bool:
        """Always: the solver is this package."""
        return True

    def license_is_valid(self) -> bool:
        """No licence is needed."""
        return True

    def version(self) -> tuple[int, ...]:
        """The version of this package, with four numbers as legacy solvers have it."""
        return (*self._solver.version(), 0)

    def warm_start_capable(self) -> bool:
        """Values of Vars are always the starting point; ``warmstart=True`` adds the duals."""
        return True

    def has_capability(self, name: str) -> bool:
        """What Pyomo's legacy infrastructure asks before it hands over a model."""
        return name in self._capabilities

    def problem_format(self) -> None:
        """Models are not written to files."""

    def default_variable_value(self) -> None:
        """No value is made up for a Var that the solver did not see."""

    def reset(self) -> None:
        """Forget what was kept from earlier solves."""
        self._solver = StochSQP(name=self.name)

    def config_block(self, init: bool = False) -> Any:
        """What ``pyomo solve`` offers on its command line."""
        from pyomo.scripting.solve_config import default_config_block

        return default_config_block(self, init)[0]

    @classmethod
    def api_version(cls) -> SolverAPIVersion:
        """The legacy interface."""
        return SolverAPIVersion.V1

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> LegacyStochSQP:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""


def _no_other_program(solver_io: Any, executable: Any) -> None:
    if solver_io not in (None, "python", "direct"):
        raise OptionError(f"solver_io='{solver_io}': stochsqp reads models directly; leave it out.")
    if executable is not None:
        raise OptionError(f"executable='{executable}': stochsqp has no executable; leave it out.")


def _suffixes(asked: Sequence[str] | str) -> set[str]:
    """The suffixes meant by names or patterns."""
    found = set()
    for pattern in [asked] if isinstance(asked, str) else asked:
        matches = [name for name in ("dual", "rc") if re.fullmatch(pattern, name)]
        if not matches:
            raise OptionError(
                f"suffixes: '{pattern}' is not given by stochsqp; 'dual' and 'rc' are."
            )
        found.update(matches)
    return found


@contextmanager
def _log_file(path: Any) -> Iterator[list[Any]]:
    if path is None:
        yield []
    else:
        with open(path, "w") as file:
            yield [file]
