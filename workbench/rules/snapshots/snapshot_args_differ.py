"""snapshot-args-differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.arguments import canonical, glued
from workbench.calls.conversation import Call, MessageList, Start
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import quoted
from workbench.rules.snapshots.compare import comparisons
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-args-differ", code="SNP004", severity="warning", needs=("snapshots", "calls"))
def snapshot_args_differ(trace: Trace) -> Iterator[Finding]:
    r"""A call has other arguments in a snapshot than in the stream. An error where one side is empty.

    Why it hurts: what is approved, shown and sent to the model next is not what was asked for;
        empty arguments make the provider refuse the thread or the tool fail.
    No fault when: only key order or spacing differs; an empty text stands for `{}`; a person
        edited the arguments; the call was still open.
    What to do: collect the arguments per call id, and take them whole into the snapshot; do not
        keep only the last call's.
    Example:
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"x\": 1}"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a1", "role": "assistant", "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "deploy", "arguments": ""}}]}]}
    Sources: AG-UI events, MessagesSnapshot; agent-framework-ag-ui, two client tools in one response.
    """
    for compared in comparisons(trace):
        items = compared.items
        for listed in items.calls:
            call = listed.call
            if call is None or any(a.decision == "edited" for a in call.approvals):
                continue
            starts = _closed(trace, call, items)
            streamed = {form for start in starts for form in _forms(start.arguments)}
            for part in (listed.part, *listed.copies):
                shown = _forms(part.arguments)
                if not starts or streamed & shown:
                    continue
                empty = streamed == {"{}"} or shown == {"{}"}
                said = quoted(starts[-1].arguments or "nothing", 80)
                message = f"Call {call.id} was streamed with {said}; the snapshot has {quoted(part.arguments or 'nothing', 80)}."
                yield finding(trace, items, message, *(s.event for s in starts), call_ids=(call.id,),
                              severity="error" if empty else "")  # fmt: skip
                break


def _closed(trace: Trace, call: Call, items: MessageList) -> list[Start]:
    """The sightings in the stream that were complete before the snapshot, in streams that are whole."""
    found = []
    for start in call.starts:
        last = start.end if start.end is not None else start.deltas[-1][1] if start.chunked else None
        if start.run.complete and last is not None and trace.sequence_of(last) < items.sequence:
            found.append(start)
    return found


def _forms(arguments: str) -> set[str]:
    """The canonical forms of an argument text: of each document, where several are glued."""
    pieces = glued(arguments)
    return {canonical(arguments)} if pieces is None else {canonical(piece) for piece in pieces}
