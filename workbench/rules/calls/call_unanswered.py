"""Calls that nobody answered before the conversation went on."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from workbench.calls import lists, producers
from workbench.calls.conversation import Call, Conversation, ListCall, MessageList, Part, Run
from workbench.findings import Finding
from workbench.rules.calls.pairs import changed_ids
from workbench.rules.calls.words import Waits, finding, is_real, told
from workbench.rules.registry import rule
from workbench.rules.slips import cut, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("call-unanswered", code="CAL007", severity="error", needs=("calls",))
def call_unanswered(trace: Trace) -> Iterator[Finding]:
    """The user speaks again, and an earlier call has neither a result nor a tool message.

    Why it hurts: most model providers refuse a history in which a call has no answer: from
        here on every turn of the thread fails.
    No fault when: the call waits for an approval (`approval-unanswered`) or was approved
        (`approval-not-executed`), it is a confirmation call, or nothing follows it: a
        client-side tool may end a run without a result. It is information where only more
        text of the same run follows, or where the requests do not repeat the history.
    What to do: answer every call before the next user message goes out, with an error text if
        need be. In a client: do not send while a client-side tool is running, or send its
        tool message with the new message.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [
            {"id": "u1", "role": "user", "content": "chart it"},
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "chart", "arguments": "{}"}}]},
            {"id": "u2", "role": "user", "content": "thanks"}]}
    Sources: microsoft/agent-framework#6479; OpenAI and Anthropic rules for tool messages.
    """
    for conversation in trace.conversations:
        apart, waits = changed_ids(conversation), Waits(conversation)
        yield from _in_lists(trace, conversation, apart, waits)
        yield from _in_stream(trace, conversation, apart, waits)


def _in_lists(trace: Trace, conversation: Conversation, apart: set[str], waits: Waits) -> Iterator[Finding]:
    for items in conversation.histories:
        user = _last(items, lists.is_user_turn)
        reply = _last(items, lambda m: m.get("role") == "assistant" and bool(m.get("content")))
        # Whatever goes to the model has to be answered before it goes: it is its own follow-up.
        sent = items.place == "payload"
        if items.history is not None and not items.history.whole:
            continue
        for entry in items.calls:
            part = entry.part
            if entry.results or part.call_id in apart or not _must_be_answered(waits, entry, sent=sent):
                continue
            if items.place == "telemetry" and (part.hosted or _spoken_of(items, part)):
                continue
            followed = sent or user > part.position
            if not followed and reply < part.position:
                continue
            since = (
                "" if sent else ", and the user has spoken since" if followed else "; only text follows it"
            )
            message = f"{told(entry)} has no tool message in the {items.place} of {named(items.run)}{since}."
            first = entry.call.at if entry.call else None
            yield finding(trace, items.run, message, first, items.at, calls=(part.call_id,), place=items.place,
                          severity="" if followed else "info")  # fmt: skip


def _spoken_of(items: MessageList, part: Part) -> bool:
    """A later message has the call's id in its text: an instrumentation may write results down as texts."""
    return any(
        part.call_id in str(message.get("content") or "") for message in items.messages[part.position + 1 :]
    )


def _last(items: MessageList, test: Callable[[dict[str, Any]], bool]) -> int:
    """Index of the last message that passes the test, or -1."""
    return max((n for n, m in enumerate(items.messages) if test(m)), default=-1)


def _must_be_answered(waits: Waits, entry: ListCall, *, sent: bool) -> bool:
    call = entry.call
    if not entry.part.call_id or entry.part.name in producers.CONFIRM_CALLS:
        return False
    return call is None or (is_real(call) and (sent or not waits(call)))


def _in_stream(trace: Trace, conversation: Conversation, apart: set[str], waits: Waits) -> Iterator[Finding]:
    """Calls of the stream that no list repeats: judged over the thread."""
    asked = {id(items.run): items for items in conversation.lists if items.place == "request"}
    follow = [run for run in conversation.runs if id(run) in asked]
    texts = _Texts(conversation)
    for call in conversation.calls:
        if (
            not is_real(call)
            or not call.starts
            or call.starts[-1].end is None
            or call.results
            or call.id in apart
        ):
            continue
        run = call.starts[-1].run
        if waits(call) or run.outcome == "error":
            continue
        # both grow from run to run
        coming = max(
            bisect_right(follow, call.turn, key=lambda r: r.turn),
            bisect_right(follow, run.number, key=lambda r: r.number),
        )
        later = follow[coming] if coming < len(follow) else None
        listed_later = any(items.sequence > call.sequence for items, _ in call.listed)
        if later is not None and not listed_later:
            whole = _repeats_history(asked[id(later)]) and not cut(run, conversation)
            message = f"{told(call)} of {named(run)} has no result, and {named(later)} begins with a new user message."
            yield finding(
                trace, later, message, call.at, later.start, calls=(call,), severity="" if whole else "info"
            )
        elif later is None and not call.client_side and (row := texts.after(call, run)) is not None:
            message = f"{told(call)} has no result, and {named(run)} goes on with text."
            yield finding(trace, run, message, call.at, row, calls=(call,), severity="info")


def _repeats_history(items: MessageList) -> bool:
    return any(m.get("role") in ("assistant", "tool") for m in items.messages)


class _Texts:
    """Where the texts of the assistant begin, by run and lane."""

    def __init__(self, conversation: Conversation) -> None:
        self._starts: dict[tuple[int, str], list[int]] = {}
        for m in conversation.messages:
            if m.kind == "text" and m.role == "assistant" and m.start is not None:
                self._starts.setdefault((id(m.run), m.lane), []).append(m.start)

    def after(self, call: Call, run: Run) -> int | None:
        """The first that begins after the end of a call; None where none does."""
        starts = self._starts.get((id(run), call.lane), [])
        at = bisect_right(starts, call.starts[-1].end or 0)
        return starts[at] if at < len(starts) else None
