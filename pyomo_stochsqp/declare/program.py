r"""The frozen record of an expectation-constrained program: what `declare` hands to `compile`.

    min  sign * ( exact_0(x, t) + sum_i multiplier_i(x, t) E[integrand_i(x, w, t)] )
    s.t. lower_r <= exact_r(x, t) + sum_i multiplier_i(x, t) E[integrand_i(x, w, t)] <= upper_r

Expectations that enter affinely are terms; a multiplier can always be moved under its E. The
others, those in log(E[a]) or E[(a - E[a])^2], are numbers t with definitions of the same form, in
levels: a definition uses only t of lower levels. Most programs have none.

Randomness is organised in three levels:

    Source  a product of independent parts that must be drawn together because some integrand
            mixes them; almost always a single part. It has one batch size.
    Part    one joint random vector: a row of a table, a draw of a distribution, a scenario block.
    Field   the columns that one RandomParam reads from its part's row.

The expressions are Pyomo's own objects, with RandomParam members as leaves; :attr:`leaves` says
where each leaf finds its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Draw = Callable[[np.random.Generator, int], tuple[NDArray[np.float64], ...]]


@dataclass(frozen=True, eq=False)
class Field:
    """One RandomParam's columns. ``matrix`` (rows x width: array, memory map or CSR) if finite.

    Of a table that is read while it is used (randomness/readers/) it has the columns ``taken``.
    """

    name: str
    width: int
    matrix: Any = None
    taken: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """One joint random vector. Finite parts have a size; the others a ``draw``."""

    name: str
    fields: tuple[Field, ...]
    size: int | None = None
    #: probabilities of the rows, summing to one; None for equal ones
    weights: NDArray[np.float64] | None = None
    #: draw(rng, size) -> one (size, width) array per field
    draw: Draw | None = None
    #: from_uniform(u) with u in (0,1)^(size, dimension) -> the same as draw; for quasi-Monte Carlo
    from_uniform: Callable[[NDArray[np.float64]], tuple[NDArray[np.float64], ...]] | None = None
    dimension: int = 0
    #: drawing is a user's function, perhaps a simulator: never ask for more than is used
    costly: bool = False
    #: it is known to have no finite mean or variance
    heavy: bool = False
    #: keys of explicit scenarios (blocks or list positions), for messages
    scenario_keys: Sequence[Any] | None = None

    @property
    def stored(self) -> bool:
        """Rows are read when they are drawn, because some of its tables are in files."""
        return any(field.taken is not None for field in self.fields)


@dataclass(frozen=True, eq=False)
class Source:
    """Independent parts drawn together, one batch size."""

    name: str
    parts: tuple[Part, ...]

    @property
    def size(self) -> int | None:
        sizes = [p.size for p in self.parts]
        return None if any(s is None for s in sizes) else prod(s for s in sizes if s is not None)


@dataclass(frozen=True, eq=False)
class Term:
    """multiplier(x) * E over one source of an integrand.

    Exactly one of ``integrand`` (a template with RandomParam leaves) and ``scenarios`` (one
    expression per row of the source's only part) is given.
    """

    source: int
    multiplier: Any
    integrand: Any = None
    scenarios: Sequence[Any] | None = None


@dataclass(frozen=True, eq=False)
class Function:
    """exact(x) + the sum of its expectation terms."""

    exact: Any
    terms: tuple[Term, ...] = ()
    #: symbols occur in it
    formula: bool = False

    @property
    def sampled(self) -> bool:
        """Whether it depends on randomness."""
        return bool(self.terms) or self.formula


@dataclass(frozen=True, eq=False)
class Definition:
    """A number t inside formulas: t = body(x, t of lower levels).

    With ``centre`` and ``spread`` (symbols of lower levels) it is the t that makes body(x, t) zero:
    the body increases with t, and changes its sign some spreads from the centre.
    """

    symbol: Any
    body: Function
    level: int
    centre: Any = None
    spread: Any = None

    @property
    def implicit(self) -> bool:
        return self.centre is not None


@dataclass(frozen=True, eq=False)
class Row:
    """One constraint: lower <= body <= upper (equal for an equality)."""

    component: Any
    body: Function
    lower: float
    upper: float

    @property
    def name(self) -> str:
        return str(self.component.name)


@dataclass(frozen=True, eq=False)
class Leaf:
    """Where a RandomParam member finds its number: source, part, field and column."""

    source: int
    part: int
    field: int
    column: int


@dataclass(frozen=True, eq=False)
class StochasticProgram:
    """A validated model. Variables are the unfixed ones that appear, in declaration order."""

    model: Any
    variables: Sequence[Any]
    #: values to start from: those of the variables; 0 within the bounds where they have none
    start: NDArray[np.float64]
    objective: Function
    objective_component: Any
    #: +1 to minimise, -1 to maximise (the algorithm always minimises sign * objective)
    sign: int
    rows: Sequence[Row]
    #: constraints that hold whatever the variables are
    settled: Sequence[Any]
    sources: Sequence[Source]
    #: id(RandomParam member) -> Leaf
    leaves: dict[int, Leaf]
    #: all RandomParams that occur, those that are fixed to numbers, too
    random_params: Sequence[Any] = ()
    #: all named expressions that occur
    named: Sequence[Any] = ()
    #: the numbers t of formulas, those of lower levels first
    definitions: Sequence[Definition] = ()
    #: kinks were rounded off by their spread (functionals/rounding.py)
    rounded: bool = False

    def of_level(self, level: int) -> StochasticProgram:
        """The definitions of one level as rows; symbols are variables, after the others."""
        rows = [Row(d.symbol, d.body, 0.0, 0.0) for d in self.definitions if d.level == level]
        return replace(
            self.in_symbols(), objective=Function(0.0), objective_component=None, sign=1, rows=rows
        )

    def in_symbols(self) -> StochasticProgram:
        """The program itself with symbols as variables, after the others."""
        symbols = [d.symbol for d in self.definitions]
        return replace(
            self,
            variables=[*self.variables, *symbols],
            start=np.concatenate((self.start, np.zeros(len(symbols)))),
            definitions=(),
        )


class Batch:
    """The rows drawn from one source for one estimate.

    ``parts[p]`` is, for a finite part, its row numbers (an integer array, or a slice of consecutive
    rows) and, for a part that is drawn or read, one (size, width) array per field. ``weights``
    average the rows (they sum to one); None is the plain mean. ``numbers`` are the parts as they
    were before rows were read.
    """

    __slots__ = ("numbers", "parts", "size", "weights")

    def __init__(
        self,
        size: int,
        parts: tuple[Any, ...],
        weights: NDArray[np.float64] | None = None,
        numbers: tuple[Any, ...] | None = None,
    ):
        self.size = size
        self.parts = parts
        self.weights = weights
        self.numbers = parts if numbers is None else numbers
