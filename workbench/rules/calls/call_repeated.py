"""The same call again under another id."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.calls.arguments import canonical
from workbench.calls.conversation import At, Call, Conversation, Run
from workbench.findings import Finding
from workbench.rules.calls.pairs import changed
from workbench.rules.calls.words import finding, granted, is_real
from workbench.rules.registry import rule
from workbench.rules.slips import listed, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("call-repeated", code="CAL005", severity="warning", needs=("calls",))
def call_repeated(trace: Trace) -> Iterator[Finding]:
    """The same tool is called with the same arguments under two ids in one user turn.

    Why it hurts: the model did not see its first call or the answer to it, so it acts again.
        For a tool with effects that is an action nobody asked for twice.
    No fault when: an approval of the first call stands in between, the second asks for an
        approval again (`approval-reasked`), or the user has spoken since. It is information
        where the first call had a good result: asking a service again until it is ready is
        normal.
    What to do: look at what the model was sent before the second call. If the first result is
        missing there, the history is lost between request and payload.
    Example:
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "show_list"}
        {"type": "TOOL_CALL_END", "toolCallId": "c1"}
        {"type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "show_list"}
        {"type": "TOOL_CALL_END", "toolCallId": "c2"}
    Sources: ag-ui-protocol/ag-ui#643; agno-agi/agno#8602.
    """
    for conversation in trace.conversations:
        asked = {a.tool for a in conversation.approvals if a.tool}
        client = frozenset().union(*(run.client_tools for run in conversation.runs))
        apart = {frozenset((pair.called, pair.used)) for pair in changed(conversation)}
        judged: dict[tuple[int, int], bool] = {}
        for group, run, places, place in _groups(conversation):
            pairs = [
                (one, two) for one, two in pairwise(group)
                if one.id != two.id and not _decided(one, two) and frozenset((one.id, two.id)) not in apart
            ]  # fmt: skip
            if not pairs:
                continue
            for one, two in pairs:
                # every list that repeats the history has the same pairs again
                if (id(one), id(two)) not in judged:
                    judged[id(one), id(two)] = (
                        _together(one, two) or one.tool in asked or one.tool in client or bool(one.client_side and one.starts)
                        or not any(r.cls == "ok" for r in one.real_results)
                    )  # fmt: skip
            loud = any(judged[id(one), id(two)] for one, two in pairs)
            calls = list(dict.fromkeys(c for pair in pairs for c in pair))
            ids = [c.id for c in calls]
            message = (
                f"{calls[0].tool} is called {len(ids)} times with {quoted(calls[0].arguments or '{}')} "
                f"in one user turn, as {listed(ids)}."
            )
            yield finding(trace, run, message, *places[:20], calls=calls, place=place,
                          severity="" if loud else "info")  # fmt: skip


def _groups(conversation: Conversation) -> Iterator[tuple[list[Call], Run, list[At | int | None], str]]:
    """Equal calls of one turn: those of the stream, then those that only a list has."""
    streamed: dict[tuple[int, str, str], list[Call]] = {}
    for call in conversation.calls:
        if is_real(call) and call.starts and call.tool:
            streamed.setdefault((call.turn, call.tool, call.arguments or "{}"), []).append(call)
    for group in streamed.values():
        if len(group) > 1:
            yield group, group[-1].run, [c.at for c in group], "stream"
    for items in conversation.lists:
        inside: dict[tuple[int, str, str], list[Call]] = {}
        for entry in items.calls:
            known = entry.call
            if known is not None and is_real(known) and entry.part.name:
                key = (entry.turn, entry.part.name, canonical(entry.part.arguments))
                inside.setdefault(key, []).append(known)
        for group in inside.values():
            if len(group) > 1 and not all(c.starts for c in group):
                yield group, items.run, [items.at], items.place


def _decided(one: Call, two: Call) -> bool:
    """Somebody decided between the two, or the second asks again for what the first asked."""
    for approval in one.approvals:
        again = approval.reasked_by
        asks = again is not None and (again.call is two or again.call_id == two.id)
        # after a cancelled question nobody has decided, and `approval-reasked` keeps silent
        if asks and approval.decision != "cancelled":
            return True
        answer = granted(approval)
        if answer is not None and answer.sequence <= two.sequence:
            return True
        # An approval whose answer is not in the capture (reading rule 14).
        if any(a.decision == "unseen" and a.sequence <= two.sequence for a in approval.accepted):
            return True
    return False


def _together(one: Call, two: Call) -> bool:
    """Both stand in one assistant message."""
    if one.parent and one.parent == two.parent:
        return True
    where = {(id(items), entry.part.position) for items, entry in one.listed}
    return any((id(items), entry.part.position) in where for items, entry in two.listed)
