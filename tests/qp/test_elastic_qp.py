"""One suite for all methods of the elastic QP: equality step, Newton, active set, interior."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse

from pyomo_stochsqp.kkt import REGISTRY, KKTPattern, importable, make_backend
from pyomo_stochsqp.oracle import Jacobian, Problem
from pyomo_stochsqp.qp.elastic_qp import SHORTCUTS, ElasticQP
from tests.qp.qp_cases import KINDS, Case, assert_optimal, dual_value, random_case

#: everything, and the fallback alone
METHODS = {"combined": SHORTCUTS, "interior": ()}


@pytest.fixture(autouse=True)
def _no_warnings():
    """Numerical trouble is a status; it must not show as a NumPy warning either."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("shortcuts", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
@pytest.mark.parametrize("kind", KINDS)
def test_random_programs(kind, full, shortcuts):
    for seed in range(50):
        case = random_case(1000 * KINDS.index(kind) + seed, kind, full)
        solution = case.solve(shortcuts=shortcuts)
        assert_optimal(case, solution)
        if not full:
            value = case.objective(solution.d)
            assert value - dual_value(case, solution.y) <= 1e-7 * (1 + abs(value)), seed


def test_objective_against_a_qp_library():
    highspy = pytest.importorskip("highspy")
    compared = 0
    for seed in range(48):
        case = random_case(seed, full=seed % 2 == 1, n=2 + seed % 9)
        reference = highs_value(highspy, case)
        if reference is not None:
            value = case.objective(case.solve().d)
            assert value == pytest.approx(reference, rel=1e-6, abs=1e-6)
            compared += 1
    assert compared >= 40


def highs_value(highspy, case):
    """The optimal value by HiGHS, with the elastic variables written out; None if it gives up."""
    n, m, inf = case.n, case.m, highspy.kHighsInf
    matrix = sparse.csc_matrix(np.hstack((case.J, -np.eye(m), np.eye(m))))
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n + 2 * m, m
    lp.col_cost_ = np.r_[case.g, np.full(2 * m, case.rho)]
    lp.col_lower_ = np.r_[np.maximum(case.l, -inf), np.zeros(2 * m)]
    lp.col_upper_ = np.r_[np.minimum(case.u, inf), np.full(2 * m, inf)]
    lp.row_lower_, lp.row_upper_ = np.maximum(case.a, -inf), np.minimum(case.b, inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = matrix.indptr, matrix.indices
    lp.a_matrix_.value_ = matrix.data
    lower = sparse.csc_matrix(np.tril(np.diag(case.H) if case.H.ndim == 1 else case.H))
    hessian = highspy.HighsHessian()
    hessian.dim_, hessian.format_ = n + 2 * m, highspy.HessianFormat.kTriangular
    hessian.start_ = np.r_[lower.indptr, np.full(2 * m, lower.nnz)]
    hessian.index_, hessian.value_ = lower.indices, lower.data
    model = highspy.HighsModel()
    model.lp_, model.hessian_ = lp, hessian
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("time_limit", 2.0)
    solver.setOptionValue("qp_regularization_value", 0.0)
    solver.passModel(model)
    solver.run()
    optimal = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return solver.getInfo().objective_function_value if optimal else None


@pytest.mark.parametrize("name", [name for name in REGISTRY if importable(name)])
def test_every_back_end(name):
    for seed in range(24):
        case = random_case(seed)
        assert_optimal(case, case.solve(backend=name))
        assert_optimal(case, case.solve(backend=name, shortcuts=()))


def case_of(n=3, m=0, **changes):
    """Nothing but an objective, unless told."""
    rng = np.random.default_rng(n + 7 * m)
    parts = {
        "g": rng.standard_normal(n),
        "H": rng.uniform(0.5, 2.0, n),
        "J": rng.standard_normal((m, n)),
        "a": np.full(m, -np.inf),
        "b": np.full(m, np.inf),
        "l": np.full(n, -np.inf),
        "u": np.full(n, np.inf),
        "rho": 100.0,
    }
    return Case(**{**parts, **changes})


@pytest.mark.parametrize("shortcuts", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("m", [0, 2], ids=["no rows", "free rows"])
def test_nothing_binds(m, shortcuts):
    case = case_of(m=m)
    assert case.solve(shortcuts=shortcuts).d == pytest.approx(-case.g / case.H, rel=1e-12)
    A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 3.0]])
    full = case_of(m=m, H=A)
    assert full.solve(shortcuts=shortcuts).d == pytest.approx(-np.linalg.solve(A, full.g))


def test_bounds_only_is_a_clip():
    case = case_of(n=4, l=np.array([-0.1, 0.0, -np.inf, 0.0]), u=np.array([0.1, 0.0, 0.0, np.inf]))
    solution = case.solve()
    assert (solution.d == np.clip(-case.g / case.H, case.l, case.u)).all()
    assert solution.method == "clip"
    assert_optimal(case, solution)


@pytest.mark.parametrize("shortcuts", METHODS.values(), ids=METHODS)
def test_fixed_variables_and_rows_they_decide(shortcuts):
    J = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    still = np.array([0.0, 0.0, -1.0]), np.array([0.0, 0.0, 1.0])
    case = case_of(m=3, J=J, a=np.array([1.0, 0.0, 0.0]), b=np.array([2.0, 0.0, 0.0]),
                   l=still[0], u=still[1])  # fmt: skip
    solution = case.solve(shortcuts=shortcuts)
    assert_optimal(case, solution)
    assert (solution.d[:2] == 0.0).all()
    assert solution.left == pytest.approx(1.0)
    assert solution.y[0] == -case.rho  # a row that nothing can satisfy pulls as hard as it may


@pytest.mark.parametrize("shortcuts", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
def test_duplicated_equalities(full, shortcuts):
    row = np.array([1.0, 1.0, 1.0])
    H = np.diag([1.0, 2.0, 3.0]) + 0.1 if full else np.array([1.0, 2.0, 3.0])
    consistent = case_of(m=3, H=H, J=np.array([row, row, -2 * row]),
                         a=np.array([1.0, 1.0, -2.0]), b=np.array([1.0, 1.0, -2.0]))  # fmt: skip
    single = case_of(m=1, H=H, g=consistent.g, J=row[None, :], a=np.ones(1), b=np.ones(1))
    solution = consistent.solve(shortcuts=shortcuts)
    assert_optimal(consistent, solution)
    assert solution.d == pytest.approx(single.solve().d, abs=1e-9)
    torn = case_of(m=2, H=H, J=np.array([row, row]), a=np.array([1.0, 1.5]), b=np.array([1.0, 1.5]))
    solution = torn.solve(shortcuts=shortcuts)
    assert_optimal(torn, solution)
    assert solution.left == pytest.approx(0.5)  # whatever lies between the two costs the same


def test_equality_step_is_the_kkt_step():
    case = case_of(n=6, m=3, a=np.zeros(3), b=np.zeros(3))
    pattern = KKTPattern.full(6, 3)
    backend = make_backend(pattern, "dense")
    backend.factorise(case.H, case.J.ravel())
    step = backend.solve(-case.g, case.a)
    solution = case.solve(backend="dense")
    assert solution.method == "equality"
    assert (solution.d == step.d).all() and (solution.y == step.y).all()
    # with a bound in its way, or a limit below its multipliers, it is not the solution
    bounded = case_of(n=6, m=3, a=np.zeros(3), b=np.zeros(3), l=np.full(6, -0.1), u=np.full(6, 0.1))
    limited = case_of(n=6, m=3, a=np.ones(3), b=np.ones(3), rho=1e-3)
    for other in (bounded, limited):
        solution = other.solve()
        assert solution.method != "equality"
        assert_optimal(other, solution)


@pytest.mark.parametrize("full", [False, True], ids=["diagonal", "full"])
def test_warm_start_follows_a_changing_program(full):
    """A drifting program: the same solutions as from scratch, mostly in one or two steps."""
    case = random_case(3, "feasible", full, n=40, m=20)
    rng = np.random.default_rng(0)
    engine, warm, steps = case.engine(), None, []
    for _ in range(30):
        case.g = case.g + 0.01 * rng.standard_normal(40)
        solution = case.solve(engine, warm)
        assert_optimal(case, solution)
        scratch = case.solve(shortcuts=())
        assert solution.d == pytest.approx(scratch.d, abs=1e-8 * (1 + np.abs(scratch.d).max()))
        warm = solution.warm_start()
        steps.append(solution.iterations)
        assert len(steps) == 1 or solution.method == ("active_set" if full else "newton")
    assert np.mean(steps[1:]) <= 3


def test_limits_change_with_rho():
    """One engine, several rho, as in the merit parameter's test: a warm start beyond its limit."""
    case = random_case(1, "infeasible", n=20, m=15)
    engine, warm = case.engine(), None
    for case.rho in (1e4, 1.0, 1e2, 1e-2, 1e4):
        solution = case.solve(engine, warm)
        assert_optimal(case, solution)
        warm = solution.warm_start()


def test_multipliers_of_very_different_size():
    """Curvature over eight orders of magnitude, rows over four."""
    for seed in range(60):
        case = random_case(seed, KINDS[seed % 2])
        rng = np.random.default_rng(seed)
        case.H = 10 ** rng.uniform(-4, 4, case.n)
        case.J *= 10 ** rng.uniform(-2, 2, (case.m, 1))
        solution = case.solve()
        assert solution.status == "solved"
        value = case.objective(solution.d)
        assert value - dual_value(case, solution.y) <= 1e-6 * (1 + abs(value))


def test_tiny_programs():
    """Near the end of a run constraint values and steps are tiny, gradients are not."""
    for seed in range(60):
        case = random_case(seed, ("feasible", "degenerate")[seed % 2])
        case.a, case.b = 1e-9 * case.a, 1e-9 * case.b
        solution = case.solve()
        assert (solution.d >= case.l).all() and (solution.d <= case.u).all()
        # a violation of 1e-8, one in 1e11 of what rows and gradients allow, is as good as none
        gap = case.objective(solution.d) - dual_value(case, solution.y)
        assert gap <= 1e-8 * (1 + case.rho)


def test_dense_quasi_newton_matrix():
    case = random_case(5, "feasible", full=True, n=300, m=120)
    for shortcuts in METHODS.values():
        assert_optimal(case, case.solve(shortcuts=shortcuts))


def test_sparse_hessian_values():
    """The upper triangle of a tridiagonal H, as values on the KKT pattern."""
    n, m = 30, 12
    case = random_case(11, "feasible", n=n, m=m)
    case.H = np.diag(np.full(n, 2.0)) - 0.9 * (np.eye(n, k=1) + np.eye(n, k=-1))
    upper = sparse.csc_array(np.triu(case.H))
    p = case.problem()
    pattern = KKTPattern(n, m, p.jac_indptr, p.jac_indices, upper.indptr, upper.indices)
    engine = ElasticQP(p, make_backend(pattern, "ldl"), Jacobian(p), pattern)
    solution = engine.solve(case.g, upper.data, np.zeros(m), case.J.ravel(), case.l, case.u,
                            case.rho)  # fmt: skip
    assert_optimal(case, solution)
    with pytest.raises(ValueError, match="pattern"):
        ElasticQP(p, make_backend(pattern, "ldl"), Jacobian(p)).solve(
            case.g, upper.data, np.zeros(m), case.J.ravel(), case.l, case.u, case.rho
        )


@pytest.mark.parametrize("where", ["g", "J", "a"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_give_a_status(where, value):
    case = case_of(n=3, m=2, b=np.ones(2), l=np.full(3, -1.0))
    engine = case.engine()
    c = np.zeros(2)
    target = {"g": case.g, "J": case.J, "a": c}[where]
    target.flat[0] = value
    solution = engine.solve(case.g, case.H, c, case.J.ravel(), case.l, case.u, case.rho)
    assert solution.status == "failed"
    assert (solution.d == 0.0).all()
    assert solution.warm_start() is None


def test_indefinite_hessian_gives_a_status():
    indefinite = np.diag([1.0, -1.0, 1.0])
    case = case_of(n=3, m=1, b=np.zeros(1), H=indefinite, l=np.full(3, -1.0), u=np.ones(3))
    assert case.solve().status != "solved"


def banded(n, m, seed=0):
    """(Problem, J, g): five neighbouring variables in each row, a third of the rows equalities."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(m), 5)
    columns = np.sort(
        (np.minimum(np.arange(m) * n // m, n - 5)[:, None] + np.arange(5)).ravel().reshape(m, 5)
    ).ravel()
    J = sparse.csr_array((rng.standard_normal(5 * m), (rows, columns)), shape=(m, n))
    l = np.where(rng.random(n) < 0.5, -rng.random(n), -np.inf)
    u = np.where(rng.random(n) < 0.5, rng.random(n), np.inf)
    w = J @ np.clip(0.2 * rng.standard_normal(n), l, u)
    kind = rng.integers(0, 3, m)
    problem = Problem(
        x0=np.zeros(n),
        x_lower=l,
        x_upper=u,
        row_lower=np.where(kind == 1, -np.inf, w),
        row_upper=np.where(kind == 2, np.inf, w),
        jac_indptr=J.indptr.astype(np.intp),
        jac_indices=J.indices.astype(np.intp),
        exact_rows=np.ones(m, dtype=bool),
    )
    return problem, J, rng.standard_normal(n)


@pytest.mark.parametrize(
    ("n", "m", "seconds"),
    [(2000, 1000, 10.0), pytest.param(20000, 10000, 120.0, marks=pytest.mark.slow)],
)
def test_large_and_sparse(n, m, seconds):
    problem, J, g = banded(n, m)
    pattern = KKTPattern(n, m, problem.jac_indptr, problem.jac_indices)
    engine = ElasticQP(problem, make_backend(pattern), Jacobian(problem))
    start = time.perf_counter()
    rng = np.random.default_rng(1)
    warm = None
    for _ in range(4):
        solution = engine.solve(
            g, 1.0, np.zeros(m), J.data, problem.x_lower, problem.x_upper, 1e4, warm
        )
        assert solution.status == "solved"
        assert solution.qp.residual(solution.d, solution.y) <= 1e-9
        assert solution.left <= 1e-8 * np.sqrt(m)
        warm = solution.warm_start()
        g = g + 1e-3 * rng.standard_normal(n)
    assert solution.method == "newton"
    assert time.perf_counter() - start < seconds
