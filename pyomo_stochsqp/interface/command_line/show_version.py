"""Print the version."""

from __future__ import annotations

import argparse

from ...version import VERSION


def arguments(parser: argparse.ArgumentParser) -> None:
    """None."""


def run(args: argparse.Namespace) -> int:
    """Print it."""
    print(VERSION)
    return 0
