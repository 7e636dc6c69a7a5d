r"""Reverse sweep: all first derivatives of one value, as new values of the same graph.

    adjoint(root) = 1,     adjoint(a) += adjoint(v) * dv/da   for every v that uses a,

visited in the reverse order of evaluation. Because the derivatives are values of the graph, they
share everything with the function and with each other, and can be differentiated again.

The adjoint of a value that differs from row to row stands under a mean: with v = mean(p) and p a
function of x,

    adjoint(p) = adjoint(v) in every row,     adjoint(x) = mean(adjoint(p) * dp/dx),

so a mean is formed where the sweep passes from a batched value to one that is not. For a leaf that
itself differs from row to row (an affine form z = sum_j w_j x_j with random w) it is not formed
here: code for  mean(adjoint(z) * w)  is written as one matrix product instead.
"""

from __future__ import annotations

from heapq import heappop, heappush

from .partials import partials
from .values import Graph, Val


def gradient(graph: Graph, root: Val, average: bool = True) -> dict[Val, Val]:
    """leaf -> derivative of ``root``. For a batched leaf the derivative still awaits its mean; for
    any leaf if ``average`` is False (derivatives of one row)."""
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
            if average and v.batched and not a.batched:
                contribution = graph.mean(contribution)
            if a in adjoint:
                adjoint[a].append(contribution)
            else:
                adjoint[a] = [contribution]
                heappush(heap, (-a.index, a))
    return leaves


def _contributions(graph: Graph, v: Val, seed: Val) -> list[tuple[Val, Val]]:
    if v.op == "mean":
        return [(v.args[0], seed)]
    if v.op == "lit":
        return [(v.args[0], graph.scale(v.payload, seed))]
    if v.op == "add":
        return [(a, seed) for a in v.args if a.x]
    if v.op == "recip":
        # in this order: v*v may vanish where seed*v does not, and is often known
        return [(v.args[0], graph.scale(-1.0, graph.mul(graph.mul(seed, v), v)))]
    return [(a, graph.mul(seed, d)) for a, d in partials(graph, v)]
