"""A promised waiting time, where waiting times come from a simulation.

    minimise  c t + p E[(W - t)+]

A shop promises to serve within t; every unit of t costs c of goodwill, every unit of lateness p.
W is the waiting time of a customer in a queue with one server, which is simulated: customer after
customer, in plain Python. Nobody needs to know its distribution. Here it happens to be known:
with arrivals at rate a and services at rate s, P(W > t) = (a/s) exp(-(s - a) t), so that the best
promise is t = log(p a / (c s)) / (s - a).

The simulation is what takes the time, so two processes make its calls (workers=2).
"""

import math

import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam, positive_part

ARRIVALS, SERVICES = 0.5, 1.0
PROMISE, LATENESS = 1.0, 8.0
CUSTOMERS = 60

#: what 1 % of certified accuracy leaves: a simulator draws independent scenarios, and pays for each
TOL_OPT = 1e-2
TOLERANCE = 3 * TOL_OPT


def waiting_time(rng):
    """The last of some customers waits so long; the first finds an empty shop."""
    wait = 0.0
    gaps = rng.exponential(1 / ARRIVALS, CUSTOMERS).tolist()
    services = rng.exponential(1 / SERVICES, CUSTOMERS).tolist()
    for gap, service in zip(gaps, services, strict=True):
        wait = max(0.0, wait + service - gap)
    return wait


def simulate(rng, size):
    """A sampler: one row per day, one column."""
    return [[waiting_time(rng)] for _ in range(size)]


def build():
    m = pyo.ConcreteModel("Waiting time")
    m.t = pyo.Var(bounds=(0, None), initialize=1.0)
    m.wait = RandomParam(sampler=simulate)
    m.cost = pyo.Objective(expr=PROMISE * m.t + LATENESS * E(positive_part(m.wait - m.t)))
    return m


def best_promise():
    return math.log(LATENESS * ARRIVALS / (PROMISE * SERVICES)) / (SERVICES - ARRIVALS)


def answers(m, results):
    """What was found, beside the exact number."""
    return {"t": (m.t.value, best_promise())}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1, workers=2, tol_opt=TOL_OPT)
    pyo.assert_optimal_termination(results)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:4} found {found:8.4f}   exact {exact:8.4f}")
    return pairs


if __name__ == "__main__":
    main()
