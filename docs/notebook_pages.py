"""Notebooks as pages of the site: run when the site is built, shown with what they show.

A notebook becomes Markdown, which MyST reads like any other page. A cell that fails is an error of
the build. No kernel, no converter and no network are needed.
"""

import json
from html import escape

import notebook_runner
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.errors import ExtensionError


class NotebookParser(MystParser):
    """Reads files that end with .ipynb."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        name = document.settings.env.docname
        try:
            outputs, _ = notebook_runner.run(json.loads(inputstring), name)
        except Exception as error:
            raise ExtensionError(f"notebook {name}: {error!r}", error, "notebook_pages") from error
        super().parse(as_markdown(json.loads(inputstring), outputs, name), document)


def as_markdown(notebook, outputs, name):
    """The cells one after the other; after the first, a link to the file."""
    parts, shown = [], iter(outputs)
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts += [fenced("code-block} python", source), *map(output_markdown, next(shown))]
        if len(parts) == 1:
            file = name.rsplit("/", 1)[-1] + ".ipynb"
            parts.append(f"Run it yourself: {{download}}`{file} <{file}>`.")
    return "\n\n".join(parts) + "\n"


def output_markdown(output):
    """A picture, HTML or text, whichever comes first."""
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        said = escape("".join(data["text/plain"]))
        body = f'<img alt="{said}" src="data:image/png;base64,{data["image/png"]}">'
    elif "text/html" in data:
        body = "".join(data["text/html"])
    else:
        body = f"<pre>{escape(''.join(data['text/plain']))}</pre>"
    return fenced("raw} html", f'<div class="notebook-output">{body}</div>')


def fenced(directive, body):
    """A directive of MyST; the fence is longer than any in the body."""
    fence = "`" * 7
    return f"{fence}{{{directive}\n{body}\n{fence}"


def setup(app):
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True}
