r"""Local derivatives: dv/da for every operation v of the graph and each of its arguments a.

Functions defined only on part of the line must not get a finite derivative outside of it, because
the algorithm asks for gradients of the objective without its value: 1/a continues the derivative of
log(a) to negative a. So where a is not known to be positive, 1/a is written 1/(sqrt(a))^2, which is
not a number there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .values import Graph, Val

Rule = Callable[[Graph, Val, Val], Val]


def partials(graph: Graph, v: Val) -> list[tuple[Val, Val]]:
    """(argument, derivative of v with respect to it) for the arguments that hold variables."""
    op, args = v.op, v.args
    if op in ("mul", "mix"):
        a, b = args
        if a is b:
            return [(a, graph.scale(2.0, a))]
        return [(s, t) for s, t in ((a, b), (b, a)) if s.x]
    if op == "raise":
        return [(args[1], graph.scale(v.payload, args[0]))]
    if op == "pow":
        return _power(graph, v, *args)
    if op == "powlog1":
        return _powlog(graph, *args)
    if op == "falling1":
        return [(args[0], graph.function("falling2", *args))]
    if op == "lse":
        return [(a, graph.function("exp", graph.sub(a, v))) for a in args if a.x]
    return [(args[0], _RULES[op](graph, v, args[0]))]


def _power(graph: Graph, v: Val, a: Val, b: Val) -> list[tuple[Val, Val]]:
    """a ** b. Where a = 0, a factor that is 0 counts for more than one that is infinite:

    falling1 = b a^(b-1),  falling2 = b (b-1) a^(b-2),   0 where the factors of b are 0
    powlog1 = a^b log(a),  powlog2 = a^b log(a)^2,       0 where a^b is 0
    """
    result = []
    if a.x and not b.x:
        if b.op == "num" and b.payload < 1.0:
            result.append((a, graph.mul(b, graph.mul(v, graph.reciprocal(a)))))
        else:
            result.append((a, graph.function("falling1", a, b)))
    elif a.x:
        result.append((a, graph.mul(b, graph.pow(a, _less_one(graph, b)))))
    if b.x:
        if a.op == "num" and a.payload > 0:
            result.append((b, graph.scale(math.log(a.payload), v)))
        else:
            result.append((b, graph.function("powlog1", a, b)))
    return result


def _powlog(graph: Graph, a: Val, b: Val) -> list[tuple[Val, Val]]:
    """a^b log(a)."""
    result = []
    if a.x:
        less = _less_one(graph, b)
        slope = graph.mul(b, graph.function("powlog1", a, less))
        result.append((a, graph.add(slope, graph.pow(a, less))))
    if b.x:
        result.append((b, graph.function("powlog2", a, b)))
    return result


def _less_one(graph: Graph, b: Val) -> Val:
    return graph.add(b, graph.number(-1.0))


def nonnegative(v: Val) -> bool:
    """Whether a value is certainly not negative."""
    op, args = v.op, v.args
    if op == "num":
        return v.payload >= 0.0
    if op in ("exp", "cosh", "sqrt", "softplus", "expit", "abs"):
        return True
    if op == "lit":
        return v.payload > 0.0 and nonnegative(args[0])
    if op == "raise":
        return v.payload % 2.0 == 0.0 or nonnegative(args[1])
    if op in ("mul", "mix"):
        return args[0] is args[1] or (nonnegative(args[0]) and nonnegative(args[1]))
    if op == "add":
        return all(nonnegative(a) for a in args)
    return op in ("recip", "mean") and nonnegative(args[0])


def positive(v: Val) -> bool:
    """Whether a value is certainly positive."""
    if v.op == "num":
        return v.payload > 0.0
    if v.op == "add":
        return nonnegative(v) and any(positive(a) for a in v.args)
    return v.op in ("exp", "cosh", "softplus", "expit")


def positive_reciprocal(graph: Graph, a: Val) -> Val:
    """1/a where a is positive, and NaN where it is negative."""
    if positive(a):
        return graph.reciprocal(a)
    root = graph.function("sqrt", a)
    return graph.reciprocal(graph.mul(root, root))


def _one_plus(graph: Graph, a: Val) -> Val:
    return graph.add(graph.number(1.0), a)


def _one_minus(graph: Graph, a: Val) -> Val:
    return graph.sub(graph.number(1.0), a)


def _between_ones(graph: Graph, a: Val) -> Val:
    """(1-a)(1+a): keeps the digits that 1-a*a loses near |a| = 1."""
    return graph.mul(_one_minus(graph, a), _one_plus(graph, a))


def _acosh(graph: Graph, v: Val, a: Val) -> Val:
    left = graph.function("sqrt", graph.add(a, graph.number(-1.0)))
    right = graph.function("sqrt", _one_plus(graph, a))
    return graph.reciprocal(graph.mul(left, right))


def _asin(graph: Graph, v: Val, a: Val) -> Val:
    return graph.reciprocal(graph.function("sqrt", _between_ones(graph, a)))


def _asinh(graph: Graph, v: Val, a: Val) -> Val:
    """1/sqrt(1 + a^2), for any a whose square is too large for a number, too."""
    return graph.reciprocal(graph.function("cosh", v))


_RULES: dict[str, Rule] = {
    # 0, or not a number
    "zero": lambda graph, v, a: v,
    "exp": lambda graph, v, a: v,
    "log": lambda graph, v, a: positive_reciprocal(graph, a),
    "log10": lambda graph, v, a: graph.scale(1 / math.log(10.0), positive_reciprocal(graph, a)),
    "sqrt": lambda graph, v, a: graph.scale(0.5, graph.reciprocal(v)),
    "sin": lambda graph, v, a: graph.function("cos", a),
    "cos": lambda graph, v, a: graph.scale(-1.0, graph.function("sin", a)),
    "tan": lambda graph, v, a: _one_plus(graph, graph.mul(v, v)),
    "asin": _asin,
    "acos": lambda graph, v, a: graph.scale(-1.0, _asin(graph, v, a)),
    "atan": lambda graph, v, a: graph.reciprocal(_one_plus(graph, graph.mul(a, a))),
    "sinh": lambda graph, v, a: graph.function("cosh", a),
    "cosh": lambda graph, v, a: graph.function("sinh", a),
    "tanh": lambda graph, v, a: _between_ones(graph, v),
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": lambda graph, v, a: positive_reciprocal(graph, _between_ones(graph, a)),
    "softplus": lambda graph, v, a: graph.function("expit", a),
    "expit": lambda graph, v, a: graph.mul(v, _one_minus(graph, v)),
}
