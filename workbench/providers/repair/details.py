"""Faults of one provider each: thoughts and signatures, order, forms, settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from workbench.providers.repair import forms
from workbench.providers.repair.menders import (
    A_CALL,
    A_COPY,
    A_GUESS,
    A_RESULT,
    A_THOUGHT,
    NOTHING,
    Candidate,
    Desk,
    mends,
    together,
)
from workbench.readers.payloads.gemini import signature
from workbench.readers.payloads.history import Block, dict_of

#: what Google documents for calls of other models, which have no signature of Gemini's
SKIP = "skip_thought_signature_validator"
#: content of an error that says nothing
WORDLESS = "The tool failed; what it said is not known."


@mends("R20")
def results_first(desk: Desk) -> Iterator[Candidate]:
    """Results move in front of what the user says, which stays as it is."""
    for turn in desk.turns()[:1]:
        first = next((k for k, b in enumerate(turn.blocks) if b.kind != "result"), 0)
        late = [b for b in turn.blocks[first:] if b.kind == "result"]
        target = desk.sheet.origin(turn.blocks[first].path)
        why = "results come first in their message"
        yield from together(NOTHING, *(desk.move(b, target, "before", why) for b in late))


@mends("R21")
def thinking(desk: Desk) -> Iterator[Candidate]:
    """A thought without its signature goes; one that is gone cannot be written anew, so thinking is switched off."""
    for n, block in desk.blocks("reasoning"):
        yield from together(
            A_THOUGHT, desk.drop("its signature is not in the list, and cannot be made up", (n, block))
        )
    named = desk.turns()
    for turn in named[:1]:
        late = next((b for b in turn.blocks[1:] if b.kind == "reasoning"), None)
        if late is not None and turn.blocks[0].kind != "reasoning":
            target = desk.sheet.origin(turn.blocks[0].path)
            yield from together(NOTHING, desk.move(late, target, "before", "the thought comes first"))
    if "found" in desk.refusal.error and dict_of(desk.sheet.request.history.settings.get("thinking")):
        why = "the signed thought of this round is gone and cannot be made up: this request goes without thinking"
        yield from together(A_THOUGHT, desk.setting("thinking", {"type": "disabled"}, why))


@mends("R23")
def call_turn(desk: Desk) -> Iterator[Candidate]:
    """Behind another turn of the model: one turn out of both. At the beginning: the round whose head was cut off goes."""
    for turn in desk.turns()[:1]:
        n = desk.sheet.places[turn.path][0]
        before = desk.sheet.turns[n - 1] if n else None
        if before is not None and before.role == "assistant" and desk.dialect == "gemini" and before.blocks:
            target = desk.sheet.origin(before.blocks[-1].path)
            why = "what the model says in a row is one turn"
            yield from together(NOTHING, *(desk.move(b, target, "behind", why) for b in turn.blocks))
    calls = desk.blocks("call")
    ids = {b.call_id for _, b in calls}
    lost = [(m, b) for m, b in desk.sheet.blocks("result") if b.call_id in ids]
    why = "the words of the user that led to this call are not in the list"
    yield from together(A_CALL, *(desk.drop(why, part) for part in (*calls, *lost)))


@mends("R25")
def unsigned(desk: Desk) -> Iterator[Candidate]:
    """agent-framework: the thought moves beside its call. Gemini: the mark that stands for no signature."""
    for n, block in desk.blocks("call"):
        if desk.dialect == "agent-framework":
            blocks = desk.sheet.turns[n].blocks
            at = next(k for k, b in enumerate(blocks) if b is block)
            carrier = next(
                (b for b in reversed(blocks[:at]) if b.kind == "reasoning" and b.raw.get("protected_data")),
                None,
            )
            target = desk.sheet.origin(block.path)
            if carrier is not None and target:
                why = "the signature stands right before its call, where the connector finds it"
                yield from together(NOTHING, desk.move(carrier, target, "before", why))
            continue
        holder = next((b for b in desk.sheet.turns[n].blocks if b is not block and signature(b)), None)
        if holder is not None and holder.kind == "call":
            why = f"the signature of this step, which stands at {desk.place(holder)}"
            yield from together(
                NOTHING, desk.fields(block, [f"{block.path}.thoughtSignature"], signature(holder), why)
            )
        why = "the signature is gone and cannot be made up; Google documents this mark for calls without one"
        yield from together(
            A_GUESS, desk.fields(block, [f"{block.path}.thoughtSignature"], SKIP, why, placeholder=True)
        )


@mends("R26")
def nameless(desk: Desk) -> Iterator[Candidate]:
    """The name of the call that the response answers."""
    for m, block in desk.blocks("result"):
        name = next(
            (b.name for _, b in desk.sheet.blocks("call") if b.call_id == block.call_id and b.name), ""
        )
        before = [b for n, b in desk.sheet.blocks("call") if n == m - 1]
        if not name and not forms.real_id(block) and len(before) == 1:
            name = before[0].name
        known = desk.case.known_call(block.call_id)
        name = name or (known[0] if known else "")
        if name:
            field = forms.name_field(desk.dialect, block)
            yield from together(
                NOTHING, desk.fields(block, [field], name, "the call that it answers has this name")
            )
        yield from together(A_RESULT, desk.drop("the call that it answers is nowhere", (m, block)))


@mends("R27")
def empty(desk: Desk) -> Iterator[Candidate]:
    """A content without parts says nothing."""
    for turn in desk.turns():
        yield from together(NOTHING, desk.drop_turn(turn, "there is nothing in it"))


@mends("R28")
def wordless(desk: Desk) -> Iterator[Candidate]:
    """A user message that held nothing but approvals goes when these are over; else the answer would be lost."""
    done = {b.call_id for _, b in desk.sheet.blocks("result")}
    for turn in desk.turns():
        waiting = [b for b in turn.of("approval-response") if not {b.call_id, b.approval_id} & done]
        if not waiting:
            why = "the approvals in it are over" if turn.blocks else "there is nothing in it"
            yield from together(A_COPY, desk.drop_turn(turn, why))


@mends("R29")
def arguments(desk: Desk) -> Iterator[Candidate]:
    """The arguments as an object; a call whose arguments are no JSON object goes."""
    for n, block in desk.blocks("call"):
        value: Any = None
        try:
            value = msgspec.json.decode(str(block.arguments or "{}"))
        except (msgspec.DecodeError, RecursionError):
            value = None
        if isinstance(value, dict):
            field = f"{block.path}.function.arguments"
            yield from together(
                NOTHING, desk.fields(block, [field], value, "the same arguments as an object")
            )
        else:
            yield from together(A_CALL, desk.drop("its arguments are no JSON object", (n, block)))


@mends("R34")
def order(desk: Desk) -> Iterator[Candidate]:
    """A system message moves to the front; last words of the assistant become a beginning to go on from."""
    for turn in desk.turns()[:1]:
        first = next((o for t in desk.sheet.turns if (o := desk.sheet.origin(t.path))), "")
        if turn.role == "system" and turn.blocks:
            whole = Block("other", turn.path)
            yield from together(
                NOTHING, desk.move(whole, first, "before", "instructions stand at the beginning")
            )
        if turn.role == "system":
            yield from together(A_RESULT, desk.drop_turn(turn, "instructions cannot stand behind an answer"))
        if turn.role == "assistant" and "last role" in desk.refusal.error and not turn.of("call"):
            if desk.dialect in ("mistral", "openai-chat"):
                why = "the model goes on from these words; drop them instead if it should say something new"
                whole = Block("other", turn.path)
                yield from together(
                    A_THOUGHT, desk.fields(whole, [f"{turn.path}.prefix"], becomes=True, why=why)
                )
            yield from together(A_CALL, desk.drop_turn(turn, "nothing follows that the model could answer"))


@mends("R39")
def unconfigured(desk: Desk) -> Iterator[Candidate]:
    """The tools that the history names; what they take is not known from it."""
    names = dict.fromkeys(b.name for _, b in desk.sheet.blocks("call") if b.name)
    if names:
        specs = [{"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in names]
        why = "the tools of the history; their schemas are not in it: put the true ones here"
        yield from together(A_GUESS, desk.setting("toolConfig", {"tools": specs}, why, placeholder=True))
    blocks = list(desk.sheet.blocks("call", "result"))
    if len(blocks) <= 2:
        yield from together(A_CALL, *(desk.drop("no tool is offered any more", part) for part in blocks))


@mends("R40")
def empty_error(desk: Desk) -> Iterator[Candidate]:
    """Words for an error that has none."""
    for _, block in desk.blocks("result"):
        known = desk.case.known_result(forms.real_id(block))
        text = known[0] if known and known[0] else WORDLESS
        why = (
            "the capture shows what it said"
            if known and known[0]
            else "what the tool said is not in the capture"
        )
        field = f"{block.path}.toolResult.content"
        made = desk.fields(block, [field], [{"text": text}], why, placeholder=text == WORDLESS)
        yield from together(A_GUESS if text == WORDLESS else NOTHING, made)
