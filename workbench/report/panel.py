"""HTML for a notebook cell: headings, paragraphs, lists and records, beside the tables of `workbench.views`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from workbench.report.plain import plain
from workbench.views.display import chosen
from workbench.views.grid import Grid


class Panel:
    """A piece of HTML with its text form; shown as `text/html` and `text/plain`, nothing else."""

    def __init__(self, html: str, text: str) -> None:
        self.html = html
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return chosen({"text/html": self.html, "text/plain": self.text}, include, exclude)

    def __add__(self, other: Panel) -> Panel:
        return Panel(self.html + other.html, f"{self.text}\n\n{other.text}")


#: longest heading or term, and longest paragraph, in characters: a hostile id has a million
_SHORT, _LONG = 400, 3000


def say(text: str, *, strong: bool = False) -> Panel:
    """A paragraph."""
    shown = plain(text, _LONG)
    inner = f"<strong>{escape(shown)}</strong>" if strong else escape(shown)
    return Panel(f"<p>{inner}</p>", shown)


def heading(text: str) -> Panel:
    """A small heading inside a cell's output."""
    shown = plain(text, _SHORT)
    return Panel(f"<h4>{escape(shown)}</h4>", shown)


def grid(made: Grid) -> Panel:
    """A table of `workbench.views` as part of a panel."""
    return Panel(made.html, made.text)


def listing(items: Iterable[tuple[str, str]]) -> Panel:
    """A list of a term and what is said about it."""
    pairs = [(plain(term, _SHORT), plain(said, _LONG)) for term, said in items]
    html = "".join(f"<li><strong>{escape(term)}</strong><br>{escape(said)}</li>" for term, said in pairs)
    return Panel(f"<ul>{html}</ul>", "\n".join(f"- {term}\n  {said}" for term, said in pairs))


def preformatted(title: str, text: str) -> Panel:
    """A record as it stands, under the place where it stands; wrapped instead of scrolled."""
    place, shown = plain(title, _SHORT), plain(text)
    html = f'<div style="font-family:monospace;margin:.4em 0 0">{escape(place)}</div>'
    if shown:
        html += (
            '<pre style="font-family:monospace;white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 .8em;'
            f'padding-left:.8em;border-left:3px solid rgba(128,128,128,.5)">{escape(shown)}</pre>'
        )
    return Panel(html, f"{place}\n{shown}" if shown else place)
