"""A result comes while its call is still open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_call
from workbench.rules.registry import rule
from workbench.rules.slips import named, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-before-call-end", code="RES002", severity="error", scope="run", needs=("calls",))
def result_before_call_end(trace: Trace) -> Iterator[Finding]:
    """TOOL_CALL_RESULT comes before TOOL_CALL_END of its call.

    Why it hurts: clients file a result under a finished call; an open one has no arguments yet
        and may swallow the result.
    No fault when: the call came in chunks, which close by themselves.
    What to do: end the call before the tool is run. Look for a tool executor that writes to
        the stream beside the model's.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "find"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "ok"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: AG-UI events, tool calls; AG-UI DevTools and ag-ui-validate test it too.
    """
    for conversation, slip in slips(trace, "result-before-call-end"):
        if slip.call_id:
            tool = next((c.tool for c in conversation.calls if c.id == slip.call_id), "")
            message = f"The result of {named_call(tool, slip.call_id)} comes in {named(slip.run)} while the call is still open."
            yield finding(trace, slip.run, message, slip.other, slip.at, calls=(slip.call_id,))
