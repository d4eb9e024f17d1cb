"""snapshot-message-missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import listed, quoted
from workbench.rules.snapshots.compare import Comparison, comparisons
from workbench.rules.snapshots.known import Known
from workbench.rules.snapshots.report import finding

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("snapshot-message-missing", code="SNP001", severity="warning", needs=("snapshots",))
def snapshot_message_missing(trace: Trace) -> Iterator[Finding]:
    """A message that was known from the stream, a request or an earlier snapshot is not in a snapshot.

    Why it hurts: a snapshot replaces the client's history: the message disappears from the
        screen, and the next request goes out without it. A lost tool message makes the provider
        refuse the thread.
    No fault when: the message is still open at the snapshot; it stands there under another id
        (`snapshot-rekeyed`); the client's own request had dropped it; it is the answer to a
        confirmation, or belongs to a rejected call. Lost reasoning is information.
    What to do: build the snapshot from everything that was streamed in the run plus the whole
        history of the thread, and send it after the last message has ended.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "r-1", "toolCallId": "c1", "content": "7"}
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a1", "role": "assistant", "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "stock", "arguments": "{}"}}]}]}
    Sources: AG-UI events, MessagesSnapshot; CopilotKit/CopilotKit#6294.
    """
    for compared in comparisons(trace):
        for mild in (False, True):
            missing = [known for known in compared.missing if known.reasoning is mild]
            if missing:
                yield _finding(trace, compared, missing, "info" if mild else "")


def _finding(trace: Trace, compared: Comparison, missing: list[Known], severity: str) -> Finding:
    calls = tuple(i for k in missing for i in ([k.answers] if k.answers else [call.id for call in k.calls]))
    count = "A message" if len(missing) == 1 else f"{len(missing)} messages"
    lost = "is" if len(missing) == 1 else "are"
    message = f"{count} known before {lost} not in the snapshot: {listed([_said(k) for k in missing], 3)}."
    return finding(trace, compared.items, message, *(k.at for k in missing[:10]), severity=severity,
                   call_ids=calls, other_ids=tuple(k.id for k in missing))  # fmt: skip


def _said(known: Known) -> str:
    if known.answers:
        return f"the result of call {known.answers}"
    name = " ".join(word for word in ("reasoning" if known.reasoning else known.role, known.id) if word)
    return f"{name} {quoted(known.text, 40)}" if known.text else name
