"""Every error message and every reason to stop has a line in docs/troubleshooting.md or log.md.

The first column of a table there quotes a part of the message. This test reads the messages from
the source, with ``{}`` for what is filled in.
"""

import ast
import re
from pathlib import Path

import pytest

import pyomo_stochsqp
from pyomo_stochsqp import errors
from pyomo_stochsqp.method import Stop

PACKAGE = Path(pyomo_stochsqp.__file__).parent
DOCS = PACKAGE.parent / "docs"
NAMES = {name for name in vars(errors) if name.endswith("Error")}


def message(node):
    """The text of an error's first argument."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
    if isinstance(node, ast.BinOp):
        return message(node.left) + message(node.right)
    return "{}"


def messages():
    """(file, text) of every error made in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                text = message(node.args[0])
                if name in NAMES and len(text.replace("{}", "").strip(" :.")) > 5:
                    yield f"{path.relative_to(PACKAGE)}: {text}", text


def spoken():
    """Every text of the package but docstrings."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        comments = {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }  # a text that nobody uses
        for node in ast.walk(tree):
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in comments:
                yield message(node)


def quoted():
    """The texts in backticks of the first columns."""
    page = (DOCS / "troubleshooting.md").read_text()
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("|")]
    return [text for cell in cells for text in re.findall(r"`([^`]+)`", cell)]


def test_every_error_has_a_line():
    phrases = quoted()
    missing = [where for where, text in messages() if not any(p in text for p in phrases)]
    assert not missing, "add to docs/troubleshooting.md:\n" + "\n".join(missing)


def test_every_line_has_an_error():
    texts = [text for _, text in messages()] + list(spoken())
    stale = [p for p in quoted() if not any(p in t for t in texts)]
    assert not stale, f"not in any message: {stale}"


@pytest.mark.parametrize("stop", Stop, ids=lambda s: s.name)
def test_every_reason_to_stop_has_a_line(stop):
    assert stop.value in (DOCS / "log.md").read_text()
