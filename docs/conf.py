"""Sphinx configuration: MyST Markdown, built offline with warnings as errors.

Sphinx rather than MkDocs: the API pages come from docstrings, every cross-reference is checked, and
it needs no plugins for either.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the extensions beside this file

project = "pyomo_stochsqp"
copyright = "2026, The pyomo_stochsqp developers"
author = "The pyomo_stochsqp developers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "mathml",
    "notebook_pages",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
exclude_patterns = ["_build"]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "pyomo_stochsqp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
autodoc_typehints = "description"
