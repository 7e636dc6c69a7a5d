"""Rank 0 asks, all answer: in order, once each, and whatever goes wrong is heard of everywhere."""

from dataclasses import dataclass

import numpy as np
import pytest

from pyomo_stochsqp.deadline import OutOfTime
from pyomo_stochsqp.errors import DataError, RankError
from pyomo_stochsqp.ranks import Crew, agree, fault_of_any
from tests.ranks.threads import on_ranks

SIZES = pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 13])


@dataclass
class Heard:
    ranks: list

    def with_next(self, other):
        return Heard(self.ranks + other.ranks)


def conversation(questions, answer):
    """Rank 0 puts questions; the others answer them."""

    def work(comm):
        crew = Crew(comm)

        def own(question):
            return answer(crew.rank, question)

        if crew.rank:
            return crew.serve(own)
        found, error = [], None
        try:
            for question in questions:
                try:
                    found.append(crew.ask(question, own))
                except (RankError, DataError) as fault:
                    found.append(fault)
        except BaseException as fault:
            error = repr(fault)
            raise
        finally:
            crew.dismiss("the end", error)
        return found

    return work


@SIZES
def test_answers_come_in_the_order_of_the_ranks(size):
    results, sent = on_ranks(
        size, conversation(["a", "b"], lambda rank, question: Heard([(rank, question)]))
    )
    everybody = [[(rank, q) for rank in range(size)] for q in "ab"]
    assert [heard.ranks for heard in results[0]] == everybody
    assert results[1:] == ["the end"] * (size - 1)
    # two questions and the end go down, two answers come up
    assert sent == 5 * (size - 1)


@SIZES
@pytest.mark.parametrize("bad", [0, 1, 2, 6])
def test_one_that_raises_is_heard_of_and_the_crew_goes_on(size, bad):
    def answer(rank, question):
        if rank == bad and question == "hard":
            raise (DataError if bad != 2 else ZeroDivisionError)("no answer")
        return Heard([rank])

    results, _ = on_ranks(size, conversation(["hard", "easy"], answer))
    if bad == 0:  # what rank 0 itself raises inside its own answer
        assert isinstance(results[0][0], DataError)
    elif bad < size:
        assert isinstance(results[0][0], RankError if bad == 2 else DataError)
        assert "no answer" in str(results[0][0]) and f"rank {bad}" in str(results[0][0])
    assert results[0][1].ranks == list(range(size))


def test_rank_0_may_leave_a_question():
    def answer(rank, question):
        if rank == 0 and question == "left":
            raise OutOfTime
        return Heard([question])

    def work(comm):
        crew = Crew(comm)
        if crew.rank:
            return crew.serve(lambda q: answer(crew.rank, q))
        with pytest.raises(OutOfTime):
            crew.ask("left", lambda q: answer(0, q))
        found = crew.ask("next", lambda q: answer(0, q))
        crew.dismiss()
        return found.ranks

    results, _ = on_ranks(4, work)
    assert results[0] == ["next"] * 4  # late answers to the first question are thrown away


@pytest.mark.parametrize("end", ["rank 0 failed: it is ill", DataError("no such column")])
def test_all_hear_why_rank_0_ends(end):
    def work(comm):
        crew = Crew(comm)
        if crew.rank:
            return crew.serve(lambda question: None)
        return crew.dismiss(error=end)

    results, _ = on_ranks(3, work)
    for error in results[1:]:
        assert type(error) is (RankError if isinstance(end, str) else DataError)
        assert str(error) == str(end)


def test_a_fault_before_the_run_is_raised_by_all():
    def work(comm):
        fault = DataError("no file") if comm.rank == 1 else None
        fault_of_any(Crew(comm), fault)

    results, _ = on_ranks(3, work)
    assert [str(e) for e in results] == ["no file (on rank 1)", "no file", "no file (on rank 1)"]


@pytest.mark.parametrize(
    ("labels", "numbers", "complaint"),
    [
        ({"sizes": "3"}, [1.0, 2.0], None),
        ({"sizes": "4"}, [1.0, 2.0], "sizes: 4 on rank 2, 3 on rank 0"),
        ({"sizes": "3"}, [1.0, 2.1], "differ on rank 2"),
        ({"sizes": "3"}, [1.0], "differ on rank 2"),
    ],
)
def test_models_must_agree(labels, numbers, complaint):
    def work(comm):
        mine = (labels, numbers) if comm.rank == 2 else ({"sizes": "3"}, [1.0, 2.0])
        agree(Crew(comm), mine[0], np.array(mine[1]))

    results, _ = on_ranks(3, work)
    if complaint is None:
        assert results == [None] * 3
    for error in results if complaint else []:
        assert isinstance(error, RankError) and complaint in str(error)
        assert "Every rank must build the same" in str(error)
