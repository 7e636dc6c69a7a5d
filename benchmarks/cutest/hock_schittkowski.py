"""The problems HS of Hock and Schittkowski, GENHS28 (HS28 in n variables) and S316-322.

W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, LNEMS 187, 1981;
K. Schittkowski, More Test Examples for Nonlinear Programming Codes, LNEMS 282, 1987.
HS100LNP and HS111LNP are T. Plantenga's variants: HS100 with the constraints that are active at
the solution as equations and without the others, HS111 without its (inactive) bounds.
"""

from itertools import pairwise
from math import pi, sqrt

from pyomo.environ import cos, exp, log, sin

from benchmarks.cutest.registry import problem


@problem("GENHS28", start=[-4] + [1] * 9)
def genhs28(x):
    f = sum((a + b) ** 2 for a, b in pairwise(x))
    return f, [a + 2 * b + 3 * c == 1 for a, b, c in zip(x, x[1:], x[2:], strict=False)]


@problem("HS6", start=[-1.2, 1])
def hs6(x):
    """The factor 10 of the equation is the SIF file's scale 1/10."""
    x1, x2 = x
    return (1 - x1) ** 2, [10 * (x2 - x1**2) == 0]


@problem("HS7", start=[2, 2])
def hs7(x):
    x1, x2 = x
    return log(1 + x1**2) - x2, [(1 + x1**2) ** 2 + x2**2 == 4]


@problem("HS9", start=[0, 0])
def hs9(x):
    x1, x2 = x
    return sin(pi * x1 / 12) * cos(pi * x2 / 16), [4 * x1 - 3 * x2 == 0]


@problem("HS26", start=[-2.6, 2, 2])
def hs26(x):
    x1, x2, x3 = x
    return (x1 - x2) ** 2 + (x2 - x3) ** 4, [(1 + x2**2) * x1 + x3**4 == 3]


@problem("HS27", start=[2] * 3)
def hs27(x):
    x1, x2, x3 = x
    return 0.01 * (x1 - 1) ** 2 + (x2 - x1**2) ** 2, [x1 + x3**2 == -1]


@problem("HS28", start=[-4, 1, 1])
def hs28(x):
    x1, x2, x3 = x
    return (x1 + x2) ** 2 + (x2 + x3) ** 2, [x1 + 2 * x2 + 3 * x3 == 1]


@problem("HS39", start=[2] * 4)
def hs39(x):
    x1, x2, x3, x4 = x
    return -x1, [x2 - x1**3 - x3**2 == 0, x1**2 - x2 - x4**2 == 0]


@problem("HS40", start=[0.8] * 4)
def hs40(x):
    x1, x2, x3, x4 = x
    return -x1 * x2 * x3 * x4, [x1**3 + x2**2 == 1, x1**2 * x4 - x3 == 0, x4**2 - x2 == 0]


@problem("HS42", start=[1] * 4)
def hs42(x):
    x1, x2, x3, x4 = x
    f = (x1 - 1) ** 2 + (x2 - 2) ** 2 + (x3 - 3) ** 2 + (x4 - 4) ** 2
    return f, [x1 == 2, x3**2 + x4**2 == 2]


@problem("HS46", start=[sqrt(2) / 2, 1.75, 0.5, 2, 2])
def hs46(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x3 - 1) ** 2 + (x4 - 1) ** 4 + (x5 - 1) ** 6
    return f, [x1**2 * x4 + sin(x4 - x5) == 1, x2 + x3**4 * x4**2 == 2]


@problem("HS47", start=[2, sqrt(2), -1, 2 - sqrt(2), 0.5])
def hs47(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x2 - x3) ** 3 + (x3 - x4) ** 4 + (x4 - x5) ** 4
    return f, [x1 + x2**2 + x3**3 == 3, x2 - x3**2 + x4 == 1, x1 * x5 == 1]


@problem("HS48", start=[3, 5, -3, 2, -2])
def hs48(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - 1) ** 2 + (x2 - x3) ** 2 + (x4 - x5) ** 2
    return f, [x1 + x2 + x3 + x4 + x5 == 5, x3 - 2 * x4 - 2 * x5 == -3]


@problem("HS49", start=[10, 7, 2, -3, 0.8])
def hs49(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x3 - 1) ** 2 + (x4 - 1) ** 4 + (x5 - 1) ** 6
    return f, [x1 + x2 + x3 + 4 * x4 == 7, x3 + 5 * x5 == 6]


@problem("HS50", start=[35, -31, 11, 5, -5])
def hs50(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x2 - x3) ** 2 + (x3 - x4) ** 4 + (x4 - x5) ** 2
    return f, [a + 2 * b + 3 * c == 6 for a, b, c in zip(x, x[1:], x[2:], strict=False)]


@problem("HS51", start=[2.5, 0.5, 2, -1, 0.5])
def hs51(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x2 + x3 - 2) ** 2 + (x4 - 1) ** 2 + (x5 - 1) ** 2
    return f, [x1 + 3 * x2 == 4, x3 + x4 - 2 * x5 == 0, x2 - x5 == 0]


@problem("HS52", start=[2] * 5)
def hs52(x):
    x1, x2, x3, x4, x5 = x
    f = (4 * x1 - x2) ** 2 + (x2 + x3 - 2) ** 2 + (x4 - 1) ** 2 + (x5 - 1) ** 2
    return f, [x1 + 3 * x2 == 0, x3 + x4 - 2 * x5 == 0, x2 - x5 == 0]


@problem("HS56", start=[1, 1, 1, 0.50973968, 0.50973968, 0.50973968, 0.98511078])
def hs56(x):
    """The start is arcsin sqrt(1/4.2) and arcsin sqrt(5/7.2) to eight digits."""
    x1, x2, x3, x4, x5, x6, x7 = x
    return -x1 * x2 * x3, [
        x1 - 4.2 * sin(x4) ** 2 == 0,
        x2 - 4.2 * sin(x5) ** 2 == 0,
        x3 - 4.2 * sin(x6) ** 2 == 0,
        x1 + 2 * x2 + 2 * x3 - 7.2 * sin(x7) ** 2 == 0,
    ]


@problem("HS61", start=[0] * 3)
def hs61(x):
    x1, x2, x3 = x
    f = 4 * x1**2 + 2 * x2**2 + 2 * x3**2 - 33 * x1 + 16 * x2 - 24 * x3
    return f, [3 * x1 - 2 * x2**2 == 7, 4 * x1 - x3**2 == 11]


@problem("HS77", start=[2] * 5)
def hs77(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x3 - 1) ** 2 + (x4 - 1) ** 4 + (x5 - 1) ** 6
    return f, [
        x1**2 * x4 + sin(x4 - x5) == 2 * sqrt(2),
        x2 + x3**4 * x4**2 == 8 + sqrt(2),
    ]


@problem("HS78", start=[-2, 1.5, 2, -1, -1])
def hs78(x):
    x1, x2, x3, x4, x5 = x
    return x1 * x2 * x3 * x4 * x5, [
        x1**2 + x2**2 + x3**2 + x4**2 + x5**2 == 10,
        x2 * x3 - 5 * x4 * x5 == 0,
        x1**3 + x2**3 == -1,
    ]


@problem("HS79", start=[2] * 5)
def hs79(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x2 - x3) ** 2 + (x3 - x4) ** 4 + (x4 - x5) ** 4
    return f, [
        x1 + x2**2 + x3**3 == 2 + 3 * sqrt(2),
        x2 - x3**2 + x4 == 2 * sqrt(2) - 2,
        x1 * x5 == 2,
    ]


@problem("HS100LNP", start=[1, 2, 0, 4, 0, 1, 1])
def hs100lnp(x):
    """The two scaled squares of the SIF file carry the factors 1/0.2 = 5 and 1/0.33333333333."""
    x1, x2, x3, x4, x5, x6, x7 = x
    f = (
        (x1 - 10) ** 2
        + 5 * (x2 - 12) ** 2
        + x3**4
        + (x4 - 11) ** 2 / 0.33333333333
        + 10 * x5**6
        + 7 * x6**2
        + x7**4
        - 4 * x6 * x7
        - 10 * x6
        - 8 * x7
    )
    return f, [
        -2 * x1**2 - 3 * x2**4 - x3 - 4 * x4**2 - 5 * x5 == -127,
        -4 * x1**2 - x2**2 + 3 * x1 * x2 - 2 * x3**2 - 5 * x6 + 11 * x7 == 0,
    ]


@problem("HS111LNP", start=[-2.3] * 10)
def hs111lnp(x):
    """Chemical equilibrium: moles exp(x_i), free energies as the coefficients."""
    energies = [-6.089, -17.164, -34.054, -5.914, -24.721]
    energies += [-14.986, -24.100, -10.708, -26.662, -22.179]
    mole = [exp(xi) for xi in x]
    log_total = log(sum(mole))
    f = sum(e * (a + xi - log_total) for e, a, xi in zip(mole, energies, x, strict=True))
    e1, e2, e3, e4, e5, e6, e7, e8, e9, e10 = mole
    return f, [
        e1 + 2 * e2 + 2 * e3 + e6 + e10 == 2,
        e4 + 2 * e5 + e6 + e7 == 1,
        e3 + e7 + e8 + 2 * e9 + e10 == 1,
    ]


@problem("S316-322", start=[0, 0])
def s316_322(x):
    """Problem 316 of the family: the ellipse is the circle of radius 10."""
    x1, x2 = x
    return (x1 - 20) ** 2 + (x2 + 20) ** 2, [0.01 * x1**2 + 0.01 * x2**2 == 1]
