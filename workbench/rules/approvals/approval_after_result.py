"""An approval response behind the result that it allows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import decisions
from workbench.calls.conversation import Call, Conversation, ListCall
from workbench.findings import Finding
from workbench.rules.calls.words import finding, outcomes, told
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-after-result", code="APR021", severity="warning", needs=("lists",))
def approval_after_result(trace: Trace) -> Iterator[Finding]:
    """In a message list the result of a call stands before the answer to its approval.

    Why it hurts: filters that drop settled approvals read the list in order: they find the
        answer unsettled and carry the call out again, or send it to the model as it is.
    No fault when: the answer stands first, or is not in the list (a resume).
    What to do: insert the result behind the answer, or drop the answer when the result is
        there.
    Example:
        {"threadId": "t1", "runId": "r3", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "deploy", "arguments": "{}"}}]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "deployed"},
            {"id": "u9", "role": "user", "content": "", "function_approvals": [{"id": "c1", "approved": true}]}]}
    Sources: agent-framework history filters for settled approvals.
    """
    for conversation in trace.conversations:
        ids = _ids(conversation)
        for items in conversation.lists:
            answers: dict[str, int] = {}
            for position, said in enumerate(items.messages):
                for given in decisions.message_approvals(said):
                    answers.setdefault(given.id, position)
            for entry in items.calls:
                call = entry.call
                if call is None or not call.id or not entry.results:
                    continue
                if _behind(
                    entry, call, [answers[i] for i in (call.id, *ids.get(call.id, ())) if i in answers]
                ):
                    message = f"The result of {told(entry)} stands before the answer to its approval in the {items.place} of {named(items.run)}."
                    yield finding(trace, items.run, message, items.at, calls=(call,), approvals=call.approvals,
                                  place=items.place)  # fmt: skip


def _ids(conversation: Conversation) -> dict[str, set[str]]:
    """The ids under which the approvals of a call were asked, by the call's id."""
    found: dict[str, set[str]] = {}
    for approval in conversation.approvals:
        asked = {approval.id, *(ask.id for ask in approval.asks)}
        found.setdefault(approval.call_id, set()).update(asked)
        if approval.call is not None:
            found.setdefault(approval.call.id, set()).update(asked)
    return found


def _behind(entry: ListCall, call: Call, answers: list[int]) -> bool:
    """The first real result of a list stands before its only answer there."""
    real = {p.position for p in outcomes(call, entry.results)}
    answers = answers + [p.position for p in entry.results if p.position not in real]
    return bool(real and answers) and min(real) < min(answers)
