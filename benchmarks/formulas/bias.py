r"""Formulas of small batches are biased: by how much, and what the jackknife leaves.

At a fixed point, the mean over many batches of b scenarios of the objective and of its gradient,
minus the exact ones, in units of the exact ones. The standard error of each mean is beside it.
"""

from __future__ import annotations

import numpy as np

from benchmarks.formulas import portfolios
from pyomo_stochsqp.compile import compile_program
from pyomo_stochsqp.declare import read_model
from pyomo_stochsqp.oracles import Eliminated, Jackknifed, model_oracle
from pyomo_stochsqp.sample import Sampler

MODELS = ("variance", "sharpe", "entropic", "entropic_20", "kurtosis")
X = np.array([0.4, 0.3, 0.2, 0.1])


def run(batches: int) -> None:
    """Print relative biases in per cent."""
    rows, weights = portfolios.gauss_hermite()
    print("bias of the objective and of its gradient in per cent, +- a standard error")
    print(f"{'model':14} {'batch':>6} {'plain':>22} {'jackknife':>22}")
    for name in MODELS:
        entry = portfolios.REGISTRY[name]
        program = read_model(portfolios.build(entry))
        sampler = Sampler(program.sources, 0, "monte_carlo")
        plain = model_oracle(program, compile_program(program), sampler)
        assert isinstance(plain, Eliminated)
        L = portfolios.NumPyLanguage(weights)

        def objective(x: np.ndarray) -> complex:
            return program.sign * entry.parts(L, rows @ x, rows.T).objective

        steps = X.astype(complex) + 1e-30j * np.eye(X.size)
        exact = np.append(objective(X), [np.imag(objective(s)) / 1e-30 for s in steps])
        for b in (16, 64, 256, 1024, 4096):
            count = max(64, batches * 16 // b)
            samples = [plain.draw(0, k, [b]) for k in range(count)]
            text = []
            for oracle in (plain, Jackknifed(plain)):
                made = [oracle.estimate(X, sample, objective=True) for sample in samples]
                values = np.array([np.append(e.f, e.g) for e in made])
                off, error = values.mean(axis=0) - exact, values.std(axis=0) / np.sqrt(count)
                size = np.array([abs(exact[0]), np.abs(exact[1:]).max()])
                shown = (
                    100 * off[0] / size[0], 100 * error[0] / size[0],
                    100 * np.abs(off[1:]).max() / size[1], 100 * error[1:].max() / size[1],
                )  # fmt: skip
                text.append("{:6.2f}+-{:4.2f} {:5.2f}+-{:4.2f}".format(*shown))
            print(f"{name:14} {b:6} " + "   ".join(text), flush=True)
