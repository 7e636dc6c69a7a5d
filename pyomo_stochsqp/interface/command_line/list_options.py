"""List all options with their ranges, defaults and meanings."""

from __future__ import annotations

import argparse

from ..options.page import as_markdown, as_text


def arguments(parser: argparse.ArgumentParser) -> None:
    """The form of the table."""
    parser.add_argument("--markdown", action="store_true", help="as the page of the documentation")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    print(as_markdown() if args.markdown else as_text(), end="")
    return 0
