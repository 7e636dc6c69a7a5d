"""Nonconvex problems of Hock and Schittkowski with inequalities and bounds.

W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, LNEMS 187, 1981. Values
are the published ones, or exact where the book gives a formula. Among them are functions with
valleys (HS2, 15-17, 20, 38), starts from which the linearised rows are inconsistent or the solution
has no multipliers (HS13), rows and variables in units that differ by 10^3 to 10^7 (HS72, 84, 106,
109, 116), and small engineering models (HS83, 93, 95, 104, 114).
"""

from math import cos as cosine
from math import log as logarithm
from math import sin as sine
from math import sqrt

from pyomo.environ import cos, exp, inequality, prod, sin

from benchmarks.inequalities import colville
from benchmarks.inequalities.registry import Collection, declare

NONCONVEX: Collection = {}
problem = declare(NONCONVEX)


def rosenbrock(x1, x2):
    return 100 * (x2 - x1**2) ** 2 + (1 - x1) ** 2


@problem("HS2", start=[-2, 1], bounds=[(None, None), (1.5, None)], value=0.0504261879,
         local=[4.941229318])  # fmt: skip
def hs2(x):
    """The other end of the valley, x = (-1.221, 1.5), is a second local solution."""
    return rosenbrock(*x), []


@problem("HS13", start=[-2, -2], bounds=(0, None), value=1.0)
def hs13(x):
    """A cusp: at x = (1, 0) no multipliers exist."""
    x1, x2 = x
    return (x1 - 2) ** 2 + x2**2, [(1 - x1) ** 3 - x2 >= 0]


@problem("HS15", start=[-2, 1], bounds=[(None, 0.5), (None, None)], value=306.5,
         local=[360.379767])  # fmt: skip
def hs15(x):
    """The feasible set has a second part, with x = (-0.792, -1.262)."""
    x1, x2 = x
    return rosenbrock(x1, x2), [x1 * x2 >= 1, x1 + x2**2 >= 0]


@problem("HS16", start=[-2, 1], bounds=[(-0.5, 0.5), (None, 1)], value=0.25,
         local=[3.98209, 23.1446609])  # fmt: skip
def hs16(x):
    """Two more local solutions, as listed by CUTEst."""
    x1, x2 = x
    return rosenbrock(x1, x2), [x1 + x2**2 >= 0, x1**2 + x2 >= 0]


@problem("HS17", start=[-2, 1], bounds=[(-0.5, 0.5), (None, 1)], value=1.0)
def hs17(x):
    x1, x2 = x
    return rosenbrock(x1, x2), [x2**2 - x1 >= 0, x1**2 - x2 >= 0]


@problem("HS18", start=[2, 2], bounds=[(2, 50), (0, 50)], value=5.0)
def hs18(x):
    x1, x2 = x
    return 0.01 * x1**2 + x2**2, [x1 * x2 >= 25, x1**2 + x2**2 >= 25]


@problem("HS19", start=[20.1, 5.84], bounds=[(13, 100), (0, 100)], value=-6961.81381)
def hs19(x):
    x1, x2 = x
    f = (x1 - 10) ** 3 + (x2 - 20) ** 3
    return f, [(x1 - 5) ** 2 + (x2 - 5) ** 2 >= 100, (x1 - 6) ** 2 + (x2 - 5) ** 2 <= 82.81]


@problem("HS20", start=[-2, 1], bounds=[(-0.5, 0.5), (None, None)], value=81.5 - 25 * sqrt(3),
         local=[40.1987298])  # fmt: skip
def hs20(x):
    """The mirror image x = (-1/2, sqrt(3)/2) is a second local solution."""
    x1, x2 = x
    return rosenbrock(x1, x2), [x1 + x2**2 >= 0, x1**2 + x2 >= 0, x1**2 + x2**2 >= 1]


@problem("HS23", start=[3, 1], bounds=(-50, 50), value=2.0)
def hs23(x):
    x1, x2 = x
    return x1**2 + x2**2, [
        x1 + x2 >= 1,
        x1**2 + x2**2 >= 1,
        9 * x1**2 + x2**2 >= 9,
        x1**2 - x2 >= 0,
        x2**2 - x1 >= 0,
    ]


@problem("HS29", start=[1, 1, 1], value=-16 * sqrt(2))
def hs29(x):
    x1, x2, x3 = x
    return -prod(x), [x1**2 + 2 * x2**2 + 4 * x3**2 <= 48]


@problem("HS30", start=[1, 1, 1], bounds=[(1, 10), (-10, 10), (-10, 10)], value=1.0)
def hs30(x):
    x1, x2, x3 = x
    return x1**2 + x2**2 + x3**2, [x1**2 + x2**2 >= 1]


@problem("HS31", start=[1, 1, 1], bounds=[(-10, 10), (1, 10), (-10, 1)], value=6.0)
def hs31(x):
    x1, x2, x3 = x
    return 9 * x1**2 + x2**2 + 9 * x3**2, [x1 * x2 >= 1]


@problem("HS32", start=[0.1, 0.7, 0.2], bounds=(0, None), value=1.0)
def hs32(x):
    x1, x2, x3 = x
    f = (x1 + 3 * x2 + x3) ** 2 + 4 * (x1 - x2) ** 2
    return f, [6 * x2 + 4 * x3 - x1**3 >= 3, x1 + x2 + x3 == 1]


@problem("HS33", start=[0, 0, 3], bounds=[(0, None), (0, None), (0, 5)], value=sqrt(2) - 6,
         local=[-4.0])  # fmt: skip
def hs33(x):
    """At (0, 0, 2), straight below the start, the KKT conditions hold with f = -4."""
    x1, x2, x3 = x
    f = (x1 - 1) * (x1 - 2) * (x1 - 3) + x3
    return f, [x3**2 - x2**2 - x1**2 >= 0, x1**2 + x2**2 + x3**2 >= 4]


@problem("HS34", start=[0, 1.05, 2.9], bounds=[(0, 100), (0, 100), (0, 10)],
         value=-logarithm(logarithm(10)))  # fmt: skip
def hs34(x):
    x1, x2, x3 = x
    return -x1, [x2 - exp(x1) >= 0, x3 - exp(x2) >= 0]


@problem("HS36", start=[10] * 3, bounds=[(0, 20), (0, 11), (0, 42)], value=-3300.0)
def hs36(x):
    x1, x2, x3 = x
    return -prod(x), [x1 + 2 * x2 + 2 * x3 <= 72]


@problem("HS37", start=[10] * 3, bounds=(0, 42), value=-3456.0)
def hs37(x):
    x1, x2, x3 = x
    return -prod(x), [inequality(0, x1 + 2 * x2 + 2 * x3, 72)]


@problem("HS38", start=[-3, -1, -3, -1], bounds=(-10, 10), value=0.0)
def hs38(x):
    """Colville's fourth problem."""
    x1, x2, x3, x4 = x
    f = rosenbrock(x1, x2) + 90 * (x4 - x3**2) ** 2 + (1 - x3) ** 2
    return f + 10.1 * ((x2 - 1) ** 2 + (x4 - 1) ** 2) + 19.8 * (x2 - 1) * (x4 - 1), []


@problem("HS44", start=[0] * 4, bounds=(0, None), value=-15.0, local=[-13.0])
def hs44(x):
    """A nonconvex quadratic program; the vertex (3, 0, 4, 0) is local, too."""
    x1, x2, x3, x4 = x
    return x1 - x2 - x3 - x1 * x3 + x1 * x4 + x2 * x3 - x2 * x4, [
        x1 + 2 * x2 <= 8,
        4 * x1 + x2 <= 12,
        3 * x1 + 4 * x2 <= 12,
        2 * x3 + x4 <= 8,
        x3 + 2 * x4 <= 8,
        x3 + x4 <= 5,
    ]


@problem("HS45", start=[2] * 5, bounds=[(0, i) for i in range(1, 6)], value=1.0)
def hs45(x):
    return 2 - prod(x) / 120, []


@problem("HS59", start=[90, 10], bounds=[(0, 75), (0, 65)], value=-7.804235953,
         local=[-6.749505, 13.356708])  # fmt: skip
def hs59(x):
    """The second value is CUTEst's; the third, on the first row, is where SLSQP ends, too."""
    x1, x2 = x
    f = -75.196 + 3.8112 * x1 + 0.0020567 * x1**3 - 1.0345e-5 * x1**4 + 6.8306 * x2
    f += -0.030234 * x1 * x2 + 1.28134e-3 * x2 * x1**2 + 2.266e-7 * x1**4 * x2
    f += -0.25645 * x2**2 + 0.0034604 * x2**3 - 1.3514e-5 * x2**4 + 28.106 / (x2 + 1)
    f += 5.2375e-6 * x1**2 * x2**2 + 6.3e-8 * x1**3 * x2**2 - 7e-10 * x1**3 * x2**3
    f += -3.405e-4 * x1 * x2**2 + 1.6638e-6 * x1 * x2**3 + 2.8673 * exp(0.0005 * x1 * x2)
    f += -3.5256e-5 * x1**3 * x2
    return f, [x1 * x2 >= 700, x2 - x1**2 / 125 >= 0, (x2 - 50) ** 2 - 5 * (x1 - 55) >= 0]


@problem("HS63", start=[2] * 3, bounds=(0, None), value=961.7151721)
def hs63(x):
    x1, x2, x3 = x
    f = 1000 - x1**2 - 2 * x2**2 - x3**2 - x1 * x2 - x1 * x3
    return f, [8 * x1 + 14 * x2 + 7 * x3 == 56, x1**2 + x2**2 + x3**2 == 25]


@problem("HS64", start=[1] * 3, bounds=(1e-5, None), value=6299.842428)
def hs64(x):
    x1, x2, x3 = x
    f = 5 * x1 + 50000 / x1 + 20 * x2 + 72000 / x2 + 10 * x3 + 144000 / x3
    return f, [4 / x1 + 32 / x2 + 120 / x3 <= 1]


@problem("HS66", start=[0, 1.05, 2.9], bounds=[(0, 100), (0, 100), (0, 10)], value=0.5181632741)
def hs66(x):
    x1, x2, x3 = x
    return 0.2 * x3 - 0.8 * x1, [x2 - exp(x1) >= 0, x3 - exp(x2) >= 0]


@problem("HS72", start=[1] * 4, bounds=[(0.001, 1e5 * (5 - i)) for i in range(1, 5)],
         value=727.67937)  # fmt: skip
def hs72(x):
    x1, x2, x3, x4 = x
    return 1 + sum(x), [
        4 / x1 + 2.25 / x2 + 1 / x3 + 0.25 / x4 <= 0.0401,
        0.16 / x1 + 0.36 / x2 + 0.64 / x3 + 0.64 / x4 <= 0.010085,
    ]


def power_flow(x, limit):
    """HS74 and HS75 differ in the limit of the angles."""
    x1, x2, x3, x4 = x
    f = 3 * x1 + 1e-6 * x1**3 + 2 * x2 + 2e-6 / 3 * x2**3
    return f, [
        inequality(-limit, x4 - x3, limit),
        1000 * sin(-x3 - 0.25) + 1000 * sin(-x4 - 0.25) + 894.8 - x1 == 0,
        1000 * sin(x3 - 0.25) + 1000 * sin(x3 - x4 - 0.25) + 894.8 - x2 == 0,
        1000 * sin(x4 - 0.25) + 1000 * sin(x4 - x3 - 0.25) + 1294.8 == 0,
    ]


@problem("HS74", start=[0] * 4, bounds=[(0, 1200)] * 2 + [(-0.55, 0.55)] * 2, value=5126.4981)
def hs74(x):
    return power_flow(x, 0.55)


@problem("HS75", start=[0] * 4, bounds=[(0, 1200)] * 2 + [(-0.48, 0.48)] * 2, value=5174.4129)
def hs75(x):
    return power_flow(x, 0.48)


@problem("HS83", start=[78, 33, 27, 27, 27], bounds=[(78, 102), (33, 45)] + [(27, 45)] * 3,
         value=-30665.53867)  # fmt: skip
def hs83(x):
    """Colville's third problem."""
    x1, x2, x3, x4, x5 = x
    f = 5.3578547 * x3**2 + 0.8356891 * x1 * x5 + 37.293239 * x1 - 40792.141
    one = 85.334407 + 0.0056858 * x2 * x5 + 0.0006262 * x1 * x4 - 0.0022053 * x3 * x5
    two = 80.51249 + 0.0071317 * x2 * x5 + 0.0029955 * x1 * x2 + 0.0021813 * x3**2
    three = 9.300961 + 0.0047026 * x3 * x5 + 0.0012547 * x1 * x3 + 0.0019085 * x3 * x4
    return f, [inequality(0, one, 92), inequality(90, two, 110), inequality(20, three, 25)]


@problem("HS84", start=[2.52, 2, 37.5, 9.25, 6.8],
         bounds=[(0, 1000), (1.2, 2.4), (20, 60), (9, 9.3), (6.5, 7)],
         value=-5280335.133)  # fmt: skip
def hs84(x):
    x1, x2, x3, x4, x5 = x

    def form(*a):
        return x1 * (a[0] + a[1] * x2 + a[2] * x3 + a[3] * x4 + a[4] * x5)

    f = form(-8720288.849, 150512.5253, -156.6950325, 476470.3222, 729482.8271)
    one = form(-145421.402, 2931.1506, -40.427932, 5106.192, 15711.36)
    two = form(-155011.1084, 4360.53352, 12.9492344, 10236.884, 13176.786)
    three = form(-326669.5104, 7390.68412, -27.8986976, 16643.076, 30988.146)
    limits = ((one, 294000), (two, 294000), (three, 277200))
    return 24345 - f, [inequality(0, body, limit) for body, limit in limits]


@problem("HS93", start=[5.54, 4.4, 12.02, 11.8, 0.702, 0.852], bounds=(0, None), value=135.075961)
def hs93(x):
    """The design of a transformer."""
    x1, x2, x3, x4, x5, x6 = x
    one = x1 * x4 * (x1 + x2 + x3)
    two = x2 * x3 * (x1 + 1.57 * x2 + x4)
    f = 0.0204 * one + 0.0187 * two + 0.0607 * one * x5**2 + 0.0437 * two * x6**2
    return f, [0.001 * prod(x) >= 2.07, 0.00062 * one * x5**2 + 0.00058 * two * x6**2 <= 1]


def blending(x, b):
    """HS95 to HS98 differ in the right-hand sides."""
    x1, x2, x3, x4, x5, x6 = x
    f = 4.3 * x1 + 31.8 * x2 + 63.3 * x3 + 15.8 * x4 + 68.5 * x5 + 4.7 * x6
    one = 17.1 * x1 + 38.2 * x2 + 204.2 * x3 + 212.3 * x4 + 623.4 * x5 + 1495.5 * x6
    one -= 169 * x1 * x3 + 3580 * x3 * x5 + 3810 * x4 * x5 + 18500 * x4 * x6 + 24300 * x5 * x6
    two = 17.9 * x1 + 36.8 * x2 + 113.9 * x3 + 169.7 * x4 + 337.8 * x5 + 1385.2 * x6
    two -= 139 * x1 * x3 + 2450 * x4 * x5 + 16600 * x4 * x6 + 17200 * x5 * x6
    three = -273 * x2 - 70 * x4 - 819 * x5 + 26000 * x4 * x5
    four = 159.9 * x1 - 311 * x2 + 587 * x4 + 391 * x5 + 2198 * x6 - 14000 * x1 * x6
    return f, [row >= rhs for row, rhs in zip((one, two, three, four), b, strict=True)]


BLENDING = [(0, 0.31), (0, 0.046), (0, 0.068), (0, 0.042), (0, 0.028), (0, 0.0134)]


@problem("HS95", start=[0] * 6, bounds=BLENDING, value=0.015619525)
def hs95(x):
    return blending(x, (4.97, -1.88, -29.08, -78.02))


@problem("HS97", start=[0] * 6, bounds=BLENDING, value=3.1358091, local=[4.0712464])
def hs97(x):
    """The second local solution is the one CUTEst lists."""
    return blending(x, (32.97, 25.12, -29.08, -78.02))


@problem("HS104", start=[6, 3, 0.4, 0.2, 6, 6, 1, 0.5], bounds=(0.1, 10), value=3.9511634396)
def hs104(x):
    """The design of a reactor."""
    x1, x2, x3, x4, x5, x6, x7, x8 = x
    f = 0.4 * (x1 / x7) ** 0.67 + 0.4 * (x2 / x8) ** 0.67 + 10 - x1 - x2
    return f, [
        0.0588 * x5 * x7 + 0.1 * x1 <= 1,
        0.0588 * x6 * x8 + 0.1 * x1 + 0.1 * x2 <= 1,
        4 * x3 / x5 + 2 * x3**-0.71 / x5 + 0.0588 * x3**-1.3 * x7 <= 1,
        4 * x4 / x6 + 2 * x4**-0.71 / x6 + 0.0588 * x4**-1.3 * x8 <= 1,
        inequality(1, f, 4.2),
    ]


@problem("HS106", start=[5000, 5000, 5000, 200, 350, 150, 225, 425],
         bounds=[(100, 1e4), (1000, 1e4), (1000, 1e4)] + [(10, 1000)] * 5,
         value=7049.2480)  # fmt: skip
def hs106(x):
    """Heat exchangers. The book has 7049.330923, from a run that stopped early."""
    x1, x2, x3, x4, x5, x6, x7, x8 = x
    return x1 + x2 + x3, [
        0.0025 * (x4 + x6) <= 1,
        0.0025 * (x5 + x7 - x4) <= 1,
        0.01 * (x8 - x5) <= 1,
        x1 * x6 - 833.33252 * x4 - 100 * x1 + 83333.333 >= 0,
        x2 * x7 - 1250 * x5 - x2 * x4 + 1250 * x4 >= 0,
        x3 * x8 - 1250000 - x3 * x5 + 2500 * x5 >= 0,
    ]


@problem("HS108", start=[1] * 9, bounds=[(None, None)] * 8 + [(0, None)], value=-sqrt(3) / 2,
         local=[-0.5, -0.6749814])  # fmt: skip
def hs108(x):
    """The largest hexagon of diameter one; smaller ones are stationary, too."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = x
    area = x1 * x4 - x2 * x3 + x3 * x9 - x5 * x9 + x5 * x8 - x6 * x7
    return -0.5 * area, [
        x3**2 + x4**2 <= 1,
        x9**2 <= 1,
        x5**2 + x6**2 <= 1,
        x1**2 + (x2 - x9) ** 2 <= 1,
        (x1 - x5) ** 2 + (x2 - x6) ** 2 <= 1,
        (x1 - x7) ** 2 + (x2 - x8) ** 2 <= 1,
        (x3 - x5) ** 2 + (x4 - x6) ** 2 <= 1,
        (x3 - x7) ** 2 + (x4 - x8) ** 2 <= 1,
        x7**2 + (x8 - x9) ** 2 <= 1,
        x1 * x4 - x2 * x3 >= 0,
        x3 * x9 >= 0,
        -x5 * x9 >= 0,
        x5 * x8 - x6 * x7 >= 0,
    ]


@problem("HS109", start=[0] * 9,
         bounds=[(0, None)] * 2 + [(-0.55, 0.55)] * 2 + [(196, 252)] * 3 + [(-400, 800)] * 2,
         value=5362.06928)  # fmt: skip
def hs109(x):
    """Power flow with reactive power."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = x
    a, b, c = 50.176, sine(0.25), cosine(0.25)
    loss = 0.7533e-3 * a - 2 * c
    f = 3 * x1 + 1e-6 * x1**3 + 2 * x2 + 0.522074e-6 * x2**3
    real = (
        x5 * x6 * sin(-x3 - 0.25) + x5 * x7 * sin(-x4 - 0.25) + 2 * b * x5**2 - a * x1,
        x5 * x6 * sin(x3 - 0.25) + x6 * x7 * sin(x3 - x4 - 0.25) + 2 * b * x6**2 - a * x2,
        x5 * x7 * sin(x4 - 0.25) + x6 * x7 * sin(x4 - x3 - 0.25) + 2 * b * x7**2,
    )
    reactive = (
        a * x8 + x5 * x6 * cos(-x3 - 0.25) + x5 * x7 * cos(-x4 - 0.25) + loss * x5**2,
        a * x9 + x5 * x6 * cos(x3 - 0.25) + x6 * x7 * cos(x3 - x4 - 0.25) + loss * x6**2,
        x5 * x7 * cos(x4 - 0.25) + x6 * x7 * cos(x4 - x3 - 0.25) + loss * x7**2,
    )
    return f, [
        inequality(-0.55, x4 - x3, 0.55),
        x1**2 + x8**2 <= 2250000,
        x2**2 + x9**2 <= 2250000,
        *(row == rhs * a for row, rhs in zip(real, (-400, -400, -881.779), strict=True)),
        *(row == rhs * a for row, rhs in zip(reactive, (200, 200, 22.938), strict=True)),
    ]


@problem("HS114", start=[1745, 12000, 110, 3048, 1974, 89.2, 92.8, 8, 3.6, 145],
         bounds=[(1e-5, 2000), (1e-5, 16000), (1e-5, 120), (1e-5, 5000), (1e-5, 2000), (85, 93),
                 (90, 95), (3, 12), (1.2, 4), (145, 162)],
         value=-1768.80696)  # fmt: skip
def hs114(x):
    """Alkylation. Each of four regressions holds up to 1 % or 10 %, from both sides."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10 = x
    f = 5.04 * x1 + 0.035 * x2 + 10 * x3 + 3.36 * x5 - 0.063 * x4 * x7
    ratio = 35.82 - 0.222 * x10
    octane = -133 + 3 * x7
    rate = 1.12 * x1 + 0.13167 * x1 * x8 - 0.00667 * x1 * x8**2
    number = 57.425 + 1.098 * x8 - 0.038 * x8**2 + 0.325 * x6
    bands = ((ratio, 0.9, x9), (octane, 0.99, x10), (rate, 0.99, x4), (number, 0.99, x7))
    return f, [
        *(body - share * v >= 0 for body, share, v in bands),
        *(body - v / share <= 0 for body, share, v in bands),
        1.22 * x4 - x1 - x5 == 0,
        98000 * x3 / (x4 * x9 + 1000 * x3) - x6 == 0,
        (x2 + x5) / x1 - x8 == 0,
    ]


@problem("HS116", start=[0.5, 0.8, 0.9, 0.1, 0.14, 0.5, 489, 80, 650, 450, 150, 150, 150],
         bounds=[(0.1, 1)] * 3 + [(1e-4, 0.1)] + [(0.1, 0.9)] * 2 + [(0.1, 1000)] * 2
         + [(500, 1000), (0.1, 500), (1, 150), (1e-4, 150), (1e-4, 150)],
         value=97.588409, local=[97.591035])  # fmt: skip
def hs116(x):
    """Separation by membranes in three stages; the other value is where this solver ends."""
    x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13 = x

    def stage(a, b):
        return b - 0.03475 * a - 0.975 * a * b + 0.00975 * a**2 >= 0

    def area(v, a, b):
        return v - 1.262626 * b + 1.231059 * a * b >= 0

    f = x11 + x12 + x13
    return f, [
        x3 - x2 >= 0,
        x2 - x1 >= 0,
        0.002 * (x7 - x8) <= 1,
        inequality(50, f, 250),
        area(x13, x3, x10),
        stage(x2, x5),
        stage(x3, x6),
        stage(x1, x4),
        area(x11, x1, x8),
        area(x12, x2, x9),
        x5 * x7 - x1 * x8 - x4 * x7 + x4 * x8 >= 0,
        0.002 * (x2 * x9 + x5 * x8 - x1 * x8 - x6 * x9) + x5 + x6 <= 1,
        x2 * x9 - x3 * x10 - x6 * x9 - 500 * x2 + 500 * x6 + x2 * x10 >= 0,
        x2 - 0.9 - 0.002 * (x2 * x10 - x3 * x10) >= 0,
    ]


@problem("HS117", start=[0.001] * 6 + [60] + [0.001] * 8, bounds=(0, None), value=32.34867897)
def hs117(x):
    """Colville's second problem, the dual of his first."""
    y, z, indices = x[:10], x[10:], range(5)
    C, d = colville.C, colville.d
    f = -sum(b * v for b, v in zip(colville.b, y, strict=True))
    f += sum(C[i][j] * z[i] * z[j] for i in indices for j in indices)
    f += 2 * sum(d[j] * z[j] ** 3 for j in indices)
    return f, [
        2 * sum(C[i][j] * z[i] for i in indices) + 3 * d[j] * z[j] ** 2 + colville.e[j]
        >= sum(a[j] * v for a, v in zip(colville.A, y, strict=True))
        for j in indices
    ]  # fmt: skip
