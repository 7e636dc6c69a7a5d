r"""What the compiler made of a model, in words.

For each source: its rows and fields, the averages, groups and single terms that were found, and the
estimated time of one evaluation. On request the generated code.
"""

from __future__ import annotations

from ..declare.program import StochasticProgram
from .evaluator import Evaluator, compile_program
from .plan import StreamPlan

#: batch sizes for which times are estimated
SIZES = (16, 128, 1024)


def explain_program(program: StochasticProgram, source: bool = False) -> str:
    """A description of what was recognised in a program; with ``source`` also the code."""
    return describe(compile_program(program, jit=False), source)


def describe(evaluator: Evaluator, source: bool = False) -> str:
    """A description of a compiled program."""
    program, plan, pattern = evaluator.program, evaluator.plan, evaluator.pattern
    exact = sum(set(forms) == {-1} for forms in plan.forms[1:])
    lines = [
        f"Model '{program.model.name}': {evaluator.n} variables, {evaluator.m} constraints "
        f"({exact} of them exact), {pattern.nnz} Jacobian entries",
        f"Linear with constant coefficients: {len(plan.linear[0])} entries, never recomputed",
    ]
    for part in plan.parts:
        lines += ["", _title(evaluator, part), *_contents(evaluator, part)]
    if program.sources:
        lines.append("")
    for size in SIZES if program.sources else (1,):
        estimate = evaluator.work([size] * len(program.sources))
        rows = f"with {size} rows of each source" if program.sources else "in total"
        lines.append(f"Estimated time of one evaluation {rows}: {estimate * 1e6:.0f} us")
    if source:
        lines += ["", evaluator.source_code()]
    return "\n".join(lines)


def _title(evaluator: Evaluator, part: StreamPlan) -> str:
    if part.stream < 0:
        return "Exact part"
    stream = evaluator.plan.streams.streams[part.stream]
    origin = evaluator.program.sources[stream.source]
    if stream.lookup is not None:
        count = int((stream.lookup >= 0).sum())
        return f"Source '{origin.name}', {count} of its {origin.size} scenarios (one structure)"
    kind = "drawn" if origin.size is None else f"{origin.size} rows"
    shape = "" if len(origin.parts) == 1 else f", product of {len(origin.parts)} parts"
    return f"Source '{origin.name}': {kind}{shape}"


def _contents(evaluator: Evaluator, part: StreamPlan) -> list[str]:
    streams = evaluator.plan.streams
    lines = []
    for info in streams.fields:
        if info.stream == part.stream:
            kind = "sparse table" if info.sparse else "table"
            if info.matrix is None:
                drawn = evaluator.program.sources[streams.streams[info.stream].source]
                stored = drawn.parts[info.part].stored
                kind = "table, read while it is used," if stored else "drawn"
            made = " (collected from the scenarios)" if info.position < 0 else ""
            lines.append(f"  {kind} '{info.name}', {info.width} columns{made}")
    for average in part.averages:
        rows = len(set(average.targets.tolist()))
        name = streams.fields[average.field].name
        lines.append(f"  linear in '{name}': {average.indices.size} coefficients in {rows} rows")
    for product in part.products:
        name = streams.fields[product.field].name
        lines.append(
            f"  linear in products with '{name}': {len(product.factors)} rows of "
            f"{product.indices.size} coefficients"
        )
    for block in part.blocks:
        nonlinear = sum(v.op not in ("x", "k", "d", "num") for v in block.graph.values())
        if block.size:
            rows = len(set(block.roots[0].targets.tolist()))
            what = f"group of {block.size} equal terms in {rows} functions"
        elif block.roots:
            what = f"terms of their own in {len(block.roots)} functions"
        else:
            continue
        lines.append(f"  {what}, {nonlinear} operations")
    cost = evaluator.costs[part.stream]
    lines.append(
        f"  about {cost.statements} array operations, {cost.per_row} elementary ones per row"
    )
    return lines
