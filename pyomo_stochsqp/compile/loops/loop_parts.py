r"""Loops for the parts of a plan: blocks, averages of data, constant linear rows.

averages    D_e = sum_b w_b W_b,c(e)           F_t += sum_e k_e D_e x_e,    dF_t/dx_e = k_e D_e
products    D_e = sum_b w_b f_b W_b,c(e)       likewise
"""

from __future__ import annotations

import numpy as np

from ..graph.layout import Pattern
from ..plan import ColumnAverage, ProductAverage, StreamPlan
from ..vectors.function import Variant
from .loop_block import BlockLoops
from .loops import Loops


def write_parts(loops: Loops, pattern: Pattern, variant: Variant) -> None:
    """What a variant needs of the plan."""
    for part in loops.plan.parts:
        if part.stream in variant.parts:
            _write_part(loops, pattern, part, variant.objective)
    if -1 in variant.parts:
        _write_linear(loops, pattern, variant.objective)


def _write_part(loops: Loops, pattern: Pattern, part: StreamPlan, objective: bool) -> None:
    for i, block in enumerate(part.blocks):
        before: list[str] = []
        inner: list[str] = []
        after: list[str] = []
        products = part.products if i == 0 else []
        factors = [f for p in products for f in p.factors]
        writer = BlockLoops(block, loops, pattern, factors, objective)
        for number, product in enumerate(products):
            names = [writer.name(f) for f in product.factors]
            _product_lines(loops, pattern, product, names, number, (before, inner, after))
        writer.write(before, inner)
        for line in after:
            loops.put(line)
    for average in part.averages:
        _write_average(loops, pattern, average, part.stream)


def _product_lines(
    loops: Loops,
    pattern: Pattern,
    product: ProductAverage,
    names: list[str],
    number: int,
    lines: tuple[list[str], list[str], list[str]],
) -> None:
    """Sums of factor * column, and F_t += sum_j k_j D_j x_j with its derivatives k_j D_j."""
    before, inner, after = lines
    f = product.field
    info = loops.plan.streams.fields[f]
    loops.fields[f] = None
    size = info.width if info.sparse else product.indices.size
    for r, (t, name) in enumerate(zip(product.targets, names, strict=True)):
        array = f"Q{number}_{r}"
        before.append(f"{array} = np.zeros({size})")
        inner.append(f"p = w*{name}")
        if info.sparse:
            inner.append(f"for e in range(P{f}[q{info.part}], P{f}[q{info.part}+1]):")
            inner.append(f"    {array}[C{f}[e]] += p*V{f}[e]")
            at = loops.index(product.columns, "e")
        else:
            inner.append(f"for e in range({size}):")
            column = loops.index(product.columns, "e")
            inner.append(f"    {array}[e] += p*{loops.element(f, column)}")
            at = "e"
        k = loops.constant(product.scales)
        places = pattern.derivatives(np.full_like(product.indices, t), product.indices)
        after.append("s = 0.0")
        after.append(f"for e in range({product.indices.size}):")
        after.append(f"    v = {array}[{at}]*K[{k}+e]")
        after.append(f"    out[{loops.index(places, 'e')}] += v")
        after.append(f"    s += v*x[{loops.index(product.indices, 'e')}]")
        after.append(f"out[{int(pattern.values(np.array([t]))[0])}] += s")


def _write_average(loops: Loops, pattern: Pattern, average: ColumnAverage, stream: int) -> None:
    f = average.field
    info = loops.plan.streams.fields[f]
    loops.fields[f] = None
    array = f"D{loops.prefix()}"
    size = info.width if info.sparse else average.indices.size
    loops.put(f"{array} = np.zeros({size})")
    if info.sparse:
        with (
            loops.over_batch(stream),
            loops.loop(f"for e in range(P{f}[q{info.part}], P{f}[q{info.part}+1]):"),
        ):
            loops.put(f"{array}[C{f}[e]] += w*V{f}[e]")
    else:
        _write_column_sums(loops, average, stream, array)
    k = loops.constant(average.scales)
    at = loops.index(average.columns, "e") if info.sparse else "e"
    places = pattern.derivatives(average.targets, average.indices)
    values = pattern.values(average.targets)
    with loops.loop(f"for e in range({average.indices.size}):"):
        loops.put(f"v = {array}[{at}]*K[{k}+e]")
        loops.put(f"out[{loops.index(places, 'e')}] += v")
        loops.put(f"out[{loops.index(values, 'e')}] += v*x[{loops.index(average.indices, 'e')}]")


def _write_column_sums(loops: Loops, average: ColumnAverage, stream: int, array: str) -> None:
    """Sums of columns, four rows at a time: the rows are far apart in memory, and fetching several
    at once hides the wait."""
    f = average.field
    info = loops.plan.streams.fields[f]
    w, column = f"w{stream}", loops.index(average.columns, "e")
    drawn = info.matrix is None
    rows = [f"b+{i}" if drawn else f"r{stream}_{info.part}[b+{i}]" for i in range(4)]
    loops.streams[stream] = None
    with loops.loop(f"for b in range(0, {w}.size - {w}.size % 4, 4):"):
        for i, row in enumerate(rows):
            loops.put(f"q{i} = {row}")
            loops.put(f"y{i} = {w}[b+{i}]")
        with loops.loop(f"for e in range({average.indices.size}):"):
            terms = " + ".join(f"y{i}*M{f}[q{i}, {column}]" for i in range(4))
            loops.put(f"{array}[e] += {terms}")
    with loops.loop(f"for b in range({w}.size - {w}.size % 4, {w}.size):"):
        loops.put(f"q = {rows[0].replace('+0', '')}")
        with loops.loop(f"for e in range({average.indices.size}):"):
            loops.put(f"{array}[e] += {w}[b]*M{f}[q, {column}]")


def _write_linear(loops: Loops, pattern: Pattern, objective: bool) -> None:
    """Values of the constant linear rows."""
    rows, columns, coefs = (np.array(a, dtype=object) for a in loops.plan.linear)
    chosen = [i for i, t in enumerate(rows) if t > 0 or objective]
    if not chosen:
        return
    k = loops.constant([coefs[i] for i in chosen])
    values = pattern.values(rows[chosen].astype(np.intp))
    indices = columns[chosen].astype(np.intp)
    with loops.loop(f"for e in range({len(chosen)}):"):
        x = f"x[{loops.index(indices, 'e')}]"
        loops.put(f"out[{loops.index(values, 'e')}] += K[{k}+e]*{x}")
