"""Every ```python block of README.md and of docs/ runs, top to bottom, one namespace per page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if "_build" not in page.parts and BLOCK.search(page.read_text())]


def test_there_are_pages():
    names = {page.stem for page in PAGES}
    assert {"README", "tutorial", "modelling", "choosing", "log", "extending"} <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_run(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # a page may write files
    text = page.read_text()
    namespace = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        above = "\n" * text[: block.start(1)].count("\n")  # so that errors name the page's line
        exec(compile(above + block[1], str(page), "exec"), namespace)
