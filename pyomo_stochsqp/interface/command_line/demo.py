"""Solve a small model whose exact answer is known, with a live log."""

from __future__ import annotations

import argparse
import math
from typing import Any

import pyomo.environ as pyo
from scipy import stats

from ...declare import E, RandomParam

#: E[exp(x w)] = exp(x + x^2/2) for w ~ N(1, 1), so the constraint says x + x^2/2 = 1
EXACT_X = math.sqrt(3.0) - 1.0
#: 2 x = dual * (1 + x) e
EXACT_DUAL = 2.0 * EXACT_X / (math.e * math.sqrt(3.0))


def build_model() -> Any:
    """min x^2 s.t. E[exp(x w)] = e, w ~ N(1, 1)."""
    m = pyo.ConcreteModel("exponential tilting")
    m.x = pyo.Var(initialize=0.5)
    m.w = RandomParam(distribution=stats.norm(1, 1))
    m.cost = pyo.Objective(expr=m.x**2)
    m.tilt = pyo.Constraint(expr=E(pyo.exp(m.x * m.w)) == math.e)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def arguments(parser: argparse.ArgumentParser) -> None:
    """The seed."""
    parser.add_argument("--seed", type=int, default=1, help="random seed (1)")


def run(args: argparse.Namespace) -> int:
    """Solve it and print the answer beside the exact one."""
    print("minimise x^2  subject to  E[exp(x w)] = e,  w ~ N(1, 1)\n")
    m = build_model()
    pyo.SolverFactory("stochsqp").solve(m, seed=args.seed, tee=True)
    print(f"\n{'':8}{'found':>12}{'exact':>12}{'error':>10}")
    for name, found, exact in (("x", m.x.value, EXACT_X), ("dual", m.dual[m.tilt], EXACT_DUAL)):
        print(f"{name:8}{found:12.6f}{exact:12.6f}{abs(found - exact):10.1e}")
    return 0
