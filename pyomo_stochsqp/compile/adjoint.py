r"""Reverse sweep: all first derivatives of one value, as new values of the same graph.

    adjoint(root) = 1,     adjoint(a) += adjoint(v) * dv/da   for every v that uses a,

visited in the reverse order of evaluation. Because the derivatives are values of the graph, they
share everything with the function and with each other, and can be differentiated again.

Under a mean the sweep is run on one row and averaged: with v = mean(p),

    dv/dx = mean(dp/dx) .

For a leaf that itself differs from row to row (an affine form z = sum_j w_j x_j with random w) the
average is not taken here: code for  mean(dp/dz * w)  is written as one matrix product instead.
"""

from __future__ import annotations

from heapq import heappop, heappush

from .graph import Graph, Val


def gradient(graph: Graph, root: Val) -> dict[Val, Val]:
    """leaf -> derivative of ``root``. For a batched leaf the derivative still awaits its mean."""
    adjoint: dict[Val, list[Val]] = {root: [graph.number(1.0)]}
    heap = [(-root.index, root)]
    leaves: dict[Val, Val] = {}
    # No two values have the same index, so the heap never compares values.
    while heap:
        v = heappop(heap)[1]
        seed = graph.add(*adjoint.pop(v))
        if not v.x:
            continue
        if not v.args:
            leaves[v] = seed
            continue
        for a, contribution in _contributions(graph, v, seed):
            if a in adjoint:
                adjoint[a].append(contribution)
            else:
                adjoint[a] = [contribution]
                heappush(heap, (-a.index, a))
    return leaves


def _contributions(graph: Graph, v: Val, seed: Val) -> list[tuple[Val, Val]]:
    if v.op == "lit":
        return [(v.args[0], graph.scale(v.payload, seed))]
    if v.op == "add":
        return [(a, seed) for a in v.args if a.x]
    if v.op == "mean":
        inner = gradient(graph, v.args[0])
        return [
            (leaf, graph.mul(seed, d if leaf.batched else graph.mean(d)))
            for leaf, d in inner.items()
        ]
    return [(a, graph.mul(seed, d)) for a, d in graph.partials(v)]
