"""Makes loans.csv, the table of fair_credit.py: 2,000 invented loan applications.

Income, debt, savings and years in the job are standardised. Group 1 has lower incomes and more debt
on average, for reasons that have nothing to do with the applicant; a plain logistic regression
therefore gives it lower scores.
"""

from pathlib import Path

import numpy as np

ROWS = 2000


def main():
    rng = np.random.default_rng(2024)
    group = rng.random(ROWS) < 0.4
    income = rng.standard_normal(ROWS) - 0.8 * group
    debt = 0.4 * income + rng.standard_normal(ROWS) + 0.5 * group
    savings = 0.5 * income + rng.standard_normal(ROWS)
    years = rng.standard_normal(ROWS)
    features = np.column_stack([income, debt, savings, years])
    features = (features - features.mean(axis=0)) / features.std(axis=0)
    score = 0.5 + features @ np.array([1.0, -0.8, 0.6, 0.3])
    repaid = rng.random(ROWS) < 1.0 / (1.0 + np.exp(-score))
    table = np.column_stack([features, group, repaid])
    header = "income,debt,savings,years,group,repaid"
    path = Path(__file__).with_name("loans.csv")
    np.savetxt(path, table, ["%.4f"] * 4 + ["%d"] * 2, ",", header=header, comments="")


if __name__ == "__main__":
    main()
