"""Seven problems from other sources; ELEC and SPIN2OP at the default sizes of their SIF files."""

from math import cos, pi, prod, sin, sqrt

from benchmarks.cutest.registry import problem


@problem("BYRDSPHR", start=[5, 1e-4, -1e-4])
def byrdsphr(x):
    """R. Byrd, 1992: a linear function on the intersection of two spheres."""
    x1, x2, x3 = x
    return -x1 - x2 - x3, [x1**2 + x2**2 + x3**2 == 9, (x1 - 1) ** 2 + x2**2 + x3**2 == 9]


@problem("DIXCHLNG", start=[-2, -1 / 2, 3, 1 / 3, -4, -1 / 4, 5, 1 / 5, -6, -1 / 6])
def dixchlng(x):
    """L. C. W. Dixon, 1991: seven overlapping Wood functions, products of variables equal to 1."""
    f = sum(
        100 * (b - a**2) ** 2
        + (a - 1) ** 2
        + 90 * (d - c**2) ** 2
        + (c - 1) ** 2
        + 10.1 * (b - 1) ** 2
        + 10.1 * (d - 1) ** 2
        + 19.8 * (b - 1) * (d - 1)
        for a, b, c, d in zip(x, x[1:], x[2:], x[3:], strict=False)
    )
    return f, [prod(x[:k]) == 1 for k in (2, 4, 6, 8, 10)]


ELECTRONS = 200


def _spiral(number: int) -> list[float]:
    """Points (x, y, z) on the unit sphere with azimuth 2 pi i/N and inclination pi (i - 1)/N."""
    start = []
    for i in range(1, number + 1):
        theta, phi = 2 * pi * i / number, pi * (i - 1) / number
        start += [cos(theta) * sin(phi), sin(theta) * sin(phi), cos(phi)]
    return start


@problem("ELEC", start=_spiral(ELECTRONS))
def elec(x):
    """COPS 2, problem 2: the Coulomb energy of N electrons on the unit sphere.

    The variables are x_1, y_1, z_1, x_2, ..., z_N.
    """
    points = list(zip(x[::3], x[1::3], x[2::3], strict=True))
    f = sum(
        ((a - u) ** 2 + (b - v) ** 2 + (c - w) ** 2) ** (-0.5)
        for i, (a, b, c) in enumerate(points)
        for u, v, w in points[i + 1 :]
    )
    return f, [a**2 + b**2 + c**2 == 1 for a, b, c in points]


@problem("MARATOS", start=[1.1, 0.1])
def maratos(x):
    """N. Maratos' example: -x1 + tau (x1^2 + x2^2 - 1) on the unit circle, tau = 1e-6."""
    x1, x2 = x
    tau = 1e-6
    return tau * x1**2 + tau * x2**2 - x1 - tau, [x1**2 + x2**2 == 1]


@problem("MWRIGHT", start=[-1, 2, 1, -2, -2])
def mwright(x):
    """M. H. Wright's thesis, 1976: problem 4 from starting point D. The third power is meant."""
    x1, x2, x3, x4, x5 = x
    f = x1**2 + (x1 - x2) ** 2 + (x2 - x3) ** 3 + (x3 - x4) ** 4 + (x4 - x5) ** 4
    return f, [
        x1 + x2**2 + x3**2 == 3 * sqrt(2) + 2,
        x2 + x4 - x3**2 == 2 * sqrt(2) - 2,
        x1 * x5 == 2,
    ]


def _six_points() -> list[tuple[float, float, float]]:
    """The data of ORTHREGB: points about the centre (0.5, 0.5, 0.5), all on one ellipsoid."""
    offsets = [(9, 9, 0), (6, -6, 0), (-9, -9, 0), (-6, 6, 0), (0, 0, 7), (0, 0, -7)]
    return [(0.5 + u, 0.5 + v, 0.5 + w) for u, v, w in offsets]


@problem("ORTHREGB", start=[1, 0, 0, 1, 0, 1, 0, 0, 0, *(u for p in _six_points() for u in p)])
def orthregb(x):
    """M. Gulliksson, 1990: orthogonal regression of an ellipsoid p'H p - 2 g'p = 1 to six points.

    The variables are h11, h12, h13, h22, h23, h33, g1, g2, g3 and the six projections p_i.
    """
    h11, h12, h13, h22, h23, h33, g1, g2, g3 = x[:9]
    points = list(zip(x[9::3], x[10::3], x[11::3], strict=True))
    f = sum(
        (u - data) ** 2
        for point, known in zip(points, _six_points(), strict=True)
        for u, data in zip(point, known, strict=True)
    )
    return f, [
        h11 * u**2
        + 2 * h12 * u * v
        + h22 * v**2
        - 2 * g1 * u
        - 2 * g2 * v
        + 2 * h13 * u * w
        + 2 * h23 * v * w
        + h33 * w**2
        - 2 * g3 * w
        == 1
        for u, v, w in points
    ]


PARTICLES = 50


def _circle(number: int) -> list[float]:
    """x_1, y_1, x_2, ... of the points at the angles 2 pi i/N on the unit circle."""
    angles = [2 * pi * i / number for i in range(1, number + 1)]
    return [u for a in angles for u in (cos(a), sin(a))]


@problem("SPIN2OP", start=[1, 1, *_circle(PARTICLES)])
def spin2op(x):
    """L. N. Trefethen's spinning particles; of the solutions, one of smallest x_1^2 is sought.

    The particles z_j = x_j + i y_j move as z_j' = sum_{k != j} i / conj(z_j - z_k) and are to
    spin: z_j' = lambda z_j. The variables are mu, omega, x_1, y_1, x_2, ..., y_N with mu + i omega
    = -lambda; the rows are the N real and then the N imaginary parts of -(mu + i omega) z_j - z_j'.
    """
    mu, omega = x[:2]
    z = list(zip(x[2::2], x[3::2], strict=True))
    real, imaginary = [], []
    for j, (xj, yj) in enumerate(z):
        push = [
            (xj - xk, yj - yk, (xj - xk) ** 2 + (yj - yk) ** 2)
            for k, (xk, yk) in enumerate(z)
            if k != j
        ]
        real.append(omega * yj - mu * xj + sum(dy / square for _, dy, square in push) == 0)
        imaginary.append(-mu * yj - omega * xj - sum(dx / square for dx, _, square in push) == 0)
    return z[0][0] ** 2, real + imaginary
