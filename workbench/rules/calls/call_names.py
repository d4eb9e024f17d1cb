"""Empty ids and empty names of calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.calls.conversation import Conversation, MessageList
from workbench.findings import Finding
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule
from workbench.rules.slips import named

if TYPE_CHECKING:
    from workbench.trace import Trace


def _listed_calls(items: MessageList) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Position, call and function of every call of a list, as written."""
    for position, message in enumerate(items.messages):
        calls = message.get("toolCalls", message.get("tool_calls"))
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict):
                function = call.get("function")
                yield position, call, function if isinstance(function, dict) else call


def _message_id(items: MessageList, position: int) -> str:
    return str(items.messages[position].get("id") or "")


@rule("call-id-empty", code="CAL010", severity="error", needs=())
def call_id_empty(trace: Trace) -> Iterator[Finding]:
    """A call, a result or an interrupt names its call by an empty string.

    Why it hurts: nothing can be joined with it: the result reaches no call, the approval card
        shows no action, and providers refuse the history.
    No fault when: the key is absent where it is optional. An absent required key is
        `schema-field-missing`.
    What to do: make the id before anything is derived from the call. Look for a list of ids
        (pending calls, long-running tools) that is built before ids are given.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "", "toolCallName": "deploy"}
        {"type": "TOOL_CALL_END", "toolCallId": ""}
    Sources: google/adk-go#551.
    """
    for conversation in trace.conversations:
        yield from _empty_in_stream(trace, conversation)
        for run in conversation.runs:
            for entry in run.interrupts:
                if entry.get("toolCallId", entry.get("tool_call_id")) == "":
                    own = str(entry.get("id") or "")
                    message = f'Interrupt {own or "without id"} of {named(run)} has the toolCallId "".'
                    yield finding(trace, run, message, run.end, approvals=(own,))
        for items in conversation.lists:
            positions = [n for n, call, _ in _listed_calls(items) if call.get("id") == ""]
            positions += [
                n for n, m in enumerate(items.messages) if m.get("toolCallId", m.get("tool_call_id")) == ""
            ]
            if positions:
                message = f"The {items.place} of {named(items.run)} has a call or tool message with an empty call id."
                ids = [_message_id(items, n) for n in positions]
                yield finding(trace, items.run, message, items.at, other_ids=ids, place=items.place)


def _empty_in_stream(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    for call in conversation.calls:
        if call.id == "" and call.starts:
            first = call.starts[0]
            places = [s.event for s in call.starts] + [r.at.row for r in call.streamed]
            message = f'{call.tool or "A call"} is called in {named(first.run)} with the id "".'
            # The empty id is what the finding is about, so that views can mark the call.
            yield replace(finding(trace, first.run, message, *places[:10]), call_ids=("",))
    for result in conversation.orphans:
        if result.call_id == "":
            message = f'A result in {named(result.run)} names its call by the id "".'
            yield finding(trace, result.run, message, result.at, other_ids=(result.message_id,))


@rule("call-name-empty", code="CAL011", severity="error", needs=("calls",))
def call_name_empty(trace: Trace) -> Iterator[Finding]:
    """A call has an empty tool name.

    Why it hurts: no tool can be found for it, and an approval card asks about nothing.
    No fault when: the key is absent in a later chunk of a call. An absent required key is
        `schema-field-missing`.
    What to do: send START when the name is known. Providers that stream the name in a later
        piece need a buffer until then.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": ""}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: AG-UI events, tool calls.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            for start in call.starts:
                event = trace.json(start.event) if not start.tool else {}
                if event.get("toolCallName", event.get("tool_call_name")) == "":
                    message = f'Call {call.id} is started in {named(start.run)} with the name "".'
                    yield finding(trace, start.run, message, start.event, calls=(call,))
        for items in conversation.lists:
            if items.history is not None and not items.history.whole:
                continue  # what is left out may be the name
            for _, listed, function in _listed_calls(items):
                if function.get("name") == "":
                    own = str(listed.get("id") or "")
                    message = f'Call {own or "without id"} has the name "" in the {items.place} of {named(items.run)}.'
                    yield finding(trace, items.run, message, items.at, calls=(own,), place=items.place)
