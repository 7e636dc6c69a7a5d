"""Runs the notebooks of the documentation, cell by cell, without Jupyter.

    python docs/notebook_runner.py [names]     runs them and saves them with their outputs

What a cell shows is what Jupyter would show of it: what it prints, the value of its last line
(as HTML where the value offers that), and the pictures that it leaves open. The site shows the same
(notebook_pages.py).
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

NOTEBOOKS = Path(__file__).parent / "notebooks"
DPI = 110


def run(notebook, name, change=str):
    """(the outputs of every code cell, the last namespace); ``change`` edits the sources."""
    namespace = {"__name__": "__main__"}
    outputs = []
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(codes, 1):
        source = change("".join(cell["source"]))
        outputs.append(run_cell(source, f"{name}, cell {number}", namespace, number))
    return outputs, namespace


def run_cell(source, title, namespace, number=1):
    """What one cell shows, as a notebook's file has it."""
    plt.close("all")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = executed(source, title, namespace)
    shown = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        shown.append({"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        shown.append(
            {
                "output_type": "execute_result",
                "execution_count": number,
                "metadata": {},
                "data": data_of(value),
            }
        )
    for figure in map(plt.figure, plt.get_fignums()):
        shown.append({"output_type": "display_data", "metadata": {}, "data": data_of(figure)})
    plt.close("all")
    return shown


def executed(source, title, namespace):
    """The value of the last line, unless it ends with a semicolon."""
    tree = ast.parse(source, title)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, title, "exec"), namespace)
    return None if last is None else eval(compile(last, title, "eval"), namespace)


def data_of(value):
    """A value as text and, if it can be one, as a picture or HTML."""
    if isinstance(value, Figure):
        picture = io.BytesIO()
        value.savefig(picture, format="png", dpi=DPI, bbox_inches="tight")
        encoded = base64.b64encode(picture.getvalue()).decode()
        width, height = value.get_size_inches() * value.dpi
        return {"image/png": encoded, "text/plain": [f"<Figure size {width:.0f}x{height:.0f}>"]}
    data = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def save(path):
    """Run a notebook and write its outputs into its file."""
    notebook = json.loads(path.read_text())
    outputs, _ = run(notebook, path.name)
    codes = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, shown) in enumerate(zip(codes, outputs, strict=True), 1):
        cell["outputs"], cell["execution_count"] = shown, number
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            print(path.name)
            save(path)
