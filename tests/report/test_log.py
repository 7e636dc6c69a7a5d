"""The log: an aligned table, rare enough to cost nothing, and a bar on terminals only."""

import io
import re
import time

from pyomo_stochsqp.report.log import RunLog
from pyomo_stochsqp.run import Budget
from tests.run.runs import TOLERANCES, Runner, StagedRunner


class Terminal(io.StringIO):
    def isatty(self):
        return True


def logged(iterations, stream=None, runner=Runner, sign=1):
    streams = [] if stream is None else [stream]
    log = RunLog(streams, Budget(iterations), TOLERANCES, sign)
    made = runner()
    log.summary(made.run(iterations, [log]), made.oracle.problem)
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
        "iter", "scenarios", "violation", "step", "tau", "xi", "alpha", "time",
    ]  # fmt: skip
    header = next(
        line
        for line in logged(5, runner=StagedRunner).splitlines()
        if line.lstrip().startswith("iter")
    )
    assert header.split() == [
        "iter", "stage", "scenarios", "objective", "violation", "step", "time",
    ]  # fmt: skip


def test_headings_stand_above_their_numbers():
    for runner in (Runner, StagedRunner):
        lines = logged(5, runner=runner).splitlines()
        first = next(i for i, line in enumerate(lines) if line.lstrip().startswith("iter"))
        ends = [match.end() for match in re.finditer(r"\S+", lines[first])]
        for line in lines[first + 1 : first + 6]:
            assert [match.end() for match in re.finditer(r"\S+", line)] == ends


def test_every_certificate_gets_a_line():
    made = StagedRunner()
    log = RunLog([], Budget(), TOLERANCES)
    made.run(float("inf"), [log])
    lines = [line for line in log.text.splitlines() if line.startswith("  certified ")]
    assert len(lines) == made.run(float("inf")).state.stage
    assert all("fresh scenarios: violation" in line for line in lines)
    assert all("times the tolerance" in line or "far from" in line for line in lines)


def test_the_objective_of_a_maximisation_is_shown_with_its_sign():
    values = [
        [float(line.split()[3]) for line in table(logged(3, runner=StagedRunner, sign=sign))]
        for sign in (1, -1)
    ]
    assert values[0] == [-value for value in values[1]]
    assert all(value > 0.0 for value in values[0])


def test_every_stream_gets_the_same_text():
    stream = io.StringIO()
    assert logged(30, stream) == stream.getvalue()


def test_a_terminal_also_gets_a_progress_bar_that_disappears():
    terminal = Terminal()
    text = logged(30, terminal)
    assert "\r" not in text
    assert re.search(r"\r\[#* *\]  +\d+ % of iterations", terminal.getvalue())
    shown = terminal.getvalue().rsplit("\r\x1b[K", 1)[-1]
    assert "% of" not in shown


def test_the_summary_says_how_it_ended_and_how_good_the_point_is():
    text = logged(50)
    assert "Ended: the iteration limit was reached." in text
    assert re.search(r"Objective +\d\.\d+ \+- \S+ \(standard error\)", text)
    assert re.search(
        r"Certificate  objective within \S+ of a local optimum, row 0 within \S+, "
        r"variable 0 within \S+ \(95 %\)",
        text,
    )
    assert re.search(r"50 iterations, \d+ scenarios, \d+\.\d\d seconds", text)


def test_an_iteration_without_a_line_costs_next_to_nothing():
    runner = Runner()
    progress = runner.run(101).progress
    log = RunLog([], Budget(10**6), TOLERANCES)
    log(progress)
    shares = []
    for _ in range(10):
        began = time.process_time()
        runner.run(200)
        iterated = time.process_time()
        for _ in range(2_000):
            log(progress)
        shares.append((time.process_time() - iterated) / 10 / (iterated - began))
    # both are measured in one run, on small iterations; the quietest of ten rounds counts, the
    # others say how busy the machine is
    assert min(shares) < 0.005
