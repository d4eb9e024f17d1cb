"""A pause that is recorded as an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Conversation, Run
from workbench.findings import Finding
from workbench.readers.telemetry.columns import STATUSES
from workbench.readers.telemetry.mapping import PAUSES
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("pause-marked-error", code="TEL005", severity="warning", needs=("spans",))
def pause_marked_error(trace: Trace) -> Iterator[Finding]:
    """A run or tool that only waits for a person is recorded as an error span.

    Why it hurts: every approval counts as a failure: alerts fire, error rates are wrong, and a real
        error is not seen among them.
    No fault when: the span records the pause and its status is not an error.
    What to do: update the instrumentation, or set the status in a span processor: an interrupt
        (`GraphInterrupt` and its like) is how the framework stops to ask.
    Example:
        {"name": "execute_tool ask_owner", "status": {"code": 2, "message": "GraphInterrupt"}}
    Sources: LangGraph, `interrupt`; langfuse/langfuse#9033.
    """
    for conversation in trace.conversations:
        for run in conversation.runs:
            found = [row for row in run.spans if _paused(trace, row)]
            if found:
                yield _finding(trace, conversation, run, found)


def _paused(trace: Trace, row: int) -> bool:
    spans = trace.records.spans
    if spans.operation[row] < 0 or STATUSES[spans.status[row]] != "error":
        return False
    return bool(PAUSES.search((trace.records.pool.text(spans.error[row]) or "")[:4000]))


def _finding(trace: Trace, conversation: Conversation, run: Run, found: list[int]) -> Finding:
    spans, text = trace.records.spans, trace.records.pool.text
    calls = [text(spans.call[row]) or "" for row in found]
    error = PAUSES.search((text(spans.error[found[0]]) or "")[:4000])
    what = error[0] if error else "a pause"
    names = ", ".join(dict.fromkeys(text(spans.name[row]) or "a span" for row in found[:3]))
    message = f"{names}: the pause for a person ({what}) is recorded as an error."
    approvals = [a for a in conversation.approvals if a.call_id in set(calls) - {""}]
    return finding(trace, run, message, *(At("span", row) for row in found[:10]), calls=calls, approvals=approvals,
                   other_ids=[spans.span[row] or "" for row in found[:10]], place="telemetry")  # fmt: skip
