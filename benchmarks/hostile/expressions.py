r"""Random expressions: values, gradients and Hessians of the generated code, by NumPy and by numba,
against arithmetic in extended precision (taylor.py).

    right       all numbers agree as far as floats determine them
    undefined   the expression or its gradient is not defined there, and the evaluation says so
    refused     the model was refused, because a number of it is undefined
    extreme     floats overflow on the way, or rounding decides whether it is defined
    wrong       other numbers
    missed      not defined there, and the evaluation does not say so
    false       defined there, and the evaluation says it is not
    no Hessian  the Hessian is not finite where the true one is
    raw         any exception

numba compiles many trees in one model, because compiling is what takes time.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.hostile.declarations import quiet
from benchmarks.hostile.taylor import Arithmetic
from benchmarks.hostile.trees import ROWS, VARIABLES, Maker, Model
from pyomo_stochsqp import E
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from pyomo_stochsqp.errors import StochSQPError

WRONG = ("wrong", "missed", "false", "no Hessian", "raw")
VERDICTS = ("right", "undefined", "refused", "extreme", *WRONG)
#: agreement that needs no further thought, of a number and relative to the largest; perturbations
#: of the reference, and how many times the changes they make may be the difference
NEAR, NEAR_ALL, NOISE, TIMES = 1e-10, 1e-13, 1e-14, 1e3
TREES = 20_000
#: trees of one model for numba
TOGETHER = 40
_UPPER = np.triu_indices(VARIABLES)


class Expected:
    """What a tree should give on all rows."""

    def __init__(self, model: Model, tree: Any):
        self._model, self._tree = model, tree
        arithmetic = Arithmetic()
        self.numbers = self._mean(arithmetic)
        self.extreme, self.beyond = arithmetic.extreme, arithmetic.beyond
        finite = np.isfinite(self.numbers.astype(float))
        self.defined = bool(finite[: 1 + VARIABLES].all())
        literal = np.isfinite(self._mean(Arithmetic(literal=True)))
        #: it depends on how literally one takes e - e, inside a function at the end of its domain
        self.ambiguous = bool(literal[: 1 + VARIABLES].all()) != self.defined
        self.curved = self.defined and bool(finite.all() and literal.all())

    def _rows(self, arithmetic: Arithmetic) -> Any:
        """Value, gradient and upper triangle of the Hessian of every row."""
        rows = []
        with np.errstate(all="ignore"):
            for row in range(ROWS):
                n = self._model.as_number(self._tree, row, arithmetic)
                g = np.zeros(VARIABLES) if n.g is None else n.g
                H = np.zeros((VARIABLES, VARIABLES)) if n.H is None else n.H
                rows.append(np.concatenate(([n.v], g, H[_UPPER])))
        return np.array(rows)

    def _mean(self, arithmetic: Arithmetic) -> Any:
        with np.errstate(all="ignore"):
            return self._rows(arithmetic).mean(axis=0)

    @property
    def sound(self) -> bool:
        """Defined, and without trouble on the way."""
        return self.defined and not self.extreme

    @property
    def determined(self) -> bool:
        """Whether rounding errors do not decide about the domain."""
        first = slice(0, 1 + VARIABLES)
        before = self._rows(Arithmetic())[:, first]
        for seed in range(20):
            after = self._rows(Arithmetic(NOISE, seed))[:, first]
            with np.errstate(all="ignore"):
                if not np.allclose(before, after, rtol=0.1, atol=0.1, equal_nan=True):
                    return False
        return True

    def agrees(self, found: Any) -> bool:
        """Whether numbers are as right as floats can be."""
        expected = self.numbers[: found.size]
        with np.errstate(all="ignore"):
            difference = np.abs(found - expected)
            size = np.abs(expected)
            allowed = NEAR * (1 + size) + NEAR_ALL * size.max()
            if (difference <= allowed).all():
                return True
            for seed in range(4):
                moved = self._mean(Arithmetic(NOISE, seed))[: found.size]
                allowed = np.maximum(allowed, TIMES * np.abs(moved - expected))
            return bool((difference <= np.where(np.isfinite(allowed), allowed, np.inf)).all())


class Trial:
    """Trees as rows of one model (the first one perhaps as its objective), compiled."""

    def __init__(self, seed: int, count: int, alone: bool):
        """The trees are drawn; ``compile`` makes a program of them."""
        rng = np.random.default_rng(seed)
        self.model = Model(rng, mild=bool(rng.random() < 0.5))
        maker = Maker(rng)
        self.trees: list[Any] = []
        m = self.model.m
        m.c = pyo.Constraint(pyo.Any)
        as_objective = alone and seed % 3 == 0
        quadratic = sum(v**2 for v in m.x.values())
        m.obj = pyo.Objective(expr=quadratic)
        while len(self.trees) < count:
            tree = maker.tree(int(rng.integers(1, 6)))
            try:
                expr = self.model.as_pyomo(tree)
                if as_objective:
                    m.obj.set_value(quadratic + E(expr))
                else:
                    m.c[len(self.trees)] = (None, E(expr) + m.x[0], 1e9)
            except (ArithmeticError, ValueError, TypeError):
                # Python itself cannot compute its numbers
                if len(self.trees) in m.c:
                    del m.c[len(self.trees)]
                continue
            self.trees.append(tree)
        m.used = pyo.Constraint(expr=m.x[0] * E(sum(m.w.values())) <= 1e9)
        self.as_objective = as_objective

    def compile(self, jit: bool) -> None:
        """Read and compile the model."""
        self.program = read_model(self.model.m)
        self.evaluator = compile_program(self.program, jit=jit)
        self.batches = [Batch(ROWS, (np.arange(ROWS),))] * len(self.program.sources)
        self._order = [v.index() for v in self.program.variables]
        self._x = self.model.x.astype(float)[self._order]

    def found(self, second: bool) -> Iterator[tuple[Any, bool]]:
        """(numbers, whether the evaluation has noticed that some are not finite) of every tree."""
        e, x = self.evaluator, self.model.x.astype(float)
        whole = e.evaluate(self._x, self.batches, objective=True)
        plain = e.evaluate(self._x, self.batches)
        for t in range(len(self.trees)):
            if self.as_objective:
                first = np.append(
                    whole.f - (x**2).sum(), self._full(whole.g, np.arange(e.n)) - 2 * x
                )
                bare = plain.g
            else:
                at = slice(e.jac_indptr[t], e.jac_indptr[t + 1])
                J = self._full(whole.J[at], e.jac_indices[at]) - np.eye(VARIABLES)[0]
                first, bare = np.append(whole.c[t] - x[0], J), np.append(plain.c[t], plain.J[at])
            noticed = not (np.isfinite(first).all() or np.isfinite(bare).all())
            noticed = noticed and whole.issue is not None and plain.issue is not None
            yield (np.append(first, self._hessian(t)) if second else first), noticed

    def _full(self, values: Any, places: Any) -> Any:
        """A gradient in the order of the variables of the model."""
        full = np.zeros(VARIABLES)
        full[np.array(self._order)[places]] = values
        return full

    def _hessian(self, t: int) -> Any:
        """The upper triangle of a tree's Hessian."""
        e, order = self.evaluator, self._order
        y = np.zeros(e.m)
        y[t] = float(not self.as_objective)
        values = e.hessian(self._x, y, self.batches)
        H = np.zeros((VARIABLES, VARIABLES))
        columns = np.repeat(np.arange(e.n), np.diff(e.hess_indptr))
        for i, j, v in zip(e.hess_indices, columns, values, strict=True):
            a, b = sorted((order[i], order[j]))
            H[a, b] += v
        return (H - 2 * np.eye(VARIABLES))[_UPPER]


def judged(expected: Expected, found: Any, noticed: bool) -> str:
    """The verdict on one tree."""
    if expected.beyond or expected.ambiguous:
        return "extreme"
    first = found[: 1 + VARIABLES]
    finite = np.isfinite(first).all() and not noticed
    if not expected.defined:
        if expected.extreme or (finite and not expected.determined):
            return "extreme"
        return "missed" if finite else "undefined"
    if not finite:
        return "extreme" if expected.extreme or not expected.determined else "false"
    if not expected.agrees(first):
        return "wrong"
    if not expected.curved or found.size == first.size:
        return "right"
    if not np.isfinite(found).all():
        return "extreme" if expected.extreme else "no Hessian"
    if expected.agrees(found):
        return "right"
    return "extreme" if expected.extreme else "wrong"


def trial(seed: int, count: int, jit: bool, verbose: bool) -> Counter[str]:
    """Verdicts on the trees of one model."""
    verdicts: Counter[str] = Counter()
    made = Trial(seed, count, not jit)
    try:
        made.compile(jit)
        results = list(made.found(second=not jit))
    except StochSQPError as error:
        undefined = any(not Expected(made.model, tree).sound for tree in made.trees)
        verdict = "refused" if undefined else "false"
        if verdict in WRONG:
            print(f"  {verdict:10} seed {seed}: {error}", flush=True)
        return Counter({verdict: count})
    except Exception as error:
        print(f"  raw        seed {seed}: {type(error).__name__}: {error}"[:400], flush=True)
        return Counter({"raw": count})
    for t, (tree, (found, seen)) in enumerate(zip(made.trees, results, strict=True)):
        expected = Expected(made.model, tree)
        verdict = judged(expected, found, seen)
        verdicts[verdict] += 1
        if verdict in WRONG or verbose:
            numbers = expected.numbers.astype(float)
            print(f"  {verdict:10} seed {seed}, tree {t}: {tree}\n    x={made.model.x} "
                  f"p={made.model.p} fixed={made.model.fixed} w={made.model.w.tolist()}\n    "
                  f"{found}\n    {numbers}", flush=True)  # fmt: skip
    return verdicts


def run(seed: int, trees: int, jit: bool, verbose: bool = False) -> Counter[str]:
    """So many trees."""
    count = TOGETHER if jit else 1
    total: Counter[str] = Counter()
    with quiet(), np.errstate(all="ignore"):
        for number in itertools.count():
            if sum(total.values()) >= trees:
                return total
            total += trial(1_000_000 * seed + number, count, jit, verbose)
    return total


def report(seed: int, verbose: bool = False, trees: int = TREES) -> int:
    """Print the figures of one seed; how many trees went wrong."""
    wrong = 0
    for jit, what in ((False, "NumPy, with Hessians"), (True, "numba")):
        counts = run(seed, trees, jit, verbose)
        figures = ", ".join(f"{counts[v]} {v}" for v in VERDICTS)
        print(f"seed {seed}: {sum(counts.values())} trees by {what}: {figures}", flush=True)
        wrong += sum(counts[v] for v in WRONG)
    return wrong
