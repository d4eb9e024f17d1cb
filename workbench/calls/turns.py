"""User turns: which runs belong to one message of the user (rules.md, "User turn")."""

from __future__ import annotations

from workbench.calls import decisions, lists
from workbench.calls.conversation import Call, Conversation, MessageList, Run
from workbench.readers.records import Records

#: Events that say nothing about who speaks, passed over when looking how a run begins.
_NEUTRAL = ("RUN_", "STATE_", "RAW", "CUSTOM", "STEP_", "MESSAGES_SNAPSHOT", "ACTIVITY_")


class Turns:
    """Counts the user turns of one conversation, run by run."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.turn = -1
        self.ids: set[str] = set()
        self.texts: set[str] = set()
        self.most = 0
        self.run_ids: set[str] = set()
        #: rows known to hold nothing that says who speaks, by stream: first and end
        self.silent: dict[int | None, tuple[int, int]] = {}

    def begin(
        self, run: Run, items: MessageList | None, known: dict[str, list[Call]], records: Records
    ) -> int:
        """The turn of a run that begins; `items` are the messages of its request."""
        fresh = self._fresh(items) if items is not None and items.messages else None
        if self.turn < 0:
            self.turn = 0
            if items is not None:
                past = any(m.get("role") in ("assistant", "tool") for m in items.messages)
                resumed = _resumes(items, records)
                self.conversation.starts_late = past or resumed
        elif fresh is not None:
            self.turn += fresh
        elif not self._continues(run, items, known, records):
            self.turn += 1
        if items is not None:
            self.saw(items)
        self.run_ids.add(run.run_id)
        return self.turn

    def saw(self, items: MessageList) -> None:
        """Remember the user messages of a list."""
        users = _users(items)
        self.ids.update(message_id for message_id, _ in users)
        self.texts.update(text for _, text in users)
        self.most = max(self.most, len(users))

    def _fresh(self, items: MessageList) -> bool:
        users = _users(items)
        return any(
            message_id not in self.ids and (len(users) > self.most or text not in self.texts)
            for message_id, text in users
        )

    def _continues(
        self, run: Run, items: MessageList | None, known: dict[str, list[Call]], records: Records
    ) -> bool:
        """Without messages: a resume, a run id used again, or a beginning with a known call."""
        if run.run_id and run.run_id in self.run_ids:
            return True
        if items is not None and _resumes(items, records):
            return True
        if run.first is None or run.last is None:
            return items is not None
        row = self._speaks(run.stream, run.first, run.last, records)
        if row is not None:
            events = records.events
            kind = records.pool.values[events.type[row]]
            call_id = records.pool.text(events.call[row]) if kind.startswith("TOOL_CALL_") else None
            calls = known.get(call_id) if call_id is not None else None
            if not calls:
                return False
            waiting = any(not a.accepted for a in calls[-1].approvals)
            return kind == "TOOL_CALL_RESULT" or waiting or not calls[-1].settled
        return False

    def _speaks(self, stream: int | None, first: int, last: int, records: Records) -> int | None:
        """The first row of a stretch of a stream that says who speaks.

        The stretches of nested runs overlap: what was found to be silent is not read again.
        """
        events, values = records.events, records.pool.values
        begin, end = self.silent.get(stream, (0, 0))
        row = end if begin <= first < end else first
        begin = begin if begin <= first < end else first
        while row <= last and (events.stream[row] != stream or values[events.type[row]].startswith(_NEUTRAL)):
            row += 1
        self.silent[stream] = (begin, row)
        return row if row <= last else None


def _resumes(items: MessageList, records: Records) -> bool:
    """The request that carries the list answers approvals."""
    if items.at.kind != "request":
        return False
    return next(decisions.resume_entries(records.requests[items.at.row].body), None) is not None


def _users(items: MessageList) -> list[tuple[str, str]]:
    return [
        (str(m.get("id") or f"no id {n} {m.get('content')}"), str(m.get("content")))
        for n, m in enumerate(items.messages)
        if lists.is_user_turn(m)
    ]
