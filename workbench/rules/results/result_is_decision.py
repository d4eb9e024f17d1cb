"""The answer to an approval where a result should be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Call, MessageList, Run
from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("result-is-decision", code="RES011", severity="warning", needs=("calls",))
def result_is_decision(trace: Trace) -> Iterator[Finding]:
    r"""A tool message holds the answer to the approval of its call instead of a result.

    Why it hurts: the model reads {"accepted": true} as the outcome of the action; servers that
        look for decisions in tool messages carry it out anew with every request.
    No fault when: the call is a client-side question to the user, whose result the answer is.
        It is information for a confirmation call and in the request that gives the answer.
    What to do: answer with `resume`. A server that accepts tool messages has to replace them
        by the real result before it stores or sends the history.
    Example:
        {"threadId": "t1", "runId": "r3", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "deploy", "arguments": "{}"}}]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "{\"accepted\": true}"},
            {"id": "u2", "role": "user", "content": "thanks"}]}
    Sources: agent-framework-ag-ui message adapters; microsoft/agent-framework#4075.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            if not call.id or (call.approvals and all(a.channels == ["client-tool"] for a in call.approvals)):
                continue
            for result in call.streamed:
                if result.decision not in ("", "unseen"):
                    yield _say(trace, call, result.run, "stream", result.content, result.at, mild=False)
            decided = {r.content for r in call.results if r.decision not in ("", "unseen")}
            for items, entry in call.listed:
                for part in entry.results:
                    if part.content in decided:
                        mild = items.place == "request" and _gives_the_answer(call, items)
                        yield _say(trace, call, items.run, items.place, part.content, items.at, mild=mild)


def _say(trace: Trace, call: Call, run: Run, place: str, content: str, at: At, *, mild: bool) -> Finding:
    where = named(run) if place == "stream" else f"the {place} of {named(run)}"
    message = f"The tool message of {told(call)} in {where} is the answer to its approval: {quoted(content)}."
    return finding(trace, run, message, call.at, at, calls=(call,), approvals=call.approvals, place=place,
                   severity="info" if mild or call.synthetic_for is not None else "")  # fmt: skip


def _gives_the_answer(call: Call, items: MessageList) -> bool:
    return any(
        answer.form == "tool-message" and answer.at == items.at
        for a in call.approvals
        for answer in a.answers
    )
