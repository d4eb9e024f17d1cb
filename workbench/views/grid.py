"""A small table for people, in four forms: HTML, aligned text, Markdown and CSV.

Notebooks that are not trusted lose style sheets but keep the styles of elements, so
everything stands on the elements; colours are inherited or readable on light and dark.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.views.display import chosen
from workbench.views.text import clean, escape, isolated

#: background of a symbol by its meaning; white text on each of them is readable
TONES = {
    "good": "#116329", "bad": "#c41e2a", "warn": "#8a5a00", "wait": "#7a3fd1", "info": "#0b6a78", "none": "#59636e",
}  # fmt: skip
_CELL = "text-align:left;vertical-align:top;padding:4px 10px;border-bottom:1px solid rgba(128,128,128,.35)"
_MONO = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em"
#: characters up to which a value stays on one line, and from which its column is kept wide
_SHORT, _LONG = 26, 48
_PLAIN_WIDTH = 48
_MARKED = re.compile(r"[\\`*<>\[\]|~$&]|(?<!\w)_|_(?!\w)")
#: what begins a formula in a spreadsheet
_FORMULA = "=+-@|%"
_NAMED = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value. `symbol` and `tone` (a key of `TONES`) say the same thing.

    `full` is the tooltip, `note` a second line for forms that have room for it.
    """

    text: str
    mono: bool = False
    symbol: str = ""
    tone: str = ""
    full: str = ""
    note: str = ""


def cell(value: object, *, mono: bool = False, most: int = 120) -> Cell:
    """A cell of untrusted text: cleaned, and shortened with the whole in the tooltip."""
    whole = "" if value is None else clean(value)
    short = clean(whole, most)
    return Cell(short, mono=mono, full=whole if whole != short else "")


@dataclass(eq=False, repr=False)
class Grid:
    """Rows of cells under headings. `empty` is said where there are no rows."""

    caption: str
    columns: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    empty: str = "nothing"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def html(self) -> str:
        """A table that brings its looks along and needs no style sheet."""
        caption = f'<div style="font-weight:600;margin:.4em 0">{escape(self.caption)}</div>'
        if not self.rows:
            return f"<div>{caption}<div>{escape(self.empty)}</div></div>"
        head = "".join(
            f'<th scope="col" style="{_CELL};font-weight:600">{escape(name)}</th>' for name in self.columns
        )
        body = "".join(f"<tr>{''.join(map(_html, row))}</tr>" for row in self.rows)
        return (
            f'<div style="overflow-x:auto">{caption}<table style="border-collapse:collapse;color:inherit">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    @property
    def text(self) -> str:
        """The table in columns, for terminals and logs."""
        if not self.rows:
            return f"{self.caption}: {self.empty}"
        lines = [list(self.columns), *([_fitted(_words(item)) for item in row] for row in self.rows)]
        widths = [max(_columns(line[n]) for line in lines) for n in range(len(self.columns))]
        rendered = [
            "  ".join(_padded(part, w) for part, w in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        rendered.insert(1, "  ".join("─" * w for w in widths))
        return "\n".join([self.caption, *rendered])

    def to_markdown(self) -> str:
        """A GitHub table; nothing in it becomes markup, a mention or a reference."""
        if not self.rows:
            return f"**{markdown(self.caption)}**: {markdown(self.empty)}\n"
        head = f"| {' | '.join(self.columns)} |\n|{' --- |' * len(self.columns)}\n"
        return head + "".join(f"| {' | '.join(map(_markdown, row))} |\n" for row in self.rows)

    def to_csv(self) -> str:
        """The whole values for a spreadsheet; what it would take for a formula gets an apostrophe before it."""
        written = io.StringIO()
        rows = csv.writer(written)
        rows.writerow(self.columns)
        rows.writerows([_spreadsheet(item.full or item.text) for item in row] for row in self.rows)
        return written.getvalue()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return chosen({"text/html": self.html, "text/plain": self.text}, include, exclude)

    def __repr__(self) -> str:
        return self.text


def _html(item: Cell) -> str:
    badge = ""
    if item.symbol:
        background = TONES.get(item.tone, TONES["none"])
        badge = (
            f'<span style="display:inline-block;min-width:1.3em;text-align:center;border-radius:.65em;color:#fff;'
            f'background:{background};font-weight:700;margin-right:.5em">{escape(item.symbol)}</span>'
        )
    title = f' title="{escape(item.full)}"' if item.full else ""
    style = f"{_CELL};{_MONO}" if item.mono else _CELL
    if len(item.text) <= _SHORT:
        style += ";white-space:nowrap"
    elif item.mono and item.text[0] not in "{[" and max(map(len, item.text.split())) > _SHORT:
        # JupyterLab drops overflow-wrap where it does not trust: without this an id never wraps
        style += ";min-width:11em;word-break:break-all"
    elif len(item.text) > _LONG or item.note:
        style += ";min-width:18em;overflow-wrap:anywhere"
    else:
        style += ";overflow-wrap:anywhere"
    note = f'<div style="opacity:.8;font-size:.92em">{escape(isolated(item.note))}</div>' if item.note else ""
    return f'<td style="{style}"{title}>{badge}{escape(isolated(item.text))}{note}</td>'


def _spreadsheet(text: str) -> str:
    # by the kind of the character as well, because spreadsheets know the full-width forms
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])
    return f"'{text}" if first in _FORMULA and first else text


def _words(item: Cell) -> str:
    return f"{item.symbol} {item.text}" if item.symbol else item.text


def _markdown(item: Cell) -> str:
    text = markdown(item.text) if not item.mono or not item.text else code(item.text)
    text += f"<br>{markdown(item.note)}" if item.note else ""
    return f"{item.symbol} {text}" if item.symbol else text


def markdown(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no mention, no reference."""
    quoted = _MARKED.sub(lambda match: _NAMED.get(match[0], f"\\{match[0]}"), text)
    # GitHub looks for these in what it has rendered, so no escape helps: a space without width does.
    return re.sub(r"([@#])(?=\w)", "\\1\u200b", quoted)


def code(text: str) -> str:
    """Text as inline code that can stand in a table."""
    bare = text.replace("|", "\\|")
    longest = max((len(run) for run in re.findall("`+", bare)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if bare.startswith("`") or bare.endswith("`") else ""
    return f"{fence}{pad}{bare}{pad}{fence}"


def _columns(text: str) -> int:
    """Columns that a terminal needs."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(c) in ("W", "F")
        else 1
        for c in text
    )


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _columns(text))


def _fitted(text: str) -> str:
    while _columns(text) > _PLAIN_WIDTH:
        text = text.rstrip("…")[: _PLAIN_WIDTH - 1 if len(text) > _PLAIN_WIDTH else -2] + "…"
    return text
