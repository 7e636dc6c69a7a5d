"""Draws the pictures of the documentation: python docs/make_figures.py [names]

Every picture is made from a run of the solver or of a script in examples/. Needs matplotlib.
"""

import importlib.util
import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pyomo.environ as pyo
from scipy import stats

import pyomo_stochsqp

HERE = Path(__file__).parent
OUT = HERE / "figures"
BLUE, RED, GREEN, GREY, DARK = "#1f5fa8", "#b5482a", "#3f7f4f", "#999999", "#333333"
FIGURES = {}

plt.rcParams.update(
    {
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": GREY,
        "axes.labelcolor": DARK,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": "#e4e4e4",
        "grid.linewidth": 0.6,
        "font.size": 9,
        "legend.frameon": False,
        "legend.fontsize": 8,
        "xtick.color": DARK,
        "ytick.color": DARK,
        "lines.linewidth": 1.5,
        "svg.hashsalt": "pyomo_stochsqp",
    }
)


def figure(width=7.0, height=3.0, panels=1, suffix="png"):
    """Registers a function of axes under its name."""

    def register(draw):
        def make():
            picture, axes = plt.subplots(1, panels, figsize=(width, height), layout="constrained")
            draw(*np.atleast_1d(axes))
            path = OUT / f"{draw.__name__}.{suffix}"
            metadata = {"Date": None} if suffix == "svg" else None
            picture.savefig(path, dpi=140, metadata=metadata)
            plt.close(picture)

        FIGURES[draw.__name__] = make
        return draw

    return register


def example(name):
    """A script of examples/ as a module."""
    path = HERE.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def solve_alone(model, **options):
    """The results of a model with Recourse, whose runs have no callbacks."""
    return pyo.SolverFactory("stochsqp").solve(model, **{"seed": 1, **options})


def solve(model, **options):
    """Solve, and return (samples, point) of every iteration beside the results."""
    path = []
    options.setdefault("seed", 1)
    results = pyo.SolverFactory("stochsqp").solve(
        model, callback=lambda s: path.append((s.samples, s.vector.copy())) and False, **options
    )
    return results, np.array([p[0] for p in path]), np.array([p[1] for p in path])


# ---------------------------------------------------------------------------------------- README


@figure(7.6, 3.0, panels=2, suffix="svg")
def demo(left, right):
    exact = math.sqrt(3) - 1
    m = example("exponential_tilting").build()
    results, _, x = solve(m, seed=1, tol_feas=1e-5, tol_opt=1e-5)
    stage = results.history["stage"]
    left.axhline(exact, color=GREY, linewidth=1.0, label=r"exact, $\sqrt{3} - 1$")
    left.plot(np.arange(1, len(x) + 1), x[:, 0], "o-", color=BLUE, markersize=3, label="iterates")
    for k in np.flatnonzero(np.diff(stage)) + 1:
        left.axvline(k + 0.5, color=GREY, linestyle=":", linewidth=0.8)
    left.set(xlabel="iteration (dotted: a larger sample)", ylabel="x")
    left.legend(loc="lower right")
    c = results.certificates
    samples = np.append(c["samples"], c["samples"][-1])
    errors = [abs(p[0] - exact) for p in points_at(results, x)] + [abs(m.x.value - exact)]
    right.loglog(c["samples"], c["relative_displacement"], "o-", color=RED, markersize=3,
                 label="certified bound of x")  # fmt: skip
    right.loglog(samples, errors, "o", color=BLUE, markersize=3, label="|x - exact|")
    right.set(xlabel="scenarios drawn")
    right.legend(loc="lower left")


def points_at(results, x):
    """The iterate that stood when each certificate was made."""
    k = results.certificates["iteration"].astype(int)
    return x[np.maximum(k, 1) - 1]


# -------------------------------------------------------------------------------------- tutorial


def newsvendor(service=None, data=None):
    """The model of the tutorial."""
    from pyomo_stochsqp import E, RandomParam, positive_part

    m = pyo.ConcreteModel("newsvendor")
    m.q = pyo.Var(initialize=80.0)
    if data is None:
        m.demand = RandomParam(distribution=stats.norm(100, 20))
    else:
        m.demand = RandomParam(data=data)
    short = positive_part(m.demand - m.q)
    m.cost = pyo.Objective(expr=2 * m.q + E(5 * short))
    if service is not None:
        m.service = pyo.Constraint(expr=E(short) <= service)
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    return m


def shortage(q):
    """E[(D - q)+] for D ~ N(100, 20^2)."""
    z = (q - 100.0) / 20.0
    return 20.0 * (stats.norm.pdf(z) - z * stats.norm.sf(z))


@figure(7.0, 3.0, panels=2)
def tutorial_cost(left, right):
    q = np.linspace(60, 140, 200)
    cost = 2 * q + 5 * shortage(q)
    exact = stats.norm.ppf(0.6, 100, 20)
    m = newsvendor()
    _, _, x = solve(m, seed=1)
    left.plot(q, cost, color=BLUE, label="expected cost")
    left.plot(m.q.value, 2 * m.q.value + 5 * shortage(m.q.value), "o", color=RED, label="found")
    left.axvline(100, color=GREY, linestyle=":", label="mean demand")
    left.set(xlabel="order q", ylabel="cost")
    left.legend()
    right.axhline(exact, color=GREY, linewidth=1.0, label="60 % quantile")
    right.plot(
        range(len(x) + 1), [80.0, *x[:, 0]], "o-", color=BLUE, markersize=3, label="iterates"
    )
    right.set(xlabel="iteration", ylabel="order q")
    right.legend()


@figure(7.0, 3.0, panels=2)
def tutorial_service(left, right):
    limits = np.linspace(1.0, 6.0, 9)
    orders, duals = [], []
    for limit in limits:
        m = newsvendor(service=float(limit))
        solve(m, seed=1)
        orders.append(m.q.value)
        duals.append(m.dual[m.service])
    q = np.linspace(100, 140, 200)
    left.plot(shortage(q), q, color=GREY, label="exact, where the limit binds")
    left.plot(limits, orders, "o", color=BLUE, label="found")
    left.set(xlabel="limit on the expected shortage", ylabel="order q", xlim=(0.7, 6.3))
    left.set_ylim(102, 132)
    left.legend()
    exact = np.minimum(5 - 2 / stats.norm.sf(q, 100, 20), 0.0)
    right.plot(shortage(q), exact, color=GREY, label="exact")
    right.plot(limits, duals, "o", color=RED, label="found")
    right.set(xlabel="limit on the expected shortage", ylabel="dual", xlim=(0.7, 6.3))
    right.set_ylim(-22, 2)
    right.legend(loc="lower right")


@figure(7.0, 3.0, panels=2)
def choosing(left, right):
    module = example("noisy_sphere")
    c = np.array(module.C)
    exact = -c / np.linalg.norm(c)
    names = ("monte_carlo", "antithetic", "latin_hypercube", "sobol")
    for name, colour in zip(names, (BLUE, GREEN, DARK, RED), strict=True):
        left.loglog(*accuracy(module, exact, name), "o-", markersize=3, color=colour, label=name)
    left.set(xlabel="scenarios", ylabel="distance to the answer", ylim=(1e-7, None))
    left.legend(loc="lower left")
    runs = {
        "adaptive (default)": {},
        "constant, diminishing steps": {"batch_growth": "constant"},
        "constant, beta = 1": {"batch_growth": "constant", "beta": 1.0},
    }
    for (name, options), colour in zip(runs.items(), (BLUE, RED, GREEN), strict=True):
        _, samples, x = solve(
            module.build(), algorithm="stochsqp", batch_size=64, max_iter=3000, **options
        )
        error = np.linalg.norm(x - exact, axis=1)
        right.loglog(samples, running_mean(error), color=colour, label=name)
    right.set(xlabel="scenarios")
    right.legend(loc="lower left")


def accuracy(module, exact, sampling, seeds=5, limit=4e6):
    """(scenarios, distance to the answer) of default runs, geometric means over seeds."""
    points = []
    for tolerance in (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5):
        found = []
        for seed in range(seeds):
            m = module.build()
            results = pyo.SolverFactory("stochsqp").solve(
                m, seed=seed, sampling=sampling, tol_feas=tolerance, tol_opt=tolerance,
                max_samples=limit,
            )  # fmt: skip
            x = np.array([m.x[i].value for i in m.x])
            found.append((results.samples, np.linalg.norm(x - exact)))
        points.append(np.exp(np.mean(np.log(found), axis=0)))
        if points[-1][0] > 0.5 * limit:
            break
    return np.array(points).T


def running_mean(values, window=15):
    """Geometric means over a window, so that noisy curves can be told apart."""
    logs = np.log(np.maximum(values, 1e-16))
    padded = np.concatenate([np.full(window - 1, logs[0]), logs])
    return np.exp(np.convolve(padded, np.full(window, 1.0 / window), "valid"))


def run_log():
    """The picture of results.plot()."""
    m = example("exponential_tilting").build()
    results, _, _ = solve(m, seed=1, tol_feas=1e-4, tol_opt=1e-4)
    results.plot(OUT / "run_log.png")


FIGURES["run_log"] = run_log

# --------------------------------------------------------------------------------------- gallery


@figure()
def exponential_tilting(ax):
    x = np.linspace(0, 1.1, 200)
    m = example("exponential_tilting").build()
    solve(m, seed=1)
    ax.plot(x, np.exp(x + x * x / 2), color=BLUE, label=r"$E[e^{xw}] = e^{x + x^2/2}$")
    ax.axhline(math.e, color=GREY, linestyle=":", label="e")
    w = stats.norm(1, 1).rvs((30, 256), random_state=1)
    for row in w[:12]:
        mean = np.exp(np.outer(x, row)).mean(axis=1)
        ax.plot(x, mean, color=BLUE, linewidth=0.4, alpha=0.5)
    ax.plot(m.x.value, math.e, "o", color=RED, label=f"found x = {m.x.value:.3f}")
    ax.set(xlabel="x", title="thin lines: what a batch of 256 samples sees")
    ax.legend()


@figure()
def noisy_sphere(ax):
    module = example("noisy_sphere")
    c = np.array(module.C)
    exact = -c / np.linalg.norm(c)
    for name, colour in (("monte_carlo", BLUE), ("sobol", RED)):
        ax.loglog(*accuracy(module, exact, name), "o-", markersize=4, color=colour, label=name)
    ax.set(xlabel="scenarios", ylabel=r"$\|x - x^*\|$")
    ax.legend()


def frontier(module, returns, long_only):
    risks = []
    target = module.TARGET
    for value in returns:
        module.TARGET = value
        x = module.closed_form()
        x = x if long_only else x[0]
        risks.append(np.nan if x is None else math.sqrt(x @ module.COVARIANCE @ x))
    module.TARGET = target
    return risks


@figure()
def markowitz(ax):
    module = example("markowitz")
    m = module.build()
    solve(m, seed=1)
    returns = np.linspace(0.06, 0.2, 60)
    ax.plot(frontier(module, returns, False), returns, color=BLUE, label="efficient frontier")
    ax.plot(module.DEVIATION, module.MEAN, "s", color=GREY, label="single assets")
    x = np.array([m.x[a].value for a in m.A])
    ax.plot(math.sqrt(x @ module.COVARIANCE @ x), module.MEAN @ x, "o", color=RED, label="found")
    ax.set(xlabel="standard deviation", ylabel="expected return")
    ax.legend()


@figure()
def portfolio_long_only(ax):
    module, free = example("portfolio_long_only"), example("markowitz")
    m = module.build()
    solve(m, seed=1)
    returns = np.linspace(0.06, 0.2, 60)
    ax.plot(frontier(free, returns, False), returns, color=GREY, label="short sales allowed")
    ax.plot(frontier(module, returns, True), returns, color=BLUE, label="no short sales")
    x = np.array([m.x[a].value for a in m.A])
    ax.plot(math.sqrt(x @ module.COVARIANCE @ x), module.MEAN @ x, "o", color=RED, label="found")
    ax.set(xlabel="standard deviation", ylabel="expected return")
    ax.legend()


@figure()
def euler_equation(ax):
    module = example("euler_equation")
    m = module.build()
    solve(m, seed=1, tol_feas=1e-5)
    g = np.linspace(-1, 46, 400)
    moment = module.BETA * module.R * np.exp(-0.02 * g + 0.03**2 * g * g / 2)
    ax.plot(g, moment, color=BLUE, label=r"$E[\beta R e^{-\gamma g}]$")
    ax.axhline(1.0, color=GREY, linestyle=":")
    ax.plot(m.gamma.value, 1.0, "o", color=RED, label=rf"found $\gamma$ = {m.gamma.value:.3f}")
    ax.set(xlabel=r"$\gamma$")
    ax.legend()


@figure()
def reactor_sizing(ax):
    module = example("reactor_sizing")
    m = module.build()
    solve(m)
    V = np.linspace(0, 12, 300)
    for k, style in ((1, "--"), (2, "-.")):
        ax.plot(V, k * V / (1 + k * V), style, color=GREY, linewidth=1.0, label=f"k = {k}")
    ax.plot(V, (V / (1 + V) + 2 * V / (1 + 2 * V)) / 2, color=BLUE, label="expected conversion")
    ax.axhline(0.9, color=GREY, linestyle=":")
    ax.plot(m.V.value, 0.9, "o", color=RED, label=f"found V = {m.V.value:.4f}")
    ax.set(xlabel="volume V", ylabel="conversion", ylim=(0, 1))
    ax.legend(loc="lower right")


@figure()
def covariance_steering(ax):
    module = example("covariance_steering")
    m = module.build()
    solve(m, seed=1)
    k = m.k.value
    rng = np.random.default_rng(0)
    x0, w = rng.standard_normal(20000), 0.5 * rng.standard_normal(20000)
    grid = np.linspace(-4, 4, 300)
    bins = np.linspace(-4, 4, 61)
    ax.hist(x0 + w, bins, density=True, color=GREY, alpha=0.5, label="x1 without control")
    ax.hist((1 - k) * x0 + w, bins, density=True, color=BLUE, alpha=0.5, label="x1 with u = -k x0")
    ax.plot(grid, stats.norm.pdf(grid, 0, 0.8), color=RED, label="target spread, N(0, 0.64)")
    ax.set(xlabel="x1", ylabel="density", title=f"found k = {k:.4f}")
    ax.legend()


@figure()
def kalman_gain(ax):
    module = example("kalman_gain")
    m = module.build()
    solve(m, seed=1)
    K = np.linspace(0.2, 1.2, 200)
    ax.plot(K, (1 + K**2) / (1 - (1 - K) ** 2), color=BLUE, label="steady-state variance P(K)")
    ax.plot(m.K.value, m.s.value**2, "o", color=RED, label="found")
    ax.set(xlabel="gain K", ylabel="P")
    ax.legend()


@figure()
def instrumental_variables(ax):
    module = example("instrumental_variables")
    m = module.build()
    solve(m, seed=1)
    _, x, y = module.simulate(np.random.default_rng(0), 1500).T
    ax.plot(x, y, ".", color=GREY, markersize=2, alpha=0.6)
    line = np.array([-5.0, 5.0])
    slope, intercept = np.polyfit(x, y, 1)
    ax.plot(line, 1 + 2 * line, color=BLUE, linewidth=3, alpha=0.4, label="true, 1 + 2 x")
    found = f"found, {m.t[0].value:.3f} + {m.t[1].value:.3f} x"
    ax.plot(line, m.t[0].value + m.t[1].value * line, "--", color=RED, label=found)
    least = f"least squares, {intercept:.2f} + {slope:.2f} x"
    ax.plot(line, intercept + slope * line, color=GREEN, label=least)
    ax.set(xlabel="x", ylabel="y")
    ax.legend()


@figure(panels=2)
def fair_credit(left, right):
    from scipy.special import expit

    module = example("fair_credit")
    m = module.build()
    solve(m, seed=1)
    table = module.load()
    X = np.column_stack([table[f] for f in (*module.FEATURES, "one")])
    group = table["group"] > 0
    plain, _ = module.extensive_form(fair=False)
    fair = np.array([m.t[f].value for f in m.F])
    bins = np.linspace(0, 1, 31)
    for ax, t, title in ((left, plain, "without the constraint"), (right, fair, "found, with it")):
        scores = expit(X @ t)
        for value, colour in ((False, BLUE), (True, RED)):
            part = scores[group == value]
            label = f"group {int(value)}, mean {part.mean():.3f}"
            ax.hist(part, bins, density=True, color=colour, alpha=0.45, label=label)
            ax.axvline(part.mean(), color=colour, linewidth=1.2)
        ax.set(xlabel="score", title=title, ylim=(0, 1.35 * ax.get_ylim()[1]))
        ax.legend(loc="upper left")


@figure(7.6, 2.6, panels=3)
def pde_control(*axes):
    module = example("pde_control")
    m = module.build()
    N = module.N
    solve(m, seed=1)
    y, _ = module.direct()
    found_y = np.array([m.y[i].value for i in m.I])
    found_u = np.array([m.u[i].value for i in m.I])
    pictures = (
        (found_y, "temperature y, found"),
        (found_u, "heat u, found"),
        (found_y - y, "error of y"),
    )
    for ax, (values, title) in zip(axes, pictures, strict=True):
        image = ax.imshow(values.reshape(N, N), origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
        ax.grid(False)
        ax.set_title(title, fontsize=9)
        ax.figure.colorbar(image, ax=ax, shrink=0.8)


@figure(panels=2)
def farmer(left, right):
    module = example("farmer")
    m = module.build()
    solve(m)
    crops = list(module.CROPS)
    place = np.arange(len(crops))
    left.bar(place - 0.2, [m.acres[c].value for c in crops], 0.4, color=BLUE, label="found")
    left.bar(place + 0.2, [module.ACRES[c] for c in crops], 0.4, color=GREY, label="known optimum")
    left.set_xticks(place, crops)
    left.set(ylabel="acres")
    left.legend()
    planting = sum(module.PLANTING[c] * m.acres[c].value for c in crops)
    profit = [-planting - pyo.value(m.scenario[s].cost) for s in module.WEATHER]
    right.bar(list(module.WEATHER), profit, 0.5, color=GREEN)
    right.axhline(np.mean(profit), color=RED, linestyle=":", label=f"mean {np.mean(profit):,.0f}")
    right.set(ylabel="profit", xlabel="yield")
    right.legend()


@figure(panels=2)
def newsvendor_recourse(left, right):
    module = example("newsvendor_recourse")
    m = module.build()
    pyo.SolverFactory("stochsqp").solve(m, gap=1e-4, seed=1)
    q = np.linspace(70, 150, 200)
    z = (q - module.MEAN) / module.DEVIATION
    short = module.DEVIATION * (stats.norm.pdf(z) - z * stats.norm.sf(z))
    left_over = q - module.MEAN + short
    cost = module.NOW * q + module.HURRY * short - module.LEFT * left_over
    left.plot(q, cost, color=BLUE, label="exact cost")
    left.axvline(m.stock.value, color=RED, linestyle="--", label=f"found {m.stock.value:.2f}")
    left.set(xlabel="order", ylabel="expected cost")
    left.legend()
    outcomes = pyomo_stochsqp.evaluate(m, samples=4096, seed=2).outcomes[m.cost]
    right.hist(outcomes.values, bins=50, color=BLUE, alpha=0.6)
    right.axvline(outcomes.mean, color=RED, linestyle=":", label=f"mean {outcomes.mean:.1f}")
    right.set(xlabel="cost of a day", ylabel="days")
    right.legend()


@figure(panels=2)
def lands(left, right):
    module = example("lands")
    m = module.build()
    results = pyo.SolverFactory("stochsqp").solve(m, gap=2e-5, max_samples=60_000, seed=1)
    place = np.arange(4)
    found = [m.build[i].value for i in module.PLANTS]
    left.bar(place - 0.2, found, 0.4, color=BLUE, label="found")
    left.bar(place + 0.2, module.CAPACITY, 0.4, color=GREY, label="known optimum")
    left.set_xticks(place, [f"plant {i}" for i in place])
    left.set(ylabel="capacity")
    left.legend(loc="upper left")
    h = results.history
    right.loglog(h["samples"], h["relative_gap_bound"], "o-", color=RED, markersize=3,
                 label="certified gap")  # fmt: skip
    away = np.abs(np.array(h["objective"]) / module.COST - 1)
    right.loglog(h["samples"], away, "o", color=BLUE, markersize=3, label="estimate to optimum")
    right.set(xlabel="scenarios drawn", ylabel="relative")
    right.legend()


@figure(panels=2)
def farmer_yields(left, right):
    module = example("farmer_yields")
    m = module.build()
    pyo.SolverFactory("stochsqp").solve(m, gap=1e-4, seed=1)
    acres, profit = module.exact()
    crops = list(module.CROPS)
    place = np.arange(len(crops))
    left.bar(place - 0.2, [m.acres[c].value for c in crops], 0.4, color=BLUE, label="found")
    left.bar(place + 0.2, [acres[c] for c in crops], 0.4, color=GREY, label="exact")
    left.set_xticks(place, crops)
    left.set(ylabel="acres")
    left.legend(loc="upper left")
    profits = pyomo_stochsqp.evaluate(m, samples=4000, seed=2).outcomes[m.profit].values
    right.hist(profits / 1000, bins=40, color=GREEN, alpha=0.7)
    right.axvline(profit / 1000, color=RED, linestyle=":", label=f"mean {profit:,.0f}")
    right.set(xlabel="profit in thousands", ylabel="scenarios")
    right.legend()


@figure()
def unit_commitment(ax):
    module = example("unit_commitment")
    m = module.build()
    pyo.SolverFactory("stochsqp").solve(m, gap=1e-3, seed=1)
    colours = dict(zip(module.STATIONS, (BLUE, DARK, GREEN, RED), strict=True))
    for k, (t, forecast) in enumerate(module.FORECAST.items()):
        base = 0.0
        for i, (*_, least, most) in module.STATIONS.items():
            if m.on[i, t].value > 0.5:
                label = i if t == "evening" else None
                ax.bar(k, most, 0.5, base, color=colours[i], alpha=0.35, label=label)
                ax.bar(k, least, 0.5, base, color=colours[i], alpha=0.7)
                base += most
        low, high = forecast * (1 + module.SPREAD * stats.norm.ppf([0.05, 0.95]))
        ax.errorbar(k + 0.35, forecast, [[forecast - low], [high - forecast]], fmt="o",
                    color="black", capsize=4, label="load" if k == 0 else None)  # fmt: skip
    ax.set_xticks(range(3), list(module.FORECAST))
    ax.set(ylabel="power (dark: least output)", xlim=(-0.6, 3.4))
    ax.legend(loc="upper right")


@figure()
def cvar(ax):
    module = example("cvar")
    m = module.build()
    solve(m, seed=1)
    w = np.linspace(-4, 6, 400)
    ax.plot(w, stats.norm.pdf(w), color=BLUE)
    tail = w >= m.t.value
    ax.fill_between(w[tail], stats.norm.pdf(w[tail]), color=RED, alpha=0.4, label="worst 5 %")
    ax.axvline(m.t.value, color=GREY, linestyle="--", label=f"found quantile {m.t.value:.4f}")
    ax.axvline(m.v.value, color=RED, label=f"found CVaR {m.v.value:.4f}")
    ax.set(xlabel="loss w", ylabel="density", ylim=(0, None), xlim=(-4, 6))
    ax.legend(loc="upper right")


@figure()
def newsvendor_scenarios(ax):
    module = example("newsvendor_scenarios")
    m = module.build()
    solve(m)
    x = np.linspace(12, 40, 200)
    sales = np.minimum(x[:, None], module.DEMAND).mean(axis=1)
    ax.plot(x, module.PRICE * sales - module.COST * x, color=BLUE, label="expected profit")
    ax.plot(module.DEMAND, np.full(module.DEMAND.size, 18.2), "|", color=GREY, label="demands")
    ax.axvline(m.order.value, color=RED, linestyle="--", label=f"found {m.order.value:.2f}")
    ax.set(xlabel="order", ylabel="profit", xlim=(12, 40))
    ax.legend()


@figure()
def portfolio_data(ax):
    module = example("portfolio_data")
    m = module.build()
    solve(m)
    exact = module.exact_portfolio(module.daily_returns())
    place = np.arange(len(module.ASSETS))
    found = [m.x[a].value for a in module.ASSETS]
    ax.bar(place - 0.2, found, 0.4, color=BLUE, label="found")
    ax.bar(place + 0.2, exact, 0.4, color=GREY, label="exact for the table")
    ax.set_xticks(place, module.ASSETS)
    ax.set(ylabel="share")
    ax.legend()


@figure()
def sharpe_ratio(ax):
    module = example("sharpe_ratio")
    m = module.build()
    solve(m, seed=1)
    x = np.array([m.x[j].value for j in range(3)])
    risk, gain = math.sqrt(x @ module.COVARIANCE @ x), module.MEAN @ x
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 3000)
    spread = np.sqrt(np.einsum("ij,jk,ik->i", shares, module.COVARIANCE, shares))
    ax.plot(spread, shares @ module.MEAN, ".", color=GREY, markersize=1, label="portfolios")
    ax.plot(risk, gain, "o", color=RED, label="found")
    s = np.array([0.0, 0.15])
    tangent = np.linalg.solve(module.COVARIANCE, module.MEAN - module.SAFE)
    slope = math.sqrt((module.MEAN - module.SAFE) @ tangent)
    ax.plot(s, module.SAFE + slope * s, color=BLUE, label="exact tangent")
    ax.set(xlabel="standard deviation", ylabel="expected return", ylim=(0.02, 0.15))
    ax.legend(loc="lower right")


@figure()
def nonlinear_yield(ax):
    module = example("nonlinear_yield")
    m = module.build()
    policy = solve_alone(m).policy(m)
    size, price = module.closed_form()
    prices = np.linspace(module.LEAST, module.MOST, 200)
    feed = np.clip(np.log(prices / (1 + price)), 0, size)
    free = np.clip(np.log(prices), 0, module.size(1.0))
    ax.plot(prices, free, color=GREY, label="without the cap")
    ax.plot(prices, feed, color=BLUE, label="exact")
    some = np.linspace(module.LEAST, module.MOST, 17)
    found = [policy({m.price: p})[m.second.feed] for p in some]
    ax.plot(some, found, "o", color=RED, label="found")
    ax.set(xlabel="price", ylabel="feed")
    ax.legend(loc="upper left")


@figure()
def cvar_frontier(ax):
    module = example("cvar_frontier")
    returns = np.linspace(0.06, 0.16, 60)
    ax.plot([module.closed_form(t)[1] for t in returns], returns, color=BLUE, label="exact")
    found = [solve(module.build(t))[0].certificate.objective for t in module.TARGETS]
    ax.plot(found, module.TARGETS, "o", color=RED, label="found")
    ax.set(xlabel="CVaR of the loss, 95 %", ylabel="expected return")
    ax.legend(loc="lower right")


@figure()
def chance_capacity(ax):
    module = example("chance_capacity")
    m = module.build()
    solve(m, seed=1)
    a, b = np.meshgrid(np.linspace(0, 120, 80), np.linspace(40, 160, 80))
    points = np.stack([a, b], axis=-1)
    spread = np.sqrt(np.einsum("...j,jk,...k", points, module.COVARIANCE, points))
    chance = stats.norm.sf(module.DEMAND, points @ module.MEAN, spread)
    lines = ax.contour(a, b, chance, levels=[0.5, 0.8, 0.95, 0.99], colors=BLUE, linewidths=1.0)
    ax.clabel(lines, fontsize=7)
    cheapest = module.COST @ module.closed_form()
    ax.plot(a[0], (cheapest - module.COST[0] * a[0]) / module.COST[1], color=GREY, label="cost")
    ax.plot(m.x[0].value, m.x[1].value, "o", color=RED, label="found")
    ax.set(xlabel="plants of the first kind", ylabel="of the second", ylim=(40, 160))
    ax.set_title("chance that the demand is met")
    ax.legend()


@figure()
def fair_group_means(ax):
    module = example("fair_group_means")
    m = module.build()
    solve(m, seed=1)
    table = module.load()
    X = np.column_stack([table[f] for f in module.FEATURES])
    group = table["group"] == 1
    found = np.array([m.t[f].value for f in module.FEATURES])
    means = [
        [(X @ t)[rows].mean() for t in (module.closed_form(fair=False), found)]
        for rows in (group, ~group)
    ]
    for shift, heights, colour, name in (
        (-0.2, means[0], BLUE, "one"),
        (0.2, means[1], RED, "other"),
    ):
        ax.bar(np.arange(2) + shift, heights, 0.36, color=colour, label=f"{name} group")
    ax.set_xticks([0, 1], ["least squares", "with equal means"])
    ax.set(ylabel="mean score")
    ax.legend(loc="lower center")


@figure()
def kelly(ax):
    module = example("kelly")
    f = np.linspace(0, 0.7, 200)
    p = module.CHANCE
    win, lose = np.log1p(module.ODDS * f), np.log1p(-f)
    for caution, colour in ((0.0, BLUE), (module.CAUTION, GREEN)):
        goal = p * win + (1 - p) * lose - caution * p * (1 - p) * (win - lose) ** 2
        ax.plot(f, goal, color=colour, label=f"caution {caution:g}")
        m = module.build(caution)
        results, _, _ = solve(m, seed=1)
        ax.plot(m.f.value, results.certificate.objective, "o", color=RED)
    ax.set(xlabel="fraction of the wealth", ylabel="goal", ylim=(-0.1, 0.1))
    ax.legend()


@figure()
def waiting_time(ax):
    module = example("waiting_time")
    drawn = np.array(module.simulate(np.random.default_rng(1), 4000))[:, 0]
    t = np.linspace(0.5, 6, 100)
    late = np.maximum(drawn[:, None] - t, 0).mean(axis=0)
    ax.plot(t, module.PROMISE * t + module.LATENESS * late, color=BLUE, label="4000 customers")
    speed = module.SERVICES - module.ARRIVALS
    tail = module.ARRIVALS / module.SERVICES * np.exp(-speed * t) / speed
    ax.plot(t, module.PROMISE * t + module.LATENESS * tail, color=GREEN, label="exact")
    m = module.build()
    results, _, _ = solve(m, seed=1, tol_opt=module.TOL_OPT)
    ax.plot(m.t.value, results.certificate.objective, "o", color=RED)
    ax.set(xlabel="promised time", ylabel="cost")
    ax.legend()


@figure()
def entropic_risk(ax):
    module = example("entropic_risk")
    thetas = np.geomspace(1, 30, 40)
    exact = np.array([module.closed_form(t)[0] for t in thetas])
    for j, colour in enumerate((BLUE, GREEN, DARK)):
        ax.semilogx(thetas, exact[:, j], color=colour, label=f"asset {j}")
    for theta in (2.0, 8.0, 20.0):
        m = module.build(theta)
        solve(m, seed=1)
        ax.plot([theta] * 3, [m.x[j].value for j in range(3)], "o", color=RED, markersize=4)
    ax.set(xlabel="risk aversion", ylabel="share")
    ax.legend()


@figure()
def kurtosis(ax):
    module = example("kurtosis")
    m = module.build()
    results, _, _ = solve(m, seed=1)
    angle = np.linspace(0, math.pi, 200)
    first, second = np.cos(angle - module.ANGLE) ** 4, np.sin(angle - module.ANGLE) ** 4
    ax.plot(angle, 3 + 1.2 * first - 1.2 * second, color=BLUE, label="exact")
    found = math.atan2(m.u[1].value, m.u[0].value) % math.pi
    ax.plot(found, results.certificate.objective, "o", color=RED, label="found")
    ax.set(xlabel="angle of the projection", ylabel="kurtosis")
    ax.legend()


@figure()
def value_of_information(ax):
    module = example("value_of_information")
    m = module.build()
    found = pyomo_stochsqp.value_of_information(m)
    q = np.linspace(80, 130, 200)
    short = np.maximum(module.DEMANDS[:, None] - q, 0.0).mean(axis=0)
    ax.plot(q, module.COST * q + module.PENALTY * short, color=BLUE, label="expected cost")
    levels = (
        (found.expected_value_solution, "EEV: order the mean", RED, m.demand.mean()),
        (found.recourse_problem, "RP: the best order", GREEN, found.decision["q"]),
        (found.wait_and_see, "WS: order what will be asked for", GREY, None),
    )
    for level, label, colour, at in levels:
        ax.axhline(level, color=colour, linestyle="--", linewidth=1.0, label=label)
        if at is not None:
            ax.plot(at, level, "o", color=colour)
    ax.annotate(f"EVPI {found.evpi.value:.1f}", (126, found.wait_and_see + 15))
    ax.annotate(f"VSS {found.vss.value:.2f}", (93, found.recourse_problem - 6))
    ax.set(xlabel="order q", ylabel="cost", ylim=(190, 270))
    ax.legend(loc="upper center")


@figure(panels=2)
def copula(left, right):
    module = example("copula")
    m = module.build()
    solve(m, seed=1)
    rows = m.w.origin.draw(np.random.default_rng(0), 4000)
    left.plot(rows[:1500, 1], rows[:1500, 0], ".", color=BLUE, markersize=2, alpha=0.5)
    left.set(xlabel="crude oil", ylabel="fuel")
    rest = rows[:, 0] - m.a.value * rows[:, 1] - m.b.value * rows[:, 2]
    bins = np.linspace(-1.5, 2, 60)
    for values, colour, label in (
        (rows[:, 0], GREY, "without a hedge"),
        (rest, BLUE, "with the one found"),
    ):
        centred = values - values.mean()
        right.hist(centred, bins, density=True, color=colour, alpha=0.6, label=label)
    right.set(xlabel="cost minus its mean", ylabel="density")
    right.legend()


@figure()
def block_bootstrap(ax):
    module = example("block_bootstrap")
    bins = np.linspace(40, 100, 61)
    for block, colour, label in ((1, GREY, "days one by one"), (module.WEEK, BLUE, "whole weeks")):
        m = module.build(block)
        solve(m, seed=1)
        sums = m.demand.origin.draw(np.random.default_rng(0), 20_000).sum(axis=1)
        ax.hist(sums, bins, density=True, color=colour, alpha=0.6, label=label)
        ax.axvline(m.q.value, color=colour, label=f"order {m.q.value:.1f}")
    ax.set(xlabel="demand of a week", ylabel="density")
    ax.legend(loc="upper left")


def main(names):
    OUT.mkdir(exist_ok=True)
    for name in names or FIGURES:
        print(name)
        FIGURES[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
