r"""What results say, said twice: as aligned text for terminals, as HTML for notebooks.

A result lists what is to be shown of it, tables and sentences, in ``shown()``; :class:`Printed`
does the rest. The HTML has no colours of its own but the dot of a verdict, so that it suits light
and dark notebooks; whatever comes from a model is escaped.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape
from typing import NamedTuple

CELL = "padding:.25em .9em;border:0"
#: between the header and the body, and between lines of the body
RULE, HAIRLINE = "1px solid currentColor", "1px solid rgba(128,128,128,.25)"
NUMBERS = "border-collapse:collapse;border:0;margin:.3em 0;font-variant-numeric:tabular-nums"
TITLE, PARAGRAPH = "margin:.5em 0 .2em;font-weight:600", "margin:.3em 0"


#: names of expressions are cut at so many letters
LONGEST_NAME = 40


def shortened(name: str) -> str:
    """A name, or the beginning of a long one.

    >>> shortened("E[" + "x + " * 20 + "x]")
    'E[x + x + x + x + x + x + x + x + x + ...'
    """
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 2].rstrip() + " ..."


class TextTable:
    """Cells of text under a header; columns in ``left`` are aligned left. No header, no rule.

    >>> print(TextTable(("", "value"), [("cost", "1.5")], left=(0,)))
          value
    -----------
    cost    1.5
    """

    def __init__(
        self,
        header: Sequence[str],
        rows: Sequence[Sequence[str]],
        left: Collection[int] = (0,),
        title: str = "",
    ):
        self.title = title
        self._header = tuple(header)
        self._rows = [tuple(row) for row in rows]
        self._left = frozenset(left)

    def __str__(self) -> str:
        headed = any(self._header)
        lines = [*([self._header] if headed else []), *self._rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self._header))]
        written = [
            "  ".join(
                text.ljust(width) if k in self._left else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        if headed:
            written.insert(1, "-" * max(map(len, written)))
        return "\n".join([*([self.title] if self.title else []), *written])

    def html(self) -> str:
        """The same as an HTML table."""
        head = ""
        if any(self._header):
            cells = (self._cell("th", k, text, RULE) for k, text in enumerate(self._header))
            head = f"<thead><tr>{''.join(cells)}</tr></thead>"
        body = "".join(
            "<tr>"
            + "".join(self._cell("td", k, text, HAIRLINE) for k, text in enumerate(row))
            + "</tr>"
            for row in self._rows
        )
        caption = f'<p style="{TITLE}">{escape(self.title)}</p>' if self.title else ""
        return f'{caption}<table style="{NUMBERS}">{head}<tbody>{body}</tbody></table>'

    def _cell(self, tag: str, column: int, text: str, rule: str) -> str:
        side = "left" if column in self._left else "right"
        style = f"text-align:{side};{CELL};border-bottom:{rule}"
        return f'<{tag} style="{style}">{escape(text)}</{tag}>'


class Verdict(NamedTuple):
    """How something ended, in a word or two: well, or so that it should be looked at."""

    said: str
    well: bool

    def __str__(self) -> str:
        return self.said

    def html(self) -> str:
        """With a dot in front, green or amber."""
        colour = "#3f7f4f" if self.well else "#c77d0a"
        return (
            f'<p style="{TITLE}"><span style="color:{colour}">&#9679;</span> '
            f"{escape(self.said)}</p>"
        )


Shown = str | TextTable | Verdict


def html_of(shown: Sequence[Shown]) -> str:
    """Tables and sentences, one below the other."""
    parts = (
        f'<p style="{PARAGRAPH}">{escape(one)}</p>' if isinstance(one, str) else one.html()
        for one in shown
    )
    return f'<div style="overflow-x:auto">{"".join(parts)}</div>'


class Printed:
    """Prints as what ``shown`` lists, in terminals and in notebooks."""

    def shown(self) -> Sequence[Shown]:
        """Tables and sentences, in order."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n".join(str(one) for one in self.shown())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_of(self.shown())
