r"""The tests of a group against one changed file.

Every mutant runs in a process of its own, forked from one in which the libraries are loaded but the
package is not; a loader hands out the changed source when the file is imported. So nothing on disk
is touched, and what one mutant does cannot reach the next.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import resource
import sys
import traceback
from collections.abc import Sequence
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

#: CPU seconds; a mutant that takes longer has lost its way
LIMIT = 100


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds one module, and loads it from another source."""

    def __init__(self, name: str, path: Path, source: str):
        self._name, self._path, self._source = name, path, source

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        return spec_from_file_location(name, self._path, loader=self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._source, str(self._path), "exec"), module.__dict__)


def preload() -> None:
    """The libraries, before the first fork."""
    import hypothesis  # noqa: F401
    import numpy  # noqa: F401
    import pandas  # noqa: F401
    import pyomo.environ  # noqa: F401
    import pytest  # noqa: F401
    import scipy.linalg
    import scipy.sparse.linalg
    import scipy.stats  # noqa: F401

    assert "pyomo_stochsqp" not in sys.modules


def passes(root: Path, tests: Sequence[str], changed: tuple[Path, str] | None = None) -> bool:
    """Whether the tests pass with (file, source) in place of what the file holds."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = _in_child(root, tests, changed)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return status == 0


def _in_child(root: Path, tests: Sequence[str], changed: tuple[Path, str] | None) -> int:
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.chdir(root)
    if changed is not None:
        path, source = changed
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        sys.meta_path.insert(0, Changed(name, path, source))
    # file by file: a mutant that the first one kills need not wait for the others to be imported
    for file in tests:
        if pytest.main(["-x", "-q", "-p", "no:cacheprovider", file]):
            return 1
    return 0
