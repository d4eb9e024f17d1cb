"""What is particular to OpenAI Responses: item ids, reasoning, storage, hosted approvals."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.providers.openai_responses import lost_reasoning
from workbench.providers.repair import forms
from workbench.providers.repair.menders import (
    A_CALL,
    A_COPY,
    A_GUESS,
    A_THOUGHT,
    NOTHING,
    Candidate,
    Desk,
    mends,
    together,
)
from workbench.providers.repair.pairing import UNKNOWN
from workbench.readers.payloads.history import Block


@mends("R2")
def answered_from_storage(desk: Desk) -> Iterator[Candidate]:
    """The call is in the provider's storage: its output goes to the front of the input."""
    stored = desk.sheet.request.stored
    here = {b.call_id for _, b in desk.sheet.blocks("call")}
    for call in stored.blocks if stored is not None else ():
        if call.kind == "call" and call.call_id in desk.refusal.call_ids and call.call_id not in here:
            known = desk.case.known_result(call.call_id)
            text = known[0] if known else UNKNOWN
            why = (
                f"the {known[1]} shows this result of the call" if known
                else "the provider keeps the call, and the capture does not show its result: put the true one here"
            )  # fmt: skip
            first = next((o for t in desk.sheet.turns if (o := desk.sheet.origin(t.path))), "")
            made = desk.insert(forms.result("openai-responses", call, text), first, "before", why,
                               placeholder=known is None, call_id=call.call_id)  # fmt: skip
            yield from together(NOTHING if known else A_GUESS, made)


@mends("R3")
def unasked(desk: Desk) -> Iterator[Candidate]:
    """An answer to an approval that nobody asked goes; in a framework's list with the request, which is sent as well."""
    for n, block in desk.blocks("approval-response"):
        parts = [(n, block)]
        if desk.dialect == "agent-framework":
            ids = {i for i in (block.approval_id, block.call_id) if i}
            parts += [
                (m, b) for m, b in desk.sheet.blocks("approval-request") if {b.approval_id, b.call_id} & ids
            ]
            why = "the call has its result: the question and the answer are over"
        else:
            why = "the request that it answers is nowhere; the call of a local tool has none"
        yield from together(A_COPY, desk.drop(why, *parts))


@mends("R4")
def item_twice(desk: Desk) -> Iterator[Candidate]:
    """A copy goes; what is not the same, or is said by the user, only loses the item id."""
    turns = desk.turns()
    kept = len(turns) == 1
    for turn in turns[0 if kept else 1 :]:
        first = turns[0]
        equal = {k: v for k, v in first.raw.items() if k != "status"} == {
            k: v for k, v in turn.raw.items() if k != "status"
        }
        if turn.role != "user" and (kept or equal):
            why = (
                "the provider keeps this item already"
                if kept
                else f"{desk.sheet.origin(first.path)} is the same item"
            )
            yield from together(A_COPY, desk.drop_turn(turn, why))
        if turn.blocks:
            why = "without an id of its own it is a new item"
            item = Block("other", turn.path)
            yield from together(A_THOUGHT, desk.fields(item, [f"{turn.path}.id"], None, why, action="rename"))


@mends("R7")
def thoughtless(desk: Desk) -> Iterator[Candidate]:
    """The reasoning item comes back from the answer that held it; else the call goes as a new item."""
    given = {b.id: b for answer in desk.sheet.request.answered for b in answer if b.kind == "reasoning"}
    for block, thought in lost_reasoning(desk.sheet.request):
        if block.path not in desk.refusal.paths:
            continue
        target = desk.sheet.origin(block.path)
        if thought in given and given[thought].raw and target:
            made = desk.insert(
                given[thought].raw,
                target,
                "before",
                "the answer in the capture holds it",
                call_id=block.call_id,
            )
            yield from together(NOTHING, made)
        why = "without an id of its own it is a new item, which needs no reasoning"
        yield from together(A_THOUGHT, desk.fields(block, [f"{block.path}.id"], None, why, action="rename"))


@mends("R8")
def unstored(desk: Desk) -> Iterator[Candidate]:
    """The item itself in place of its id, where an answer in the capture has it; else it goes."""
    given = {b.id: b for answer in desk.sheet.request.answered for b in answer if b.id}
    for n, block in desk.blocks():
        known = given.get(block.id)
        if known is not None and known.raw:
            why = "the answer in the capture holds the item itself"
            yield from together(NOTHING, desk.fields(block, [block.path], known.raw, why))
        why = "nobody keeps the item, and the capture does not hold what is in it"
        yield from together(A_THOUGHT, desk.drop(why, (n, block)))


@mends("R9")
def unlabelled(desk: Desk) -> Iterator[Candidate]:
    """The server's label, where the request names one server only; else the approval goes."""
    labels = set(_labels(desk))
    for n, block in desk.blocks("approval-request"):
        if len(labels) == 1:
            why = "the only server that the request names"
            yield from together(
                NOTHING, desk.fields(block, [f"{block.path}.server_label"], next(iter(labels)), why)
            )
        answers = [
            (m, b) for m, b in desk.sheet.blocks("approval-response") if b.approval_id == block.approval_id
        ]
        calls = {b.call_id for _, b in desk.sheet.blocks("call")}
        why = "a request without a server is none of the provider's" + (
            ": the call of a local tool stands in the list" if block.approval_id in calls else ""
        )
        yield from together(A_COPY if block.approval_id in calls else A_CALL,
                            *(desk.drop(why, part) for part in ((n, block), *answers)))  # fmt: skip


def _labels(desk: Desk) -> Iterator[str]:
    """The servers of hosted tools: declared, or named by other items."""
    history = desk.sheet.request.history
    declared = history.settings.get("tools")
    for holder in (*(declared if isinstance(declared, list) else ()), *(t.raw for t in history.turns)):
        label = holder.get("server_label") if isinstance(holder, dict) else None
        if isinstance(label, str) and label:
            yield label
