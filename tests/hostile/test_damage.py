"""Checkpoints that are damaged, or made by somebody who means harm."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from benchmarks.hostile import damage
from benchmarks.hostile.runs import solved, tilting
from pyomo_stochsqp.errors import CheckpointError
from pyomo_stochsqp.run.plain_arrays import read_arrays


def test_damaged_files_are_refused_or_harmless():
    counts = damage.run(seed=11, count=70)
    assert not any(counts[v] for v in damage.WRONG), counts
    assert counts["refused"] > 40


@pytest.mark.slow
def test_a_whole_campaign():
    assert damage.report(12) == 0


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    path = tmp_path_factory.mktemp("sound") / "run.npz"
    solved(tilting(), checkpoint=path, max_iter=3)
    return path


def refused(path):
    with pytest.raises(CheckpointError) as error:
        solved(tilting(), resume=path)
    return str(error.value)


def rewritten(sound, path, **members):
    """The file with other members; None leaves one out."""
    with np.load(sound) as file:
        arrays = {name: file[name] for name in file.files}
    arrays |= members
    np.savez(path, **{name: a for name, a in arrays.items() if a is not None})
    return path


@pytest.mark.parametrize(
    "name",
    ["labels", "digests", "structure", "note", "start", "x", "probe", "history", "certificates",
     "seconds", "drawn", "work_left", "record.0", "digest.0"],
)  # fmt: skip
def test_every_member_is_needed_and_has_its_kind(sound, tmp_path, name):
    path = tmp_path / "run.npz"
    with np.load(sound) as file:
        whole = file[name]
    refused(rewritten(sound, path, **{name: None}))
    refused(rewritten(sound, path, **{name: np.array("[" * 100_000)}))
    refused(rewritten(sound, path, **{name: np.array("null")}))
    refused(rewritten(sound, path, **{name: np.ones((2, 2, 2))}))
    if whole.dtype.kind == "U":
        refused(rewritten(sound, path, **{name: np.array(str(whole)[:-1])}))


@pytest.mark.parametrize(
    "state",
    [3, {"record": "StagedState"}, {"record": "Popen", "args": "ls"}, {"array": 10**9},
     {"enum": "Stop", "name": "mro"}, {"record": {"record": []}}],
)  # fmt: skip
def test_states_that_are_none(sound, tmp_path, state):
    structure = np.array(json.dumps(state if isinstance(state, dict) else [state]))
    message = refused(rewritten(sound, tmp_path / "run.npz", structure=structure))
    assert "does not hold a run" in message or "not a checkpoint of this version" in message


class Harmful:
    def __reduce__(self):
        return os.abort, ()


def test_nothing_is_ever_unpickled(sound, tmp_path):
    path = tmp_path / "run.npz"
    objects = np.array([Harmful()], dtype=object)
    assert "neither numbers nor texts" in refused(rewritten(sound, path, start=objects))
    np.save(tmp_path / "run.npy", objects, allow_pickle=True)
    refused(tmp_path / "run.npy")
    path.write_bytes(pickle.dumps(Harmful()))
    refused(path)


def header(shape):
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize("shape", ["(10**18,)", "(1000000000000,)", "(-1,)", "(4, -2)", "'x'"])
def test_sizes_that_are_absurd(tmp_path, shape):
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("start.npy", header(shape) + b"\0" * 64)
    refused(path)


def test_a_member_that_would_unfold_to_something_huge(tmp_path):
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("start.npy", header((10**7,)) + b"\0" * (8 * 10**7))
    assert path.stat().st_size < 10**6
    assert "larger than the whole" in refused(path)


def test_what_is_no_file_of_arrays(tmp_path):
    np.save(tmp_path / "one.npy", np.ones(3))
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "one.npy", tmp_path / "directory", tmp_path / "pipe", "/dev/zero"):
        assert "is not a checkpoint" in refused(path)


def test_arrays_of_all_kinds_come_back(tmp_path):
    arrays = {
        "C": np.arange(6.0).reshape(2, 3),
        "F": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "empty": np.empty((0, 4)),
        "scalar": np.array(3.5),
        "text": np.array("höhe"),
        "flags": np.array([True, False]),
    }
    np.savez(tmp_path / "a.npz", **arrays)
    found = read_arrays(str(tmp_path / "a.npz"))
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].flags.writeable and found[name].dtype == array.dtype
