"""The life of a call in its run: TOOL_CALL_START, ARGS, END.

These rules mirror one state machine, which the walk runs (`workbench.calls.walk`); here is
what each departure means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import producers
from workbench.calls.conversation import Call, Conversation, Run, Slip
from workbench.findings import Finding
from workbench.rules.calls.call_id_collision import collided_starts
from workbench.rules.calls.words import finding, named_call
from workbench.rules.registry import rule
from workbench.rules.slips import cut, listed, named, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


def _by_start(trace: Trace) -> dict[int, Call]:
    """Calls by the rows of their START events."""
    return {s.event: call for c in trace.conversations for call in c.calls for s in call.starts}


def _tools(trace: Trace) -> dict[tuple[str, str], str]:
    """Tool names by thread and call id."""
    return {(c.thread_id, call.id): call.tool for c in trace.conversations for call in c.calls}


@rule("call-not-open", code="CAL001", severity="error", scope="run")
def call_not_open(trace: Trace) -> Iterator[Finding]:
    """ARGS or END arrive for a call that is not open: never started, or ended already.

    Why it hurts: verifying clients abort the run; the others drop the text, so the tool runs
        with arguments that lack a piece.
    No fault when: the call came in chunks, which open and close by themselves. It is a
        warning when the call belongs to an earlier run, and information when the capture
        begins or breaks off so that the START may be missing from it.
    What to do: send START before the first piece and END once, after the last. Look for a
        second writer of the same call: a retry, a merge of two model streams, a resume.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "deploy"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"}
    Sources: AG-UI events, tool calls; verifyEvents of @ag-ui/client, all versions.
    """
    tools = _tools(trace)
    groups: dict[tuple[int, str, str], list[Slip]] = {}
    owners: dict[int, Conversation] = {}
    for conversation, slip in slips(trace, "call-not-open"):
        if slip.call_id:
            groups.setdefault((id(slip.run), slip.call_id, slip.variant), []).append(slip)
            owners[id(slip.run)] = conversation
    for (_, call_id, variant), group in groups.items():
        run, conversation = group[0].run, owners[id(group[0].run)]
        why = {"ended": "after its END", "earlier-run": "whose START is in an earlier run"}.get(
            variant, "that was never started"
        )
        unsure = variant == "never" and (
            conversation.starts_late or cut(run, conversation) or run.start is None
        )
        severity = "info" if unsure else "warning" if variant == "earlier-run" else ""
        kinds = " and ".join(dict.fromkeys(slip.detail for slip in group if slip.detail)) or "An event"
        times = f" ({len(group)} events)" if len(group) > 1 else ""
        name = named_call(tools.get((conversation.thread_id, call_id), ""), call_id)
        message = f"{kinds}{times} in {named(run)} for {name}, {why}."
        yield finding(trace, run, message, *(s.at for s in group[:10]), group[0].other,
                      calls=(call_id,), severity=severity)  # fmt: skip


@rule("call-start-duplicated", code="CAL002", severity="error", needs=("calls",))
def call_start_duplicated(trace: Trace) -> Iterator[Finding]:
    """TOOL_CALL_START comes again for a call that had been started.

    Why it hurts: some clients throw, others show or run the call twice; its arguments are
        glued together and its copies fill the history that the next model call gets.
    No fault when: the earlier call of that id was settled and the user has spoken since. A
        START again in a later run is a warning, and information where that run carries out an
        approved call and the framework is known to send it again (.NET, LangGraph). Other
        arguments or another name after END are `call-id-collision`, another name while open
        is `call-name-changed`, and a whole run sent again is `run-id-reused`.
    What to do: remember every id that was started, not only the last one. agent-framework-ag-ui
        up to 1.7.0 starts each call twice when a response has two client-side calls.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "pick_date"}
        {"type": "TOOL_CALL_START", "toolCallId": "b", "toolCallName": "pick_room"}
        {"type": "TOOL_CALL_START", "toolCallId": "a", "toolCallName": "pick_date"}
    Sources: verifyEvents of @ag-ui/client; agent-framework `_run_common.py`, `_emit_tool_call`;
        ag-ui-protocol/ag-ui#1724.
    """
    by_start = _by_start(trace)
    collided: dict[int, set[int]] = {}
    callless = {id(c): _first_callless(c) for c in trace.conversations}
    for conversation, slip in slips(trace, "call-start-duplicated"):
        call = by_start.get(slip.at.row)
        if call is None or not slip.call_id:
            continue
        if id(call) not in collided:
            collided[id(call)] = collided_starts(call)
        if slip.at.row in collided[id(call)]:
            continue
        when = {"open": "while it is open", "ended": "after its END"}.get(
            slip.variant, "although an earlier run had started it"
        )
        message = f"{named_call(call.tool, call.id)} is started again in {named(slip.run)}, {when}."
        severity = "error"
        if slip.variant == "later-run":
            again = _sent_again(call, slip.run, waiting=callless[id(conversation)] < slip.run.number)
            severity = "info" if again else "warning"
            message += f" {again}" if again else ""
        yield finding(trace, slip.run, message, slip.other, slip.at, calls=(call,), severity=severity)


def _first_callless(conversation: Conversation) -> float:
    """Number of the first run that asks for an approval without naming a call; infinity where none does."""
    return min((p.run.number for p in conversation.approvals if not p.call_id), default=math.inf)


def _sent_again(call: Call, run: Run, *, waiting: bool) -> str:
    """Why a START in a later run is only information; empty where it is not (reading rule 6)."""
    if run.producer not in producers.REEMITS_ON_RESUME and run.producer != "unknown":
        return ""
    answered = any(a.run is run for p in call.approvals for a in p.answers)
    if answered or (waiting and run.producer in producers.REEMITS_ON_RESUME):
        who = "this framework" if run.producer == "unknown" else run.producer
        return f"The run carries out the approved call, and {who} sends it again then."
    return ""


@rule("call-not-closed", code="CAL003", severity="error", scope="run", needs=("calls",))
def call_not_closed(trace: Trace) -> Iterator[Finding]:
    """A call is still open when its run ends.

    Why it hurts: clients run a tool, show an approval card or store a call at TOOL_CALL_END;
        without it the arguments never count as complete.
    No fault when: the call came in chunks, the run ended in RUN_ERROR, or the capture is cut
        (then this is information).
    What to do: close every open call before the run ends, also on the path that interrupts
        it for an approval. Look for an id that was replaced before its END was written.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "deploy"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: verifyEvents of @ag-ui/client from 0.0.37; microsoft/agent-framework#8244.
    """
    by_start = _by_start(trace)
    for conversation, slip in slips(trace, "call-not-closed"):
        if not slip.call_id:
            continue
        call = by_start.get(slip.other.row) if slip.other else None
        mild = cut(slip.run, conversation) or slip.run.end is None
        name = named_call(call.tool if call else "", slip.call_id)
        message = f"{name} is started in {named(slip.run)} and has no TOOL_CALL_END when the run ends."
        yield finding(trace, slip.run, message, slip.other, slip.at, calls=(slip.call_id,),
                      severity="info" if mild else "")  # fmt: skip


@rule("call-name-changed", code="CAL012", severity="error", scope="run", needs=("calls",))
def call_name_changed(trace: Trace) -> Iterator[Finding]:
    """A second START of an open call carries another tool name.

    Why it hurts: the client renames the call or keeps the first name; either way a tool is
        run, or a person asked, about something the model did not say.
    No fault when: the names are equal (`call-start-duplicated`), or the first call had ended
        (`call-id-collision`).
    What to do: give each call an id of its own. Look for ids that are made from a position in
        the response, or from the last call only.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "read_file"}
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "delete_file"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: AG-UI events, tool calls; the reducer of @ag-ui/client.
    """
    for _, slip in slips(trace, "call-name-changed"):
        if slip.call_id:
            message = f"Call {slip.call_id} changes its name while it is open: {slip.detail}."
            yield finding(trace, slip.run, message, slip.other, slip.at, calls=(slip.call_id,))


@rule("text-inside-call", code="CAL018", severity="warning", scope="run", needs=("calls",))
def text_inside_call(trace: Trace) -> Iterator[Finding]:
    """Text message events stand between START and END of a call of the same lane.

    Why it hurts: clients that allow one open thing at a time reject the stream, others close
        the call early, with half of its arguments.
    No fault when: text and call belong to different subagents (lanes), the call came in
        chunks, or the call stands inside an open text message.
    What to do: buffer the inner text until TOOL_CALL_END, or mark the inner agent's events
        with its subagentRunId.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "ask_team"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
    Sources: verifyEvents of @ag-ui/client up to 0.0.36; CopilotKit/CopilotKit#2684.
    """
    tools = _tools(trace)
    grouped: dict[tuple[int, str], list[tuple[Conversation, Slip]]] = {}
    for conversation, slip in slips(trace, "text-inside-call"):
        grouped.setdefault((id(slip.run), slip.call_id or ""), []).append((conversation, slip))
    for (_, call_id), group in grouped.items():
        conversation, slip = group[0]
        messages = [str(trace.json(s.at.row).get("messageId") or "") for _, s in group]
        which = f" ({listed([m for m in dict.fromkeys(messages) if m])})" if any(messages) else ""
        name = named_call(tools.get((conversation.thread_id, call_id), ""), call_id)
        message = f"A text message{which} of {named(slip.run)} stands inside the open call {name}."
        yield finding(trace, slip.run, message, slip.other, *(s.at for _, s in group[:10]), calls=(call_id,))
