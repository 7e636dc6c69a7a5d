r"""What the commands print, a line as soon as it is known.

A gap covers the truth if the optimum is no lower than objective - gap. Where the objective is only
estimated, two standard errors of it, and those of the reference value, are granted.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np

from pyomo_stochsqp.declare.recourse import affine, read_two_stage
from pyomo_stochsqp.recourse import Drawing, Policy, SecondStage
from pyomo_stochsqp.recourse.programs import SampledSolver

from . import contestants, peer_model
from .instances import INSTANCES, ExactValue, Instance, best_value, read


def _chosen(given: Any, *names: str) -> Iterator[Instance]:
    for instance in INSTANCES.values():
        if instance.name in (given.only or names or INSTANCES):
            yield instance


def solve(given: Any) -> int:
    """Ours; how many gaps miss the reference value."""
    print(f"{'':8}{'seed':>4}{'objective':>15}{'+-':>9}{'gap %':>9}{'to reference %':>16}"
          f"{'covers':>8}{'samples':>9}{'CPU s':>8}")  # fmt: skip
    missed = 0
    for i in _chosen(given):
        for seed in range(given.seeds or 3):
            model = read(given.data_dir, i.name)
            run = contestants.ours(model, given.gap or i.gap, seed, given.limit or i.seconds)
            if run.gap is None:
                print(f"{i.name:8}{seed:4d}  {run.message}, {run.seconds:.1f} s", flush=True)
                continue
            slack = 2.0 * float(np.hypot(run.error, i.uncertainty))
            covers = run.objective - run.gap <= i.reference + slack
            missed += not covers
            away = 100 * (run.objective / i.reference - 1)
            print(f"{i.name:8}{seed:4d}{run.objective:15.8g}{run.error:9.1e}"
                  f"{100 * run.gap / abs(run.objective):9.4f}{away:16.4f}"
                  f"{'yes' if covers else 'NO':>8}{run.samples:9d}{run.seconds:8.2f}",
                  flush=True)  # fmt: skip
    return missed


def extensive(given: Any) -> int:
    """The plain extensive form of fixed sizes."""
    print(f"{'':8}{'n':>6}{'objective of the sample':>25}{'to reference %':>16}{'CPU s':>8}")
    for i in _chosen(given):
        for n in i.sizes:
            run = contestants.extensive(
                read(given.data_dir, i.name), n, given.seeds or 1, given.limit or i.seconds
            )
            away = 100 * (run.objective / i.reference - 1)
            print(f"{i.name:8}{n:6d}{run.objective:25.8g}{away:16.4f}{run.seconds:8.2f}"
                  f"  {run.message}", flush=True)  # fmt: skip
    return 0


def mpisppy(given: Any) -> int:
    """mpi-sppy with as many scenarios per batch as our second stage has."""
    print(f"{'':8}{'n':>6}{'objective of the sample':>25}{'gap %':>9}{'samples':>9}{'CPU s':>8}")
    for i in _chosen(given):
        for n in i.sizes[:2]:
            run = contestants.mpisppy(read(given.data_dir, i.name), n, given.seeds or 1)
            assert run.gap is not None
            print(f"{i.name:8}{n:6d}{run.objective:25.8g}{100 * run.gap / i.reference:9.4f}"
                  f"{run.samples:9d}{run.seconds:8.2f}", flush=True)  # fmt: skip
    return 0


def coverage(given: Any) -> int:
    """How often the certified gap covers the exact one."""
    count = given.seeds or 100
    print(f"{'':8}{'gap':>8}{'covered':>9}{'+-':>7}{'certified, mean':>17}{'true, mean':>12}"
          f"{'true/certified, most':>22}{'CPU s':>8}")  # fmt: skip
    short = 0
    for i in _chosen(given, "gbd", "lands"):
        exact = ExactValue(read(given.data_dir, i.name))
        optimum = best_value(i, exact)
        for gap in (given.gap,) if given.gap else (1e-3, 1e-4, 1e-5):
            began = process_time()
            pairs = []
            for seed in range(count):
                run = contestants.ours(
                    read(given.data_dir, i.name), gap, seed, given.limit or i.seconds
                )
                if run.gap is not None:
                    pairs.append((exact(np.array(run.x)) - optimum, run.gap))
            true, certified = np.array(pairs).T
            covered = float(np.mean(true <= certified + 1e-9 * abs(optimum)))
            error = np.sqrt(0.95 * 0.05 / len(pairs))
            short += covered < 0.95 - error
            print(f"{i.name:8}{gap:8.0e}{covered:9.2%}{error:7.1%}{certified.mean():17.3g}"
                  f"{true.mean():12.3g}{np.max(true / certified):22.3g}"
                  f"{process_time() - began:8.1f}", flush=True)  # fmt: skip
    return short


def policy(given: Any) -> int:
    """Microseconds of CPU per scenario: in a row as evaluate does, and by results.policy."""
    print(f"{'':8}{'in a row':>10}{'results.policy':>16}   microseconds per scenario")
    for i in _chosen(given):
        model = read(given.data_dir, i.name)
        program = affine(read_two_stage(model))
        drawing = Drawing(program, 0)
        x = SampledSolver(program, 1e-6).solve(drawing.draw(1, 0, 16), (), np.inf).x
        model.x.set_values(dict(zip(model.x, x.tolist(), strict=True)), skip_validation=True)
        fresh = drawing.draw(2, 0, 1000)
        second = SecondStage(program)
        second.react(x, fresh.some(slice(0, 1)))
        began = process_time()
        second.react(x, fresh)
        row = process_time() - began
        one, outcomes = Policy(model), _outcomes(model, 300)
        one(outcomes[0])
        began = process_time()
        for outcome in outcomes:
            one(outcome)
        single = process_time() - began
        print(f"{i.name:8}{1e6 * row / 1000:10.0f}{1e6 * single / 300:16.0f}", flush=True)
    return 0


def _outcomes(model: Any, count: int) -> list[dict[Any, Any]]:
    """Outcomes as a user gives them: numbers by RandomParam."""
    peer_model.prepare(model, 3, count)
    return [peer_model.outcome(model, s) for s in range(count)]
