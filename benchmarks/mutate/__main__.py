r"""python -m benchmarks.mutate             all groups: how many mutants the tests kill
python -m benchmarks.mutate sqp          one of them
... --files merit.py stepsize.py         some of its files
... --survivors                          only those that survived last time, if the file is the same
... --every 4                            a fourth of them, evenly over each file
... --list                               what would be tried

A mutant is killed if a test of its group fails. The survivors are printed: each is a mistake that
no test would notice, or no mistake at all because the program does the same. What was found is kept
in benchmarks/results/mutate.jsonl, and the table of the docs is written from it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# before NumPy loads its BLAS; benchmarks.pool would load the package
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks.mutate.operators import mutants  # noqa: E402
from benchmarks.mutate.runner import passes, preload  # noqa: E402
from benchmarks.store import Record, ResultFile  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"


@dataclass(frozen=True)
class Group:
    """Files, and the tests that have to notice; a file's own come first, then in this order."""

    folder: str
    files: tuple[str, ...]
    tests: tuple[str, ...]


GROUPS = {
    "sqp": Group(
        "pyomo_stochsqp/sqp",
        (
            "merit.py", "stepsize.py", "lipschitz.py", "schedule.py", "batches.py", "algorithm.py",
            "parameters.py", "subproblem.py", "average.py",
        ),
        (
            "tests/sqp/test_trajectories.py",
            "tests/sqp/test_merit_and_steps.py",
            "tests/sqp/test_batches.py",
            "tests/sqp/test_lipschitz.py",
            "tests/sqp/test_schedule.py",
            "tests/sqp/test_algorithm.py",
            "tests/sqp/test_lemmas.py",
            "tests/sqp/test_lemmas_of_tau.py",
        ),
    ),
    "certify": Group(
        "pyomo_stochsqp/certify",
        (
            "certificate.py", "certifier.py", "replicates.py", "spreads.py", "located.py",
            "active_set.py", "displacement.py", "sparse_newton.py", "tolerances.py", "words.py",
        ),
        (
            "tests/certify/test_against_independent.py",
            "tests/certify/test_tolerances.py",
            "tests/certify/test_displacement.py",
            "tests/certify/test_replicates.py",
            "tests/certify/test_located.py",
            "tests/certify/test_warnings.py",
            "tests/certify/test_certificate.py",
        ),
    ),
    "oracles": Group(
        "pyomo_stochsqp/oracles",
        (
            "gaussian.py", "model.py", "eliminated.py", "jackknife.py", "roots.py",
            "reduced_hessian.py",
        ),
        ("tests/oracles", "tests/sqp/test_trajectories.py", "tests/sqp/test_lemmas.py"),
    ),
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    given = _parser().parse_args(arguments)
    if not given.list:
        preload()
    results = ResultFile(RESULTS / "mutate.jsonl", ("group", "file"))
    for name in given.groups or GROUPS:
        group = GROUPS[name]
        if not given.list and not passes(ROOT, group.tests):
            print(f"{name}: the tests fail without any change; mend them first.")
            return 1
        for file in group.files:
            if given.files and file not in given.files:
                continue
            if given.list:
                source = (ROOT / group.folder / file).read_text()
                chosen = list(mutants(source))[:: given.every]
                print(*(f"{file} {mutant}" for mutant in chosen), sep="\n")
                continue
            line = examine(name, group, file, given.every, results if given.survivors else None)
            results.append(line)
            killed = line["tried"] - len(line["survivors"])
            print(f"{name}/{file}: {killed} of {line['tried']} killed", flush=True)
            print(*(f"    {mutant}" for mutant in line["survivors"]), sep="\n", flush=True)
    if not given.list:
        print(write_table(results))
    return 0


def examine(name: str, group: Group, file: str, every: int, last: ResultFile | None) -> Record:
    """Which of every n-th mutant of a file survive; of those that did ``last`` time, if the file is
    the same."""
    path = ROOT / group.folder / file
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    tests = sorted(group.tests, key=lambda t: path.stem not in t)
    found = list(mutants(path.read_text()))
    tried = found[::every]
    number = len(tried)
    if last is not None and (name, file) in last and last[(name, file)]["digest"] == digest:
        number = last[(name, file)]["tried"]
        tried = [m for m in found if str(m) in last[(name, file)]["survivors"]]
    survivors = [str(m) for m in tried if passes(ROOT, tests, (path, m.source))]
    line = {"group": name, "file": file, "digest": digest, "mutants": len(found), "tried": number}
    return line | {"survivors": survivors}


def write_table(results: ResultFile) -> str:
    """How many mutants are killed, by file; also for the docs."""
    rows = ["| file | mutants | tried | killed |", "|---|---|---|---|"]
    sums = [0, 0, 0]
    for name, group in GROUPS.items():
        for file in group.files:
            if (name, file) not in results:
                continue
            line = results[(name, file)]
            numbers = [line["mutants"], line["tried"], line["tried"] - len(line["survivors"])]
            rows.append(_row(f"`{group.folder}/{file}`", numbers))
            sums = [a + b for a, b in zip(sums, numbers, strict=True)]
    rows.append(_row("all", sums))
    path = RESULTS / "mutate" / "tables.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(rows) + "\n")
    return path.read_text()


def _row(name: str, numbers: Sequence[int]) -> str:
    number, tried, killed = numbers
    return f"| {name} | {number} | {tried} | {killed} ({100 * killed / max(tried, 1):.1f} %) |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.mutate",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], metavar="GROUP")
    parser.add_argument("--files", nargs="+")
    parser.add_argument("--survivors", action="store_true", help="only those of the last run")
    parser.add_argument("--every", type=int, default=1, help="only every n-th mutant of a file")
    parser.add_argument("--list", action="store_true", help="the mutants, without running them")
    return parser


if __name__ == "__main__":
    sys.exit(main())
