"""One call id twice in a message list."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import lists
from workbench.calls.arguments import canonical, differs
from workbench.calls.conversation import ListCall, Part
from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("call-duplicated", code="CAL006", severity="error", needs=("lists",))
def call_duplicated(trace: Trace) -> Iterator[Finding]:
    """A message list holds one call id twice within one user turn, or the whole turn twice.

    Why it hurts: model providers refuse a history with a repeated call id; those that accept
        it see one action as two, and wait for a result of each. A client that was loaded anew
        takes the copy without a result for an open call, and asks its person again.
    No fault when: the first copy is answered and the user has spoken since (ids repeat across
        turns with some providers), unless user message and call stand there under the same
        message ids. Copies with other arguments are `call-id-collision`.
    What to do: look at how the list is put together: a stored message and the streamed or
        sent one were both kept, or a call was started twice in the stream
        (`call-start-duplicated`).
    Example:
        {"type": "MESSAGES_SNAPSHOT", "messages": [
            {"id": "a1", "role": "assistant", "toolCalls": [
                {"id": "c1", "type": "function", "function": {"name": "pick", "arguments": "{}"}},
                {"id": "c1", "type": "function", "function": {"name": "pick", "arguments": "{}"}}]}]}
    Sources: agent-framework snapshots after a doubled TOOL_CALL_START;
        microsoft/agent-framework#8140.
    """
    for conversation in trace.conversations:
        for items in conversation.histories:
            spoken: list[int] | None = None
            for entry in items.calls:
                if not entry.part.call_id or (
                    entry.call is not None and entry.call.synthetic_for is not None
                ):
                    continue
                if not entry.copies:
                    continue
                if spoken is None:
                    spoken = [n for n, message in enumerate(items.messages) if lists.is_user_turn(message)]
                answers = sorted(result.position for result in entry.results)
                copies = [copy for copy in entry.copies if _same_call(entry, copy, spoken, answers)]
                if copies:
                    positions = listed(
                        [str(n) for n in dict.fromkeys(p.position + 1 for p in (entry.part, *copies))]
                    )
                    message = (
                        f"{told(entry)} stands {len(copies) + 1} times in the {items.place} of {named(items.run)} "
                        f"(message {positions}){_repeated(entry, copies, spoken, answers)}."
                    )
                    first = entry.call.at if entry.call else None
                    yield finding(
                        trace,
                        items.run,
                        message,
                        items.at,
                        first,
                        calls=(entry.part.call_id,),
                        place=items.place,
                    )


def _repeated(entry: ListCall, copies: list[Part], spoken: list[int], answers: list[int]) -> str:
    """What to add where messages are repeated with what the user said: which of them has no result."""
    ids = {entry.part.message_id, *(copy.message_id for copy in copies)}
    places = sorted({entry.part.position, *(copy.position for copy in copies)})
    if len(ids) > 1 or "" in ids or not _any_between(spoken, places[0], places[-1]):
        return ""
    open_places = [
        place
        for place, following in zip(places, [*places[1:], None], strict=True)
        if not _any_between(answers, place, following)
    ]
    said = f", and in message {listed([str(p + 1) for p in open_places])} the call has no result"
    return "; the whole message is repeated" + (said if open_places and answers else "")


def _same_call(entry: ListCall, copy: Part, spoken: list[int], answers: list[int]) -> bool:
    """`spoken` and `answers` are the sorted positions of what the user said and of the results."""
    first = entry.part
    if differs(first.name, first.arguments, copy.name, copy.arguments):
        return False
    if not _any_between(spoken, first.position, copy.position):
        return True
    answered = bool(answers) and answers[0] < copy.position
    if answered and first.message_id != copy.message_id:
        return False
    return first.name == copy.name and canonical(first.arguments) == canonical(copy.arguments)


def _any_between(positions: list[int], low: int, high: int | None) -> bool:
    """Whether one of sorted positions lies between two others; a list with many copies is asked as often."""
    at = bisect_right(positions, low)
    return at < len(positions) and (high is None or positions[at] < high)
