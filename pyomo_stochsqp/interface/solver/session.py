r"""One run, with everything that watches it: log, callback, checkpoint, signals."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...method import Stop
from ...oracle import set_work_left
from ...report.banner import banner
from ...report.log import RunLog
from ...run import Observer, Outcome, Progress
from ...run.checkpoint import Checkpoint, Keeper, packed_run
from ...run.identity import Identity
from ...run.interruption import Interruption
from ...run.safe_file import SafeFile
from ...solve import RECORDS, Setup
from .callback import CallbackObserver
from .rescue import leave
from .resume import identity_of, note_of

logger = logging.getLogger("pyomo_stochsqp")


def run_session(
    setup: Setup,
    options: Mapping[str, Any],
    streams: Sequence[Any] = (),
    checkpoint: Checkpoint | None = None,
    without_effect: Sequence[str] = (),
    file: SafeFile | None = None,
) -> tuple[Outcome, str]:
    """The outcome of a run and the text of its log. Checkpoints go to ``file``."""
    identity = None if checkpoint is None and file is None else identity_of(setup)
    progress = setup.beginning()
    set_work_left(setup.oracle)
    if checkpoint is not None and identity is not None:
        checkpoint.check(identity, setup.oracle)
        progress = checkpoint.restore(progress, RECORDS, setup.oracle)
    log = RunLog(streams, setup.budget, setup.tolerances, setup.program.sign)
    keeper = None
    if file is not None and identity is not None:
        keeper = _keeper(file, identity, setup, options, log)
    observers: list[Observer] = [log]
    if options["callback"] is not None:
        observers.append(CallbackObserver(options["callback"], options["callback_every"], setup))
    if keeper is not None:
        observers.append(keeper)
    with Interruption(keeper) as interruption:
        log.write(banner(setup, options, progress, without_effect))
        try:
            outcome = setup.run([*observers, interruption], progress, interruption.at_the_end)
        except (Exception, KeyboardInterrupt) as error:
            leave(error, setup, progress, keeper)
            raise
        if interruption.cut and outcome.stop is not Stop.CONVERGED:
            outcome = replace(outcome, stop=Stop.INTERRUPTED, message=_CUT)
        outcome = replace(outcome, warnings=_warnings(keeper, log))
        log.summary(outcome, setup.oracle.problem)
    return outcome, log.text


_CUT = "Ctrl-C was pressed during the last certificates"


def _warnings(keeper: Keeper | None, log: RunLog) -> tuple[str, ...]:
    troubles = ("" if keeper is None else keeper.trouble, log.trouble)
    return tuple(trouble for trouble in troubles if trouble)


def _keeper(
    file: SafeFile, identity: Identity, setup: Setup, options: Mapping[str, Any], log: RunLog
) -> Keeper:
    note = note_of({**options, "seed": setup.seed})

    def write(progress: Progress) -> None:
        file.write(packed_run(progress, identity, note, setup.oracle))

    def tell(trouble: str) -> None:
        log.write(f"  warning: {trouble}")
        logger.warning("checkpoint='%s': %s", file.path, trouble)

    return Keeper(write, options["checkpoint_every"], tell)
