r"""What a command writes: files whose paths are checked before anything is solved, and lines that
may go into a pipe which nobody reads any more."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ...errors import OptionError


def check_paths(model_file: str, outputs: Mapping[str, Any]) -> None:
    """Raise unless all of these (flag -> path or None) can be written, and are different files."""
    taken = {os.path.realpath(model_file): "the file of the model"}
    for flag, path in outputs.items():
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in taken:
            raise OptionError(f"{flag} {path}: this is {taken[real]}. Give another path.")
        taken[real] = f"the file of {flag}"
        fault = _fault(real)
        if fault is not None:
            raise OptionError(f"{flag} {path} cannot be written: {fault}. Give another path.")


def check_picture(path: str) -> None:
    """Raise unless a picture of this kind can be drawn."""
    from ...picture import new_figure

    kinds = new_figure(1.0, 1.0).canvas.get_supported_filetypes()
    kind = os.path.splitext(path)[1][1:].lower()
    if kind and kind not in kinds:
        names = ", ".join(f".{name}" for name in sorted(kinds))
        raise OptionError(f"--plot {path}: '.{kind}' is no kind of picture; there are {names}.")


def _fault(path: str) -> str | None:
    folder = os.path.dirname(path)
    if os.path.isdir(path):
        return "it is a directory"
    if not os.path.isdir(folder):
        return f"there is no directory '{folder}'"
    place = path if os.path.exists(path) else folder
    return None if os.access(place, os.W_OK) else f"'{place}' is read-only"


def attempt(what: str, write: Callable[[], Any]) -> bool:
    """Whether something could be written; if not, why, on stderr."""
    try:
        write()
    except Exception as error:
        print(f"error: {what} could not be written ({error}).", file=sys.stderr)
        return False
    return True


def write_text(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def say(text: str) -> None:
    """Print; if nobody reads it any more, go on."""
    try:
        print(text, flush=True)
    except (OSError, ValueError):
        hush(sys.stdout)


def hush(stream: Any) -> None:
    """Nothing that is still to be written to a broken stream will raise."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
