r"""The plan: every function of the program as constants, linear rows, averages and blocks.

    F_t(x) = const_t + sum_j A_tj x_j                       constant; A is assembled once
           + sum_j mean(w_c(t,j)) k_tj x_j                  averages of data times variables
           + sum_j mean(f_t w_c(j)) k_j x_j                 averages of products of data
           + sum over terms                                 blocks of templates

Means are pushed down first, so that a term reaches a block only if it is nonlinear in x, and a mean
of something that depends on x only if it cannot be separated from the data.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..deadline import check_time
from ..declare.program import Function, StochasticProgram
from ..errors import ModelError
from ..given import real
from .algebra.affine_parts import LONG, AffinePart, split_terms
from .algebra.form import Form
from .algebra.lower import Lowering
from .algebra.means import Means
from .algebra.node import Coef, Node, Nodes
from .algebra.normal_form import Algebra
from .graph.block import Block, Ints, Root
from .graph.tape import Tape, Taper
from .graph.values import Val
from .scenarios.collapse import Collapse
from .scenarios.row_classes import Streams

#: Terms of one structure are evaluated as a group from this many on.
GROUP = 4


@dataclass(eq=False)
class ColumnAverage:
    """Entries e: F_target[e] += scales[e] * mean(column columns[e]) * x[indices[e]]."""

    field: int
    targets: Ints
    indices: Ints
    columns: Ints
    scales: list[Coef]


@dataclass(eq=False)
class ProductAverage:
    """F_target[r] += sum_j scales[j] * mean(factors[r] * column columns[j]) * x[indices[j]]."""

    field: int
    factors: list[Val]
    targets: Ints
    indices: Ints
    columns: Ints
    scales: list[Coef]


@dataclass(eq=False)
class StreamPlan:
    """Everything that needs one stream (or none: the exact part, stream -1)."""

    stream: int
    averages: list[ColumnAverage] = field(default_factory=list)
    products: list[ProductAverage] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


class Plan:
    """A program, taken apart."""

    def __init__(self, program: StochasticProgram):
        self.program = program
        self.n = len(program.variables)
        self.m = len(program.rows)
        self.nodes = Nodes(lambda key: real(key.item, key.item))
        self.algebra = Algebra(self.nodes)
        self._means = Means(self.algebra)
        self.streams = Streams.of(program)
        variables = {id(v): j for j, v in enumerate(program.variables)}
        self._lower = Lowering(self.algebra, variables, self.streams.places)
        self._collapse = Collapse(self.algebra, self.streams, program.sources, variables)
        objective = program.objective_component
        first = "objective" if objective is None else objective.name
        self.names = [first, *(r.name for r in program.rows)]
        #: constant part of every function
        self.constants: list[Coef] = []
        #: A as (targets, indices, coefficients)
        self.linear: tuple[list[int], list[int], list[Coef]] = ([], [], [])
        #: function -> stream -> form with all means explicit (kept for diagnosis)
        self.forms: list[dict[int, Form]] = [
            self._function(self.names[t], f) for t, f in enumerate(self._functions())
        ]
        self._collapse.finish()
        objective = {
            s: self.algebra.scale(f, float(program.sign)) for s, f in self.forms[0].items()
        }
        self.forms[0] = objective
        self._taper = Taper(self.algebra.make, inner=True)
        self.parts = self._organise()
        #: field -> its columns that occur in the model
        self.used_columns = self._used_columns()

    def written_out(self) -> Plan:
        """The same functions with all sums term by term: second derivatives couple their terms."""
        other = copy(self)
        other.constants, other.linear = [], ([], [], [])
        other._taper = self._taper.written_out()
        other.parts = other._organise()
        return other

    def _functions(self) -> Iterable[Function]:
        yield self.program.objective
        for row in self.program.rows:
            yield row.body

    def _used_columns(self) -> list[Ints]:
        used: list[set[int]] = [set() for _ in self.streams.fields]
        for number, column in self.nodes.payloads("data"):
            used[number].add(column)
        return [np.array(sorted(columns), dtype=np.intp) for columns in used]

    def refresh(self) -> None:
        """Read mutable values again."""
        self.nodes.refresh()
        self._collapse.refresh()

    def _function(self, name: str, function: Function) -> dict[int, Form]:
        check_time()
        forms = {-1: Form()}
        accumulate = self.algebra.accumulate
        exact = self._lower(function.exact, name)
        accumulate(forms[-1], self.algebra.opened(exact, lambda node, coef: True))
        for term in function.terms:
            multiplier = self._lower(term.multiplier, name)
            if term.scenarios is None:
                pieces = [(term.source, self._lower(term.integrand, name))]
            else:
                pieces = self._collapse(term.source, term.scenarios, name)
            for stream, form in pieces:
                averaged = self._means.of_form(form, self._share(stream))
                if not multiplier.x and multiplier.terms:
                    raise ModelError(f"'{name}': a factor of E(...) holds a RandomParam.")
                total = forms.setdefault(stream, Form())
                accumulate(total, self.algebra.multiply(multiplier, averaged))
        return forms

    def _share(self, stream: int) -> Coef:
        """The mean of 1: the share of the drawn rows that belong to a stream."""
        if not self.streams.streams[stream].share:
            return 1.0
        make = self.algebra.make
        return make("mean", (make("one", payload=stream),))

    # -- sorting the terms ------------------------------------------------------------------------

    def _organise(self) -> list[StreamPlan]:
        pieces: dict[int, list[tuple[int, Coef, Node]]] = {}
        columns: dict[tuple[int, int], list[tuple[int, int, int, Coef]]] = {}
        products: dict[int, list[tuple[int, AffinePart]]] = {}
        for t, forms in enumerate(self.forms):
            constant: Coef = 0.0
            for stream, form in forms.items():
                constant = self.algebra.coef_add(constant, form.const)
                mine = pieces.setdefault(stream, [])
                random = []
                for node, coef in form.terms.items():
                    if node.op == "var":
                        random += self._linear_term(t, node, coef, mine)
                    else:
                        mine.append((t, coef, node))
                rest, parts = split_terms(random, shortest=1)
                for coef, node in rest:
                    mean = self.algebra.coefficient(self._means.of_coefficient(coef, 1.0))
                    mine.append((t, mean, node))
                for part in parts:
                    if part.factor is None:
                        assert part.field is not None
                        entries = columns.setdefault((stream, part.field), [])
                        entries += [
                            (t, j, c, k)
                            for j, c, k in zip(part.indices, part.columns, part.scales, strict=True)
                        ]
                    else:
                        products.setdefault(stream, []).append((t, part))
            self.constants.append(constant)
        plans = {s: StreamPlan(s) for s in [-1, *range(len(self.streams.streams))]}
        for (stream, number), entries in columns.items():
            if len(entries) >= LONG:
                plans[stream].averages.append(_column_average(number, entries))
            else:
                make = self.algebra.make
                for t, j, c, k in entries:
                    mean = make("mean", (make("data", payload=(number, c)),))
                    coef = self.algebra.coef_mul(k, mean)
                    pieces[stream].append((t, coef, make("var", payload=j)))
        for stream, plan in plans.items():
            self._make_blocks(plan, pieces.get(stream, []), products.get(stream, []))
            for block in plan.blocks:
                check_time()
                block.differentiate()
        return [p for p in plans.values() if p.blocks or p.averages or p.products]

    def _linear_term(
        self, t: int, node: Node, coef: Coef, pieces: list[tuple[int, Coef, Node]]
    ) -> list[tuple[Coef, Node]]:
        """Files coef * x_j; returns the parts mean(data) * x_j with the data, not their mean."""
        form = self.algebra.form(coef)
        if form.const.__class__ is not float or form.const != 0.0:
            self.linear[0].append(t)
            self.linear[1].append(node.payload)
            self.linear[2].append(form.const)
        random: list[tuple[Coef, Node]] = []
        for inner, k in form.terms.items():
            if inner.op == "mean":
                random.append((self.algebra.coef_mul(k, inner.args[0]), node))
            else:
                pieces.append((t, self.algebra.coef_mul(k, inner), node))
        return random

    def _make_blocks(
        self,
        plan: StreamPlan,
        pieces: list[tuple[int, Coef, Node]],
        products: list[tuple[int, AffinePart]],
    ) -> None:
        share = plan.stream >= 0 and self.streams.streams[plan.stream].share
        single = Block(plan.stream, 0, share)
        groups: dict[Tape, list[tuple[int, list[Any]]]] = {}
        for t, coef, node in pieces:
            check_time()
            root = self.algebra.make("sum", (0.0, coef, node))
            tape, slots = self._taper(root)
            groups.setdefault(tape, []).append((t, slots))
        alone: dict[int, list[Val]] = {}
        for tape, members in groups.items():
            own_variables = any(entry[0] == "ell" for entry in tape)
            if len(members) >= GROUP and not own_variables:
                block = Block(plan.stream, len(members), share)
                columns = [list(c) for c in zip(*(s for _, s in members), strict=True)]
                targets = np.array([t for t, _ in members], dtype=np.intp)
                block.roots.append(Root(targets, block.fill(tape, columns)))
                plan.blocks.append(block)
            else:
                for t, slots in members:
                    alone.setdefault(t, []).append(single.fill(tape, [[s] for s in slots]))
        for t, values in sorted(alone.items()):
            single.roots.append(Root(np.array([t]), single.graph.add(*values)))
        self._add_products(plan, single, products)
        if single.roots or plan.products:
            plan.blocks.insert(0, single)

    def _add_products(
        self, plan: StreamPlan, single: Block, products: list[tuple[int, AffinePart]]
    ) -> None:
        """Products of data with equal columns and variables become one matrix product."""
        shared: dict[Any, list[tuple[int, AffinePart]]] = {}
        for t, part in products:
            key = (part.field, tuple(part.indices), tuple(part.columns), tuple(part.scales))
            shared.setdefault(key, []).append((t, part))
        for members in shared.values():
            part = members[0][1]
            assert part.field is not None
            factors = []
            for _, p in members:
                assert p.factor is not None
                tape, slots = self._taper(p.factor)
                factors.append(single.fill(tape, [[s] for s in slots]))
            plan.products.append(
                ProductAverage(
                    part.field,
                    factors,
                    np.array([t for t, _ in members], dtype=np.intp),
                    np.array(part.indices, dtype=np.intp),
                    np.array(part.columns, dtype=np.intp),
                    part.scales,
                )
            )


def _column_average(number: int, entries: list[tuple[int, int, int, Coef]]) -> ColumnAverage:
    targets, indices, columns, scales = zip(*entries, strict=True)
    return ColumnAverage(
        number,
        np.array(targets, dtype=np.intp),
        np.array(indices, dtype=np.intp),
        np.array(columns, dtype=np.intp),
        list(scales),
    )
