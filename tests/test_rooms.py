"""Every room's ``__init__`` is its table of contents, and no room holds too much to be seen."""

import re
from pathlib import Path

import pytest

import pyomo_stochsqp

PACKAGE = Path(pyomo_stochsqp.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
#: what is not part of the walk: entry points and the like
UNNAMED = {"__init__", "__main__"}
#: files that docstrings name and that are no modules of the package
ELSEWHERE = {"benchmarks/kkt.py", "model.py", "FILE.py"}


def contents(room):
    """The files and rooms inside, by name."""
    files = {path.stem for path in room.glob("*.py")} - UNNAMED
    return files | {path.parent.name for path in room.glob("*/__init__.py")}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_the_docstring_names_what_is_inside(room):
    docstring = (room / "__init__.py").read_text().split('"""')[1]
    words = set(re.findall(r"\w+", docstring))
    assert contents(room) <= words, f"not named: {sorted(contents(room) - words)}"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(PACKAGE.parent)))
def test_no_room_holds_more_than_can_be_seen(room):
    assert len(list(room.glob("*.py"))) <= 15


POINTERS = re.compile(r":(?:mod|func|class):`~?([\w.]+)`|\b((?:\w+/)*\w+\.py)\b")
DEFINED = {
    name
    for path in PACKAGE.rglob("*.py")
    for name in (path.stem, *re.findall(r"^\s*(?:def|class) (\w+)", path.read_text(), re.M))
}


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_what_a_docstring_points_to_is_there(path):
    """Files of the package, by the end of their path; names by what is defined somewhere."""
    for name, file in POINTERS.findall(path.read_text()):
        if file:
            assert any(PACKAGE.rglob(file)) or file in ELSEWHERE, f"{path.name} points to {file}"
        else:
            assert name.rsplit(".", 1)[-1] in DEFINED, f"{path.name} points to {name}"
