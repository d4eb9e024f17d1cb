"""Calls without results, results without calls, and results that come twice."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.calls import results
from workbench.providers.repair import forms
from workbench.providers.repair.menders import (
    A_CALL,
    A_COPY,
    A_GUESS,
    A_RESULT,
    NOTHING,
    Candidate,
    Desk,
    mends,
    together,
)
from workbench.providers.repair.suggestion import Suggestion
from workbench.readers.payloads.history import Block

#: said in place of a result that nobody knows
UNKNOWN = "The result of this call is not known."
WAITING = "This call was not carried out: it still waits for a person's decision."
REJECTED = "This call was not carried out: a person rejected it."


@mends("R2", "R10", "R11", "R15", "R22", "R31", "R36")
def answered(desk: Desk) -> Iterator[Candidate]:
    """Give a call its result: from where it stands, from an id that was changed, from the capture; else drop the call."""
    for n, call in desk.blocks("call")[:3]:
        yield from _late(desk, n, call)
        if desk.refusal.rule.id != "R10":
            yield from _under_another_id(desk, n, call)
            yield from _written(desk, n, call)
            yield from _without(desk, n, call)


def _late(desk: Desk, n: int, call: Block) -> Iterator[Candidate]:
    """Its result stands elsewhere in the list."""
    found = [(m, b) for m, b in desk.sheet.blocks("result") if b.call_id == call.call_id]
    for m, block in found[:4]:
        if desk.dialect not in forms.BLOCKS and desk.sheet.turns[m].role != "tool":
            # a result is known by its call id, whoever is said to speak
            why = "it is a result, in a message of another role"
            yield from together(NOTHING, desk.fields(block, [f"{block.path}.role"], "tool", why))
        yield from together(NOTHING, _behind(desk, n, block, "its result stands elsewhere in the list"))


def _under_another_id(desk: Desk, n: int, call: Block) -> Iterator[Candidate]:
    """The only other result behind it answers no call: it is the same call under another id."""
    called = {b.call_id for _, b in desk.sheet.blocks("call")}
    lost = [(m, b) for m, b in _following(desk, n) if b.call_id not in called]
    waiting = [b for b in desk.sheet.turns[n].of("call")
               if not any(r.call_id == b.call_id for _, r in _following(desk, n))]  # fmt: skip
    if desk.dialect == "openai-responses":
        waiting = [call]
    own = forms.real_id(call)
    same = [(m, b) for m, b in lost if b.name and b.name == call.name]
    chosen = lost if len(lost) == len(waiting) == 1 else same if len(same) == 1 else []
    for m, block in chosen:
        if own and (not block.name or not call.name or block.name == call.name):
            why = "the only result here without a call, behind the only call without a result: its id was changed"
            yield from together(NOTHING, desk.rename(m, block, own, why))


def _following(desk: Desk, n: int) -> list[tuple[int, Block]]:
    """Results behind a turn, up to the next words or the next calls behind results."""
    found: list[tuple[int, Block]] = []
    for m in range(n + 1, len(desk.sheet.turns)):
        turn = desk.sheet.turns[m]
        here = [(m, b) for b in turn.of("result")]
        found += here
        if turn.of("text", "data") or (not here and not turn.of("call", "reasoning")):
            break
        if turn.of("call") and found:
            break
    return found


def _written(desk: Desk, n: int, call: Block) -> Iterator[Candidate]:
    """A result that is inserted: the one that the capture shows, or a placeholder that says what is known."""
    own = forms.real_id(call)
    target, side, turn_of_its_own = slot(desk, n)
    if target is None:
        return
    known = desk.case.known_result(desk.sheet.as_captured(own))
    if known is not None:
        text, place = known
        why, placeholder = f"the {place} shows this result of the call", False
    else:
        state = desk.case.open_approval(desk.sheet.as_captured(own))
        text = {"open": WAITING, "rejected": REJECTED}.get(state, UNKNOWN)
        placeholder = True
        why = "the capture does not show its result: put the true one here, or drop the call if it was never carried out"
    value = forms.result(desk.dialect, call, text)
    if turn_of_its_own:
        value = forms.message(desk.dialect, [value], desk.sheet.turns[n])
    made = desk.insert(value, target, side, why, placeholder=placeholder, call_id=own)
    yield from together(A_GUESS if placeholder else NOTHING, made)


def _without(desk: Desk, n: int, call: Block) -> Iterator[Candidate]:
    """The call is dropped, with the thought that led to it alone, and with results that would have no call then."""
    others = [b for _, b in desk.sheet.blocks("call") if b is not call and b.call_id == call.call_id]
    copy = any((b.name, b.arguments) == (call.name, call.arguments) for b in others)
    why = (
        "the call stands in the list once more"
        if copy
        else "its result is nowhere: without it the model may call again"
    )
    dropped = [desk.drop(why, *desk.with_its_thought(n, call))]
    if not others:
        lost = [(m, b) for m, b in desk.sheet.blocks("result") if b.call_id == call.call_id]
        dropped += [desk.drop("the call that it answers is dropped", part) for part in lost]
    yield from together(A_COPY if copy else A_CALL, *dropped)


@mends("R1", "R12", "R16", "R22", "R24", "R31", "R33", "R34", "R37")
def called(desk: Desk) -> Iterator[Candidate]:
    """Give a result its call: where that stands, under its own id, from the capture; else drop the result."""
    for m, block in desk.blocks("result")[:3]:
        open_calls = [(n, b) for n, b in desk.sheet.blocks("call") if b.call_id == block.call_id]
        for n, _ in open_calls[:4]:
            why = "its call stands elsewhere in the list"
            yield from together(NOTHING, _behind(desk, n, block, why))
            yield from together(NOTHING, *(_behind(desk, n, b, why) for b in _astray(desk, n)))
            yield from _between(desk, n, m)
        yield from _only_open_call(desk, m, block)
        yield from _call_before(desk, m, block)
        twin = any(b is not block and (b.call_id, results.text_of(b.content)) == (block.call_id, results.text_of(block.content))
                   for _, b in desk.sheet.blocks("result"))  # fmt: skip
        why = (
            "the same result stands in the list once more" if twin else "the call that it answers is nowhere"
        )
        yield from together(A_COPY if twin else A_RESULT, desk.drop(why, (m, block)))


def _astray(desk: Desk, n: int) -> list[Block]:
    """All results of a turn's calls that do not stand behind it."""
    ids = {b.call_id for b in desk.sheet.turns[n].of("call")}
    behind = {b.path for _, b in _following(desk, n)}
    return [b for _, b in desk.sheet.blocks("result") if b.call_id in ids and b.path not in behind]


def _between(desk: Desk, n: int, m: int) -> Iterator[Candidate]:
    """The one call that stands between a call and its result, and has no result itself."""
    answered_ids = {b.call_id for _, b in desk.sheet.blocks("result")}
    found = [(k, b) for k, b in desk.sheet.blocks("call") if n < k < m and b.call_id not in answered_ids]
    if len(found) == 1:
        why = "it stands between a call and its result, and its own result is nowhere"
        yield from together(A_CALL, desk.drop(why, *desk.with_its_thought(*found[0])))


def _only_open_call(desk: Desk, m: int, block: Block) -> Iterator[Candidate]:
    """The one call before it that has no result."""
    for n in reversed(range(m)):
        calls = desk.sheet.turns[n].of("call")
        if calls:
            behind = _following(desk, n)
            waiting = [c for c in calls if not any(r.call_id == c.call_id for _, r in behind)]
            known = {b.call_id for _, b in desk.sheet.blocks("call")}
            lost = [r for _, r in behind if r.call_id not in known]
            if len(waiting) == len(lost) == 1 and lost[0].path == block.path and forms.real_id(waiting[0]):
                why = "the only result here without a call, behind the only call without a result: its id was changed"
                yield from together(NOTHING, desk.rename(m, block, forms.real_id(waiting[0]), why))
            return


def _call_before(desk: Desk, m: int, block: Block) -> Iterator[Candidate]:
    """The capture shows the call: it is inserted before the result."""
    known = desk.case.known_call(desk.sheet.as_captured(forms.real_id(block)))
    turn = desk.sheet.turns[m]
    target = desk.sheet.origin(turn.path)
    here = any(b.call_id == block.call_id for _, b in desk.sheet.blocks("call"))
    if here or known is None or not target or turn.of("text", "data"):
        return
    value = forms.call(desk.dialect, block, *known)
    made = desk.insert(
        value, target, "before", "the stream shows the call that it answers", call_id=forms.real_id(block)
    )
    yield from together(NOTHING, made)


@mends("R5", "R13", "R17", "R33", "R38", "R22", "R31")
def once(desk: Desk) -> Iterator[Candidate]:
    """Of several results of a call one stays: an outcome rather than a placeholder, else the first."""
    for _, block in desk.blocks("call", "result")[:1]:
        group = [(m, b) for m, b in desk.sheet.blocks("result") if b.call_id == block.call_id]
        if len(group) < 2:
            continue
        best = min(
            group,
            key=lambda found: results.classify(results.text_of(found[1].content), "") not in ("ok", "error"),
        )
        for m, other in group:
            if other is best[1]:
                continue
            equal = results.text_of(other.content) == results.text_of(best[1].content)
            why = f"{desk.place(best[1])} answers the same call" + ("" if equal else ", with another content")
            yield from together(A_COPY if equal else A_RESULT, desk.drop(why, (m, other)))


def _behind(desk: Desk, n: int, block: Block, why: str) -> Suggestion | None:
    """A result moved to where the results of a turn's calls belong."""
    target, side, turn_of_its_own = slot(desk, n)
    if target is None:
        return None
    becomes = forms.message(desk.dialect, [block.raw], desk.sheet.turns[n]) if turn_of_its_own else None
    return desk.move(block, target, side, why, becomes=becomes)


def slot(desk: Desk, n: int) -> tuple[str | None, str, bool]:
    """Where a result of the calls in turn `n` belongs: neighbour, side, and whether it needs a message of its own."""
    sheet, dialect = desk.sheet, desk.dialect
    turns = sheet.turns
    if dialect in ("anthropic", "bedrock", "gemini") and n + 1 < len(turns) and turns[n + 1].role == "user":
        behind = turns[n + 1]
        known = [o for b in behind.of("result") if (o := sheet.origin(b.path))]
        if known:
            return known[-1], "behind", False
        first = behind.blocks[0].path if behind.blocks else ""
        if dialect in forms.BESIDE and first.endswith("]") and sheet.origin(first):
            return sheet.origin(first), "before", False
    last = n
    if dialect == "openai-responses":
        while last + 1 < len(turns) and turns[last + 1].of("call"):
            last += 1
    if dialect not in ("anthropic", "bedrock", "gemini"):
        while (
            last + 1 < len(turns) and turns[last + 1].of("result") and not turns[last + 1].of("text", "call")
        ):
            last += 1
    known = [o for turn in turns[n : last + 1] if (o := sheet.origin(turn.path))]
    return (known[-1] if known else None), "behind", dialect in forms.BLOCKS
