"""A sweep for people: coloured text in a terminal, a page with the heat map, JSON and CSV."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.replay.sweep import Sweep

_STYLES = {"good": "green", "bad": "bold red", "warn": "yellow", "wait": "magenta", "none": "dim"}


def printed(swept: Sweep) -> None:
    """Print the heat map and what it says in words."""
    from rich.table import Table
    from rich.text import Text

    from workbench.replay.sweep import LOOKS
    from workbench.report.plain import plain
    from workbench.report.text import console

    out = console()
    table = Table(box=None, pad_edge=False)
    for head in ("release", "date", *(variant.title for variant in swept.variants)):
        table.add_column(head, overflow="fold")
    days = {row["release"]: row["date"] for row in swept.rows}
    for release in swept.releases:
        cells = [Text(release), Text(days[release])]
        for variant in swept.variants:
            word = swept.outcome(release, variant.title)
            tone, symbol, _ = LOOKS[word]
            cells.append(Text(f"{symbol} {word}".strip(), style=_STYLES[tone]))
        table.add_row(*cells)
    out.print(table)
    out.print()
    for line in swept.words:
        out.print(Text(plain(line, 1000)))


def written(swept: Sweep, suffix: str) -> str:
    """The sweep as text of a file: `.json`, `.csv`, else a page that is whole offline."""
    if suffix == ".json":
        return json.dumps(swept.to_dict(), indent=1) + "\n"
    if suffix == ".csv":
        return str(swept.frame.to_csv(index=False))
    figure = swept.figure().to_html(full_html=False, include_plotlyjs=True)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(swept.name)} by release</title></head>"
        f'<body style="font-family:system-ui,sans-serif;margin:2em">{figure}{swept.html}</body></html>\n'
    )
