"""Records survive as text and arrays: types, bits, and nothing that was not named."""

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

from pyomo_stochsqp.run.records import packed, unpacked
from pyomo_stochsqp.solve import RECORDS
from tests.run.packing import same_bits
from tests.run.runs import Runner, StagedRunner


class Colour(Enum):
    RED = "red"


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass(frozen=True)
class Box:
    inside: Any
    colour: Colour | None = None


def through_text(record, classes):
    """As a file does it: the structure as JSON, arrays beside it."""
    arrays = []
    structure = json.loads(json.dumps(packed(record, arrays)))
    return unpacked(structure, arrays, classes)


def test_types_and_bits_stay():
    odd = np.array([1e-308, -0.0, np.nan, np.inf, 1 / 3])
    record = Box(
        Pair((1, 2.5, True, None, "text"), Box(odd, Colour.RED)),
    )
    again = through_text(record, [Box, Pair, Colour])
    assert same_bits(again, record)
    assert isinstance(again.inside, Pair)
    assert again.inside.second.colour is Colour.RED
    assert [type(item) for item in again.inside.first] == [int, float, bool, type(None), str]


def test_numpy_scalars_become_numbers_and_tuples_stay_tuples():
    again = through_text(Pair(np.float64(0.1), (np.int64(3),)), [Pair])
    assert type(again.first) is float and again.first == 0.1
    assert again.second == (3,) and type(again.second[0]) is int


def test_a_class_that_is_not_named_is_not_made():
    arrays = []
    structure = packed(Box(1), arrays)
    with pytest.raises(KeyError, match="Box"):
        unpacked(structure, arrays, [Pair])


def test_what_is_no_record_is_refused():
    with pytest.raises(TypeError, match="a checkpoint cannot hold a function"):
        packed(Box(lambda: 1), [])


def test_names_of_all_records_of_the_package_are_different():
    """A file knows them by name."""
    assert len({record.__name__ for record in RECORDS}) == len(set(RECORDS))


@pytest.mark.parametrize("runner", [Runner, StagedRunner])
def test_states_of_runs_survive(runner):
    outcome = runner().run(60, max_samples=50_000)
    again = through_text(outcome.state, RECORDS)
    assert same_bits(again, outcome.state)
    assert type(again) is type(outcome.state)
    assert type(again.best) is type(outcome.state.best)
    assert type(again.k) is int
