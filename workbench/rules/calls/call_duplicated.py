"""One call id twice in a message list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import lists
from workbench.calls.arguments import canonical, differs
from workbench.calls.conversation import ListCall, MessageList, Part
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
            for entry in items.calls:
                if not entry.part.call_id or (
                    entry.call is not None and entry.call.synthetic_for is not None
                ):
                    continue
                copies = [copy for copy in entry.copies if _same_call(items, entry, copy)]
                if copies:
                    positions = listed(
                        [str(n) for n in dict.fromkeys(p.position + 1 for p in (entry.part, *copies))]
                    )
                    message = (
                        f"{told(entry)} stands {len(copies) + 1} times in the {items.place} of {named(items.run)} "
                        f"(message {positions}){_repeated(items, entry, copies)}."
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


def _repeated(items: MessageList, entry: ListCall, copies: list[Part]) -> str:
    """What to add where messages are repeated with what the user said: which of them has no result."""
    ids = {entry.part.message_id, *(copy.message_id for copy in copies)}
    places = sorted({entry.part.position, *(copy.position for copy in copies)})
    between = items.messages[places[0] + 1 : places[-1]]
    if len(ids) > 1 or "" in ids or not any(lists.is_user_turn(m) for m in between):
        return ""
    open_places = [
        place
        for place, following in zip(places, [*places[1:], None], strict=True)
        if not any(
            place < result.position and (following is None or result.position < following)
            for result in entry.results
        )
    ]
    said = f", and in message {listed([str(p + 1) for p in open_places])} the call has no result"
    return "; the whole message is repeated" + (said if open_places and entry.results else "")


def _same_call(items: MessageList, entry: ListCall, copy: Part) -> bool:
    first = entry.part
    if differs(first.name, first.arguments, copy.name, copy.arguments):
        return False
    between = items.messages[first.position + 1 : copy.position + 1]
    if not any(lists.is_user_turn(m) for m in between):
        return True
    answered = any(result.position < copy.position for result in entry.results)
    if answered and first.message_id != copy.message_id:
        return False
    return first.name == copy.name and canonical(first.arguments) == canonical(copy.arguments)
