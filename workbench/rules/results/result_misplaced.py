"""Tool messages that do not stand behind their call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import ListCall, MessageList
from workbench.findings import Finding
from workbench.rules.calls.words import finding, outcomes, told
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace

#: Messages that are no turn of the dialogue: clients keep them for the display.
_ASIDE = ("activity", "reasoning")


@rule("result-misplaced", code="RES009", severity="warning", needs=("lists",))
def result_misplaced(trace: Trace) -> Iterator[Finding]:
    """A tool message stands before its call, or another message stands between the two.

    Why it hurts: model providers take tool messages only right behind the assistant message
        that made the calls; they refuse the rest, at this turn or the next.
    No fault when: only results of the same assistant message stand between, in any order, or
        display-only messages (activity, reasoning), or messages that only carry approvals.
        Assistant messages without text in a row count as one.
    What to do: insert a tool message behind the message that owns the call, not at the end.
        Look for merges by message id in which the tool message got a new id.
    Example:
        {"type": "MESSAGES_SNAPSHOT", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
            {"id": "a2", "role": "assistant", "content": "Nine."},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "9"}]}
    Sources: ag-ui-protocol/ag-ui#2707; OpenAI and Anthropic rules for tool messages.
    """
    for conversation in trace.conversations:
        for items in conversation.lists:
            if items.history is not None and items.history.dialect == "openai-responses":
                continue  # paired by id, wherever they stand
            for entry in items.calls:
                if not entry.part.call_id:
                    continue
                what = _fault(items, entry)
                if what:
                    message = f"The result of {told(entry)} stands {what} in the {items.place} of {named(items.run)}."
                    yield finding(
                        trace, items.run, message, items.at, calls=(entry.part.call_id,), place=items.place
                    )


def _fault(items: MessageList, entry: ListCall) -> str:
    """Where the best placed result stands, if no result stands where it should."""
    parts = outcomes(entry.call, entry.results)
    worst = ""
    for part in parts:
        if part.position < entry.part.position:
            worst = worst or f"before its call (message {part.position + 1} before {entry.part.position + 1})"
            continue
        between = _between(
            items,
            max(
                p.position
                for p in (entry.part, *entry.copies)
                if p.position < part.position or p is entry.part
            ),
            part.position,
        )
        if between is None:
            return ""
        worst = worst or f"behind message {between + 1}, which is no result of the same assistant message"
    return worst


def _between(items: MessageList, call: int, result: int) -> int | None:
    """Index of the first message between call and result that does not belong there."""
    for position in range(call + 1, result):
        message = items.messages[position]
        role = message.get("role")
        if role == "tool" or role in _ASIDE:
            continue
        bare = not message.get("content")
        if role == "assistant" and bare and items.messages[position - 1].get("role") == "assistant":
            continue
        if (
            role == "user"
            and bare
            and (message.get("function_approvals") or message.get("functionApprovals"))
        ):
            continue
        return position
    return None
