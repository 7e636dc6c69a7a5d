"""Whole solves by several MPI ranks: the same bits, and a clear end on all ranks."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(
    MPIEXEC is None or importlib.util.find_spec("mpi4py") is None,
    reason="mpiexec or mpi4py is not installed",
)
#: what a container's root and a small machine need; other MPIs ignore it
LENIENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_NUM_THREADS": "1",
}


def job(ranks, *words, seconds=120.0):
    """(exit code, lines of the ranks in their order, everything that was printed)."""
    command = [MPIEXEC, "-n", str(ranks), sys.executable, "-m", "mpi4py", *map(str, words)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        env={**os.environ, **LENIENT, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    lines = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
    return done.returncode, lines, done.stdout + done.stderr


def scripted(ranks, *what):
    return job(ranks, ROOT / "tests" / "ranks" / "job.py", *what)


@pytest.mark.parametrize("ranks", [3, *(pytest.param(r, marks=pytest.mark.slow) for r in (2, 4))])
def test_histories_are_those_of_one_rank(ranks):
    code, lines, text = scripted(ranks, "histories", "algorithm_1", "light")
    assert code == 0, text
    optimal = "same convergenceCriteriaSatisfied"
    names = ["blocks", "logistic", "newsvendor", "portfolio", "spread"]
    each = ["algorithm 1 True", *(f"{name} {optimal}" for name in names)]
    expected = [f"rank {r}: {line}" for r in range(ranks) for line in each]
    assert [line for line in lines if " light " not in line] == expected, text
    # rank 0 says nothing but that it has finished; the others hand that on
    assert [line for line in lines if " light " in line] == [
        f"rank {r}: light ['End']" for r in range(ranks)
    ], text


def test_every_end_is_heard_of_on_all_ranks():
    whats = ["worker_fails", "callback_fails", "differ", "limit", "interrupted", "again"]
    code, lines, text = scripted(3, *whats)
    assert code == 0 and len(lines) == 18, text
    said = {tuple(line.split(" ", 3)[1:3]): line.split(" ", 3)[3] for line in lines}

    def words(what):
        return [said[f"{rank}:", what] for rank in range(3)]

    assert all("the simulator has crashed" in text for text in words("worker"))
    assert words("worker")[0].startswith("DataError") and "on rank 1" in words("worker")[0]
    assert words("callback")[0].startswith("KeyError")
    assert all("RankError rank 0 failed: KeyError" in text for text in words("callback")[1:])
    assert all("The ranks have built different models" in text for text in words("differ"))
    assert words("limit") == ["maxTimeLimit"] * 3
    assert words("interrupted") == ["interrupted"] * 3
    assert words("again") == ["True"] * 3


def test_a_rank_that_builds_no_model_ends_the_others():
    code, _, text = scripted(3, "builds_nothing")
    assert code != 0 and "data.csv" in text


def test_a_killed_rank_ends_the_job():
    code, lines, _ = scripted(3, "killed")
    assert code != 0 and not lines
