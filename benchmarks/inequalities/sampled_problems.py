"""The fourteen problems that get the paper's noise, from Hock and Schittkowski.

W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, LNEMS 187, 1981.
They have every kind of row: equations, inequalities, bounds, linear and not, convex and not.
"""

from math import sqrt

from pyomo.environ import exp, prod

from benchmarks.inequalities import colville
from benchmarks.inequalities.registry import Collection, declare

SAMPLED: Collection = {}
problem = declare(SAMPLED)


@problem("HS21", start=[-1, -1], bounds=[(2, 50), (-50, 50)], value=-99.96)
def hs21(x):
    x1, x2 = x
    return 0.01 * x1**2 + x2**2 - 100, [10 * x1 - x2 >= 10]


@problem("HS24", start=[1, 0.5], bounds=(0, None), value=-1.0)
def hs24(x):
    x1, x2 = x
    f = ((x1 - 3) ** 2 - 9) * x2**3 / (27 * sqrt(3))
    return f, [x1 / sqrt(3) - x2 >= 0, x1 + sqrt(3) * x2 >= 0, x1 + sqrt(3) * x2 <= 6]


@problem("HS35", start=[0.5] * 3, bounds=(0, None), value=1 / 9)
def hs35(x):
    x1, x2, x3 = x
    f = 9 - 8 * x1 - 6 * x2 - 4 * x3 + 2 * x1**2 + 2 * x2**2 + x3**2 + 2 * x1 * x2 + 2 * x1 * x3
    return f, [x1 + x2 + 2 * x3 <= 3]


@problem("HS41", start=[2] * 4, bounds=[(0, 1), (0, 1), (0, 1), (0, 2)], value=52 / 27)
def hs41(x):
    x1, x2, x3, x4 = x
    return 2 - x1 * x2 * x3, [x1 + 2 * x2 + 2 * x3 - x4 == 0]


@problem("HS43", start=[0] * 4, value=-44.0)
def hs43(x):
    """Rosen and Suzuki's problem."""
    x1, x2, x3, x4 = x
    f = x1**2 + x2**2 + 2 * x3**2 + x4**2 - 5 * x1 - 5 * x2 - 21 * x3 + 7 * x4
    return f, [
        x1**2 + x2**2 + x3**2 + x4**2 + x1 - x2 + x3 - x4 <= 8,
        x1**2 + 2 * x2**2 + x3**2 + 2 * x4**2 - x1 - x4 <= 10,
        2 * x1**2 + x2**2 + x3**2 + 2 * x1 - x2 - x4 <= 5,
    ]


@problem("HS53", start=[2] * 5, bounds=(-10, 10), value=176 / 43)
def hs53(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x2 + x3 - 2) ** 2 + (x4 - 1) ** 2 + (x5 - 1) ** 2
    return f, [x1 + 3 * x2 == 0, x3 + x4 - 2 * x5 == 0, x2 - x5 == 0]


@problem("HS60", start=[2] * 3, bounds=(-10, 10), value=0.03256820025)
def hs60(x):
    x1, x2, x3 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x2 - x3) ** 4
    return f, [x1 * (1 + x2**2) + x3**4 == 4 + 3 * sqrt(2)]


@problem("HS65", start=[-5, 5, 0], bounds=[(-4.5, 4.5)] * 2 + [(-5, 5)], value=0.9535288567)
def hs65(x):
    x1, x2, x3 = x
    f = (x1 - x2) ** 2 + (x1 + x2 - 10) ** 2 / 9 + (x3 - 5) ** 2
    return f, [x1**2 + x2**2 + x3**2 <= 48]


@problem("HS71", start=[1, 5, 5, 1], bounds=(1, 5), value=17.0140173)
def hs71(x):
    x1, x2, x3, x4 = x
    f = x1 * x4 * (x1 + x2 + x3) + x3
    return f, [x1 * x2 * x3 * x4 >= 25, x1**2 + x2**2 + x3**2 + x4**2 == 40]


@problem("HS76", start=[0.5] * 4, bounds=(0, None), value=-4.681818181)
def hs76(x):
    x1, x2, x3, x4 = x
    squares = x1**2 + 0.5 * x2**2 + x3**2 + 0.5 * x4**2
    return squares - x1 * x3 + x3 * x4 - x1 - 3 * x2 + x3 - x4, [
        x1 + 2 * x2 + x3 + x4 <= 5,
        3 * x1 + x2 + 2 * x3 - x4 <= 4,
        x2 + 4 * x3 >= 1.5,
    ]


@problem("HS80", start=[-2, 2, 2, -1, -1], bounds=[(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3,
         value=0.0539498478)  # fmt: skip
def hs80(x):
    x1, x2, x3, x4, x5 = x
    return exp(prod(x)), [
        sum(v**2 for v in x) == 10,
        x2 * x3 - 5 * x4 * x5 == 0,
        x1**3 + x2**3 == -1,
    ]


@problem("HS86", start=[0, 0, 0, 0, 1], bounds=(0, None), value=-32.34867897)
def hs86(x):
    C, indices = colville.C, range(5)
    f = sum(colville.e[j] * x[j] + colville.d[j] * x[j] ** 3 for j in indices)
    f += sum(C[i][j] * x[i] * x[j] for i in indices for j in indices)
    rows = zip(colville.A, colville.b, strict=True)
    return f, [sum(a[j] * x[j] for j in indices) >= b for a, b in rows]


@problem("HS100", start=[1, 2, 0, 4, 0, 1, 1], value=680.6300573)
def hs100(x):
    x1, x2, x3, x4, x5, x6, x7 = x
    f = (x1 - 10) ** 2 + 5 * (x2 - 12) ** 2 + x3**4 + 3 * (x4 - 11) ** 2 + 10 * x5**6
    f += 7 * x6**2 + x7**4 - 4 * x6 * x7 - 10 * x6 - 8 * x7
    return f, [
        2 * x1**2 + 3 * x2**4 + x3 + 4 * x4**2 + 5 * x5 <= 127,
        7 * x1 + 3 * x2 + 10 * x3**2 + x4 - x5 <= 282,
        23 * x1 + x2**2 + 6 * x6**2 - 8 * x7 <= 196,
        4 * x1**2 + x2**2 - 3 * x1 * x2 + 2 * x3**2 + 5 * x6 - 11 * x7 <= 0,
    ]


@problem("HS113", start=[2, 3, 5, 5, 1, 2, 7, 3, 6, 10], value=24.3062091)
def hs113(x):
    """Wong's second problem."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = x
    f = x1**2 + x2**2 + x1 * x2 - 14 * x1 - 16 * x2 + (x3 - 10) ** 2 + 4 * (x4 - 5) ** 2
    f += (x5 - 3) ** 2 + 2 * (x6 - 1) ** 2 + 5 * x7**2 + 7 * (x8 - 11) ** 2
    f += 2 * (x9 - 10) ** 2 + (x10 - 7) ** 2 + 45
    return f, [
        4 * x1 + 5 * x2 - 3 * x7 + 9 * x8 <= 105,
        10 * x1 - 8 * x2 - 17 * x7 + 2 * x8 <= 0,
        -8 * x1 + 2 * x2 + 5 * x9 - 2 * x10 <= 12,
        3 * (x1 - 2) ** 2 + 4 * (x2 - 3) ** 2 + 2 * x3**2 - 7 * x4 <= 120,
        5 * x1**2 + 8 * x2 + (x3 - 6) ** 2 - 2 * x4 <= 40,
        0.5 * (x1 - 8) ** 2 + 2 * (x2 - 4) ** 2 + 3 * x5**2 - x6 <= 30,
        x1**2 + 2 * (x2 - 2) ** 2 - 2 * x1 * x2 + 14 * x5 - 6 * x6 <= 0,
        -3 * x1 + 6 * x2 + 12 * (x9 - 8) ** 2 - 7 * x10 <= 0,
    ]
