"""Tables for people: what became of every call, every approval, what is wrong, what was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.calls.conversation import Approval, Call
from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import selection
from workbench.views.grid import Cell, Grid, cell
from workbench.views.text import clean, plural

_SEVERITY = {"error": ("E", "bad"), "warning": ("W", "warn"), "info": ("i", "info")}
_DECISION = {
    "approved": ("✓", "good"), "edited": ("✎", "good"), "rejected": ("✕", "bad"), "cancelled": ("✕", "warn"),
    "unseen": ("?", "none"), "none": ("…", "wait"),
}  # fmt: skip
_STATE = {
    "open": "waits for an answer",
    "refused": "answer was refused",
    "answered": "answered, nothing ran in view",
    "executed": "answered, and it ran",
    "lost": "answered, but nothing came of it",
    "replayed": "answered again, old result replayed",
    "reasked": "answered, then asked again",
}


def calls_table(trace: Trace, *, thread: str | None = None, call_id: str | None = None) -> Grid:
    """One row per call occurrence: who asked for what, what a person said, what became of it.

    Raises `ValueError` for a thread or call that is not in the trace.
    """
    talks = selection.conversations(trace, thread=thread, call_id=call_id)
    calls = [call for talk in talks for call in talk.calls if call_id in (None, call.id)]
    several = len(talks) > 1
    rows = [
        [
            *([cell(call.thread_id, mono=True, most=40)] if several else []),
            cell(call.tool or "unnamed", mono=True, most=60),
            cell(f"{call.id} ({call.occurrence + 1})" if call.occurrence else call.id, mono=True, most=60),
            cell(call.arguments, mono=True, most=100),
            _said(call.approvals),
            fate(call),
            cell(next((r.content for r in call.results if not r.decision), ""), most=100),
        ]
        for call in calls
    ]
    columns = ["tool", "call", "arguments", "decision", "what became of it", "result"]
    asking = sum(call.synthetic_for is not None for call in calls)
    caption = plural(len(rows), "call") + (
        f", {asking} of them to ask a person about another" if asking else ""
    )
    return Grid(caption, ["thread", *columns] if several else columns, rows, "no tool call in view")


def fate(call: Call) -> Cell:
    """What became of a call, in words, with a symbol and a colour."""
    if call.synthetic_for is not None:
        return Cell(
            f"asks to confirm {call.synthetic_for}" if call.synthetic_for else "asks to confirm",
            symbol="?",
            tone="wait",
        )
    result = next((r for r in call.results if not r.decision), None)
    where = "the client" if call.client_side else "the tool"
    decisions = [approval.decision for approval in call.approvals]
    if result is not None and result.cls == "ok":
        return Cell(f"{where} answered", symbol="✓", tone="good")
    if result is not None and result.cls == "error":
        return Cell(f"{where} failed", symbol="✕", tone="bad")
    if result is not None and result.cls == "placeholder":
        return Cell("a placeholder instead of a result", symbol="✕", tone="bad")
    if result is not None or "rejected" in decisions or "cancelled" in decisions:
        word = next((d for d in decisions if d in ("rejected", "cancelled")), "refused")
        return Cell(f"{word}, did not run", symbol="⊘", tone="none")
    if "approved" in decisions or "edited" in decisions:
        return Cell("approved, no result in view", symbol="✕", tone="bad")
    if "none" in decisions:
        return Cell("waits for a decision", symbol="…", tone="wait")
    if any(r.decision for r in call.results):
        return Cell("a decision as its answer", symbol="✓", tone="good")
    return Cell("no result in view", symbol="…", tone="warn")


def _said(approvals: Iterable[Approval]) -> Cell:
    words = list(dict.fromkeys(approval.decision for approval in approvals))
    if not words:
        return Cell("not asked")
    symbol, tone = _DECISION.get(words[-1], ("?", "none"))
    return Cell(", ".join("pending" if word == "none" else word for word in words), symbol=symbol, tone=tone)


def approvals_table(trace: Trace, *, thread: str | None = None) -> Grid:
    """One row per approval: what was asked over which channel, what was decided, what followed.

    Raises `ValueError` for a thread that is not in the trace.
    """
    talks = selection.conversations(trace, thread=thread)
    rows = [
        [
            cell(approval.tool or "unnamed", mono=True, most=60),
            cell(approval.id, mono=True, most=60),
            cell(approval.call_id, mono=True, most=60),
            cell(approval.arguments, mono=True, most=100),
            cell(", ".join(approval.channels), most=60),
            _said([approval]),
            cell(
                ", ".join(dict.fromkeys(answer.form for answer in approval.answers if answer.form)), most=60
            ),
            Cell(_STATE.get(approval.state, approval.state)),
        ]
        for talk in talks
        for approval in talk.approvals
    ]
    columns = ["tool", "approval", "call", "arguments", "asked by", "decision", "answered by", "state"]
    return Grid(plural(len(rows), "approval"), columns, rows, "nobody was asked to approve anything")


def findings_table(findings: Iterable[Finding]) -> Grid:
    """One row per finding, in the order given: what is wrong, what to do, where it is seen."""
    rows = []
    for finding in findings:
        symbol, tone = _SEVERITY.get(finding.severity, ("?", "none"))
        more = f" and {len(finding.evidence) - 1} more" if len(finding.evidence) > 1 else ""
        ids = ", ".join(dict.fromkeys((*finding.call_ids, *finding.approval_ids, *finding.other_ids)))
        rows.append(
            [
                Cell(finding.severity, symbol=symbol, tone=tone),
                Cell(f"{finding.rule} {finding.code}".strip(), mono=True),
                replace(cell(finding.message, most=300), note=advice(finding.help)),
                cell(ids, mono=True, most=80),
                _place(finding, more),
            ]
        )
    columns = ["severity", "rule", "what is wrong", "ids", "evidence"]
    return Grid(plural(len(rows), "finding"), columns, rows, "nothing wrong was found")


def advice(text: str) -> str:
    """What to do as a sentence; its code marks mean nothing outside Markdown."""
    return clean(text[:1].upper() + text[1:].replace("`", ""), 300)


def _place(finding: Finding, more: str) -> Cell:
    """Where a finding is seen first: the name of the file, its whole path in the tooltip."""
    if not finding.evidence:
        return Cell("")
    first = finding.evidence[0]
    name = first.path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    short = cell(f"{replace(first, path=name or first.path)}{more}", mono=True, most=100)
    return replace(short, full=clean(str(first)))


def sources_table(trace: Trace) -> Grid:
    """One row per file, archive member or stream: what it was read as and how much of it could be used."""
    rows = []
    for source in trace.records.sources:
        whole = (
            Cell("complete", symbol="✓", tone="good")
            if source.complete
            else Cell("cut", symbol="✂", tone="warn")
        )
        problems = Cell(str(source.problems), symbol="!", tone="bad") if source.problems else Cell("0")
        rows.append(
            [
                cell(
                    f"{source.path} [{source.member}]" if source.member else source.path, mono=True, most=100
                ),
                Cell(source.format),
                Cell(f"{source.records:,}"),
                Cell(f"{source.rows:,}"),
                Cell(f"{source.duplicates:,}"),
                Cell(f"{source.ignored.total():,}"),
                problems,
                whole,
                cell(source.note, most=160),
            ]
        )
    columns = ["source", "format", "records", "rows", "duplicates", "ignored", "problems", "whole", "note"]
    return Grid(plural(len(rows), "source"), columns, rows, "nothing was loaded")
