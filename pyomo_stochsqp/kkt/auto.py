r"""Which back end suits a pattern: a rule fixed by measurement, never by timing at run time.

With w = m² (n + m/3), the work of a dense Schur complement and its Cholesky factorisation:

    1. dense     H diagonal and w <= 1e6, or at least a quarter of J stored and m <= 8 n;
                 H stored in full; H sparse and n + m <= 120
    2. cholmod   (if installed) H diagonal and its Schur complement has clearly less fill than the
                 KKT matrix, or enough fill for supernodes to pay (see cholmod.py)
    3. ldl       everything else: on the KKT matrix qdldl was never slower than CHOLMOD
    4. superlu   only where neither library can be imported

The rule reads nothing but the pattern and what is installed, so that every process of a parallel
run chooses alike. ``benchmarks/kkt.py`` prints how far each pick is from the best.
"""

from __future__ import annotations

from collections.abc import Callable

from .pattern import KKTPattern

SMALL_WORK = 1e6
#: From this share of stored entries on LDL' of the KKT matrix fills in completely.
DENSE_JACOBIAN = 0.25
#: Rows per variable from which eliminating the rows first (LDL' does) beats an m x m matrix.
TALL = 8
#: n + m up to which a sparse H is treated as a full one.
SMALL_SYSTEM = 120
#: The dense back end takes no more memory than this on its own initiative.
MEMORY_BYTES = 4e9


def choose(pattern: KKTPattern, importable: Callable[[str], bool]) -> tuple[str, str]:
    """(name, reason)."""
    n, m = pattern.n, pattern.m
    if pattern.hessian_dense:
        return "dense", "auto: H is stored in full"
    if pattern.hessian_is_diagonal:
        if m * m * (n + m / 3) <= SMALL_WORK:
            return "dense", f"auto: small (n={n}, m={m})"
        fits = 8.0 * m * (n + m) <= MEMORY_BYTES and m <= TALL * n
        if fits and pattern.density >= DENSE_JACOBIAN:
            return "dense", f"auto: dense Jacobian ({pattern.density:.0%} stored)"
    elif n + m <= SMALL_SYSTEM:
        return "dense", f"auto: small (n + m = {n + m})"
    return choose_sparse(pattern, importable)


def choose_sparse(pattern: KKTPattern, importable: Callable[[str], bool]) -> tuple[str, str]:
    if not importable("cholmod"):
        if importable("ldl"):
            return "ldl", "auto: sparse KKT, CHOLMOD not installed"
        return "superlu", "auto: sparse KKT, neither CHOLMOD nor qdldl installed"
    from .backends.cholmod import schur_is_better

    if schur_is_better(pattern):
        return "cholmod", "auto: sparse Schur complement"
    if importable("ldl"):
        return "ldl", "auto: sparse KKT, the Schur complement would fill in"
    return "cholmod", "auto: sparse KKT, qdldl not installed"
