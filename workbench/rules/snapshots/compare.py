"""Every MESSAGES_SNAPSHOT against what was known before it, worked out once for all snapshot rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from workbench.calls.conversation import Call, Conversation, MessageList
from workbench.rules.snapshots.known import Entry, History, Known, entries, same

if TYPE_CHECKING:
    from workbench.trace import Trace

#: A text of at least this length inside a longer one was merged into it, not lost.
_MERGED = 12


@dataclass(slots=True, eq=False)
class Comparison:
    """One snapshot: what it lacks, renames or says otherwise."""

    conversation: Conversation
    items: MessageList
    missing: list[Known] = field(default_factory=list)
    #: message, its entry under another id, and the calls by which it was recognised (none: by its text)
    rekeyed: list[tuple[Known, Entry, list[Call]]] = field(default_factory=list)
    #: streamed messages that stand in the snapshot under their own id
    kept: list[tuple[Known, Entry]] = field(default_factory=list)
    #: position of every streamed message and call that the snapshot has, by identity
    positions: dict[int, int] = field(default_factory=dict)


_cache: WeakKeyDictionary[Trace, list[Comparison]] = WeakKeyDictionary()


def comparisons(trace: Trace) -> list[Comparison]:
    """All snapshots of a trace that are part of a run, in order."""
    found = _cache.get(trace)
    if found is None:
        found = _cache[trace] = [c for conversation in trace.conversations for c in _of(trace, conversation)]
    return found


def _of(trace: Trace, conversation: Conversation) -> Iterator[Comparison]:
    if not conversation.has_snapshots:
        return
    history = History(trace, conversation)
    for items in conversation.lists:
        history.advance(items.sequence)
        if items.place == "request":
            history.request(items)
        elif items.place == "snapshot":
            made = _Match(conversation, items, history).compare()
            # after the end of the run only event-after-run-end is reported
            if items.run.end is None or items.at.row < items.run.end:
                yield made


class _Match:
    """The known messages against the entries of one snapshot."""

    def __init__(self, conversation: Conversation, items: MessageList, history: History) -> None:
        self.conversation = conversation
        self.items = items
        self.history = history
        self.entries = entries(items)
        self.out = Comparison(conversation, items)
        self.by_id = {e.id: e for e in self.entries if e.id}
        self.by_call = {id(call): e for e in self.entries for call in e.calls}
        self.ids = {part.call_id for part in items.parts if part.kind == "call"}
        self.by_text: dict[str, list[Entry]] = {}
        for entry in self.entries:
            if entry.text and not entry.answers:
                self.by_text.setdefault(same(entry.text), []).append(entry)
        self.results = Counter(e.answers for e in self.entries if e.answers)
        #: positions that belong to a known message already
        self.taken: set[int] = set()
        self.found: dict[int, Entry] = {}
        #: all texts of a role in one, made when it is needed
        self.joined: dict[str, str] = {}
        self.streams: bool | None = None
        #: entries of one text before this number are taken
        self.untaken: dict[str, int] = {}

    def compare(self) -> Comparison:
        known = [k for k in self.history.known if not k.answers and k.role != "activity"]
        for message in known:
            self._same_id(message)
        before = {entry.position: k for k in known if (entry := self.found.get(id(k))) is not None}
        for message in known:
            self._calls(message)
        for message in known:
            if id(message) not in self.found:
                self._same_text(message)
        for message in known:
            entry = self.found.get(id(message))
            if entry is not None:
                before.setdefault(entry.position, message)
            elif self._required(message):
                self.out.missing.append(message)
        self._answers()
        self.history.replace(self.items, self.entries, before)
        return self.out

    def _same_id(self, known: Known) -> None:
        entry = next((self.by_id[i] for i in known.ids if i in self.by_id), None)
        if entry is None or entry.answers or not _role(known.role, entry.role):
            return
        self._take(known, entry)
        moved = self._elsewhere(known, entry)
        if moved is not None:
            self.taken.add(moved.position)
            self.out.rekeyed.append((known, moved, []))
        elif known.streamed:
            self.out.kept.append((known, entry))

    def _elsewhere(self, known: Known, entry: Entry) -> Entry | None:
        """The entry that has the message's text, where the one with its id has another (or only its calls)."""
        text = same(known.text)
        if not text or same(entry.text) == text:
            return None
        for other in self.by_text.get(text, ()):
            if other.id and other.id not in self.history.ids and _role(known.role, other.role):
                return other
        return None

    def _calls(self, known: Known) -> None:
        """A message known by the calls it owns: under another id it is rekeyed."""
        owners: dict[int, tuple[Entry, list[Call]]] = {}
        # some servers give the user's message as the parent of a call
        foreign = any(i in self.by_id and self.by_id[i].role != known.role for i in known.ids)
        for call in known.calls:
            entry = self.by_call.get(id(call))
            if entry is not None:
                self.out.positions[id(call)] = entry.position
                owners.setdefault(entry.position, (entry, []))[1].append(call)
        for entry, calls in owners.values():
            own = self.found.get(id(known))
            # a second owner beside the first is a doubled call (call-duplicated), not a new id
            doubled = own is not None and own.id in known.ids and all(call in own.calls for call in calls)
            if known.ids and entry.id and entry.id not in known.ids and not foreign and not doubled:
                self.out.rekeyed.append((known, entry, calls))
            if id(known) not in self.found and (not known.text or same(entry.text) == same(known.text)):
                self._take(known, entry)

    def _same_text(self, known: Known) -> None:
        text = same(known.text)
        if not text:
            return
        alike = self.by_text.get(text, [])
        begin = self.untaken.get(text, 0)
        while begin < len(alike) and alike[begin].position in self.taken:
            begin += 1
        self.untaken[text] = begin
        for entry in alike[begin:]:
            if entry.position not in self.taken and _role(known.role, entry.role):
                self._take(known, entry)
                if known.ids and entry.id and entry.id not in known.ids:
                    self.out.rekeyed.append((known, entry, []))
                return

    def _take(self, known: Known, entry: Entry) -> None:
        self.found[id(known)] = entry
        self.taken.add(entry.position)
        for message in known.streamed:
            self.out.positions[id(message)] = entry.position

    def _required(self, known: Known) -> bool:
        """Whether a message that is not there had to be there."""
        if known.lane or known.mixed or self._too_early(known):
            return False
        if known.role in ("system", "developer") and known.origin != "snapshot":
            return False  # instructions of the client: many servers keep them to themselves
        text = same(known.text)
        if text:
            return not self._merged(known.role, text)
        if not known.calls or any(call.id in self.ids for call in known.calls):
            return False
        # calls of this run are snapshot-call-missing
        streamed_now = known.origin == "stream" and known.run_number == self.items.run.number
        return not streamed_now and not all(cleaned(call) for call in known.calls)

    def _merged(self, role: str, text: str) -> bool:
        if role not in self.joined:
            # no compared text has a line break, so that a match never spans two of them
            self.joined[role] = "\n".join(
                t for t, found in self.by_text.items() if any(e.role == role for e in found)
            )
        return len(text) >= _MERGED and text in self.joined[role]

    def _too_early(self, known: Known) -> bool:
        """A snapshot right after RUN_STARTED may show the thread as it was before the request it answers."""
        run = self.items.run
        if known.origin != "request" or known.run_number != run.number or self._under_way():
            return False
        later = [s for s in self.history.snapshots.get(id(run), ()) if s is not self.items]
        if known.answers:
            return any(
                part.kind == "result" and part.call_id == known.answers for s in later for part in s.parts
            )
        return any(m.get("id") in known.ids for s in later for m in s.messages)

    def _under_way(self) -> bool:
        """The run has streamed something before the snapshot."""
        if self.streams is None:
            number = self.items.run.number
            self.streams = any(k.origin == "stream" and k.run_number == number for k in self.history.known)
        return self.streams

    def _answers(self) -> None:
        """Results are known by their call; their own message ids never count."""
        left = self.results.copy()
        for known in self.history.known:
            if not known.answers:
                continue
            if left[known.answers] > 0:
                left[known.answers] -= 1
            elif not (known.lane or known.mixed) and self._counts(known):
                self.out.missing.append(known)

    def _counts(self, known: Known) -> bool:
        """Whether a lost tool message is a loss: not that of a confirmation, a placeholder or a cleaned-up call."""
        calls = self.history.calls.get(known.answers, [])
        if any(call.synthetic_for is not None or cleaned(call) for call in calls):
            return False
        if self._too_early(known):
            return False
        results = [r for call in calls for r in call.results if r.run.number <= self.items.run.number]
        return not results or any(r.cls in ("ok", "error") and not r.decision for r in results)


def cleaned(call: Call) -> bool:
    """A call that a server may take out of the history: one that a person rejected, or a confirmation."""
    if call.synthetic_for is not None:
        return True
    return any(approval.decision in ("rejected", "cancelled") for approval in call.approvals)


def _role(one: str, other: str) -> bool:
    return one == other or {one, other} <= {"system", "developer"}
