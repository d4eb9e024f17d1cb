"""A tool failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding, granted, told
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-error", code="RES007", severity="info", needs=("calls",))
def result_error(trace: Trace) -> Iterator[Finding]:
    """The result of a call is a real failure of the tool.

    Why it hurts: the tool was run and did not do its work; what it did before it failed is
        unknown. A warning where a person had approved the call: they believe it is done.
    No fault when: it is a placeholder (`result-placeholder`) or the refusal text after a
        rejection.
    What to do: read the tool's own log at that time. The text here is often shortened on
        purpose ("Error: Function failed."): a setting for detailed errors brings the exception.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "Error: Function failed."}
    Sources: agent-framework function invocation; ToolMessage.error of AG-UI.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            failures = [r for r in call.results if r.cls == "error" and not r.decision]
            if not call.id or not failures:
                continue
            first = failures[0]
            allowed = [a for a in call.approvals if granted(a)]
            after = " A person had approved it." if allowed else ""
            message = f"{told(call)} failed in {named(first.run)}: {quoted(first.content)}.{after}"
            yield finding(trace, first.run, message, call.at, *(r.at for r in failures[:10]), calls=(call,),
                          approvals=allowed, place=first.place, severity="warning" if allowed else "")  # fmt: skip
