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
#: the root of E[w_0 / (1 + exp(-w_0 x))] = 0.4, by quadrature
ROOT_OF_THE_PAGE = -0.2034
SHELL = ("pyomo_stochsqp", "solve")


def job(ranks, *words, module=("mpi4py",), seconds=120.0):
    """(exit code, lines of the ranks in their order, everything that was printed)."""
    command = [MPIEXEC, "-n", str(ranks), sys.executable, "-m", *module, *map(str, words)]
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
    assert words("callback")[0].startswith("CallbackError") and "KeyError" in words("callback")[0]
    assert all("RankError rank 0 failed: CallbackError" in text for text in words("callback")[1:])
    assert all("The ranks have built different models" in text for text in words("differ"))
    assert words("limit") == ["maxTimeLimit"] * 3
    assert words("interrupted") == ["interrupted"] * 3
    assert words("again") == ["True"] * 3


def test_two_stages_on_several_ranks():
    pytest.importorskip("highspy")
    code, lines, text = scripted(3, "recourse")
    both = ("recourse True", "stocked interrupted True")
    assert code == 0 and lines == [f"rank {r}: {s}" for r in range(3) for s in both], text


def test_a_rank_that_builds_no_model_ends_the_others():
    code, _, text = scripted(3, "builds_nothing")
    assert code != 0 and "data.csv" in text


def test_the_program_of_the_page(tmp_path):
    page = (ROOT / "docs" / "ranks.md").read_text()
    path = tmp_path / "model.py"
    path.write_text(page.split("```{code-block} python\n")[1].split("```")[0])
    code, _, text = job(2, path)
    # rows are a sample: the root errs by some 0.005
    assert code == 0 and abs(float(text.split()[0]) - ROOT_OF_THE_PAGE) < 0.02, text


def test_a_model_from_the_shell(tmp_path):
    path = tmp_path / "model.py"
    path.write_text("from tests.ranks.models import logistic\nmodel = logistic()\n")
    path_of_nothing = tmp_path / "none.py"
    code, _, text = job(2, path, "--mpi", "--seed", "1", module=SHELL)
    assert code == 0 and text.count("Ended: optimal") == 1 and text.count("Solution") == 1, text
    code, _, text = job(2, path_of_nothing, "--mpi", module=SHELL)
    assert code == 2 and "there is no such file" in text


def test_a_killed_rank_ends_the_job():
    code, lines, _ = scripted(3, "killed")
    assert code != 0 and not lines
