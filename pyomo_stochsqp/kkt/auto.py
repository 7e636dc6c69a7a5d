r"""Which back end suits a pattern: a rule fixed by measurement, never by timing at run time.

    1. H diagonal and (m² n <= 1e6, or density of J >= 1/4 and m² n <= 2e10):  dense
       H stored in full:  dense;    H sparse and n + m <= 60:  dense
    2. otherwise LDL' of the KKT matrix: cholmod where installed, else ldl
    3. cholmod takes the Schur complement instead when that has clearly less fill (see cholmod.py)
    4. superlu only where neither library can be imported

The rule reads nothing but the pattern and what is installed, so that every process of a parallel
run chooses alike. ``benchmarks/kkt.py`` prints how far each pick is from the best.
"""

from __future__ import annotations

from collections.abc import Callable

from .pattern import KKTPattern

#: m² n is the work of forming J H^-1 J' as a dense matrix.
SMALL_SCHUR = 1e6
LARGEST_SCHUR = 2e10
#: From this density on a dense product is no slower than a sparse one.
DENSE_JACOBIAN = 0.25
#: n + m up to which a sparse H is treated as a dense one.
SMALL_SYSTEM = 60


def choose(pattern: KKTPattern, importable: Callable[[str], bool]) -> tuple[str, str]:
    """(name, reason)."""
    n, m = pattern.n, pattern.m
    work = float(m) * m * n
    if pattern.hessian_dense:
        return "dense", "auto: H is stored in full"
    if pattern.hessian_is_diagonal:
        if work <= SMALL_SCHUR:
            return "dense", f"auto: small (n={n}, m={m})"
        if pattern.density >= DENSE_JACOBIAN and work <= LARGEST_SCHUR:
            return "dense", f"auto: dense Jacobian ({pattern.density:.0%} stored)"
    elif n + m <= SMALL_SYSTEM:
        return "dense", f"auto: small (n + m = {n + m})"
    if importable("cholmod"):
        return "cholmod", "auto: sparse KKT"
    if importable("ldl"):
        return "ldl", "auto: sparse KKT, CHOLMOD not installed"
    return "superlu", "auto: sparse KKT, neither CHOLMOD nor qdldl installed"
