"""Calls that came back under another id: what `call-id-changed` reports, and four other rules leave to it."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from workbench.calls.arguments import canonical
from workbench.calls.conversation import At, Call, Conversation, ListCall, MessageList, Part, Result, Run
from workbench.calls.results import is_placeholder
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
        *(pair for items in conversation.histories for pair in _results_in_list(items, called)),
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
    begun: dict[int, list[int]] = {}
    for message in conversation.messages:
        if message.start is not None:
            begun.setdefault(id(message.run), []).append(message.start)
    asked_as: dict[str, Call] = {}
    for approval in conversation.approvals:
        if approval.call is not None and approval.id != approval.call_id:
            asked_as.setdefault(approval.id, approval.call)
    resumed = _Resumed(conversation)
    for group in by_run.values():
        run = group[0].run
        bounds = sorted(begun.get(id(run), ()))
        # stretches between the messages of the run, by the number of messages begun before them
        results = Counter(bisect_left(bounds, orphan.at.row) for orphan in group)
        open_calls: dict[int, list[Call]] = {}
        for call in unanswered.get(id(run), ()):
            open_calls.setdefault(bisect_left(bounds, _last(call)), []).append(call)
        for orphan in group:
            match = [asked_as[orphan.call_id]] if orphan.call_id in asked_as else []
            stretch = bisect_left(bounds, orphan.at.row)
            if not match and results[stretch] == 1:
                near = [c for c in open_calls.get(stretch, ()) if c.starts[-1].event < orphan.at.row]
                match = near if len(near) == 1 else []
            if not match and len(group) == 1:
                carried = resumed.calls(run)
                match = carried if len(carried) == 1 else []
            if match:
                call = match[0]
                yield Changed(
                    call.id, orphan.call_id, call.tool, "result", "stream", run, (call.at, orphan.at)
                )


class _Resumed:
    """Calls that a run has to carry out: approved by its request, or waiting where its request is not seen."""

    def __init__(self, conversation: Conversation) -> None:
        self._granted: dict[int, dict[int, Call]] = {}
        self._waiting: dict[int, dict[int, Call]] = {}
        for number, approval in enumerate(conversation.approvals):
            call = approval.call
            if call is None or call.results:
                continue
            for answer in approval.accepted:
                if answer.decision in GRANTED and approval.run.number < answer.run.number:
                    self._granted.setdefault(id(answer.run), {})[number] = call
            if not approval.answers:
                self._waiting.setdefault(approval.run.number, {})[number] = call

    def calls(self, run: Run) -> list[Call]:
        """Those of one run, one for each approval, in order."""
        found = dict(self._granted.get(id(run), {}))
        if run.request is None:
            found |= self._waiting.get(run.number - 1, {})
        return [found[number] for number in sorted(found)]


def _last(call: Call) -> int:
    start = call.starts[-1]
    return start.end if start.end is not None else start.event


def _results_in_list(items: MessageList, called: set[str]) -> Iterator[Changed]:
    """One unanswered call in an assistant message, one uncalled result in the tool messages right after it."""
    if not items.orphans:
        return
    roles = [str(m.get("role")) for m in items.messages]
    by_position: dict[int, list[ListCall]] = {}
    for entry in items.calls:
        by_position.setdefault(entry.part.position, []).append(entry)
    lost_results: dict[int, list[Part]] = {}
    for part in items.orphans:
        if part.call_id:
            lost_results.setdefault(part.position, []).append(part)
    for position, entries in by_position.items():
        follow = takewhile(lambda n: roles[n] == "tool", range(position + 1, len(roles)))
        lost = [e for e in entries if not e.results and not (e.call and e.call.synthetic_for is not None)]
        # a placeholder is no result: it stands for a call that was never made, or for a confirmation
        orphans = [p for n in follow for p in lost_results.get(n, ()) if not is_placeholder(p.content)]
        if len(lost) == 1 and len(orphans) == 1 and (items.alone or orphans[0].call_id not in called):
            part = lost[0].part
            first = lost[0].call.at if lost[0].call else items.at
            yield Changed(part.call_id, orphans[0].call_id, part.name, "result", items.place, items.run,
                          (first, items.at))  # fmt: skip


def _replayed_in_lists(conversation: Conversation) -> Iterator[Changed]:
    """A list holds a streamed call under a new id: same tool and arguments, the streamed id is not in it."""
    if not conversation.lists:
        return
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
        present |= {orphan.call_id for orphan in items.orphans if orphan.role != "tool"}
        for key, new in fresh.items():
            lost = [
                c for c in streamed.get(key, ())
                if c.id not in present and c.sequence <= items.sequence and c.turn <= items.run.turn
            ]  # fmt: skip
            if len(lost) == 1 and len(new) == 1 and new[0].turn == lost[0].turn:
                yield Changed(
                    lost[0].id, new[0].id, key[0], "copy", items.place, items.run, (lost[0].at, items.at)
                )


def _carried_out_anew(conversation: Conversation) -> Iterator[Changed]:
    """An approved call is started again under a new id in the run that carries the approval, without a new approval."""
    if not conversation.approvals:
        return
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
