r"""A solve with smooth nonlinear recourse.

few scenarios    all second stages written out, as one program with an exact solution
otherwise        the stages, with the value function as their oracle

Second stages of the value function are elastic, at a price for what their rows lack
(value_function/interior_point.py). If some are infeasible at the solution, they prove conditions on
x (value_function/cuts.py), with which it is solved again; what is infeasible in the end is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from math import inf
from timeit import default_timer
from typing import Any

import numpy as np
from pyomo.core.base import Constraint, Objective, TransformationFactory

from ...compile import compile_program
from ...declare.randomness.random_param import RandomParam
from ...declare.recourse import TwoStage, read_two_stage
from ...declare.scan import expectations_inside, scan
from ...errors import OptionError
from ...method import Stop
from ...oracle import EVALUATION_STREAM, Vector, whole_sample
from ...oracles import ModelOracle
from ...report.finished import FinishedRun
from ...run import Outcome
from ...sample import Sampler
from ...solve import Setup, read, seed_of, set_up, task_of
from ...value_function import Cut, Infeasible, SmoothTwoStage, ValueFunction, price_name, smooth
from .results import StochSQPResults
from .session import run_session
from .solution import StochSQPSolutionLoader
from .two_stage import FirstStage

#: variables and rows of all second stages together, up to which they are one program
LARGEST = 20_000
#: runs with more and more cuts, searches for cuts after each; growth of the price of elastic rows
ROUNDS, SEARCHES, DEARER = 4, 20, 1e3
#: fresh scenarios in which second stages must be feasible: at first, and once some were not
FIRST_SEARCHED, SEARCHED = 1 << 13, 1 << 15

Limited = Callable[[], AbstractContextManager[None]]


def solve_smooth(
    model: Any,
    options: Mapping[str, Any],
    streams: Sequence[Any],
    limited: Limited,
    deadline: float,
) -> StochSQPResults:
    """Read, solve, report; ``limited`` is the time limit of reading."""
    if options["comm"] is not None and options["comm"].Get_size() > 1:
        raise OptionError(
            "comm= shares the work of linear Recourse only; leave it out for nonlinear functions."
        )
    options = {
        **options, "tol_opt": options["gap"] or options["tol_opt"], "sampled_phase": False,
        "seed": seed_of(options), "comm": None,
    }  # fmt: skip
    with limited():
        program = smooth(read_two_stage(model))
    f, size = program.stage, program.origin.source.size
    session = _Session(options, streams, limited, deadline)
    if size is not None and size * (f.ny + f.rows) <= LARGEST:
        return session.written_out(program.origin)
    return session.by_value_function(program)


class _Session:
    """One solve: its options, and what limits it."""

    def __init__(
        self, options: Mapping[str, Any], streams: Sequence[Any], limited: Limited, deadline: float
    ):
        self._options, self._streams = options, streams
        self._limited, self._deadline = limited, deadline
        self._log: list[str] = []

    def written_out(self, origin: TwoStage) -> StochSQPResults:
        """All scenarios, one block each."""
        with self._limited():
            form: Any = TransformationFactory("stochsqp.extensive_form")
            copy = form.create_using(origin.model)
            _without_unused_numbers(copy)
            task = read(copy, self._options)
        with closing(task):
            setup, outcome = self._run(set_up(task))
        place = {v.name: j for j, v in enumerate(task.program.variables)}
        rows = {row.name: i for i, row in enumerate(task.program.rows)}
        mine: list[Any] = [*origin.first_rows, *origin.mean_rows]
        prices = {}
        if outcome.best is not None:
            prices = {
                price_name(mean.component): float(outcome.best.y[rows[mean.component.name]])
                for mean in origin.mean_rows
            }
        found = [place[v.name] for v in origin.first]
        kept = [rows[row.component.name] for row in mine]
        return self._results(origin, mine, setup, outcome, found, kept, prices)

    def by_value_function(self, program: SmoothTwoStage) -> StochSQPResults:
        """Samples that grow."""
        options, exact = self._options, program.exact
        with closing(
            Sampler(exact.sources, options["seed"], options["sampling"], options["replacement"],
                    options["workers"])
        ) as sampler:  # fmt: skip
            cuts: list[Cut] = []
            price, start, unmet = 1.0, None, inf
            for number in range(ROUNDS):
                with self._limited():
                    own = program.with_cuts(cuts)
                    evaluator = compile_program(own.exact, False)
                    model = ModelOracle(own.exact, evaluator, sampler)
                    oracle = ValueFunction(own, model, price)
                    if start is not None:
                        oracle.problem = replace(oracle.problem, x0=start)
                    task = task_of(options, own.exact, evaluator, oracle, options["seed"], sampler)
                setup, outcome = self._run(set_up(task))
                best = outcome.best
                if best is None:
                    break
                in_conflict = outcome.stop is Stop.LOCALLY_INFEASIBLE
                found = _infeasible(oracle, best.x, number)
                outcome = _told(outcome, found, number)
                if in_conflict or not found.count or default_timer() >= self._deadline:
                    break
                if found.cuts:
                    start = self._searched(oracle, best.x, found, cuts, number)
                elif found.count < unmet:  # perhaps their multipliers exceed the price
                    price, start, unmet = DEARER * price, best.x, found.count
                else:  # a higher price has not helped
                    break
        origin, count = program.origin, len(program.origin.first)
        point = outcome.state.x if outcome.best is None else outcome.best.x
        prices = dict(zip([v.name for v in program.prices], point[count:].tolist(), strict=True))
        rows = list(range(len(exact.rows)))
        return self._results(origin, exact.rows, setup, outcome, list(range(count)), rows, prices)

    def _searched(
        self, oracle: ValueFunction, x: Vector, found: Infeasible, cuts: list[Cut], number: int
    ) -> Vector:
        """Cuts are added until no second stage that is looked at is infeasible."""
        for again in range(SEARCHES):
            cuts += found.cuts
            before, x = x, oracle.moved(x, cuts)
            if default_timer() >= self._deadline or np.array_equal(x, before):
                break
            found = _infeasible(oracle, x, (number + 1) * SEARCHES + again)
            if not found.cuts:
                break
        return x

    def _run(self, setup: Setup) -> tuple[Setup, Outcome]:
        left = max(0.0, self._deadline - default_timer())
        setup = replace(setup, budget=replace(setup.budget, time_limit=left))
        outcome, text = run_session(setup, self._options, self._streams)
        self._log.append(text)
        return setup, outcome

    def _results(
        self, origin: TwoStage, rows: Sequence[Any], setup: Setup, outcome: Outcome,
        found: list[int], kept: list[int], prices: Mapping[str, float],
    ) -> StochSQPResults:  # fmt: skip
        """``found`` and ``kept``: where the first stage's variables and rows are in the program."""
        problem, best = setup.oracle.problem, outcome.best
        x = (outcome.state.x if best is None else best.x)[found]
        names = [v.name for v in origin.first]
        decision = {**dict(zip(names, x.tolist(), strict=True)), **prices}
        run = FinishedRun(outcome, problem.variable_names, problem.row_names, origin.sign, decision)
        results = StochSQPResults.of(run, setup.tolerances, setup.seed)
        results.objective_bound = -inf * origin.sign
        results.solver_log = "\n".join(self._log)
        stage = FirstStage(
            origin.model, origin.first, rows, origin.objective_component, origin.sign
        )
        duals = reduced = None
        if best is not None:
            whole = StochSQPSolutionLoader.of(setup.program, problem, best)
            _, duals, reduced = whole.arrays()
        loader = _Loader(
            stage,  # type: ignore[arg-type]
            x, None if duals is None else duals[kept],
            None if reduced is None else reduced[found],
        )  # fmt: skip
        loader.prices, loader.blocks = prices, origin.blocks
        results.solution_loader = loader
        return results


def _without_unused_numbers(copy: Any) -> None:
    """RandomParams that only the Recourse has used are of no use once it is written out."""
    parts = copy.component_data_objects((Objective, Constraint), active=True)
    nodes = [n for c in parts for n in expectations_inside(c.expr) if n.explicit is None]
    used = {
        id(r.parent_component().source) for n in nodes for r in scan(n.integrand).random.values()
    }
    for component in list(copy.component_objects(RandomParam, descend_into=True)):
        if id(component.source) not in used:
            component.parent_block().del_component(component)


def _infeasible(oracle: ValueFunction, x: Vector, number: int) -> Infeasible:
    """What second stages of fresh scenarios say of x."""
    whole = whole_sample(oracle)
    if whole is not None and whole.scenarios <= SEARCHED:
        return oracle.infeasible(x, whole)
    count = FIRST_SEARCHED if number == 0 else SEARCHED
    fresh = oracle.draw(EVALUATION_STREAM, (1 << 20) + number, [count] * len(oracle.sources))
    return oracle.infeasible(x, fresh)


def _told(outcome: Outcome, found: Infeasible, number: int) -> Outcome:
    """What infeasible second stages make of an outcome."""
    if found.count:
        blame = f", row {found.row}" if found.row else ""
        message = (
            f"the second stage is infeasible in {found.count} of {found.total} scenarios{blame}; "
            "add a shortage variable with a price to the row"
        )
        return replace(outcome, stop=Stop.LOCALLY_INFEASIBLE, message=message)
    if number:
        warning = (
            f"second stages can be infeasible; among {found.total} fresh scenarios none was, so "
            f"that the probability of one is at most {3.0 / found.total:.1e} (95 %)"
        )
        return replace(outcome, warnings=(*outcome.warnings, warning))
    return outcome


class _Loader(StochSQPSolutionLoader):
    """Leaves the prices of rows under E with the Recourse, for its policy."""

    prices: Mapping[str, float]
    blocks: Sequence[Any]

    def load_vars(self, vars_to_load: Sequence[Any] | None = None) -> None:
        super().load_vars(vars_to_load)
        for block in self.blocks:
            block.prices = dict(self.prices)
