"""Formulas as MathML, made by docutils: pages need no network and no script.

Sphinx's own renderers load MathJax from the network or call LaTeX.
"""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: TeX that docutils does not read as TeX does, and what it reads
REPLACEMENTS = (
    (r"\\textstyle", ""),
    (r"\\\|(.+?)\\\|", r"{\\left\\|\1\\right\\|}"),  # or else a power belongs to the last bar
    (r"\\dots\b", r"\\ldots"),
    (r"\\tfrac", r"\\frac"),
    (r"\\frac\s*(\w)\s*(\w)", r"\\frac{\1}{\2}"),
    (r"\\bar\s*(\\[a-zA-Z]+|\w)", r"{\\bar{\1}}{}"),
)


def converted(node, as_block):
    """MathML of a formula; what cannot be converted is a warning and stays TeX."""
    tex = node.astext()
    for old, new in REPLACEMENTS:
        tex = re.sub(old, new, tex)
    try:
        return tex2mathml(tex, as_block)
    except MathError as error:
        logger.warning("formula %r: %s", tex, error, location=node)
        return f"<code>{tex}</code>"


def inline(translator, node):
    translator.body.append(converted(node, False))
    raise nodes.SkipNode


def block(translator, node):
    translator.body.append(f'<div style="padding: 0.5em 0">{converted(node, True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True}
