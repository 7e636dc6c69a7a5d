r"""How the paper's text is read, where it leaves room.

    literal    labels -1 and 1; noise VARIANCES 1e-3/n and 1e-3; L from differences of the full
               gradient near x_1 (L = 0.02 ... 1)
    batches    the same, but L from the gradients of two independent batches, at x_1 and at a point
               1e-4 away from it in a random direction: what StochasticSQP, the public code of an
               earlier paper with an author in common, does unless told otherwise. Noise over 1e-4
               gives L in the hundreds and thousands
    matching   labels as in the files (mushrooms 1 and 2, phishing 0 and 1); noise DEVIATIONS
               1e-3/sqrt(n) and 1e-3; one L = 250 for all

The literal reading does not give the numbers of the paper's table; the second comes near them, the
third does so for nearly all entries, having been chosen for that.
"""

from __future__ import annotations

from dataclasses import dataclass

TABLE_L = 250.0
NOISES = ("variance", "deviation")


@dataclass(frozen=True)
class Reading:
    """One way to read the text."""

    name: str
    raw_labels: bool
    #: whether 1e-3 is the variance of the noise or its standard deviation
    noise: str
    #: L; None estimates it
    L: float | None
    #: it is estimated from two independent batches, not from full gradients
    from_batches: bool = False

    def deviations(self, n: int) -> tuple[float, float]:
        """Standard deviations of the entries of A_k and of a_k."""
        if self.noise == "variance":
            return (1e-3 / n) ** 0.5, 1e-3**0.5
        return 1e-3 / n**0.5, 1e-3


READINGS = {
    "literal": Reading("literal", False, "variance", None),
    "batches": Reading("batches", False, "variance", None, from_batches=True),
    "matching": Reading("matching", True, "deviation", TABLE_L),
}
