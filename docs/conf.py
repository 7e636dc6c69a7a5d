"""Sphinx configuration: MyST Markdown, built offline with warnings as errors."""

project = "pyomo_stochsqp"
copyright = "2026, The pyomo_stochsqp developers"
author = "The pyomo_stochsqp developers"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "pyomo_stochsqp"
html_static_path: list[str] = []
autodoc_typehints = "description"
