r"""One program, solved in three ways; CPU seconds include building and reading.

ours        stages until the gap is certified
extensive   one sample of n scenarios, written out as blocks, by HiGHS through Pyomo: no certificate
mpisppy     that for a decision, and its confidence interval from 16 fresh batches of n scenarios
            (MMW, extensive forms of each by HiGHS)
"""

from __future__ import annotations

import logging
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo

#: batches of mpi-sppy's interval, as many as our first stage has replicates
BATCHES = 16


class Run(NamedTuple):
    """What came out; the gap is absolute, None without a certificate."""

    objective: float
    error: float
    gap: float | None
    samples: int
    seconds: float
    message: str = ""
    x: tuple[float, ...] = ()


def ours(model: Any, gap: float, seed: int, limit: float) -> Run:
    """The solver with its options as they are."""
    began = process_time()
    results = pyo.SolverFactory("stochsqp").solve(model, gap=gap, seed=seed, time_limit=limit)
    c = results.certificate
    x = tuple(v.value for v in model.x.values())
    seconds = process_time() - began
    if c is None:
        return Run(np.nan, np.nan, None, results.samples, seconds, results.message, x)
    return Run(c.objective, c.objective_error, c.gap, results.samples, seconds, results.message, x)


def extensive(model: Any, n: int, seed: int, limit: float) -> Run:
    """The optimum of one Latin hypercube of n scenarios."""
    began = process_time()
    form = pyo.TransformationFactory("stochsqp.extensive_form")
    written = form.create_using(
        model, n_scenarios=n, method="latin_hypercube", seed=seed, sample_finite=True
    )
    ended = pyo.SolverFactory("appsi_highs").solve(
        written, options={"time_limit": limit}, load_solutions=False
    )
    message = str(ended.solver.termination_condition)
    found = ended.problem.upper_bound if message == "optimal" else np.nan
    return Run(found, np.nan, None, n, process_time() - began, message)


def mpisppy(model: Any, n: int, seed: int) -> Run:
    """A decision from n scenarios, its interval from further batches."""
    logging.disable(logging.WARNING)
    from mpisppy.confidence_intervals.mmw_ci import MMWConfidenceIntervals
    from mpisppy.opt.ef import ExtensiveForm
    from mpisppy.utils import config

    from . import peer_model

    began = process_time()
    peer_model.prepare(model, seed, n * (BATCHES + 1))
    cfg = config.Config()
    cfg.quick_assign("EF_2stage", bool, True)
    cfg.quick_assign("EF_solver_name", str, "appsi_highs")
    cfg.quick_assign("num_scens", int, n)
    first = ExtensiveForm(
        {"solver": "appsi_highs"}, peer_model.scenario_names_creator(n), peer_model.scenario_creator
    )
    first.solve_extensive_form()
    objective = first.get_objective_value()
    decision = {"ROOT": np.array(list(first.get_root_solution().values()))}
    interval = MMWConfidenceIntervals(
        "benchmarks.smps.peer_model", cfg, decision, BATCHES, batch_size=n, start=n, verbose=False
    ).run(0.95)
    gap = float(interval["gap_inner_bound"])
    return Run(objective, np.nan, gap, n * (BATCHES + 1), process_time() - began)
