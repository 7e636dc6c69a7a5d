r"""What is left to do, from the noise of the last certificate.

The error of independent draws falls like one over the square root of their number, that of evenly
spread points faster: a noise of nu times the tolerance needs up to nu^2 times as many.
"""

from __future__ import annotations

from ..certify import Certificate, Tolerances
from ..run import Progress


def forecast(progress: Progress, c: Certificate, tolerances: Tolerances) -> str:
    """A few words, or nothing where nothing is known."""
    excess = tolerances.excess(c)
    if c.exact or progress.state.ended is not None:
        return ""
    if not excess < 1e6:
        return "far from a solution"
    noise = tolerances.noise(c)
    if noise <= 1.0:
        return f"{excess:.2g} times the tolerance"
    wanted = c.scenarios * noise**2
    seconds = progress.seconds * wanted / max(progress.state.samples, 1)
    return (
        f"{excess:.2g} times the tolerance, at most {wanted:.1g} scenarios and about "
        f"{seconds:.2g} s to go"
    )
