"""What a notebook shows of a RandomParam."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.stats as st

from pyomo_stochsqp import RandomParam, RandomSource
from pyomo_stochsqp.declare.randomness import glance
from tests.test_text_table import Reader


def shown(component):
    """(sentence, {member: numbers}, what comes after) of its HTML."""
    read = Reader(component._repr_html_())
    table = {row[0]: [float(v) for v in row[1:]] for row in read.cells[1:]}
    return read.texts[0], table, read.texts[1:]


@pytest.fixture
def m():
    return pyo.ConcreteModel()


def test_a_table(m):
    m.w = RandomParam(["wind", "<price>"], data={"wind": [3.0, 5.0], "<price>": [40.0, 20.0]})
    said, table, _ = shown(m.w)
    assert said == "RandomParam 'w': a table of 2 scenarios"
    assert table == {"w[wind]": [4, 1, 3, 3, 5], "w[<price>]": [30, 10, 20, 20, 40]}


def test_probabilities_count(m):
    m.w = RandomParam(data=[0.0, 10.0], weights=[0.9, 0.1])
    _, table, _ = shown(m.w)
    assert table == {"w": [1, 3, 0, 0, 10]}


def test_columns_of_a_source(m):
    days = RandomSource("days", data={"wind": [3.0, 5.0], "price": [40.0, 20.0]})
    m.cost = RandomParam(source=days, columns="price")
    assert shown(m.cost)[1]["cost"][0] == 30


def test_a_long_table_is_read_here_and_there(m, monkeypatch):
    monkeypatch.setattr(glance, "MOST_NUMBERS", 100)
    m.w = RandomParam(data=np.arange(10_000.0))
    assert shown(m.w)[1]["w"][0] == pytest.approx(5000, rel=0.02)


def test_a_distribution(m):
    m.w = RandomParam(distribution=st.norm(100, 20))
    said, table, _ = shown(m.w)
    assert "4096 draws" in said
    assert table["w"] == pytest.approx([100, 20, *st.norm(100, 20).ppf(glance.LEVELS)], rel=0.003)


def test_members_beyond_the_first_few(m):
    m.w = RandomParam(range(12), distribution=st.norm(0, 1))
    _, table, after = shown(m.w)
    assert len(table) == 8 and after == ["and 4 more"]


def test_a_sampler_is_not_called(m):
    calls = []

    def season(rng, size):
        calls.append(size)
        return rng.random(size)

    m.w = RandomParam(sampler=season)
    before = list(calls)
    assert "drawn by season; its numbers: w" in m.w._repr_html_()
    assert calls == before


def test_fixed_numbers(m):
    m.w = RandomParam(data=[1.0, 3.0])
    m.w.fix_to("mean")
    said, table, _ = shown(m.w)
    assert said.endswith("fixed for now") and table == {"w": [2]}


def test_before_it_is_constructed():
    a = pyo.AbstractModel()
    a.w = RandomParam(data=[1.0])
    assert "not constructed yet" in a.w._repr_html_()
