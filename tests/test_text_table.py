"""Tables and sentences, as text and as HTML."""

from html.parser import HTMLParser

import pytest

from pyomo_stochsqp.text_table import Printed, TextTable, Verdict, html_of


class Reader(HTMLParser):
    """The cells of all tables, the other texts; open and closed tags match."""

    def __init__(self, html):
        super().__init__()
        self.open, self.cells, self.texts = [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        elif tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "tr" in self.open:
            self.cells[-1][-1] += data
        else:
            self.texts.append(data)


TABLE = TextTable(("", "value"), [("cost", "1.5"), ("x<y & z", "-20")], title="Values")


def test_text():
    assert str(TABLE).splitlines() == [
        "Values", "         value", "--------------", "cost       1.5", "x<y & z    -20",
    ]  # fmt: skip


def test_html_says_the_same():
    read = Reader(TABLE.html())
    assert read.cells == [["", "value"], ["cost", "1.5"], ["x<y & z", "-20"]]
    assert read.texts == ["Values"]


def test_a_table_without_header_has_no_rule():
    table = TextTable(("", ""), [("run", "12 iterations")], left=(0, 1))
    assert str(table) == "run  12 iterations"
    assert Reader(table.html()).cells == [["run", "12 iterations"]]


@pytest.mark.parametrize(
    "one", ["<script>", Verdict("<script>", True), TextTable(("<script>",), [])]
)
def test_nothing_of_a_model_becomes_markup(one):
    html = html_of([one])
    assert "<script>" not in html and "&lt;script&gt;" in html


def test_verdicts_differ_by_colour():
    assert Verdict("ended", True).html() != Verdict("ended", False).html()
    assert str(Verdict("ended", False)) == "ended"


def test_printed_in_terminal_and_notebook():
    class Result(Printed):
        def shown(self):
            return [TABLE, "a caution"]

    result = Result()
    assert str(result) == repr(result) == f"{TABLE}\na caution"
    assert Reader(result._repr_html_()).texts == ["Values", "a caution"]
