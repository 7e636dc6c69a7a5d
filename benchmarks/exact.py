r"""Models without sampling: collocation, epidemic control, recourse, the CUTEst set, time limits.

    collocation   a reactor's temperature profile, pyomo.dae, Radau points
    epidemic      least lockdown so that infections stay below a limit, 200 days
    farmer        Birge and Louveaux' farmer with random yields, S scenarios
    recourse      capacities now, nonlinear production costs and shortages in S scenarios
    cutest        the 44 problems of the paper without noise, at tolerance 1e-6
    limits        how long a run takes that may take a given time

Each model is built, solved at default options, and solved by another engine through the same
compiled functions (``exact_solver``) where one is installed: Uno or POUNCE. CPU seconds, compiling
included; the same objective must come out.

    python -m benchmarks.exact [models | cutest | limits] [--peer pounce]
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyomo.dae as dae
import pyomo.environ as pyo

from pyomo_stochsqp import E

from .cutest import problems  # noqa: F401  (fills the registry)
from .cutest.registry import PROBLEMS

#: relative difference of objectives that count as equal
SAME = 1e-4


def collocation(elements: int) -> Any:
    """Tracks a profile of a reactor: states c, T, control u."""
    m = pyo.ConcreteModel()
    m.t = dae.ContinuousSet(bounds=(0, 1))
    m.c, m.T = pyo.Var(m.t, bounds=(0, 2)), pyo.Var(m.t, bounds=(0, 5))
    m.u = pyo.Var(m.t, bounds=(0, 3))
    m.dc, m.dT = dae.DerivativeVar(m.c, wrt=m.t), dae.DerivativeVar(m.T, wrt=m.t)

    def rate(m: Any, t: float) -> Any:
        return 2.0 * m.c[t] * pyo.exp(-1.0 / (m.T[t] + 0.5))

    m.balance = pyo.Constraint(m.t, rule=lambda m, t: m.dc[t] == 1 - m.c[t] - rate(m, t))
    m.heat = pyo.Constraint(m.t, rule=lambda m, t: m.dT[t] == rate(m, t) - m.T[t] + m.u[t])
    m.c[0].fix(1.0)
    m.T[0].fix(0.5)
    pyo.TransformationFactory("dae.collocation").apply_to(m, nfe=elements, ncp=3, wrt=m.t)
    m.goal = pyo.Objective(
        expr=sum((m.c[t] - 0.3) ** 2 + 0.01 * m.u[t] ** 2 for t in m.t) / len(m.t)
    )
    return m


def epidemic(days: int) -> Any:
    """Susceptible, exposed, infectious: how much contact can be allowed."""
    m = pyo.ConcreteModel()
    m.day = pyo.RangeSet(0, days)
    m.s, m.e, m.i = (pyo.Var(m.day, bounds=(0, 1)) for _ in range(3))
    m.u = pyo.Var(m.day, bounds=(0, 0.8))
    for v, start in ((m.s, 0.99), (m.e, 0.005), (m.i, 0.005)):
        v[0].fix(start)
    m.steps = pyo.ConstraintList()
    for t in range(days):
        caught = 0.4 * (1 - m.u[t]) * m.s[t] * m.i[t]
        m.steps.add(m.s[t + 1] == m.s[t] - caught)
        m.steps.add(m.e[t + 1] == m.e[t] + caught - m.e[t] / 5)
        m.steps.add(m.i[t + 1] == m.i[t] + m.e[t] / 5 - m.i[t] / 7)
    m.beds = pyo.Constraint(m.day, rule=lambda m, t: m.i[t] <= 0.03)
    m.cost = pyo.Objective(expr=sum(m.u[t] ** 2 for t in m.day))
    return m


def farmer(scenarios: int) -> Any:
    """Acres now; sales and purchases when the yields are known."""
    rng = np.random.default_rng(scenarios)
    factors = [0.8, 1.0, 1.2] if scenarios == 3 else rng.uniform(0.7, 1.3, scenarios)
    m = pyo.ConcreteModel()
    crops = ("wheat", "corn", "beets")
    m.acres = pyo.Var(crops, bounds=(0, 500))
    m.land = pyo.Constraint(expr=sum(m.acres.values()) <= 500)

    @m.Block(range(scenarios))
    def scenario(b: Any, s: int) -> None:
        f = float(factors[s])
        b.buy, b.sell = pyo.Var(crops[:2], bounds=(0, None)), pyo.Var(crops[:2], bounds=(0, None))
        b.quota, b.extra = pyo.Var(bounds=(0, 6000)), pyo.Var(bounds=(0, None))
        grown = {"wheat": 2.5 * f, "corn": 3.0 * f, "beets": 20.0 * f}
        b.fed = pyo.Constraint(
            crops[:2],
            rule=lambda b, c: (
                grown[c] * m.acres[c] + b.buy[c] - b.sell[c] >= {"wheat": 200, "corn": 240}[c]
            ),
        )
        b.beets = pyo.Constraint(expr=b.quota + b.extra <= grown["beets"] * m.acres["beets"])
        b.cost = pyo.Expression(
            expr=238 * b.buy["wheat"] + 210 * b.buy["corn"] - 170 * b.sell["wheat"]
            - 150 * b.sell["corn"] - 36 * b.quota - 10 * b.extra
        )  # fmt: skip

    m.cost = pyo.Objective(
        expr=150 * m.acres["wheat"] + 230 * m.acres["corn"] + 260 * m.acres["beets"]
        + E(m.scenario[:].cost)
    )  # fmt: skip
    return m


def recourse(scenarios: int) -> Any:
    """Capacities now, production and shortage when the demand is known."""
    demand = np.random.default_rng(scenarios).gamma(4, 25, (scenarios, 3))
    m = pyo.ConcreteModel()
    m.k = pyo.Var(range(3), bounds=(0, None))

    @m.Block(range(scenarios))
    def scenario(b: Any, s: int) -> None:
        b.y, b.short = pyo.Var(range(3), bounds=(0, None)), pyo.Var(range(3), bounds=(0, None))
        b.capacity = pyo.Constraint(range(3), rule=lambda b, j: b.y[j] <= m.k[j])
        b.demand = pyo.Constraint(
            range(3), rule=lambda b, j: b.y[j] + b.short[j] >= float(demand[s, j])
        )
        b.power = pyo.Constraint(expr=sum(b.y[j] ** 2 for j in range(3)) <= 40_000)
        b.cost = pyo.Expression(
            expr=sum(b.y[j] + 0.001 * b.y[j] ** 2 + 5 * b.short[j] for j in range(3))
        )

    m.cost = pyo.Objective(expr=1.5 * sum(m.k.values()) + E(m.scenario[:].cost))
    return m


MODELS: dict[str, Callable[[], Any]] = {
    "collocation 100": lambda: collocation(100),
    "collocation 800": lambda: collocation(800),
    "epidemic 200": lambda: epidemic(200),
    "farmer 3": lambda: farmer(3),
    "farmer 30": lambda: farmer(30),
    "farmer 100": lambda: farmer(100),
    "recourse 100": lambda: recourse(100),
    "recourse 1000": lambda: recourse(1000),
    "recourse 5000": lambda: recourse(5000),
}


def solved(m: Any, **options: Any) -> tuple[float, str, float]:
    """(CPU seconds, how it ended, objective)."""
    began = process_time()
    results = pyo.SolverFactory("stochsqp").solve(m, load_solutions=True, **options)
    seconds = process_time() - began
    return (
        seconds,
        str(results.solver.termination_condition),
        pyo.value(next(m.component_data_objects(pyo.Objective))),
    )


def models(peer: str, only: list[str]) -> int:
    print(
        f"{'model':16} {'variables':>9} {'build':>6} {'ours':>6} {peer:>7}  ended        objective"
    )
    wrong = 0
    for name, make in MODELS.items():
        if only and name.split()[0] not in only:
            continue
        began = process_time()
        m = make()
        build = process_time() - began
        ours, ended, objective = solved(m)
        theirs, peers_end, peers = solved(make(), exact_solver=peer)
        same = objective <= peers + SAME * max(1.0, abs(peers)) or peers_end != "optimal"
        wrong += ended != "optimal" or not same
        n = sum(1 for _ in m.component_data_objects(pyo.Var))
        times = f"{build:6.2f} {ours:6.2f} {theirs:7.2f}"
        said = f"{ended:10} {objective:12.6g}  {peer}: {peers_end}, {peers:.6g}"
        print(f"{name:16} {n:9d} {times}  {said}", flush=True)
    print(f"{wrong} not solved, or worse than {peer}")
    return wrong


def cutest() -> int:
    lost = 0
    total = 0.0
    for name, make in PROBLEMS.items():
        seconds, ended, _ = solved(make(), tol_feas=1e-6, tol_opt=1e-6)
        total += seconds
        if ended != "optimal":
            lost += 1
            print(f"{name:12} {ended}")
    print(f"{len(PROBLEMS) - lost} of {len(PROBLEMS)} optimal, {total:.1f} s CPU")
    return lost


def limits() -> int:
    """Wall seconds of runs that would take longer: compiling, an engine, a QP."""
    late = 0
    print("model              limit   taken  ended")
    for name in ("recourse 5000", "collocation 800", "epidemic 200", "ELEC", "SPIN2OP"):
        for limit in (0.1, 1.0, 3.0):
            m = PROBLEMS[name]() if name in PROBLEMS else MODELS[name]()
            began = perf_counter()
            results = pyo.SolverFactory("stochsqp").solve(
                m, time_limit=limit, tol_feas=1e-12, tol_opt=1e-12, load_solutions=True
            )
            taken = perf_counter() - began
            late += taken > 1.1 * limit + 0.5
            print(f"{name:16} {limit:7.1f} {taken:7.2f}  {results.message}", flush=True)
    print(f"{late} late by more than 10 % and half a second")
    return late


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", default="models", choices=("models", "cutest", "limits"))
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--peer", default="uno", choices=("uno", "pounce", "ipopt"))
    given = parser.parse_args()
    logging.getLogger("pyomo").setLevel(logging.ERROR)
    if given.what == "models":
        return models(given.peer, given.only)
    return cutest() if given.what == "cutest" else limits()


if __name__ == "__main__":
    raise SystemExit(main())
