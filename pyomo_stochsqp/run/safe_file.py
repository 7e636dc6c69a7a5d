r"""A file that one run writes again and again, and that is always complete.

Content goes to a file of its own in the same directory, which then takes the place of the old one:
whoever reads, and whoever is left after a crash or a full disk, finds the old content or the new.
Only regular files are ever replaced. A lock (on a file beside it, given back by the system when a
process ends in whatever way) keeps two runs from writing in turn.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..errors import CheckpointError

try:
    import fcntl
except ImportError:  # not on this system
    fcntl = None  # type: ignore[assignment]

_CREATE = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

#: tries to get a lock that its last owner removes at the same moment
ATTEMPTS = 100


class SafeFile:
    """``with SafeFile(path) as file`` checks that it can be written, and keeps others away."""

    def __init__(self, path: str, may_replace: Callable[[str], bool] = lambda path: True):
        """``may_replace`` tells whether a file that exists is of the kind that is written."""
        self.path = path
        self._may_replace = may_replace
        #: where a symbolic link leads: the link stays
        self._target = os.path.realpath(path)
        self._lock: int | None = None

    def __enter__(self) -> SafeFile:
        problem = self._problem()
        if problem is not None:
            raise CheckpointError(
                f"checkpoint='{self.path}' cannot be written: {problem}. Give the path of a new "
                "file, or of an old checkpoint, in a directory that can be written."
            )
        self._lock = self._locked()
        if self._lock is not None:
            self._tidy()
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._unlock(self._lock)
            self._lock = None

    def write(self, content: Any) -> None:
        """Replace the content (bytes); raises OSError and leaves the old one if that fails."""
        self._must_be_regular()
        fresh = self._fresh_name()
        handle = os.open(fresh, _CREATE | os.O_EXCL, 0o666)
        try:
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(handle, view) :]
                os.fsync(handle)
            finally:
                os.close(handle)
            with suppress(OSError):
                os.chmod(fresh, stat.S_IMODE(os.stat(self._target).st_mode))
            os.replace(fresh, self._target)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh)
            raise

    def _fresh_name(self) -> str:
        """Unlike any other, of this process or another one."""
        return f"{self._target}.{os.getpid()}-{secrets.token_hex(4)}.new"

    def _tidy(self) -> None:
        """Remove what processes have left that were killed while they wrote."""
        folder, name = os.path.split(self._target)
        left = re.compile(re.escape(name) + r"\.\d+-[0-9a-f]{8}\.new")
        with suppress(OSError):
            for entry in os.listdir(folder):
                if left.fullmatch(entry):
                    os.unlink(os.path.join(folder, entry))

    def _must_be_regular(self) -> None:
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.stat(self._target).st_mode):
                raise OSError("it is not a regular file")

    def _problem(self) -> str | None:
        """Why the file cannot be written, found out by writing beside it."""
        folder = os.path.dirname(self._target)
        if not os.path.isdir(folder):
            return f"there is no directory '{folder}'"
        try:
            self._must_be_regular()
            if os.path.exists(self._target) and not os.access(self._target, os.W_OK):
                return "it is read-only"
            if os.path.exists(self._target) and not self._may_replace(self._target):
                return "there is a file that is something else"
            trial = self._fresh_name()
            os.close(os.open(trial, _CREATE | os.O_EXCL, 0o666))
            os.unlink(trial)
        except OSError as error:
            return error.strerror or str(error)
        return None

    # -- the lock ---------------------------------------------------------------------------------

    @property
    def _lock_path(self) -> str:
        return f"{self._target}.lock"

    def _locked(self) -> int | None:
        """A handle that holds the lock; None where the file system has no locks."""
        if fcntl is None:
            return None
        for _ in range(ATTEMPTS):
            try:
                handle = os.open(self._lock_path, _CREATE, 0o666)
            except OSError:
                return None
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(handle).st_ino == os.stat(self._lock_path).st_ino:
                    return handle
            except FileNotFoundError:
                pass  # whoever held it has just removed it
            except BlockingIOError:
                with suppress(OSError):
                    os.close(handle)
                raise CheckpointError(
                    f"checkpoint='{self.path}' is being written by another run. Give every run a "
                    "file of its own, or wait until the other one has ended."
                ) from None
            except OSError:
                self._unlock(handle)
                return None
            with suppress(OSError):
                os.close(handle)
        return None

    def _unlock(self, handle: int) -> None:
        with suppress(OSError):
            os.unlink(self._lock_path)
        with suppress(OSError):  # it is closed even then
            os.close(handle)
