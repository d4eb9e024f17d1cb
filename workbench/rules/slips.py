"""Turning slips of the walk into findings: what all rules share that only report one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Conversation, Run, Slip
from workbench.findings import Finding

if TYPE_CHECKING:
    from workbench.trace import Trace


def slips(trace: Trace, rule: str) -> Iterator[tuple[Conversation, Slip]]:
    """The slips that a rule reports, with their conversation, in order."""
    for conversation in trace.conversations:
        for slip in conversation.slips:
            if slip.rule == rule:
                yield conversation, slip


def report(
    trace: Trace, slip: Slip, message: str, *, severity: str = "", other_ids: tuple[str, ...] = ()
) -> Finding:
    """A finding for one slip: its place first, the place that it conflicts with second."""
    return Finding(
        message,
        place="request" if slip.at.kind == "request" else "stream",
        thread_id=slip.run.thread_id,
        run_id=slip.run.run_id,
        call_ids=(slip.call_id,) if slip.call_id else (),
        other_ids=tuple(i for i in (other_ids or slip.ids) if i),
        evidence=trace.evidence(slip.at, slip.other),
        severity=severity,
    )


def about(trace: Trace, run: Run, message: str, *places: At | int | None, severity: str = "",
          place: str = "stream", other_ids: tuple[str, ...] = ()) -> Finding:  # fmt: skip
    """A finding about a run, for rules that look for themselves."""
    return Finding(
        message,
        place=place,
        thread_id=run.thread_id,
        run_id=run.run_id,
        other_ids=tuple(i for i in other_ids if i),
        evidence=trace.evidence(*places),
        severity=severity,
    )


def milder(severity: str) -> str:
    """One step milder, where the evidence is weak."""
    return "warning" if severity == "error" else "info"


def cut(run: Run, conversation: Conversation) -> bool:
    """The capture visibly lacks something around this run (reading rule 15)."""
    return not run.complete or not conversation.complete


def quoted(text: str, limit: int = 60) -> str:
    """Foreign text for a message: on one line, bounded, in quotation marks."""
    line = " ".join(text.split())
    return f"“{line[: limit - 1]}…”" if len(line) > limit else f"“{line}”"


def listed(ids: list[str] | tuple[str, ...], limit: int = 5) -> str:
    """`a, b, c and 4 more`."""
    head = ", ".join(ids[:limit])
    return head if len(ids) <= limit else f"{head} and {len(ids) - limit} more"


def named(run: Run) -> str:
    """`run 2`: by its place in the thread, as the story and the ladder count; the id is in the finding."""
    return f"run {run.number + 1}"


def capital(text: str) -> str:
    """With a capital first letter; ids inside keep their case."""
    return text[:1].upper() + text[1:]


def named_by_id(run: Run) -> str:
    """`run 2 (r2)`, for the rules that are about the ids."""
    return f"{named(run)} ({run.run_id})" if run.run_id else f"{named(run)} (without id)"
