"""Fairness-constrained logistic regression on a data table.

    minimise E[log(1 + exp(-s x't))] + 0.01 ||t||^2
    subject to   E[(a - a0) p(x't)] = 0,       p(v) = 1/(1 + exp(-v))

A row of the table is an applicant: features x, group a in {0, 1}, label s = +-1 (repaid or not).
With a0 = E[a] the constraint says that both groups have the same mean score p (demographic parity).
It is a nonconvex equality under an expectation.

There is no closed form. The exact answer is that of the extensive form, the sum over all rows,
from SciPy's SLSQP.
"""

import csv
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
from scipy.optimize import minimize
from scipy.special import expit

from pyomo_stochsqp import E, RandomParam

FEATURES = ("income", "debt", "savings", "years")
RIDGE = 0.01

#: the table is finite: the last iterations use all of it, up to tol_opt = 1e-6
TOLERANCE = 1e-4


def load():
    """The table as a mapping of columns: features, a constant, centred group, label +-1."""
    with open(Path(__file__).with_name("data") / "loans.csv") as file:
        rows = list(csv.DictReader(file))
    table = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    group = table.pop("group")
    table["one"] = np.ones(len(rows))
    table["group"] = group - group.mean()
    table["label"] = 2.0 * table.pop("repaid") - 1.0
    return table


def build():
    table = load()
    m = pyo.ConcreteModel("fair credit scores")
    m.F = pyo.Set(initialize=(*FEATURES, "one"))
    m.t = pyo.Var(m.F, initialize=0.0)
    m.row = RandomParam(list(table), data=table)
    score = sum(m.row[f] * m.t[f] for f in m.F)
    loss = E(pyo.log(1 + pyo.exp(-m.row["label"] * score)))
    m.loss = pyo.Objective(expr=loss + RIDGE * sum(m.t[f] ** 2 for f in m.F))
    m.parity = pyo.Constraint(expr=E(m.row["group"] / (1 + pyo.exp(-score))) == 0.0)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def extensive_form(fair=True):
    """The same problem as a sum over all rows, solved by SLSQP: t and the loss."""
    table = load()
    X = np.column_stack([table[f] for f in (*FEATURES, "one")])
    a, s = table["group"], table["label"]

    def loss(t):
        return np.mean(np.logaddexp(0.0, -s * (X @ t))) + RIDGE * t @ t

    def gradient(t):
        return X.T @ (-s * expit(-s * (X @ t))) / len(s) + 2.0 * RIDGE * t

    def parity_gradient(t):
        p = expit(X @ t)
        return X.T @ (a * p * (1.0 - p)) / len(a)

    parity = {"type": "eq", "fun": lambda t: np.mean(a * expit(X @ t)), "jac": parity_gradient}
    start = np.zeros(X.shape[1])
    options = {"ftol": 1e-14, "maxiter": 500}
    constraints = [parity] if fair else []
    found = minimize(
        loss, start, method="SLSQP", jac=gradient, constraints=constraints, options=options
    )
    return found.x, found.fun


def answers(m, results):
    """What was found, beside the exact numbers."""
    t, loss = extensive_form()
    pairs = {f"t[{f}]": (m.t[f].value, t[k]) for k, f in enumerate(m.F)}
    pairs["loss"] = (results.certificate.objective, loss)
    return pairs


def main():
    m = build()
    results = pyo.SolverFactory("stochsqp").solve(m, seed=1)
    pairs = answers(m, results)
    for name, (found, exact) in pairs.items():
        print(f"{name:10} found {found:9.6f}   extensive form {exact:9.6f}")
    print(f"without the constraint the loss is {extensive_form(fair=False)[1]:.6f}")
    return pairs


if __name__ == "__main__":
    main()
