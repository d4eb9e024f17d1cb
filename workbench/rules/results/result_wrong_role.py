"""Results in messages of another role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-wrong-role", code="RES010", severity="error", needs=("lists",))
def result_wrong_role(trace: Trace) -> Iterator[Finding]:
    """A result stands in a message whose role is not `tool`.

    Why it hurts: the provider reads it as something a person said, and the call stays without
        an answer.
    No fault when: the message only mentions a call in its text.
    What to do: send results as messages of role `tool` with toolCallId. Look for a converter
        that knows only user and assistant.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
            {"id": "x1", "role": "user", "toolCallId": "c1", "content": "9"}]}
    Sources: AG-UI messages; OpenAI and Anthropic rules for tool messages.
    """
    for conversation in trace.conversations:
        for items in conversation.lists:
            tools = {entry.part.call_id: entry for entry in items.calls}
            for part in items.parts:
                if part.kind != "result" or part.role == "tool" or not part.call_id:
                    continue
                entry = tools.get(part.call_id)
                name = told(entry) if entry else part.call_id
                message = (
                    f"The result of {name} is a message of role {part.role or 'unknown'} in the {items.place} "
                    f"of {named(items.run)}."
                )
                yield finding(trace, items.run, message, items.at, calls=(part.call_id,), other_ids=(part.message_id,),
                              place=items.place)  # fmt: skip
