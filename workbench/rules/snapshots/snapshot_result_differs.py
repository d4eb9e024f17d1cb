"""snapshot-result-differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import decisions
from workbench.calls.arguments import canonical
from workbench.calls.results import classify
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import quoted
from workbench.rules.snapshots.compare import comparisons
from workbench.rules.snapshots.known import same
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-result-differs", code="SNP005", severity="warning", needs=("snapshots", "calls"))
def snapshot_result_differs(trace: Trace) -> Iterator[Finding]:
    """A call has another result in a snapshot than in the stream.

    Why it hurts: the model continues from a result that the user never saw, or the other way
        round; a failure can look like a success.
    No fault when: the contents are equal as text or as JSON; the stream had only a placeholder
        or a refusal; the snapshot's tool message carries the person's decision. Different
        message ids are normal.
    What to do: keep one result per call, and use it for TOOL_CALL_RESULT and the snapshot alike.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "r-1", "toolCallId": "c1", "content": "7 left"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "t1", "role": "tool", "toolCallId": "c1", "content": "sold out"}]}
    Sources: AG-UI events, MessagesSnapshot and ToolCallResult.
    """
    for compared in comparisons(trace):
        items = compared.items
        for listed in items.calls:
            call = listed.call
            shown = [p for p in listed.results if decisions.is_decision(p.content) is None]
            if call is None or not shown:
                continue
            before = [r for r in call.streamed if r.sequence < items.sequence and not r.decision]
            streamed = [r for r in before if r.cls in ("ok", "error") and r.run.complete]
            if not streamed or {_form(r.content) for r in before} & {_form(p.content) for p in shown}:
                continue
            last, part = streamed[-1], shown[-1]
            kind = classify(part.content, part.error)
            note = f", a {kind}" if kind in ("placeholder", "refusal") else ""
            message = (
                f"The result of call {call.id} was {quoted(last.content)} in the stream; "
                f"the snapshot has {quoted(part.content)}{note}."
            )
            yield finding(trace, items, message, last.at, call_ids=(call.id,))


def _form(content: str) -> str:
    """Content as it is compared: JSON in canonical form, else text without regard to white space."""
    text = content.strip()
    form = canonical(text) if text[:1] in ("{", "[", '"') else same(text)
    return same(text[1:-1]) if form == text and len(text) > 1 and text[0] == text[-1] == '"' else form
