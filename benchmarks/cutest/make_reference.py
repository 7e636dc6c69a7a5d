"""Regenerate the reference values against which the tests hold the 44 Pyomo models.

    python -m pip install sif2jax
    python benchmarks/cutest/make_reference.py [--output tests/benchmarks/cutest_reference.json]

Nothing here uses the Pyomo models. For each problem the file holds n, m and, at the starting
point and at random points near it, f, its gradient, c and its Jacobian J. The values come from

* ``sif2jax``, whose functions JAX differentiates in double precision: 39 problems. ELEC and
  SPIN2OP are among them although sif2jax 0.0.8 contains but does not list them, pending a review;
  their formulas are those of ELEC.SIF and of SPIN2LS.SIF, whose residuals are SPIN2OP's rows.
* The SIF files, transcribed below group by group and differentiated by complex steps, which are
  exact to rounding for these polynomials: five problems. sif2jax has no GENHS28 and no MWRIGHT;
  its HS100LNP and DIXCHLNG multiply by 'SCALE' where SIF divides (HS100LNP also has the constant
  of the first equation with the wrong sign), and its MARATOS forgets the objective's constant.

Rows and signs of c are those of the SIF files; sif2jax keeps them, so no row is permuted.

There are two random points; the two large problems, ELEC and SPIN2OP, have one, and for them J is
stored as J v and J'w with v_i = cos i (i = 1..n) and w_j = sin j (j = 1..m), and as its first and
last rows.
"""

import argparse
import importlib
import importlib.metadata
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod, sqrt
from pathlib import Path

import jax
import numpy as np

OUTPUT = Path(__file__).parents[2] / "tests" / "benchmarks" / "cutest_reference.json"
SEED = 20251
SPREAD = 0.1  # standard deviation of the random points about the starting point
LARGE = ("ELEC", "SPIN2OP")

# fmt: off
FROM_SIF2JAX = [
    "BT1", "BT2", "BT3", "BT4", "BT5", "BT6", "BT7", "BT8", "BT9", "BT10", "BT11", "BT12",
    "BYRDSPHR", "ELEC", "HS6", "HS7", "HS9", "HS26", "HS27", "HS28", "HS39", "HS40", "HS42",
    "HS46", "HS47", "HS48", "HS49", "HS50", "HS51", "HS52", "HS56", "HS61", "HS77", "HS78",
    "HS79", "HS111LNP", "ORTHREGB", "S316-322", "SPIN2OP",
]
# fmt: on

Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Problem:
    """Start x0 and, as functions of x, f, its gradient, c and its Jacobian."""

    source: str
    x0: np.ndarray
    f: Function
    gradient: Function
    c: Function
    jacobian: Function


# ---- sif2jax -------------------------------------------------------------------------------------


def from_sif2jax(name: str) -> Problem:
    """The problem as sif2jax states it, with JAX's derivatives."""
    stem = name.replace("-", "_")
    module = importlib.import_module(f"sif2jax.cutest._constrained_minimisation.{stem.lower()}")
    stated = getattr(module, stem)()

    def objective(x):
        return stated.objective(x, stated.args)

    def equations(x):
        return jax.numpy.atleast_1d(stated.constraint(x)[0])  # a single equation may be a scalar

    version = importlib.metadata.version("sif2jax")
    return Problem(
        source=f"sif2jax {version}",
        x0=np.asarray(stated.y0, dtype=float),
        f=jax.jit(objective),
        gradient=jax.jit(jax.grad(objective)),
        c=jax.jit(equations),
        jacobian=jax.jit(jax.jacfwd(equations)),
    )


# ---- SIF files, group by group -------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """The SIF form of one function: (a'x + sum_e w_e e(x) - constant)^power / scale."""

    linear: dict[int, float] = field(default_factory=dict)  # a_i at i, counted from 1
    elements: tuple = ()  # pairs w_e, (function e, its variables counted from 1)
    constant: float = 0.0
    power: int = 1
    scale: float = 1.0

    def __call__(self, x: np.ndarray):
        argument = sum((a * x[i - 1] for i, a in self.linear.items()), start=-self.constant)
        for weight, (element, *variables) in self.elements:
            argument = argument + weight * element(*(x[i - 1] for i in variables))
        return prod([argument] * self.power) / self.scale


def from_groups(x0: list[float], objective: list[Group], equations: list[Group]) -> Problem:
    """The problem min sum of groups subject to groups = 0, with complex-step derivatives."""

    def f(x):
        return sum(group(x) for group in objective)

    def c(x):
        return np.array([group(x) for group in equations])

    def derivative(function: Function) -> Function:
        step = 1e-40

        def columns(x):
            shifts = 1j * step * np.eye(len(x))
            return np.array([np.imag(function(x + shift)) / step for shift in shifts]).T

        return columns

    return Problem("SIF file", np.array(x0, dtype=float), f, derivative(f), c, derivative(c))


def square(u):
    return u * u


def product(*u):
    return prod(u)


def genhs28() -> Problem:
    def squared_sum(u, v):
        return (u + v) * (u + v)

    return from_groups(
        [-4.0] + [1.0] * 9,
        [Group(elements=tuple((1.0, (squared_sum, i, i + 1)) for i in range(1, 10)))],
        [Group({i: 1.0, i + 1: 2.0, i + 2: 3.0}, constant=1.0) for i in range(1, 9)],
    )


def mwright() -> Problem:
    root2 = sqrt(2.0)
    x2_squared, x3_squared = (square, 2), (square, 3)
    return from_groups(
        [-1.0, 2.0, 1.0, -2.0, -2.0],
        [
            Group({1: 1.0}, power=2),
            Group({1: 1.0, 2: -1.0}, power=2),
            Group({2: 1.0, 3: -1.0}, power=3),
            Group({3: 1.0, 4: -1.0}, power=4),
            Group({4: 1.0, 5: -1.0}, power=4),
        ],
        [
            Group({1: 1.0}, ((1.0, x2_squared), (1.0, x3_squared)), root2 * 3.0 + 2.0),
            Group({2: 1.0, 4: 1.0}, ((-1.0, x3_squared),), root2 * 2.0 - 2.0),
            Group({}, ((1.0, (product, 1, 5)),), 2.0),
        ],
    )


def hs100lnp() -> Problem:
    def mixed(u, v):
        return 7.0 * u * u + v * v * v * v - 4.0 * u * v

    x3_fourth, x5_sixth = (product, 3, 3, 3, 3), (product, 5, 5, 5, 5, 5, 5)
    return from_groups(
        [1.0, 2.0, 0.0, 4.0, 0.0, 1.0, 1.0],
        [
            Group({1: 1.0}, constant=10.0, power=2),
            Group({2: 1.0}, constant=12.0, power=2, scale=0.2),
            Group({4: 1.0}, constant=11.0, power=2, scale=0.33333333333),
            Group({6: -10.0, 7: -8.0}, ((10.0, x5_sixth), (1.0, (mixed, 6, 7)), (1.0, x3_fourth))),
        ],
        [
            Group(
                {3: -1.0, 5: -5.0},
                ((-2.0, (square, 1)), (-3.0, (product, 2, 2, 2, 2)), (-4.0, (square, 4))),
                -127.0,
            ),
            Group(
                {6: -5.0, 7: 11.0},
                (
                    (-4.0, (square, 1)),
                    (-1.0, (square, 2)),
                    (3.0, (product, 1, 2)),
                    (-2.0, (square, 3)),
                ),
            ),
        ],
    )


def dixchlng() -> Problem:
    def shifted_product(u, v):
        return (u - 1.0) * (v - 1.0)

    x0, size, sign = [], 2.0, -1.0
    for _ in range(5):
        x0 += [size * sign, 1.0 / (size * sign)]
        size, sign = size + 1.0, -sign
    objective = []
    for i in range(1, 8):
        objective += [
            Group({i + 1: 1.0}, ((-1.0, (square, i)),), power=2, scale=0.01),
            Group({i: 1.0}, constant=1.0, power=2),
            Group({i + 3: 1.0}, ((-1.0, (square, i + 2)),), power=2, scale=1.0 / 90.0),
            Group({i + 2: 1.0}, constant=1.0, power=2),
            Group({i + 1: 1.0}, constant=1.0, power=2, scale=1.0 / 10.1),
            Group({i + 3: 1.0}, constant=1.0, power=2, scale=1.0 / 10.1),
            Group({}, ((1.0, (shifted_product, i + 1, i + 3)),), scale=1.0 / 19.8),
        ]
    equations = [
        Group({}, ((1.0, (product, *range(1, last + 1))),), 1.0) for last in (2, 4, 6, 8, 10)
    ]
    return from_groups(x0, objective, equations)


def maratos() -> Problem:
    tau = 0.000001
    squares = (square, 1), (square, 2)
    return from_groups(
        [1.1, 0.1],
        [Group({1: -1.0}, tuple((tau, e) for e in squares), tau)],
        [Group({}, tuple((1.0, e) for e in squares), 1.0)],
    )


FROM_SIF_FILES: dict[str, Callable[[], Problem]] = {
    "DIXCHLNG": dixchlng,
    "GENHS28": genhs28,
    "HS100LNP": hs100lnp,
    "MARATOS": maratos,
    "MWRIGHT": mwright,
}


# ---- the file ------------------------------------------------------------------------------------


def point(problem: Problem, x: np.ndarray, large: bool) -> dict:
    """The record of all values at x."""
    J = np.asarray(problem.jacobian(x), dtype=float)
    record = {
        "x": x.tolist(),
        "f": float(problem.f(x)),
        "gradient": np.asarray(problem.gradient(x), dtype=float).tolist(),
        "c": np.asarray(problem.c(x), dtype=float).tolist(),
    }
    if large:
        m, n = J.shape
        record["J v"] = (J @ np.cos(np.arange(1, n + 1))).tolist()
        record["J' w"] = (J.T @ np.sin(np.arange(1, m + 1))).tolist()
        record["J first and last row"] = J[[0, -1]].tolist()
    else:
        record["J"] = J.tolist()
    return record


def records(name: str, index: int) -> dict:
    """The entry of one problem: the starting point first, then the random points."""
    problem = FROM_SIF_FILES[name]() if name in FROM_SIF_FILES else from_sif2jax(name)
    random = np.random.default_rng([SEED, index])
    xs = [problem.x0]
    for _ in range(1 if name in LARGE else 2):
        shift = SPREAD * random.standard_normal(problem.x0.size)
        xs.append(np.round(problem.x0 + shift, 6))
    points = [point(problem, x, name in LARGE) for x in xs]
    return {
        "source": problem.source,
        "n": problem.x0.size,
        "m": len(points[0]["c"]),
        "points": points,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="regenerate the CUTEst reference values")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    jax.config.update("jax_enable_x64", True)
    names = sorted([*FROM_SIF2JAX, *FROM_SIF_FILES])
    entries = []
    for index, name in enumerate(names):
        entry = records(name, index)
        points = ",\n".join(f"    {json.dumps(p)}" for p in entry.pop("points"))
        entries.append(f'"{name}": {json.dumps(entry)[:-1]}, "points": [\n{points}\n]}}')
    output.write_text("{\n" + ",\n".join(entries) + "\n}\n")


if __name__ == "__main__":
    main()
