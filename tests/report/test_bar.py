"""The progress bar in a notebook; that of a terminal is tested with the log."""

import io
import re
import sys
import types

import pytest

from pyomo_stochsqp.report import bar
from pyomo_stochsqp.report.bar import NotebookBar, Picture, bars_on, picture_of
from pyomo_stochsqp.report.log import RunLog
from pyomo_stochsqp.run import Budget
from tests.run.runs import TOLERANCES, Runner

#: the class of sys.stdout in Jupyter's kernel, as far as it matters
OutStream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})


@pytest.fixture
def shown(monkeypatch):
    """What a notebook would show, picture after picture: (number of the display, HTML)."""
    pictures = []

    class Handle:
        def __init__(self, number):
            self.number = number

        def update(self, html):
            pictures.append((self.number, html))

    def display(html, display_id):
        assert display_id is True
        handle = Handle(len({number for number, _ in pictures}))
        handle.update(html)
        return handle

    module = types.SimpleNamespace(HTML=str, display=display)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=module))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return pictures


def run(iterations, stream):
    log = RunLog([stream], Budget(iterations), TOLERANCES)
    made = Runner()
    log.summary(made.run(iterations, [log]), made.oracle.problem)
    return log.text


def test_a_long_run_updates_one_display_and_leaves_nothing(shown, monkeypatch):
    monkeypatch.setattr(NotebookBar, "wait", 0.0)
    stream = OutStream()
    text = run(30, stream)
    assert len(shown) >= 2 and {number for number, _ in shown} == {0}
    assert re.search(r'<progress max="1" value="0\.\d+".*% of iterations', shown[0][1])
    assert shown[-1][1] == ""
    assert stream.getvalue() == text  # no control characters, which a notebook would print


def test_a_short_run_gets_none(shown):
    run(3, OutStream())
    assert not shown


def test_streams_that_are_neither_get_none():
    assert bars_on([io.StringIO()]) == []


def test_several_streams_of_a_notebook_share_one_bar():
    assert [type(b) for b in bars_on([OutStream(), OutStream()])] == [NotebookBar]


def test_without_limits_the_bar_has_no_value(shown):
    progress = Runner().run(5).progress
    picture = picture_of(progress, Budget())
    assert picture.share is None and picture.said.startswith("iteration 5, ")
    NotebookBar().draw(picture)
    assert " value=" not in shown[0][1]


def test_the_limit_that_is_nearest_counts():
    progress = Runner().run(5).progress
    budget = Budget(10, 2.5 * progress.state.samples, max_samples_given=True)
    picture = picture_of(progress, budget)
    assert picture.share == pytest.approx(0.5)
    assert "iterations" in picture.said
    assert bar._drawn(Picture(0.5, "x")) == f"[{'#' * 12}{' ' * 12}] x"
