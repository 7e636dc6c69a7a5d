"""The command line among closed pipes, wrong paths and files of the user that go wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pyomo_stochsqp.interface.command_line.main import main

MODEL = "from tests.interface.models import tilting\nmodel = tilting()\n"


@pytest.fixture
def file(tmp_path):
    def write(text=MODEL, name="model.py"):
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


def refused(capsys, *arguments):
    """What one line on stderr says."""
    assert main(list(arguments)) == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ") and message.count("\n") == 1
    return message


@pytest.mark.parametrize("flag", ["--json", "--plot", "--checkpoint"])
def test_no_result_replaces_the_model(file, capsys, flag):
    path = file()
    assert "this is the file of the model" in refused(capsys, "solve", path, flag, path)
    assert Path(path).read_text() == MODEL


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--json", "missing/run.json"], "there is no directory"),
        (["--json", "."], "it is a directory"),
        (["--plot", "missing/run.png"], "there is no directory"),
        (["--plot", "run.docx"], "no kind of picture"),
        (["--json", "same", "--plot", "same"], "this is the file of --json"),
        (["--checkpoint", "notes.txt"], "something else"),
    ],
)
def test_paths_are_checked_before_the_model_is_read(
    file, tmp_path, capsys, monkeypatch, arguments, complaint
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("not to be lost")
    read = "" if "notes.txt" in arguments else "raise RuntimeError('it was read')\n"
    assert complaint in refused(capsys, "solve", file(read + MODEL), *arguments)
    assert (tmp_path / "notes.txt").read_text() == "not to be lost"


def test_a_plot_that_fails_prevents_nothing_else(file, tmp_path, capsys, monkeypatch):
    def fails(*args, **kwds):
        raise OSError("no space left")

    monkeypatch.setattr("pyomo_stochsqp.report.finished.FinishedRun.plot", fails)
    report = tmp_path / "run.json"
    arguments = ["--quiet", "--json", str(report), "--plot", str(tmp_path / "run.png")]
    assert main(["solve", file(), *arguments]) == 1
    said = capsys.readouterr()
    assert "x = 0.73" in said.out
    assert "could not be written (no space left)" in said.err
    assert json.loads(report.read_text())["variables"]["x"] == pytest.approx(0.732, abs=1e-2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\nraise ValueError('no data today')\n", "line 2: ValueError: no data today"),
        ("import no_such_module\n", "line 1: ModuleNotFoundError"),
        ("def build_model():\n    return 1 / 0\n", "line 2: ZeroDivisionError"),
        ("x = (1\n", "line 1: SyntaxError"),
        ("import sys\nsys.exit('enough')\n", "line 2: SystemExit: enough"),
        ("def f():\n    return f()\nf()\n", "RecursionError"),
        ("x = '\\ud800'\nraise ValueError(x)\n", "ValueError"),
        ("import pyomo.environ as pyo\nmodel = pyo.AbstractModel()\n"
         "model.x = pyo.Var(initialize=lambda m: 1 / 0)\n", "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file_of_the_model(file, capsys, text, said):
    assert said in refused(capsys, "solve", file(text))


def test_bytes_that_are_no_python(tmp_path, capsys):
    (tmp_path / "model.py").write_bytes(b"\x00\xff\xfe")
    assert "Error" in refused(capsys, "solve", str(tmp_path / "model.py"))


def run(arguments, folder, **kwds):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "pyomo_stochsqp", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, check=False, **kwds)


def test_a_file_named_as_a_library_does_not_stand_in_for_it(file, tmp_path):
    """Its neighbours are found, but not in place of libraries."""
    file("TILT = 1\n", "neighbour.py")
    file("raise RuntimeError('imported in place of the library')\n", "matplotlib.py")
    path = file("import neighbour, numpy\nassert numpy.ones(2).sum() == 2\n" + MODEL, "numpy.py")
    (tmp_path / "elsewhere").mkdir()
    done = run(["solve", path, "--quiet", "--plot", "run.png"], tmp_path / "elsewhere",
               capture_output=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere" / "run.png").exists()


def test_a_closed_pipe_ends_nothing(file, tmp_path):
    """Nobody reads the log, nor the solution."""
    read, write = os.pipe()
    os.close(read)
    path, report = file(), tmp_path / "run.json"
    done = run(["solve", path, "--json", str(report)], tmp_path, stdout=write,
               stderr=subprocess.PIPE)  # fmt: skip
    os.close(write)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr
    assert json.loads(report.read_text())["termination_condition"]


def test_names_that_the_terminal_cannot_show(file, tmp_path):
    text = "from tests.interface.models import circle\nmodel = circle()\n"
    text += "import pyomo.environ as pyo\nmodel.höhe = pyo.Var(initialize=1)\n"
    text += "model.e = pyo.Constraint(expr=model.höhe == 2)\n"
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    os.environ.update(environment)
    try:
        done = run(["solve", file(text), "--quiet"], tmp_path, capture_output=True)
    finally:
        for name in environment:
            del os.environ[name]
    assert done.returncode == 0, done.stderr
    assert "he = 2" in done.stdout
