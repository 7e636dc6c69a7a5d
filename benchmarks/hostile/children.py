r"""Runs in processes of their own, which may be killed: what they return, and how they ended."""

from __future__ import annotations

import multiprocessing
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: seconds after which a child is taken to hang
PATIENCE = 120.0


class Child:
    """A process that runs a function; what it returns, or the traceback of what it raises, is
    written to a file as its last deed."""

    def __init__(self, function: Callable[[], Any], file: Path):
        self._file = file
        file.unlink(missing_ok=True)
        fork = multiprocessing.get_context("fork")  # a new interpreter would have to import
        self._process = fork.Process(target=_child, args=(function, file), daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within so many seconds."""
        self._process.join(seconds)
        return self._process.exitcode is not None

    def kill(self) -> None:
        self._process.kill()

    def ended(self) -> tuple[int, Any, str]:
        """(exit code, what it has returned, the traceback of what it has raised)."""
        if not self.wait(PATIENCE):
            self._process.kill()
            self._process.join()
            return 1, None, "it hangs"
        code = self._process.exitcode
        assert code is not None
        if not self._file.exists():
            return code, None, ""
        returned, raised = pickle.loads(self._file.read_bytes())  # our own
        return code, returned, raised


def _child(function: Callable[[], Any], file: Path) -> None:
    returned, raised = None, ""
    try:
        returned = function()
    except BaseException:
        raised = traceback.format_exc()
    part = file.with_suffix(".part")
    part.write_bytes(pickle.dumps((returned, raised)))
    part.rename(file)
