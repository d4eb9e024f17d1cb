"""A payload beside the request of its run: what got lost, and what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from workbench.calls import producers, results
from workbench.calls.conversation import Call, Conversation, ListCall, MessageList
from workbench.findings import Finding
from workbench.rules.calls.pairs import changed_ids
from workbench.rules.calls.words import content_key, finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


def _sent(conversation: Conversation) -> Iterator[tuple[MessageList, MessageList]]:
    """Payloads that hold all that the model gets, with the request of their run, about the same conversation."""
    asked = {id(i.run): i for i in conversation.lists if i.place == "request"}
    for items in conversation.lists:
        request = asked.get(id(items.run))
        history = items.history
        if (
            items.place != "payload"
            or request is None
            or history is None
            or history.stored
            or not history.whole
        ):
            continue
        if any(True for _ in history.blocks("reference")):
            continue
        said = [_text(m.get("content")) for m in request.messages if m.get("role") == "user"]
        ours = _all_text(items)
        # the last words of the user, if any: else it is a call of another kind (a title, a summary)
        if not said or not said[-1] or said[-1] in ours:
            yield items, request


def _text(content: object) -> str:
    return " ".join(results.text_of(content).split())


def _all_text(items: MessageList) -> str:
    return " ".join(_text(p.content) for p in items.parts if p.kind in ("text", "data"))


@rule("payload-message-missing", code="PAY001", severity="error", needs=("payloads", "requests"))
def payload_message_missing(trace: Trace) -> Iterator[Finding]:
    """The request has a call, a result or a message that the payload of the same run lacks.

    Why it hurts: the model does not know what was done, and does it again, or answers something
        that nobody asked.
    No fault when: the provider keeps earlier turns, the payload is another kind of call (it lacks
        the last words of the user), or the call stands there under another id
        (`call-id-changed`). It is information where only the oldest part is cut off, as windows
        and summaries do.
    What to do: compare the two lists. Look for a filter on roles, for tool messages of
        client-side calls that nobody converts, or for a history that replaces the request's.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "locate", "arguments": "{}"}}]},
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "51.5"}]}
    Sources: agno-agi/agno#8602.
    """
    for conversation in trace.conversations:
        apart = changed_ids(conversation)
        for items, request in _sent(conversation):
            held = {e.part.call_id for e in items.calls}
            answered = {p.call_id for p in items.parts if p.kind == "result"}
            kept = [e for e in request.calls if e.part.call_id in held]
            for entry in request.calls:
                own = entry.part.call_id
                if not own or own in apart or not _expected(entry):
                    continue
                lost = [
                    w
                    for w, missing in (("call", own not in held), ("result", own not in answered))
                    if missing
                ]
                if not lost:
                    continue
                message = (
                    f"The payload of {named(items.run)} lacks the {' and the '.join(lost)} of {told(entry)}, which its "
                    "request has."
                )
                oldest = len(lost) == 2 and _only_the_oldest(entry, kept, items, request)
                yield finding(trace, items.run, message, request.at, items.at, calls=(own,), place="payload",
                              severity="info" if oldest else "")  # fmt: skip
            ours = _all_text(items)
            for position, said in enumerate(request.messages):
                text = _text(said.get("content"))
                if said.get("role") == "user" and text and not said.get("toolCallId") and text not in ours:
                    message = f"The payload of {named(items.run)} lacks a message of the user that its request has: {quoted(text)}."
                    yield finding(trace, items.run, message, request.at, items.at, place="payload",
                                  other_ids=(str(request.messages[position].get("id") or ""),),
                                  severity="info" if position == 0 else "warning")  # fmt: skip


def _expected(entry: ListCall) -> bool:
    """A real call with its result; one that waits, or was decided on, may be left out."""
    call = entry.call
    if call is not None and (call.synthetic_for is not None or call.approvals):
        return False
    return bool(entry.results) and entry.part.name not in producers.CONFIRM_CALLS


def _only_the_oldest(entry: ListCall, kept: list[ListCall], items: MessageList, request: MessageList) -> bool:
    """All that stands before it is gone too, and the payload begins later."""
    if any(k.part.position < entry.part.position for k in kept):
        return False
    ours = _all_text(items)
    before = [
        _text(m.get("content")) for m in request.messages[: entry.part.position] if m.get("role") == "user"
    ]
    return bool(before) and not any(text in ours for text in before if text)


@rule("payload-result-differs", code="PAY002", severity="error", needs=("payloads",))
def payload_result_differs(trace: Trace) -> Iterator[Finding]:
    """The payload gives a call another result than the request or the stream does.

    Why it hurts: the user reads one outcome, and the model works on with another.
    No fault when: the same value is only written in another way (JSON, content parts, a wrapper
        with one key), the payload has a shortened form of it, or one side holds a placeholder,
        a refusal or a decision.
    What to do: find out which of the two the tool gave. Look for results that are kept by the
        name of the tool, or by an id that was used again.
    Example:
        {"role": "tool", "tool_call_id": "c1", "content": "0 bottles"}
    Sources: reports of results that are made up anew when a session is read back.
    """
    for conversation in trace.conversations:
        for items in conversation.lists:
            if items.place != "payload":
                continue
            for entry in items.calls:
                call = entry.call
                if call is None or not call.id or not entry.results:
                    continue
                known = [r for r in call.real_results if r.place in ("stream", "request", "snapshot")]
                ours = [p for p in entry.results if results.classify(p.content, p.error) in ("ok", "error")]
                if (
                    known
                    and ours
                    and not any(_same(p.content, r.content) for p in ours for r in known)
                    and _once(conversation, call)
                ):
                    message = (
                        f"The payload of {named(items.run)} gives {told(call)} the result {quoted(ours[0].content)}; the "
                        f"{known[0].place} has {quoted(known[0].content)}."
                    )
                    yield finding(
                        trace, items.run, message, known[0].at, items.at, calls=(call,), place="payload"
                    )


def _once(conversation: Conversation, call: Call) -> bool:
    """Its id is that of one call: else the two may be of different calls."""
    return sum(other.id == call.id for other in conversation.calls) == 1


def _same(one: str, two: str) -> bool:
    a, b = _plain(one), _plain(two)
    return a == b or content_key(a) == content_key(b) or (len(a) > 20 and b.startswith(a.rstrip(". …")))


def _plain(content: str) -> str:
    """A result without quotation marks and without a wrapper of one key."""
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        return " ".join(content.split())
    while (
        isinstance(value, dict)
        and len(value) == 1
        and next(iter(value)) in ("result", "output", "content", "text", "response")
    ):
        value = next(iter(value.values()))
    return " ".join(value.split()) if isinstance(value, str) else results.text_of(value)
