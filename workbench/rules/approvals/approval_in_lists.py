"""Answers to approvals that stand where they should not: without a request, or settled long ago."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.calls.words import finding
from workbench.rules.payloads.controls import answers
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-orphaned", code="APR024", severity="error", needs=("lists",))
def approval_orphaned(trace: Trace) -> Iterator[Finding]:
    """A payload or history holds the answer to an approval, without the request and without the call it names.

    Why it hurts: the provider refuses the payload; a framework that reads the list carries out
        nothing, or something else.
    No fault when: the request or the local call stands in the list or in the thread, or the
        provider keeps what was sent before (`previous_response_id`, `conversation`).
    What to do: keep request and answer together: drop both, or send both. Look for a filter
        that knows only one of the two.
    Example:
        {"model": "m", "input": [
            {"type": "message", "role": "user", "content": "yes"},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true}]}
    Sources: microsoft/agent-framework#7452.
    """
    for control in answers(trace):
        history = control.items.history
        carried = bool(control.part.call_id and control.part.name)  # the answer brings its call along
        if history is None or history.stored or not history.whole or carried:
            continue
        if (
            any(True for _ in history.blocks("reference"))
            or control.request
            or control.call
            or control.results
        ):
            continue
        known = {c.id for c in control.conversation.calls} | {a.id for a in control.conversation.approvals}
        if known & set(control.ids):
            continue
        message = (
            f"The answer to approval {listed(control.ids)} at {control.part.path} in the {control.items.place} of "
            f"{named(control.items.run)} has neither its request nor its call there."
        )
        yield finding(trace, control.items.run, message, control.items.at, approvals=control.ids,
                      place=control.items.place)  # fmt: skip


@rule("approval-replayed", code="APR025", severity="error", needs=("lists",))
def approval_replayed(trace: Trace) -> Iterator[Finding]:
    """A local approval that is settled is still in the payload or history of a later model call.

    Why it hurts: connectors send it to the provider as something it is not, or fail on a message
        that holds nothing else; a server that reads the history may carry the call out again.
    No fault when: nothing follows the answer yet, or the approval is the provider's own. It is
        information where the answer stands before its result in a list that is only kept:
        frameworks drop those before they send.
    What to do: drop request and answer as soon as the result stands in the list, in whatever
        order they come.
    Example:
        {"model": "m", "input": [
            {"type": "function_call_output", "call_id": "call_1", "output": "done"},
            {"type": "mcp_approval_response", "approval_request_id": "call_1", "approve": true}]}
    Sources: microsoft/agent-framework#7452.
    """
    for control in answers(trace):
        if not control.local or not control.results:
            continue
        first = min(p.position for p in control.results)
        parts = control.items.parts
        behind = first < control.part.position or (
            first == control.part.position
            and any(p in control.results for p in parts[: parts.index(control.part)])
        )
        sent = control.items.place == "payload" or (
            control.items.history is not None and control.items.history.sent
        )
        if not behind and not sent and not control.new_turn:
            continue
        message = (
            f"The settled approval {listed(control.ids)} of a local call is still in the {control.items.place} of "
            f"{named(control.items.run)}, at {control.part.path}; its result stands at {control.results[0].path}."
        )
        yield finding(trace, control.items.run, message, control.items.at, calls=(control.part.call_id,),
                      approvals=control.ids, place=control.items.place, severity="" if behind or sent else "info")  # fmt: skip
