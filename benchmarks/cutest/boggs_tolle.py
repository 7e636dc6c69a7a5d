"""BT1 to BT12: P. T. Boggs and J. W. Tolle, SIAM J. Numer. Anal. 26(3), 600-623, 1989.

CUTEst corrects several misprints of that paper (BT4, BT5, BT9, BT10); the corrected problems and
the first starting point of each SIF file are used, except for BT4 and BT12, whose SIF files start
at the solution printed in the paper.
"""

from math import sqrt

from pyomo.environ import sin

from benchmarks.cutest.registry import problem


@problem("BT1", start=[0.08, 0.06])
def bt1(x):
    x1, x2 = x
    return 100 * x1**2 + 100 * x2**2 - x1 - 100, [x1**2 + x2**2 == 1]


@problem("BT2", start=[10] * 3)
def bt2(x):
    x1, x2, x3 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x2 - x3) ** 4
    return f, [x1 * (1 + x2**2) + x3**4 == 8.2426407]


@problem("BT3", start=[20] * 5)
def bt3(x):
    x1, x2, x3, x4, x5 = x
    f = (x1 - x2) ** 2 + (x2 + x3 - 2) ** 2 + (x4 - 1) ** 2 + (x5 - 1) ** 2
    return f, [x1 + 3 * x2 == 0, x3 + x4 - 2 * x5 == 0, x2 - x5 == 0]


@problem("BT4", start=[4.0382, -2.9470, -0.09115])
def bt4(x):
    x1, x2, x3 = x
    return x1 - x2 + x2**3, [x1**2 + x2**2 + x3**2 == 25, x1 + x2 + x3 == 1]


@problem("BT5", start=[2] * 3)
def bt5(x):
    x1, x2, x3 = x
    f = 1000 - x1**2 - x3**2 - 2 * x2**2 - x1 * x2 - x1 * x3
    return f, [x1**2 + x2**2 + x3**2 == 25, 8 * x1 + 14 * x2 + 7 * x3 == 56]


@problem("BT6", start=[2] * 5)
def bt6(x):
    """Not HS77: the last equation has x2^2 where HS77 has x4^2."""
    x1, x2, x3, x4, x5 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x3 - 1) ** 2 + (x4 - 1) ** 4 + (x5 - 1) ** 6
    return f, [
        x4 * x1**2 + sin(x4 - x5) == 2 * sqrt(2),
        x2 + x3**4 * x2**2 == 8 + sqrt(2),
    ]


@problem("BT7", start=[-2, 1, 1, 1, 1])
def bt7(x):
    x1, x2, x3, x4, x5 = x
    f = 100 * (x2 - x1**2) ** 2 + (x1 - 1) ** 2
    return f, [x1 * x2 - x3**2 == 1, x1 + x2**2 - x4**2 == 0, x1 + x5**2 == 0.5]


@problem("BT8", start=[1, 1, 1, 0, 0])
def bt8(x):
    x1, x2, x3, x4, x5 = x
    f = x1**2 + x2**2 + x3**2
    return f, [x1 + x2**2 - x4**2 == 1, x1**2 + x2**2 - x5**2 == 1]


@problem("BT9", start=[2] * 4)
def bt9(x):
    """HS39 under another name."""
    x1, x2, x3, x4 = x
    return -x1, [x2 - x1**3 - x3**2 == 0, x1**2 - x2 - x4**2 == 0]


@problem("BT10", start=[2] * 2)
def bt10(x):
    x1, x2 = x
    return -x1, [x2 - x1**3 == 0, x1**2 - x2 == 0]


@problem("BT11", start=[2] * 5)
def bt11(x):
    """Close to HS79: another right-hand side of the first equation, and the third is linear."""
    x1, x2, x3, x4, x5 = x
    f = (x1 - 1) ** 2 + (x1 - x2) ** 2 + (x2 - x3) ** 2 + (x3 - x4) ** 4 + (x4 - x5) ** 4
    return f, [
        x1 + x2**2 + x3**3 == sqrt(18) - 2,
        x2 + x4 - x3**2 == sqrt(8) - 2,
        x1 - x5 == 2,
    ]


@problem("BT12", start=[15.811, 1.5811, 0, 15.083, 3.7164])
def bt12(x):
    x1, x2, x3, x4, x5 = x
    f = 0.01 * x1**2 + x2**2
    return f, [x1 + x2 - x3**2 == 25, x1**2 + x2**2 - x4**2 == 25, x1 - x5**2 == 2]
