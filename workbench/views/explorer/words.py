"""The current view of an explorer as Markdown, for an issue or a chat."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.exceptions import DiagramError
from workbench.views import mermaid, tables
from workbench.views.explorer.choice import Choice
from workbench.views.grid import Cell, Grid, cell
from workbench.views.grid import markdown as quoted
from workbench.views.participants import participants
from workbench.views.text import clean, plural

if TYPE_CHECKING:
    from workbench.views.explorer.session import Session

#: rows of a table, and arrows of the diagram, that are copied
MAX_ROWS, MAX_ARROWS = 60, 120


def markdown(session: Session) -> str:
    """Filters, calls, findings and the ladder as they are in view; what is left out is said."""
    listing = session.listing
    parts = [f"**{quoted(session.title())}**\n"]
    if asked := _asked(session.choice, listing.first):
        parts.append(f"Filter: {asked}\n")
    chosen = session.chosen or session.calls
    rows = [
        [
            cell(row["tool"], mono=True, most=60),
            cell(row["id"], mono=True, most=60),
            cell(row["arguments"], mono=True, most=100),
            Cell(row["decision"] or "not asked"),
            Cell(row["fate"][2], symbol=row["fate"][0]),
        ]
        for row in listing.call_rows(chosen[:MAX_ROWS])
    ]
    columns = ["tool", "call", "arguments", "decision", "what became of it"]
    parts.append(Grid("calls", columns, rows, "none in view").to_markdown())
    parts.append(_more(len(chosen) - len(rows), "call"))
    found = [listing.findings[number] for number in session.found[:MAX_ROWS]]
    parts.append(tables.findings_table(found).to_markdown())
    parts.append(_more(len(session.found) - len(found), "finding"))
    parts.append(_diagram(session))
    return "\n".join(part for part in parts if part)


def _asked(choice: Choice, first: int | None) -> str:
    said = [
        f"{name} contains {quoted(clean(value, 120))}"
        for name in ("thread", "run", "call", "tool", "text")
        if (value := getattr(choice, name))
    ]
    said += [f"severity {choice.severity} or worse"] if choice.severity else []
    said += [f"signal {choice.signal}"] if choice.signal else []
    for name in ("since", "until"):
        moment = getattr(choice, name)
        if moment is not None and first is not None:
            said.append(f"{name} {(moment - first) / 1e9:+.3f} s")
    return ", ".join(said)


def _more(count: int, word: str) -> str:
    return f"{plural(count, f'more {word}')} not copied.\n" if count > 0 else ""


def _diagram(session: Session) -> str:
    flow = session.flow
    flow.grow(MAX_ARROWS * 4)
    steps = flow.steps[:MAX_ARROWS]
    run = None
    copied = []
    for step in steps:
        # the drawn steps stay as they are: lifelines may be merged in the copy
        copied.append(replace(step, band=step.band if step.run is not run else "", skipped=0))
        run = step.run
    if not copied:
        return ""
    while copied:
        try:
            text = mermaid.write(copied, participants(copied), hint="")
        except DiagramError:
            copied = copied[: len(copied) // 2]
            continue
        left = len(flow.steps) - len(copied)
        said = _more(left, "arrow") if flow.complete or left > 0 else ""
        return f"```mermaid\n{text}```\n{said}"
    return ""
