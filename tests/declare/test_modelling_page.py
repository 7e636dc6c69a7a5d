"""The code on the modelling page runs as written, from top to bottom."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "modelling.md"


def test_every_block_runs(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # the page writes a file
    text = PAGE.read_text()
    blocks = list(re.finditer(r"```python\n(.*?)```", text, flags=re.DOTALL))
    assert len(blocks) > 15
    namespace = {}
    for block in blocks:
        above = "\n" * text[: block.start(1)].count("\n")  # so that errors name the right line
        exec(compile(above + block[1], str(PAGE), "exec"), namespace)
    out = capsys.readouterr().out
    assert "E[(w[a]*x[a] - w[b]*x[b])**2] + x[c]**2" in out
    assert namespace["two"].order.value == pytest.approx(9.0)
    assert namespace["g"].x.value == pytest.approx(3.0)
