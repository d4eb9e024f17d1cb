"""Calls that came back under another id: what `call-id-changed` reports, and four other rules leave to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from workbench.calls.arguments import canonical
from workbench.calls.conversation import At, Call, Conversation, ListCall, MessageList, Part, Result, Run
from workbench.rules.calls.words import GRANTED, is_real


@dataclass(frozen=True, slots=True)
class Changed:
    """A call under the id `called`, whose result or replay carries the id `used`."""

    called: str
    used: str
    tool: str
    what: str
    place: str
    run: Run
    at: tuple[At | int | None, ...]


def changed(conversation: Conversation) -> list[Changed]:
    """Every pair in one conversation, each once."""
    pairs: dict[frozenset[str], Changed] = {}
    called = {call.id for call in conversation.calls}
    called.update(i for a in conversation.approvals for i in (a.id, *(ask.id for ask in a.asks)))
    for found in (
        *_results_in_stream(conversation),
        *(pair for items in conversation.lists for pair in _results_in_list(items, called)),
        *_replayed_in_lists(conversation),
        *_carried_out_anew(conversation),
    ):
        if found.called and found.used and found.called != found.used:
            pairs.setdefault(frozenset((found.called, found.used)), found)
    return list(pairs.values())


def changed_ids(conversation: Conversation) -> set[str]:
    """All ids that stand in such a pair."""
    return {i for pair in changed(conversation) for i in (pair.called, pair.used)}


def _results_in_stream(conversation: Conversation) -> Iterator[Changed]:
    """Exactly one unanswered call and one uncalled result between two messages of one run, or across a resume."""
    if not conversation.orphans:
        return
    known = {a.call_id for a in conversation.approvals}
    orphans = [r for r in conversation.orphans if r.call_id and r.call_id not in known]
    by_run: dict[int, list[Result]] = {}
    for orphan in orphans:
        by_run.setdefault(id(orphan.run), []).append(orphan)
    unanswered: dict[int, list[Call]] = {}
    for call in conversation.calls:
        if is_real(call) and call.starts and not call.results and not call.approvals:
            unanswered.setdefault(id(call.starts[-1].run), []).append(call)
    for group in by_run.values():
        run = group[0].run
        bounds = sorted(m.start for m in conversation.messages if m.run is run and m.start is not None)
        open_calls = unanswered.get(id(run), [])
        resumed = _resumed(conversation, run)
        for orphan in group:
            here = [o for o in group if _between(bounds, o.at.row) == _between(bounds, orphan.at.row)]
            near = [
                c for c in open_calls
                if c.starts[-1].event < orphan.at.row
                and _between(bounds, _last(c)) == _between(bounds, orphan.at.row)
            ]  # fmt: skip
            by_approval = [
                a.call
                for a in conversation.approvals
                if a.call is not None and a.id == orphan.call_id != a.call_id
            ]
            match = by_approval[:1]
            if not match and len(near) == 1 and len(here) == 1:
                match = near
            if not match and len(resumed) == 1 and len(group) == 1:
                match = resumed
            if match and match[0] is not None:
                call = match[0]
                yield Changed(
                    call.id, orphan.call_id, call.tool, "result", "stream", run, (call.at, orphan.at)
                )


def _resumed(conversation: Conversation, run: Run) -> list[Call]:
    """Calls that this run has to carry out: approved by its request, or waiting where its request is not seen."""
    calls = []
    for approval in conversation.approvals:
        call = approval.call
        if call is None or call.results or approval.run.number >= run.number:
            continue
        answered = any(a.run is run and a.decision in GRANTED for a in approval.accepted)
        unseen = run.request is None and not approval.answers and approval.run.number == run.number - 1
        if answered or unseen:
            calls.append(call)
    return calls


def _last(call: Call) -> int:
    start = call.starts[-1]
    return start.end if start.end is not None else start.event


def _between(bounds: list[int], row: int) -> int:
    """Number of message starts before a row: equal numbers mean that no message begins in between."""
    return sum(1 for _ in takewhile(lambda bound: bound < row, bounds))


def _results_in_list(items: MessageList, called: set[str]) -> Iterator[Changed]:
    """One unanswered call in an assistant message, one uncalled result in the tool messages right after it."""
    if not items.orphans:
        return
    roles = [str(m.get("role")) for m in items.messages]
    by_position: dict[int, list[ListCall]] = {}
    for entry in items.calls:
        by_position.setdefault(entry.part.position, []).append(entry)
    for position, entries in by_position.items():
        follow = set(takewhile(lambda n: roles[n] == "tool", range(position + 1, len(roles))))
        lost = [e for e in entries if not e.results and not (e.call and e.call.synthetic_for is not None)]
        orphans = [p for p in items.orphans if p.position in follow and p.call_id]
        # In a payload or history only its own calls count; in AG-UI the call may stand elsewhere.
        alone = items.place in ("payload", "history")
        if len(lost) == 1 and len(orphans) == 1 and (alone or orphans[0].call_id not in called):
            part: Part = lost[0].part
            first = lost[0].call.at if lost[0].call else items.at
            yield Changed(part.call_id, orphans[0].call_id, part.name, "result", items.place, items.run,
                          (first, items.at))  # fmt: skip


def _replayed_in_lists(conversation: Conversation) -> Iterator[Changed]:
    """A list holds a streamed call under a new id: same tool and arguments, the streamed id is not in it."""
    streamed: dict[tuple[str, str], list[Call]] = {}
    for call in conversation.calls:
        if is_real(call) and call.starts and call.tool:
            streamed.setdefault((call.tool, call.arguments or "{}"), []).append(call)
    if not streamed:
        return
    for items in conversation.lists:
        fresh: dict[tuple[str, str], list[Call]] = {}
        for entry in items.calls:
            known = entry.call
            if known is not None and is_real(known) and not known.starts and known.at == items.at:
                fresh.setdefault((entry.part.name, canonical(entry.part.arguments)), []).append(known)
        if not fresh:
            continue
        present = {entry.part.call_id for entry in items.calls}
        for key, new in fresh.items():
            lost = [
                c for c in streamed.get(key, ())
                if c.id not in present and c.sequence <= items.sequence and c.turn <= items.run.turn
                and not any(other.call_id == c.id for other in items.orphans if other.role != "tool")
            ]  # fmt: skip
            if len(lost) == 1 and len(new) == 1 and new[0].turn == lost[0].turn:
                yield Changed(
                    lost[0].id, new[0].id, key[0], "copy", items.place, items.run, (lost[0].at, items.at)
                )


def _carried_out_anew(conversation: Conversation) -> Iterator[Changed]:
    """An approved call is started again under a new id in the run that carries the approval, without a new approval."""
    by_run: dict[int, list[Call]] = {}
    for call in conversation.calls:
        if is_real(call) and call.starts and not call.approvals:
            by_run.setdefault(id(call.run), []).append(call)
    for approval in conversation.approvals:
        asked = approval.call
        if asked is None or not is_real(asked) or asked.results or approval.reasked_by is not None:
            continue
        for answer in approval.accepted:
            if answer.decision not in GRANTED:
                continue
            again = [
                c for c in by_run.get(id(answer.run), ())
                if c is not asked and c.tool == asked.tool and (c.arguments or "{}") == (asked.arguments or "{}")
            ]  # fmt: skip
            if len(again) == 1:
                yield Changed(asked.id, again[0].id, asked.tool, "copy", "stream", answer.run,
                              (asked.at, answer.at, again[0].at))  # fmt: skip


def describe(pair: Changed) -> str:
    """One sentence for a finding."""
    name = f"{pair.tool} ({pair.called})" if pair.tool else pair.called
    where = "" if pair.place == "stream" else f" of the {pair.place}"
    return f"{name} was called, but its {pair.what}{where} carries the id {pair.used}."
