"""Random expression trees against Pyomo's own derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.calculus.derivatives import Modes, differentiate

from pyomo_stochsqp import E, RandomParam
from pyomo_stochsqp.compile import compile_program, plan
from pyomo_stochsqp.compile.algebra import affine_parts as affine
from pyomo_stochsqp.compile.graph import tape
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.declare.program import Batch
from tests.compile.trees import ByExponentials, TreeMaker

N_X, N_W, N_P, ROWS = 5, 4, 3, 3


def _model(seed: int, random: bool, trees: int, data: Any) -> Any:
    m = pyo.ConcreteModel()
    rng = np.random.default_rng(seed)
    m.x = pyo.Var(range(N_X), initialize=lambda m, j: float(rng.normal()))
    if random:
        m.w = RandomParam(range(N_W), data=data)
    else:
        m.w = pyo.Param(range(N_W), mutable=True, initialize=0.0)
    m.p = pyo.Param(range(N_P), mutable=True, initialize=lambda m, j: float(rng.normal()))
    maker = TreeMaker(seed, m.x, m.w, m.p, m, pyo if random else ByExponentials)
    depth = int(maker.rng.integers(1, 5))
    # The extra terms keep every tree dependent on x and on random data.
    return m, [maker.tree(depth) + m.x[0] * (t + m.w[0]) for t in range(trees)]


def _by_pyomo(
    seed: int, trees: int, data: Any, rows: Any, weights: Any, program: Any
) -> tuple[Any, Any]:
    """(values, derivatives) of all trees, averaged over the rows."""
    ref, expressions = _model(seed, False, trees, data)
    index = {v.name: j for j, v in enumerate(program.variables)}
    names = [v for v in ref.x.values() if v.name in index]
    share = np.full(ROWS, 1 / ROWS) if weights is None else weights
    totals = np.zeros(trees)
    jacobian = np.zeros((trees, len(index)))
    for t, e in enumerate(expressions):
        factor = ref.x[1] if t and seed % 3 else (2.0 if t else 1.0)
        e = e * factor
        for row, share_of_row in zip(rows, share, strict=True):
            for k in range(N_W):
                ref.w[k] = float(data[row, k])
            totals[t] += share_of_row * pyo.value(e)
            d = differentiate(e, wrt_list=names, mode=Modes.reverse_numeric)
            for v, dv in zip(names, d, strict=True):
                jacobian[t, index[v.name]] += share_of_row * dv
    return totals, jacobian


def check(seed: int, trees: int = 3) -> bool:
    """Compares one model; False if Pyomo cannot evaluate it."""
    data = np.random.default_rng(seed + 1).normal(size=(6, N_W))
    m, (objective, *bodies) = _model(seed, True, trees, data)
    m.obj = pyo.Objective(expr=E(objective), sense=pyo.minimize if seed % 2 else pyo.maximize)
    m.con = pyo.Constraint(
        range(len(bodies)), rule=lambda m, i: E(bodies[i]) * (m.x[1] if seed % 3 else 2.0) == 0
    )
    program = read_model(m)
    evaluator = compile_program(program, jit=False)
    x = np.array([v.value for v in program.variables])
    rows = np.random.default_rng(seed + 2).integers(0, 6, ROWS)
    weights = None if seed % 5 else np.array([0.5, 0.2, 0.3])
    batches = [Batch(ROWS, (rows,), weights)] * len(program.sources)
    estimate = evaluator.evaluate(x, batches, objective=True)

    try:
        totals, jacobian = _by_pyomo(seed, trees, data, rows, weights, program)
    except OverflowError:
        return False  # Pyomo's own evaluation overflows, as in exp(u)/(1 + exp(u)) for large u
    sign = program.sign
    assert estimate.issue is None
    plain = evaluator.evaluate(x, batches)
    assert plain.f is None and plain.issue is None
    for name in ("g", "c", "J"):
        values = getattr(estimate, name)
        scale = 1.0 + np.abs(values).max(initial=0.0)
        np.testing.assert_allclose(getattr(plain, name), values, rtol=1e-11, atol=1e-13 * scale)
    dense = np.zeros((trees - 1, evaluator.n))
    for i in range(trees - 1):
        at = slice(evaluator.jac_indptr[i], evaluator.jac_indptr[i + 1])
        dense[i, evaluator.jac_indices[at]] = estimate.J[at]
    scale = 1.0 + np.abs(jacobian).max()
    np.testing.assert_allclose(estimate.g, sign * jacobian[0], rtol=1e-10, atol=1e-11 * scale)
    np.testing.assert_allclose(dense, jacobian[1:], rtol=1e-10, atol=1e-11 * scale)
    np.testing.assert_allclose(estimate.c, totals[1:], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(estimate.f, sign * totals[0], rtol=1e-10, atol=1e-11)
    return True


def run(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three trees per seed, with every combination of groups and matrix products."""
    compared = 0
    for seed in seeds:
        monkeypatch.setattr(plan, "GROUP", [4, 1, 2][seed % 3])
        monkeypatch.setattr(affine, "LONG", [7, 2][seed % 2])
        monkeypatch.setattr(tape, "INNER", [8, 2][seed % 5 > 2])
        compared += check(seed)
    assert compared >= 0.98 * len(seeds)


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_trees(start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,200 trees."""
    run(range(start, start + 50), monkeypatch)


@pytest.mark.slow
def test_many_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 trees."""
    run(range(1000, 7700), monkeypatch)
