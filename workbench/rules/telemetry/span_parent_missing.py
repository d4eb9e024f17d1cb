"""Spans whose parent was never exported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Conversation
from workbench.findings import Finding
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule

if TYPE_CHECKING:
    from workbench.trace import Trace

_SHOWN = 20


@rule("span-parent-missing", code="TEL001", severity="info", needs=("spans",))
def span_parent_missing(trace: Trace) -> Iterator[Finding]:
    """Spans of agents, models and tools name a parent that is not in the capture.

    Why it hurts: what only the parent knows is lost: the conversation id, the messages, whether
        the run failed. In a trace viewer the children stand alone.
    No fault when: the parent belongs to another service that exports elsewhere, or the export
        was cut by a time or size limit.
    What to do: export the whole trace. agent-framework 1.10 never ends the span of a run that
        is interrupted for an approval, so that it is not exported: update it.
    Example:
        {"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174",
            "parentSpanId": "eee19b7ec3c1b173", "name": "execute_tool move"}
    Sources: agent-framework-core 1.10.0, when run.
    """
    for conversation in trace.conversations:
        yield from _of(trace, conversation)


def _of(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    spans, rows, text = trace.records.spans, trace.records.span_rows, trace.records.pool.text
    orphans: dict[str, list[int]] = {}
    first = None
    for run in conversation.runs:
        for row in run.spans:
            parent = spans.parent[row]
            if (
                parent
                and spans.operation[row] >= 0
                and f"{text(spans.trace[row]) or ''} {parent}" not in rows
            ):
                orphans.setdefault(parent, []).append(row)
                first = first or run
    if first is None:
        return
    found = sorted(row for rows in orphans.values() for row in rows)
    named = next(iter(orphans))
    which = f"parent {named}" if len(orphans) == 1 else f"{len(orphans)} parents"
    verb = "span names" if len(found) == 1 else "spans name"
    be = "is" if len(orphans) == 1 else "are"
    yield finding(
        trace, first, f"{len(found)} {verb} {which}, which {be} not in the capture.",
        *(At("span", row) for row in found[:_SHOWN]),
        calls=[text(spans.call[row]) or "" for row in found[:_SHOWN]],
        other_ids=[*list(orphans)[:_SHOWN], *(spans.span[row] or "" for row in found[:_SHOWN])],
        place="telemetry",
    )  # fmt: skip
