"""The log: an aligned table, rare enough to cost nothing, and a bar on terminals only."""

import io
import re
import time

from pyomo_stochsqp.report import Budget
from pyomo_stochsqp.report.log import RunLog
from tests.report.runs import TOLERANCES, Runner


class Terminal(io.StringIO):
    def isatty(self):
        return True


def logged(iterations, stream=None):
    log = RunLog([] if stream is None else [stream], Budget(iterations))
    outcome = Runner().run(iterations, [log])
    log.summary(outcome, TOLERANCES)
    return log.text


def table(text):
    return [line for line in text.splitlines() if re.match(r" +\d+ +\d+ ", line)]


def test_columns_are_aligned_and_rows_thin_out():
    lines = table(logged(1234))
    assert len({len(line) for line in lines}) == 1
    iterations = [int(line.split()[0]) for line in lines]
    assert iterations[:12] == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30]
    assert iterations[-1] == 1234
    assert len(iterations) < 40


def test_equal_runs_print_equal_tables():
    without_time = [[line.rsplit(maxsplit=1)[0] for line in table(logged(300))] for _ in range(2)]
    assert without_time[0] == without_time[1]


def test_the_header_names_every_column():
    header = next(line for line in logged(5).splitlines() if line.lstrip().startswith("iter"))
    assert header.split() == [
        "iter", "samples", "|c|_1", "|d|_H", "tau", "xi", "alpha", "batch", "error", "time",
    ]  # fmt: skip


def test_every_stream_gets_the_same_text():
    stream = io.StringIO()
    assert logged(30, stream) == stream.getvalue()


def test_a_terminal_also_gets_a_progress_bar_that_disappears():
    terminal = Terminal()
    text = logged(30, terminal)
    assert "\r" not in text
    assert re.search(r"\r +\d+ % of iterations \[", terminal.getvalue())
    shown = terminal.getvalue().rsplit("\r\x1b[K", 1)[-1]
    assert "% of" not in shown


def test_the_summary_says_how_it_ended_and_how_good_the_point_is():
    text = logged(50)
    assert "Ended: the iteration limit was reached." in text
    assert re.search(r"Infeasibility +\S+ +\S+ +\S+", text)
    assert re.search(r"50 iterations, \d+ samples, \d+\.\d\d seconds", text)


def test_an_iteration_without_a_line_costs_next_to_nothing():
    runner = Runner()
    progress = runner.run(101).progress
    log = RunLog([], Budget(10**6))
    log(progress)
    began = time.process_time()
    for _ in range(10_000):
        log(progress)
    # the cheapest iterations take 50 microseconds; 3 % of that is 1.5
    assert (time.process_time() - began) / 10_000 < 1.5e-6
