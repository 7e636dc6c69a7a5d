"""Show how the model of a Python file is compiled: rows, sources, and the generated code."""

from __future__ import annotations

import argparse

from ...compile import explain_program
from ...declare import read_model
from .model_file import load_model


def arguments(parser: argparse.ArgumentParser) -> None:
    """The file, and what to show."""
    parser.add_argument("file", help="Python file that defines the model")
    parser.add_argument("--model", help="name of the model, or of a function that returns it")
    parser.add_argument("--source", action="store_true", help="print the generated code, too")


def run(args: argparse.Namespace) -> int:
    """Compile and print."""
    program = read_model(load_model(args.file, args.model))
    print(explain_program(program, source=args.source))
    return 0
