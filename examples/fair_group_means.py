"""Fairness as it is said: the mean score of two groups is equal, a row of ratios of expectations.

    minimise E[(y - x't)^2]   subject to   E[a x't] / E[a] = E[(1 - a) x't] / E[1 - a]

A row of the table is an applicant: features x, group a in {0, 1}, y = 1 if the loan was repaid. The
score x't is linear, so the constraint is, too, and the exact answer is one KKT solve with the
moments of the table. (fair_credit.py has a logistic score.)
"""

import csv
from pathlib import Path

import numpy as np
import pyomo.environ as pyo

from pyomo_stochsqp import E, RandomParam

FEATURES = ("income", "debt", "savings", "years", "one")

#: the table is finite: exact up to tol_opt
TOLERANCE = 1e-4


def load():
    """The table as a mapping of columns."""
    with open(Path(__file__).with_name("data") / "loans.csv") as file:
        rows = list(csv.DictReader(file))
    table = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    return table | {"one": np.ones(len(rows))}


def build():
    m = pyo.ConcreteModel("equal means")
    table = load()
    m.row = RandomParam(list(table), data=table)
    m.t = pyo.Var(FEATURES, initialize=0.0)
    score = sum(m.row[f] * m.t[f] for f in FEATURES)
    one, other = m.row["group"], 1 - m.row["group"]
    m.error = pyo.Objective(expr=E((m.row["repaid"] - score) ** 2))
    m.fair = pyo.Constraint(expr=E(one * score) / E(one) == E(other * score) / E(other))
    return m


def closed_form(fair=True):
    """t, with or without the constraint."""
    table = load()
    X = np.column_stack([table[f] for f in FEATURES])
    group = table["group"] == 1
    row = X[group].mean(axis=0) - X[~group].mean(axis=0)
    H, g = X.T @ X / len(X), X.T @ table["repaid"] / len(X)
    if not fair:
        return np.linalg.solve(H, g)
    kkt = np.block([[H, row[:, None]], [row[None, :], np.zeros((1, 1))]])
    return np.linalg.solve(kkt, np.append(g, 0.0))[:-1]


def answers(m, results):
    """What was found, beside the exact numbers."""
    return {f: (m.t[f].value, exact) for f, exact in zip(FEATURES, closed_form(), strict=True)}


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pyo.assert_optimal_termination(results)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:12} found {found:10.6f}   exact {exact:10.6f}")
    return pairs


if __name__ == "__main__":
    main()
