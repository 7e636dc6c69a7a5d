r"""Where compiled code is kept between sessions, and whom it is taken from.

Compiled code is executed as it is found. So it is kept, and looked for, only in a directory that
belongs to the user and in which nobody else can write, nor in any directory above it. Otherwise a
new private directory serves for this process alone.

A file is named after a hash of its source, of the versions of all that has compiled it and of the
machine; numba keeps its results beside it.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import logging
import os
import platform
import shutil
import stat
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...version import VERSION

logger = logging.getLogger("pyomo_stochsqp")


def load(source: str) -> Any:
    """The module of this source, with what was compiled of it before. Raises OSError."""
    name = name_of(source)
    folder = usable_folder(wanted_folder())
    path = folder / f"{name}.py"
    if not path.exists() or path.read_text() != source:
        partial = path.with_suffix(f".{os.getpid()}.tmp")
        partial.write_text(source)
        partial.replace(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # numba stores the module's name with the compiled code and imports it by that name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_without_files(source: str) -> Any:
    """The same, compiled anew and not kept."""
    module = ModuleType(name_of(source))
    code = compile(source.replace("cache=True", "cache=False"), "<stochsqp loops>", "exec")
    exec(code, vars(module))
    return module


def name_of(source: str) -> str:
    """Of a module; another one for another source, version or machine."""
    import numba

    parts = (source, VERSION, np.__version__, numba.__version__, sys.version, platform.machine())
    digest = hashlib.sha256("\0".join(parts).encode())
    return "stochsqp_" + digest.hexdigest()[:24]


def wanted_folder() -> Path:
    """The directory that the environment names, or one in the user's cache."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        return Path(given)
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "pyomo_stochsqp"


@lru_cache
def usable_folder(wanted: Path) -> Path:
    """The wanted directory if it can be used and trusted, otherwise a private one."""
    try:
        wanted.mkdir(mode=0o700, parents=True, exist_ok=True)
        fault = distrusted(wanted)
        if fault is None:
            with tempfile.TemporaryFile(dir=wanted):
                return wanted
    except OSError as error:
        fault = f"it cannot be used ({error.strerror or error})"
    private = Path(tempfile.mkdtemp(prefix="stochsqp-"))
    atexit.register(shutil.rmtree, private, ignore_errors=True)
    logger.warning(
        "Compiled code is not kept in '%s': %s. It is compiled anew in every session.",
        wanted,
        fault,
    )
    return private


def distrusted(folder: Path) -> str | None:
    """Why code from a directory should not be executed."""
    if not hasattr(os, "geteuid"):
        return None
    me = os.geteuid()
    for place in (folder / "__pycache__", folder):
        if place.exists() and os.stat(place).st_uid != me:
            return f"'{place}' belongs to somebody else"
        if place.exists() and _others_may_write(place):
            return f"others may write to '{place}'"
    for place in folder.resolve().parents:
        if os.stat(place).st_uid not in (me, 0):
            return f"'{place}', above it, belongs to somebody else"
        # in a sticky directory, as /tmp, others cannot rename what is mine
        if _others_may_write(place) and not os.stat(place).st_mode & stat.S_ISVTX:
            return f"others may write to '{place}', above it"
    return None


def _others_may_write(place: Path) -> bool:
    """Anybody, or a group that is not the user's private one."""
    status = os.stat(place)
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _private_group(status.st_gid)


def _private_group(number: int) -> bool:
    """Whether a group has the user's own name and nobody else in it, as most systems make one."""
    try:
        import grp
        import pwd

        me, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except (ImportError, KeyError):
        return False
    return group.gr_name == me.pw_name and set(group.gr_mem) <= {me.pw_name}
