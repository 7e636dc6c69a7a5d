"""SMPS files: the public set's LandS, and small files with every kind of section."""

from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest

from pyomo_stochsqp import from_smps
from pyomo_stochsqp.errors import DataError

LANDS = Path(__file__).parent / "lands"
#: Linderoth, Shapiro and Wright (2006); 225.6294 by an exact solution of all 10^6 scenarios
LANDS_VALUE = 225.6294

CORE = """NAME          small
ROWS
 N  COST
 G  FIRST
 G  MEET
 L  CAP
COLUMNS
    X         COST      1.0   FIRST     1.0
    X         MEET      1.0
    MARKER    'MARKER'  'INTORG'
    N         COST      5.0   FIRST     1.0
    MARKER    'MARKER'  'INTEND'
    Y         COST      3.0   MEET      1.0
    Y         CAP       1.0
RHS
    RHS       FIRST     1.0   MEET      4.0
    RHS       CAP       9.0   COST     -7.0
RANGES
    RNG       CAP       8.0
BOUNDS
 UP BND       X         20.0
 BV BND       N
 LO BND       Y         1.0
ENDATA
"""
TIME = """TIME          small
PERIODS
    X         FIRST                    ONE
    Y         MEET                     TWO
ENDATA
"""
INDEP = """STOCH         small
INDEP         DISCRETE
    RHS       MEET      2.0   TWO       0.5
    RHS       MEET      6.0   TWO       0.5
    Y         COST      2.0   TWO       0.25
    Y         COST      4.0   TWO       0.75
ENDATA
"""
BLOCKS = """STOCH         small
BLOCKS        DISCRETE
 BL B1        TWO       0.5
    RHS       MEET      2.0
    X         MEET      1.0
 BL B1        TWO       0.5
    RHS       MEET      6.0
    X         MEET      0.5
ENDATA
"""
SCENARIOS = """STOCH         small
SCENARIOS     DISCRETE
 SC S1        'ROOT'    0.5       TWO
    RHS       MEET      2.0
 SC S2        S1        0.5       TWO
    Y         COST      4.0
ENDATA
"""


def files(folder, random, core=CORE, time=TIME):
    for suffix, text in ((".cor", core), (".tim", time), (".sto", random)):
        (folder / f"small{suffix}").write_text(text)
    return folder / "small"


def written_out(m):
    form = pyo.TransformationFactory("stochsqp.extensive_form").create_using(m)
    pyo.SolverFactory("appsi_highs").solve(form)
    return pyo.value(form.obj)


@pytest.mark.parametrize("path", [LANDS, LANDS / "lands", LANDS / "lands.cor"], ids=str)
def test_lands(path):
    pytest.importorskip("highspy")
    m = from_smps(path)
    assert len(m.x) == 4 and len(m.second.y) == 12 and len(m.second.row) == 7
    results = pyo.SolverFactory("stochsqp").solve(m, seed=3, gap=2e-3)
    assert results.certificate.objective == pytest.approx(LANDS_VALUE, rel=1e-3)
    assert results.certificate.relative_gap <= 2e-3


def test_every_section_of_the_core_file(tmp_path):
    m = from_smps(files(tmp_path, INDEP))
    assert m.x["N"].domain is pyo.Integers and m.x["N"].bounds == (0, 1)
    assert m.x["X"].bounds == (0, 20) and m.second.y["Y"].lb == 1.0
    cap = m.second.row["CAP"]
    assert (pyo.value(cap.lower), pyo.value(cap.upper)) == (1.0, 9.0)
    # x + y >= 2 or 6, 1 <= y <= 9, y costs 3.5 on average, x costs 1, 7 for nothing:
    # x = 5 makes y = 1 everywhere
    assert written_out(m) == pytest.approx(7 + 5 + 3.5)


def test_blocks_are_drawn_together(tmp_path):
    m = from_smps(files(tmp_path, BLOCKS))
    # y >= 2 - x or 6 - x/2: up to x = 1, x saves (3 + 3/2)/2, from there on 3/4 a unit
    assert written_out(m) == pytest.approx(7 + 1 + 0.5 * 3 * 1 + 0.5 * 3 * 5.5)


def test_scenarios_inherit_from_their_parent(tmp_path):
    m = from_smps(files(tmp_path, SCENARIOS))
    (w,) = m.random.component_objects()
    assert np.asarray(w.origin.matrix).tolist() == [[2.0, 3.0], [2.0, 4.0]]
    assert written_out(m) == pytest.approx(7 + 1 + 3.5)


def test_a_file_with_the_names_of_the_three(tmp_path):
    files(tmp_path, INDEP)
    (tmp_path / "model.smps").write_text("small.cor\nsmall.tim\nsmall.sto\n")
    assert from_smps(tmp_path / "model.smps").name == "small"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"random": "STOCH small\nTREES DISCRETE\nENDATA\n"}, "section 'TREES' is not supported"),
        ({"random": INDEP.replace("2.0", "two")}, r"small.sto, line 3: 'two' is no number"),
        ({"random": INDEP.replace("MEET", "NONE")}, "row 'NONE' is not in the core file"),
        ({"random": INDEP.replace("DISCRETE", "WEIBULL")}, "INDEP WEIBULL is not supported"),
        ({"random": BLOCKS.replace("DISCRETE", "LINTR")}, "BLOCKS LINTR is not supported"),
        ({"time": TIME.replace("ENDATA", "    Z  Z  THREE")}, "3 stages; programs of two"),
        ({"time": TIME.replace("MEET", "NONE")}, "'NONE' is not in the core file"),
        ({"core": CORE.replace("BV BND", "SC BND")}, "a bound of kind 'SC' is not supported"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, change, message):
    with pytest.raises(DataError, match=message):
        from_smps(files(tmp_path, **{"random": INDEP, **change}))


def test_missing_files_are_named(tmp_path):
    with pytest.raises(DataError, match=r"no file \.cor"):
        from_smps(tmp_path / "nothing")
