r"""What rounding kinks off costs: quantiles and CVaR of numbers with known ones, by quadrature.

The smoothed equation is solved with exact integrals over the density, so that nothing but the
rounding is left; errors are in standard deviations.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate, optimize, stats

from pyomo_stochsqp.declare.functionals.rounding import DENSITY_SHARE, Rounding

LAWS = {
    "normal": stats.norm(),
    "lognormal 0.5": stats.lognorm(0.5),
    "gamma 2": stats.gamma(2),
    "t5": stats.t(5),
    "exponential": stats.expon(),
    "uniform": stats.uniform(),
}


def run() -> None:
    """Print errors of the default rounding."""
    print(f"{'law':14} {'level':>6} {'quantile':>9} {'CVaR':>9}   errors in standard deviations")
    for name, law in LAWS.items():
        spread = law.std()
        smooth = Rounding(DENSITY_SHARE * spread, True)
        for level in (0.5, 0.9, 0.95, 0.99):
            q = law.ppf(level)

            def mean(f, q=q, law=law, spread=spread):
                ends = law.ppf(1e-13), law.ppf(1 - 1e-13)
                near = q + spread * np.array([-2, -0.5, -0.1, 0.0, 0.1, 0.5, 2])
                points = near[(near > ends[0]) & (near < ends[1])]
                return integrate.quad(
                    lambda e: law.pdf(e) * f(e), *ends, points=points, limit=1000, epsabs=1e-13
                )[0]

            t = optimize.brentq(
                lambda t: mean(lambda e: smooth.step(t - e)) - level, q - spread, q + spread
            )
            cvar = t + mean(lambda e: smooth.positive_part(e - t)) / (1 - level)
            exact = mean(lambda e: e * (e > q)) / (1 - level)
            print(f"{name:14} {level:6} {(t - q) / spread:9.1e} {(cvar - exact) / spread:9.1e}",
                  flush=True)  # fmt: skip
