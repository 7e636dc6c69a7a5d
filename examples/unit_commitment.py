"""Which power stations to start this evening, before tomorrow's load is known.

Four stations, three periods. Starting a station or keeping it on costs money, and a station that is
on runs between its least and its greatest output. The load of a period is its forecast times
1 + 0.15 z, z ~ N(0, 1) the same for all periods; what stations cannot give is bought at 400, what
they must give beyond the load is thrown away.

    minimise  sum_it (on_i u_it + start_i v_it) + E[sum_t Q_t(u_t, z)],   u binary, v starts

For given u_t the stations run in order of their costs, so that E[Q_t(u_t, z)] is an integral over z
of a function in closed form. There are 16 choices per period; the exact optimum is the shortest way
through three periods.
"""

from itertools import product

import numpy as np
import pyomo.environ as pyo
from scipy import stats

from pyomo_stochsqp import E, RandomParam, Recourse

#: cost of being on, of starting, of running; least and greatest output, in the order of costs
STATIONS = {
    "hydro": (0.0, 500.0, 5.0, 20.0, 100.0),
    "coal": (900.0, 4000.0, 22.0, 80.0, 200.0),
    "gas": (700.0, 1200.0, 35.0, 40.0, 150.0),
    "oil": (300.0, 300.0, 80.0, 10.0, 80.0),
}
ON, START, RUN, LEAST, MOST = range(5)
FORECAST = {"night": 150.0, "day": 330.0, "evening": 400.0}
SPREAD, BOUGHT = 0.15, 400.0

#: the gap that is asked for, and the objective's own error
TOLERANCE = 3e-3


def build():
    m = pyo.ConcreteModel("unit commitment")
    periods = list(FORECAST)
    m.on = pyo.Var(STATIONS, periods, domain=pyo.Binary)
    m.start = pyo.Var(STATIONS, periods, bounds=(0, 1))  # 0 or 1 by itself
    m.z = RandomParam(distribution=stats.norm())

    @m.Constraint(STATIONS, periods)
    def started(m, i, t):
        before = m.on[i, periods[periods.index(t) - 1]] if t != periods[0] else 0.0
        return m.start[i, t] >= m.on[i, t] - before

    @Recourse(m)
    def second(b):
        b.run = pyo.Var(STATIONS, periods, bounds=(0, None))
        b.bought = pyo.Var(periods, bounds=(0, None))
        b.most = pyo.Constraint(
            STATIONS, periods, rule=lambda b, i, t: b.run[i, t] <= STATIONS[i][MOST] * m.on[i, t]
        )
        b.least = pyo.Constraint(
            STATIONS, periods, rule=lambda b, i, t: b.run[i, t] >= STATIONS[i][LEAST] * m.on[i, t]
        )
        b.load = pyo.Constraint(
            periods,
            rule=lambda b, t: (
                sum(b.run[i, t] for i in STATIONS) + b.bought[t] >= FORECAST[t] * (1 + SPREAD * m.z)
            ),
        )
        b.cost = pyo.Expression(
            expr=sum(STATIONS[i][RUN] * b.run[i, t] for i in STATIONS for t in periods)
            + BOUGHT * sum(b.bought.values())
        )

    fixed = sum(
        STATIONS[i][ON] * m.on[i, t] + STATIONS[i][START] * m.start[i, t]
        for i in STATIONS
        for t in periods
    )
    m.cost = pyo.Objective(expr=fixed + E(m.second.cost))
    return m


def running_cost(on, forecast, points=20_000):
    """E[Q_t] of the stations that are on: the cheapest ones first, beyond their least output."""
    z = stats.norm.ppf((np.arange(points) + 0.5) / points)
    stations = [s for s, is_on in zip(STATIONS.values(), on, strict=True) if is_on]
    cost = sum(s[LEAST] * s[RUN] for s in stations)
    rest = np.clip(forecast * (1 + SPREAD * z) - sum(s[LEAST] for s in stations), 0.0, None)
    for s in stations:
        more = np.minimum(rest, s[MOST] - s[LEAST])
        cost, rest = cost + s[RUN] * more, rest - more
    return float(np.mean(cost + BOUGHT * rest))


def exact():
    """(cost, which are on in every period), the shortest way through the periods."""
    choices = list(product((0, 1), repeat=len(STATIONS)))
    ways = {(0,) * len(STATIONS): (0.0, ())}
    for forecast in FORECAST.values():
        costs = {}
        for on in choices:
            kept = sum(s[ON] for s, is_on in zip(STATIONS.values(), on, strict=True) if is_on)
            costs[on] = kept + running_cost(on, forecast)
        ways = {
            on: min(
                (cost + costs[on] + _started(before, on), (*way, on))
                for before, (cost, way) in ways.items()
            )
            for on in choices
        }
    return min(ways.values())


def _started(before, on):
    return sum(s[START] * (b < a) for s, b, a in zip(STATIONS.values(), before, on, strict=True))


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, gap=1e-3, seed=1)
    cost, way = exact()
    found = results.certificate.objective
    print(results.certificate)
    print(f"cost      found {found:9.1f}   exact {cost:9.1f}")
    for t, best in zip(FORECAST, way, strict=True):
        on = [i for i in STATIONS if m.on[i, t].value > 0.5]
        print(f"{t:9} found {', '.join(on)}")
        assert on == [i for i, is_on in zip(STATIONS, best, strict=True) if is_on]
    return {"cost": (found, cost)}


if __name__ == "__main__":
    main()
