r"""The tables of this benchmark."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pyomo.environ as pyo

from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare.recourse import read_two_stage
from pyomo_stochsqp.interface.solver import smooth_recourse
from pyomo_stochsqp.oracle import Jacobian, draw_replicates
from pyomo_stochsqp.oracles import ModelOracle
from pyomo_stochsqp.sample import Sampler
from pyomo_stochsqp.value_function import ValueFunction, smooth

from .models import CLOSED, network

STEP = 1e-4


def derivatives(given: argparse.Namespace) -> int:
    """Relative differences, and microseconds per scenario."""
    print(
        f"{'network':10}{'gradient':>12}{'Jacobian':>12}{'Hessian':>12}{'us cold':>10}{'warm':>8}"
    )
    for capped in (False, True):
        program = smooth(read_two_stage(network(capped)))
        evaluator = compile_program(program.exact, False)
        oracle = ValueFunction(
            program, ModelOracle(program.exact, evaluator, Sampler(program.exact.sources, 1))
        )
        sample = draw_replicates(oracle, 5, 0, [256], 16).pooled[0]
        x = oracle.problem.x0.copy()
        count = sample.scenarios
        began = time.process_time()
        oracle.estimate(x, sample, True)
        cold = time.process_time() - began
        x[: len(program.origin.first)] -= 0.1
        began = time.process_time()
        oracle.estimate(x, sample, True)
        warm = time.process_time() - began
        errors = _differences(oracle, x, sample, x[len(program.origin.first) :])
        name = "capped" if capped else "free"
        print(f"{name:10}" + "".join(f"{e:12.1e}" for e in errors)
              + f"{1e6 * cold / count:10.0f}{1e6 * warm / count:8.0f}")  # fmt: skip
    return 0


def _differences(oracle: Any, x: Any, sample: Any, y: Any) -> tuple[float, float, float]:
    problem, jacobian = oracle.problem, Jacobian(oracle.problem)
    at = oracle.estimate(x, sample, True)
    H = np.zeros((problem.n, problem.n))
    indptr, indices = oracle.hessian_pattern()
    H[indices, np.repeat(np.arange(problem.n), np.diff(indptr))] = oracle.hessian(x, y, sample)
    H = H + np.triu(H, 1).T
    J = np.zeros((problem.m, problem.n))
    J[problem.jac_rows, problem.jac_indices] = at.J
    g, rows, L = np.zeros(problem.n), np.zeros_like(J), np.zeros_like(H)
    for j in range(problem.n):
        step = STEP * (np.arange(problem.n) == j)
        up, down = (oracle.estimate(x + s * step, sample, True) for s in (1, -1))
        g[j] = (up.f - down.f) / (2 * STEP)
        rows[:, j] = (up.c - down.c) / (2 * STEP)
        slopes = [e.g + jacobian.transposed(e.J.copy(), y) for e in (up, down)]
        L[:, j] = (slopes[0] - slopes[1]) / (2 * STEP)
    return _relative(g, at.g), _relative(rows, J), _relative(L, H)


def _relative(a: Any, b: Any) -> float:
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-300)) if b.size else 0.0


def certified(given: argparse.Namespace) -> int:
    """Closed forms: the error, what is certified of it, and what that took."""
    print(f"{'model':10}{'seed':>5}{'ended':>9}{'error':>10}{'certified':>11}{'gap':>10}"
          f"{'scenarios':>11}{'CPU':>7}")  # fmt: skip
    missed = 0
    for name, (build, known) in CLOSED.items():
        for seed in range(given.seeds):
            m = build()
            began = time.process_time()
            results = pyo.SolverFactory("stochsqp").solve(m, seed=seed, gap=given.gap)
            seconds = time.process_time() - began
            c = results.certificate
            for k, (variable, value) in enumerate(known.items()):
                error = abs(m.component(variable).value - value)
                missed += int(error > c.displacement[k])
                ended = str(results.solver.termination_condition)
                print(f"{name:10}{seed:5}{ended:>9}{error:10.1e}{c.displacement[k]:11.1e}"
                      f"{c.relative_gap:10.1e}{results.samples:11}{seconds:7.1f}")  # fmt: skip
    return missed


def extensive(given: argparse.Namespace) -> int:
    """The value function and one large program, on the same scenarios."""
    print(f"{'network':10}{'scenarios':>10}{'value function':>16}{'CPU':>7}"
          f"{'extensive':>14}{'CPU':>7}{'difference':>12}")  # fmt: skip
    few = smooth_recourse.LARGEST
    for capped in (False, True):
        for count in (50, 200, 800):
            data = np.random.default_rng(count).gamma(4, 1.5, (count, 3))
            found = []
            for largest in (0, 10**9):
                smooth_recourse.LARGEST = largest
                m = network(capped, data)
                began = time.process_time()
                results = pyo.SolverFactory("stochsqp").solve(m, seed=1, gap=1e-4, tol_feas=1e-4)
                found += [results.certificate.objective, time.process_time() - began]
            smooth_recourse.LARGEST = few
            name = "capped" if capped else "free"
            print(f"{name:10}{count:10}{found[0]:16.6f}{found[1]:7.1f}{found[2]:14.6f}"
                  f"{found[3]:7.1f}{abs(found[0] / found[2] - 1):12.1e}")  # fmt: skip
    return 0
