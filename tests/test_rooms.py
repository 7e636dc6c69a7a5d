"""Every room's ``__init__`` is its table of contents, and no room holds too much to be seen."""

import re
from pathlib import Path

import pytest

import pyomo_stochsqp

PACKAGE = Path(pyomo_stochsqp.__file__).parent
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))
#: what is not part of the walk: entry points and the like
UNNAMED = {"__init__", "__main__"}


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
