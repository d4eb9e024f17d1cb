"""Faults of a framework's own list that what was sent no longer shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.calls import lists, producers, results
from workbench.calls.conversation import Conversation, MessageList, Part
from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.payloads.controls import answers
from workbench.rules.registry import rule
from workbench.rules.slips import listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@dataclass(frozen=True, slots=True)
class _Leftover:
    """A fault in a kept list: what it is, in words, and how often each id stands there."""

    what: str
    about: str
    part: Part
    kind: str
    approvals: tuple[str, ...] = ()

    def on_the_wire(self, payload: MessageList) -> bool:
        """The payload still shows it, or might."""
        if self.approvals:
            return any(
                p.kind.startswith("approval") and {p.call_id, p.approval_id} & set(self.approvals)
                for p in payload.parts
            )
        here = [p for p in payload.parts if p.kind == self.kind and p.call_id == self.part.call_id]
        return len(here) > (1 if "twice" in self.what else 0)


@rule("payload-leftover-masked", code="PAY005", severity="info", needs=("payloads",))
def payload_leftover_masked(trace: Trace) -> Iterator[Finding]:
    """The framework's own list has a fault that the payload made from it no longer shows.

    Why it hurts: not yet. Something on the way filters it out, so that the provider takes the
        payload; the list keeps it, and another connector, another release or another order of
        messages sends it.
    No fault when: the payload still shows it (then the rules about payloads do), it is of
        another turn, the provider keeps earlier turns, or pieces of it are left out. An
        approval that waits is no leftover, nor is a call at the end of the list.
    What to do: mend the list where it is kept, not where it is sent. `wb.repair_suggestions`
        says how, for any provider.
    Example:
        {"messages": [
            {"role": "tool", "contents": [{"type": "function_result", "call_id": "c1", "result": "done"}]},
            {"role": "user", "contents": [{"type": "function_approval_response", "id": "c1", "approved": true,
                "function_call": {"call_id": "c1", "name": "dig"}}]}]}
        {"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": "done"}]}
    Sources: microsoft/agent-framework#7452.
    """
    payloads = [p for c in trace.conversations for p in c.lists if _whole(p)]
    settled = list(answers(trace))
    for conversation in trace.conversations:
        for items in conversation.lists:
            if items.place != "history" or items.history is None or not items.history.whole:
                continue
            sent = [p for p in payloads if _made_from(items, p)]
            if not sent:
                continue
            over = [c for c in settled if c.items is items and c.local and c.results]
            leftovers = [
                _Leftover("the settled approval {}", listed(c.ids), c.part, "approval-response", c.ids)
                for c in over
            ]
            for left in (*leftovers, *_faults(conversation, items)):
                if any(left.on_the_wire(payload) for payload in sent):
                    continue
                message = (
                    f"The history of {named(items.run)} has {left.what.format(left.about)} at {left.part.path}; what was sent "
                    "from it does not show it."
                )
                yield finding(trace, items.run, message, items.at, sent[0].at, calls=(left.part.call_id,),
                              approvals=left.approvals, place="history")  # fmt: skip


def _faults(conversation: Conversation, items: MessageList) -> Iterator[_Leftover]:
    """Calls and results that do not fit together in the list."""
    last = max((n for n, m in enumerate(items.messages) if lists.is_user_turn(m)), default=-1)
    waiting = {a.call_id for a in conversation.approvals if not a.answers}
    for entry in items.calls:
        own = entry.part.call_id
        if not own or entry.part.name in producers.CONFIRM_CALLS:
            continue
        if not entry.results and entry.part.position < last and own not in waiting:
            yield _Leftover("{} without a result", told(entry), entry.part, "call")
        for copy in entry.copies[:1]:
            yield _Leftover("{} twice", told(entry), copy, "call")
        if len(entry.results) > 1:
            yield _Leftover("the result of {} twice", told(entry), entry.results[1], "result")
    for orphan in items.orphans:
        if orphan.call_id and results.classify(orphan.content, orphan.error) in ("ok", "error"):
            yield _Leftover("a result for {} without its call", told(orphan), orphan, "result")


def _whole(items: MessageList) -> bool:
    """A payload that holds all that the model gets."""
    history = items.history
    return items.place == "payload" and history is not None and history.whole and not (
        history.stored or any(True for _ in history.blocks("reference"))
    )  # fmt: skip


def _made_from(items: MessageList, payload: MessageList) -> bool:
    """The payload says what the user said last in the list, in the same turn or the next, and has one of its calls."""
    ours, theirs = _said(items), _said(payload)
    if not ours or len(theirs) - len(ours) not in (0, 1) or theirs[len(ours) - 1] != ours[-1]:
        return False
    known = {p.call_id for p in items.parts if p.call_id}
    return any(p.call_id in known for p in payload.parts if p.call_id)


def _said(items: MessageList) -> list[str]:
    texts = (" ".join(str(m.get("content") or "").split()) for m in items.messages if m.get("role") == "user")
    return [text for text in texts if text]
