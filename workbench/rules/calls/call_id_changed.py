"""The answer or the copy of a call carries another id."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.pairs import changed, describe
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("call-id-changed", code="CAL009", severity="error", needs=("calls",))
def call_id_changed(trace: Trace) -> Iterator[Finding]:
    """The result of a call, or a copy of it in a message list, carries another id than the call.

    Why it hurts: the call stays open for ever, and a result or copy stands there that belongs
        to nothing: both halves make a provider refuse the history.
    No fault when: more than one call or result could be meant; then `result-orphaned` and
        `call-unanswered` are reported, each for itself.
    What to do: look for the place that makes ids: partial and final chunks of a model response
        with ids of their own, or an id made anew when a session is stored and read back.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "adk-1", "toolCallName": "sign"}
        {"type": "TOOL_CALL_END", "toolCallId": "adk-1"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "adk-2", "content": "signed"}
    Sources: ag-ui-protocol/ag-ui#1168.
    """
    for conversation in trace.conversations:
        for pair in changed(conversation):
            yield finding(
                trace, pair.run, describe(pair), *pair.at, calls=(pair.called, pair.used), place=pair.place
            )
