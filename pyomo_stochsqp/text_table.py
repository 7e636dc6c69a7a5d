"""Small tables: aligned text for terminals, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape


class TextTable:
    """Cells of text under a header; columns in ``left`` are aligned left.

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
        lines = [self._header, *self._rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self._header))]
        written = [
            "  ".join(
                text.ljust(width) if k in self._left else text.rjust(width)
                for k, (text, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "-" * max(map(len, written))
        return "\n".join([*([self.title] if self.title else []), written[0], rule, *written[1:]])

    def html(self) -> str:
        """The same as an HTML table."""
        head = "".join(self._cell("th", k, text) for k, text in enumerate(self._header))
        body = "".join(
            "<tr>" + "".join(self._cell("td", k, text) for k, text in enumerate(row)) + "</tr>"
            for row in self._rows
        )
        caption = f"<p>{escape(self.title)}</p>" if self.title else ""
        return f"{caption}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, tag: str, column: int, text: str) -> str:
        side = "left" if column in self._left else "right"
        return f'<{tag} style="text-align:{side}">{escape(text)}</{tag}>'
