"""The approvals of one conversation by what they can be found under: thousands of them cost no search."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from workbench.calls.conversation import Approval, Ask, Call, Run

#: approvals under one id that an ask is compared with, the latest first: a tool's name as id comes in every turn
_LATEST = 64


@dataclass(slots=True)
class _Seen:
    """What one approval was asked with."""

    position: int
    ids: set[str] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)
    by_run: dict[int, list[Ask]] = field(default_factory=dict)


@dataclass(slots=True)
class _Named:
    """Approvals under one name in order; those before `begin` are settled."""

    approvals: list[Approval] = field(default_factory=list)
    begin: int = 0


class Asked:
    """An index over approvals. `add` is told of every ask, after the approval has taken it in."""

    def __init__(self) -> None:
        self._seen: dict[int, _Seen] = {}
        self._by_id: dict[str, _Named] = {}
        self._by_call: dict[str, _Named] = {}
        self._by_confirmation: dict[int, list[Approval]] = {}
        self._first: dict[tuple[str, int], Approval] = {}
        #: approvals that name no call, by run and by whether a confirmation call is among their channels
        self._callless: dict[tuple[int, bool], list[Approval]] = {}
        self._nameless: dict[int, deque[Approval]] = {}
        self._open: dict[int, Approval] = {}

    def add(self, approval: Approval, ask: Ask) -> None:
        """Remember one more sighting of an approval."""
        run = id(ask.run)
        seen = self._seen.get(id(approval))
        if seen is None:
            seen = self._seen[id(approval)] = _Seen(len(self._seen))
            self._open[id(approval)] = approval
            if ask.channel == "on_interrupt" and not approval.id and not approval.call_id:
                self._nameless.setdefault(run, deque()).append(approval)
        seen.ids.add(ask.id)
        seen.channels.add(ask.channel)
        seen.by_run.setdefault(run, []).append(ask)
        for names, name in (
            (self._by_id, ask.id),
            (self._by_id, approval.id),
            (self._by_call, approval.call_id),
        ):
            self._insert(names.setdefault(name, _Named()), approval)
        self._first.setdefault((ask.id, run), approval)
        if ask.channel == "confirm-call" and ask.at.kind == "event":
            self._by_confirmation.setdefault(ask.at.row, []).append(approval)
        if not approval.call_id:
            for confirms in {channel == "confirm-call" for channel in seen.channels}:
                self._callless.setdefault((run, confirms), []).append(approval)

    def _insert(self, named: _Named, approval: Approval) -> None:
        approvals = named.approvals
        if not approvals or self.position(approvals[-1]) < self.position(approval):
            approvals.append(approval)
            return
        at = bisect_left(approvals, self.position(approval), key=self.position)
        if approvals[at] is not approval:
            approvals.insert(at, approval)
            named.begin = 0

    def rename(self, approval: Approval, name: str) -> None:
        """It is known by this id from here on, under which it was not asked."""
        approval.id = name
        self._insert(self._by_id.setdefault(name, _Named()), approval)

    def position(self, approval: Approval) -> int:
        """Its number in the order of first asks."""
        return self._seen[id(approval)].position

    def in_run(self, approval: Approval, run: Run) -> list[Ask]:
        """The sightings of an approval in one run."""
        return self._seen[id(approval)].by_run.get(id(run), [])

    def channels(self, approval: Approval) -> set[str]:
        """The channels that showed it so far."""
        seen = self._seen.get(id(approval))
        return seen.channels if seen else set()

    def was_asked_as(self, approval: Approval, name: str) -> bool:
        """One of its asks has this id."""
        return name in self._seen[id(approval)].ids

    def first(self, name: str, run: Run) -> Approval | None:
        """The first approval that was asked under an id in a run."""
        return self._first.get((name, id(run)))

    def nameless(self, run: Run) -> Approval | None:
        """The first `on_interrupt` of a run that has no id, no call and no other channel yet."""
        waiting = self._nameless.get(id(run))
        while waiting:
            approval = waiting[0]
            if not approval.id and not approval.call_id and self.channels(approval) == {"on_interrupt"}:
                return approval
            waiting.popleft()
        return None

    def candidates(self, ask: Ask, call: Call | None) -> Iterator[Approval]:
        """Approvals that an ask may be one more sighting of, the latest first."""
        lists = []
        if ask.id and ask.id in self._by_id:
            lists.append(self._by_id[ask.id].approvals)
        if ask.call_id and ask.call_id in self._by_call:
            lists.append(self._by_call[ask.call_id].approvals)
        if call is not None and call.synthetic_for is not None:
            lists += [self._by_confirmation.get(start.event, []) for start in call.starts[-_LATEST:]]
        if not ask.call_id:
            # what asks without a call is joined with a confirmation that names none, and the other way round
            joins = self._callless.get((id(ask.run), ask.channel != "confirm-call"), [])
            while joins and joins[-1].call_id:
                joins.pop()
            lists.append(joins[-1:])
        found = {id(approval): approval for approvals in lists for approval in approvals[-_LATEST:]}
        yield from sorted(found.values(), key=self.position, reverse=True)

    def meant(self, name: str) -> Approval | None:
        """The approval that an answer means by an id: the first that is open, else the last of that name."""
        return self._meant(
            self._by_id.get(name), lambda a: name == a.id or self.was_asked_as(a, name)
        ) or self._meant(self._by_call.get(name), lambda a: a.call_id == name)

    @staticmethod
    def _meant(named: _Named | None, fits: Callable[[Approval], bool]) -> Approval | None:
        if named is None:
            return None
        approvals = named.approvals
        for number in range(named.begin, len(approvals)):
            if fits(approvals[number]) and not accepted(approvals[number]):
                named.begin = number
                return approvals[number]
        named.begin = len(approvals)
        return next((a for a in reversed(approvals) if fits(a)), None)

    def about(self, call_id: str) -> list[Approval]:
        """Approvals that name a call, in order."""
        named = self._by_call.get(call_id)
        return [a for a in named.approvals if a.call_id == call_id] if named else []

    def confirmed_by(self, call: Call) -> list[Approval]:
        """Approvals that a confirmation call asked for, in order."""
        named = self._by_id.get(call.id)
        return [
            a
            for a in (named.approvals if named else ())
            if any(ask.channel == "confirm-call" and ask.id == call.id for ask in a.asks)
        ]

    def offers(self, name: str) -> bool:
        """An approval has this id."""
        named = self._by_id.get(name)
        return named is not None and any(a.id == name for a in reversed(named.approvals))

    def waits(self, name: str) -> bool:
        """An approval of this id has no accepted answer."""
        named = self._by_id.get(name)
        return named is not None and any(a.id == name and not accepted(a) for a in reversed(named.approvals))

    def open(self) -> list[Approval]:
        """Approvals without an accepted answer, in order."""
        for key in [key for key, approval in self._open.items() if accepted(approval)]:
            del self._open[key]
        return sorted(self._open.values(), key=self.position)

    def reopen(self, approval: Approval) -> None:
        """Its answer turned out to be refused."""
        self._open[id(approval)] = approval
        for name in (*self._seen[id(approval)].ids, approval.id):
            self._by_id[name].begin = 0
        self._by_call[approval.call_id].begin = 0


def accepted(approval: Approval) -> bool:
    """It has an answer that was not refused."""
    return any(not answer.refused for answer in approval.answers)
