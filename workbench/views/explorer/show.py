"""`explore`: the explorer as an object that shows itself, live where widgets live, else as still views."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

from workbench import rules
from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import tables
from workbench.views.display import chosen
from workbench.views.explorer.session import Session
from workbench.views.grid import Cell, Grid, cell
from workbench.views.participants import participants
from workbench.views.sequence import SequenceDiagram
from workbench.views.text import clean, escape, plural

#: rows of a table, and arrows of the ladder, in the still form
_MAX_ROWS, _MAX_ARROWS = 25, 60
_VIEW = "application/vnd.jupyter.widget-view+json"


class Explorer:
    """A capture to look through: threads, calls with their fate, the ladder, raw records, differences.

    In a live notebook it shows itself as a widget. Where none can live (nbconvert, papermill,
    an output that is not trusted, no anywidget installed) the same object shows its first view as
    tables and a picture. `live` overrules what it finds out about that.
    """

    def __init__(self, session: Session, *, live: bool | None = None) -> None:
        self.session = session
        self._live = live

    @cached_property
    def widget(self) -> Any:
        """The `anywidget.AnyWidget`. Raises `ImportError` where anywidget is not installed."""
        try:
            from workbench.views.explorer.widget import ExplorerWidget
        except ImportError as error:
            raise ImportError(
                'the live explorer needs anywidget: pip install "agui-workbench[lab]"'
            ) from error
        return ExplorerWidget(self.session)

    @property
    def live(self) -> bool:
        """Whether it shows itself as a widget."""
        if self._live is not None:
            return self._live
        return find_spec("anywidget") is not None and _somebody_there()

    def markdown(self) -> str:
        """What is in view now as Markdown: filters, calls, findings, the ladder as Mermaid."""
        return str(self.session.answer({"op": "markdown"})["text"])

    @property
    def alt(self) -> str:
        """What there is to look through, in a sentence."""
        listing = self.session.listing
        counts = (
            (len(listing.talks), "thread"),
            (len(listing.calls), "call"),
            (len(listing.findings), "finding"),
        )
        return f"Explorer of {', '.join(plural(n, word) for n, word in counts)}"

    @cached_property
    def html(self) -> str:
        """The still form: findings, calls and the ladder of the first view."""
        listing = self.session.listing
        found = listing.findings[:_MAX_ROWS]
        calls = listing.call_rows(range(min(len(listing.calls), _MAX_ROWS)))
        rows = [
            [
                cell(row["thread"], mono=True, most=40),
                cell(row["tool"], mono=True, most=60),
                cell(row["id"], mono=True, most=60),
                cell(row["arguments"], mono=True, most=100),
                Cell(row["decision"] or "not asked"),
                Cell(row["fate"][2], symbol=row["fate"][0], tone=row["fate"][1]),
            ]
            for row in calls
        ]
        columns = ["thread", "tool", "call", "arguments", "decision", "what became of it"]
        caption = plural(len(listing.calls), "call")
        if len(rows) < len(listing.calls):
            caption += f", the first {len(rows)} of them"
        parts = [
            Grid(caption, columns, rows, "no tool call in view").html,
            tables.findings_table(found).html,
            f"<p>{len(listing.findings) - len(found):,} more findings not shown.</p>"
            if len(found) < len(listing.findings)
            else "",
            self._ladder().html,
        ]
        note = "This is the still form; run the cell in JupyterLab to look further."
        return f"<div><p>{escape(self.alt)}. {note}</p>{''.join(parts)}</div>"

    def _ladder(self) -> SequenceDiagram:
        flow = self.session.flow
        flow.grow(_MAX_ARROWS)
        steps = [replace(step) for step in flow.steps[:_MAX_ARROWS]]
        shown = sum(step.events for step in steps)
        left = not flow.complete or len(flow.steps) > len(steps)
        notes = [f"The first {plural(len(steps), 'arrow')}; more follow."] if left else []
        title = self.session.title()
        return SequenceDiagram(steps, participants(steps), title, plural(shown, "event"), shown, [], notes)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        bundle: dict[str, Any] = {"text/html": self.html, "text/plain": self.alt}
        if self.live:
            # what is shown where the widget is not trusted or its kernel is gone comes along
            bundle[_VIEW] = {"version_major": 2, "version_minor": 1, "model_id": self.widget.model_id}
        return chosen(bundle, include, exclude)

    def __repr__(self) -> str:
        return f"<{self.alt}>"


def explore(
    trace: Trace,
    other: Trace | None = None,
    *,
    findings: Sequence[Finding] | None = None,
    other_findings: Sequence[Finding] | None = None,
    live: bool | None = None,
) -> Explorer:
    """Look through a trace in JupyterLab: threads, calls with their fate, ladder, raw records.

    `other` is a second trace to compare with. `findings` and `other_findings` are those of
    `check`, asked here where none are given. `live=False` gives the still form, `live=True` the
    widget wherever the notebook runs; by itself it is live where somebody is there to use it.
    """
    traces = [(_name(trace), trace, rules.check(trace) if findings is None else findings)]
    if other is not None:
        found = rules.check(other) if other_findings is None else other_findings
        traces.append((_name(other), other, found))
    return Explorer(Session(traces), live=live)


def _name(trace: Trace) -> str:
    paths = [source.path for source in trace.records.sources]
    if not paths:
        return "empty"
    name = clean(paths[0].replace("\\", "/").rstrip("/").rpartition("/")[2], 60)
    return name + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _somebody_there() -> bool:
    """Whether a person runs the cell: nbconvert and papermill say that nobody can be asked for input."""
    shell = sys.modules.get("IPython")
    kernel = getattr(shell.get_ipython(), "kernel", None) if shell is not None else None
    if kernel is None:
        return False
    try:
        parent = kernel.get_parent("shell")
    except (AttributeError, TypeError):
        return True  # another kernel than ipykernel
    content = parent.get("content") if isinstance(parent, dict) else None
    return not isinstance(content, dict) or content.get("allow_stdin") is not False
