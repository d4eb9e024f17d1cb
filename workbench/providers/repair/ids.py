"""Call ids and tool names that a provider does not take, and ids that stand for two calls."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from workbench.calls.arguments import canonical
from workbench.providers.repair import forms
from workbench.providers.repair.menders import A_COPY, NOTHING, Candidate, Desk, mends, together
from workbench.providers.repair.suggestion import Suggestion
from workbench.readers.payloads.history import Block

#: characters that ids may not have, and how long they may be
_FORMS = {
    "openai-chat": (re.compile(r"(?!)"), 40), "openai-responses": (re.compile(r"(?!)"), 64),
    "anthropic": (re.compile(r"[^a-zA-Z0-9_-]"), 64), "bedrock": (re.compile(r"[^a-zA-Z0-9_.:-]"), 64),
}  # fmt: skip
#: rules about the form of ids, which are mended all at once
FORM_RULES = ("R6", "R14", "R19", "R32", "R35")
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


def fresh(provider: str, old: str, taken: set[str]) -> str:
    """An id that a provider takes, near to the old one, the same every time, and not taken yet."""
    number = 0
    while True:
        mark = hashlib.sha256(f"{old} {number}".encode()).hexdigest()
        if provider == "mistral":
            made = mark[:9]
        else:
            odd, most = _FORMS.get(provider, (re.compile(r"(?!)"), 64))
            made = odd.sub("_", old) or "call"
            if len(made) > most or number:
                made = f"{made[: most - 9]}_{mark[:8]}"
        if made not in taken:
            return made
        number += 1


@mends("R6", "R14", "R19", "R32", "R35")
def renamed(desk: Desk) -> Iterator[Candidate]:
    """Another id for a call, wherever it stands: call, results, approvals."""
    for _, block in desk.blocks("call", "result")[:1]:
        if desk.refusal.rule.id == "R35" and _takes(block.call_id):
            yield from _tool_renamed(desk, block)
            continue
        new = fresh(desk.case.provider, block.call_id, desk.sheet.taken)
        if block.call_id:
            same = [(m, b) for m, b in desk.sheet.blocks("call", "result", "approval-request", "approval-response")
                    if b.call_id == block.call_id]  # fmt: skip
        else:
            same = _without_id(desk, block)
        why = "the same new id wherever the call stands"
        yield from together(NOTHING, *(desk.rename(m, b, new, why) for m, b in same))


def _takes(call_id: str) -> bool:
    return bool(re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", call_id)) or call_id.startswith("\x00")


def _without_id(desk: Desk, block: Block) -> list[tuple[int, Block]]:
    """A call without an id and the result without one behind it; a result alone."""
    empty = [(m, b) for m, b in desk.sheet.blocks("call", "result") if not b.call_id]
    at = next(k for k, (_, b) in enumerate(empty) if b is block)
    pair = empty[at : at + 1]
    if block.kind == "call":
        pair += [found for found in empty[at + 1 :] if found[1].kind == "result"][:1]
    return pair


def _tool_renamed(desk: Desk, block: Block) -> Iterator[Candidate]:
    """Bedrock takes other characters in tools' names than other providers do."""
    new = _NAME.sub("_", block.name)[:64] or "tool"
    why = "characters that a tool's name cannot have; the tool itself has to be declared by the same name"
    same = [b for _, b in desk.sheet.blocks("call") if b.name == block.name]
    yield from together(NOTHING, *(
        desk.fields(b, [forms.name_field(desk.dialect, b)], new, why, action="rename") for b in same
    ))  # fmt: skip


@mends("R18", "R33")
def apart(desk: Desk) -> Iterator[Candidate]:
    """Two calls under one id: a copy goes, another call gets an id of its own, with the result behind it."""
    named = desk.blocks("call")
    if not named:
        return
    group = [(n, b) for n, b in desk.sheet.blocks("call") if b.call_id == named[0][1].call_id]
    for k, (n, block) in enumerate(group):
        if k == 0:
            continue
        first = group[k - 1][1]
        own = _results_of(desk, group, k)
        if (first.name, _plain(first)) == (block.name, _plain(block)):
            dropped = [desk.drop("the call stands in the list once more", *desk.with_its_thought(n, block))]
            yield from together(A_COPY, *dropped)
            copies = [desk.drop("it answers the copy", part) for part in own]
            yield from together(A_COPY + 1, *dropped, *copies)
        new = fresh(desk.case.provider, block.call_id, desk.sheet.taken)
        why = f"{desk.place(first)} is another call under this id"
        changed: list[Suggestion | None] = [desk.rename(m, b, new, why) for m, b in ((n, block), *own)]
        yield from together(NOTHING, *changed)


def _plain(call: Block) -> str:
    return canonical(call.arguments) if isinstance(call.arguments, str) else str(call.arguments)


def _results_of(desk: Desk, group: list[tuple[int, Block]], k: int) -> list[tuple[int, Block]]:
    """The results of the k-th call of an id: those before the next one; of one message, the k-th of them."""
    n, block = group[k]
    ends = [m for m, _ in group if m > n]
    until = ends[0] if ends else len(desk.sheet.turns)
    found = [(m, b) for m, b in desk.sheet.blocks("result") if b.call_id == block.call_id and n < m < until]
    together_ = [b for m, b in group if m == n]
    if len(together_) == 1:
        return found
    at = next(i for i, b in enumerate(together_) if b is block)
    return found[at : at + 1]
