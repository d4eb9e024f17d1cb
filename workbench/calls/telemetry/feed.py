"""What telemetry shows, put to the calls and approvals of its conversation.

Where the AG-UI side shows a call too, telemetry is a witness: its results and answers stand beside
those of the stream (`Call.witnessed`, `Approval.witnessed`), for rules to compare. What only
telemetry shows counts like everything else.
"""

from __future__ import annotations

from workbench.calls import producers, results
from workbench.calls.arguments import canonical
from workbench.calls.conversation import (
    Answer,
    Approval,
    Ask,
    At,
    Call,
    ListCall,
    MessageList,
    Part,
    Result,
    Run,
)
from workbench.calls.decisions import Given
from workbench.calls.lists import is_user_turn
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry import lists
from workbench.calls.telemetry.join import BY_TIME
from workbench.calls.telemetry.log_facts import LogFacts
from workbench.calls.telemetry.reading import Message, Reading
from workbench.calls.telemetry.segments import Segment, in_order
from workbench.calls.telemetry.tools import Tools
from workbench.calls.turns import Turns
from workbench.readers.telemetry.columns import STATUSES

#: Instrumentation scopes that tell a framework
_SCOPES = (
    ("agent_framework", "agent-framework-py"),
    ("Experimental.Microsoft.", "dotnet"),
    ("Microsoft.Agents", "dotnet"),
    ("openinference.instrumentation.langchain", "langgraph"),
    ("@mastra/", "mastra"),
    ("gcp.vertex.agent", "adk"),
)


class Feed:
    """Takes the telemetry of one conversation in. `alone`: nothing else is known of it."""

    def __init__(self, known: Sightings, turns: Turns, reading: Reading, *, alone: bool) -> None:
        self.known = known
        self.turns = turns
        self.reading = reading
        self.alone = alone
        self.tools = Tools(known, reading, alone=alone)
        self.lines = LogFacts(reading.records)
        self._answers: set[tuple[str, str, str]] = set()
        #: approvals by id and by call, and their places in the order of the conversation
        self._by_id: dict[str, Approval] = {}
        self._by_call: dict[str, Approval] = {}
        self._places: dict[int, int] = {}
        self._looked: dict[int, int] = {}
        for approval in known.conversation.approvals:
            for name in (approval.id, *(ask.id for ask in approval.asks)):
                self._by_id[name] = approval
            self._by_call[approval.call_id] = approval
            self._places[id(approval)] = len(self._places)

    def segment(self, segment: Segment, run: Run, sure: str) -> None:
        """One piece, in the order in which things happened; `sure` is how it was joined with its conversation."""
        self._belongs(segment, run, sure)
        for kind, row in in_order(self.reading.records, segment):
            if self.alone:
                self.known.sequence += 1
            if kind == "log":
                self._log(row, run)
            elif self.reading.is_tool(row):
                self.tools.begin(row, run) if kind == "begin" else self.tools.end(row)
            else:
                told = self.reading.span(row)
                if kind == "begin" and told.inputs:
                    self._given(told.inputs, At("span", row), run)
                elif kind == "end" and told.outputs:
                    self._gave(told.outputs, At("span", row), run)

    def begin(self, segment: Segment, run: Run) -> None:
        """A run that only telemetry shows: tell its user turn by the messages that the agent was given."""
        first = next(
            (row for row in segment.spans if not self.reading.is_tool(row) and self.reading.span(row).inputs),
            None,
        )
        if segment.root is not None and self.reading.span(segment.root).inputs:
            first = segment.root
        items = None
        if first is None and (known := self._carried_on(segment)) is not None:
            run.turn = known.turn
            return
        if first is not None:
            found = self.reading.span(first).inputs
            items = lists.list_of(-1, run, At("span", first), self.known.sequence, found)
        run.turn = self.turns.begin(run, items, self.known.by_id, self.reading.records)

    def _carried_on(self, segment: Segment) -> Call | None:
        """The known call that a piece without messages carries out: a tool span that stands alone."""
        if segment.root is not None:
            return None
        records = self.reading.records
        names = (records.pool.text(records.spans.call[row]) for row in segment.spans)
        return next((self.known.by_id[name][-1] for name in names if name in self.known.by_id), None)

    def finish(self) -> None:
        """The conversation is over: settle what needs all of it."""
        self.tools.finish()
        self.lines.finish(self.known, alone=self.alone)
        for call in self.known.conversation.calls:
            if not call.results:
                call.results.extend(call.witnessed)
                call.witnessed.clear()

    def _belongs(self, segment: Segment, run: Run, sure: str) -> None:
        records = self.reading.records
        run.spans += segment.spans
        run.logs += segment.logs
        if segment.root is not None and sure != BY_TIME:
            run.roots.append(segment.root)
        for name, value, best in (("told_from", segment.start, min), ("told_until", segment.end, max)):
            old = getattr(run, name)
            setattr(run, name, value if old is None else old if value is None else best(old, value))
        for row in segment.spans:
            scope = records.pool.text(records.spans.scope[row]) or ""
            for start, producer in _SCOPES:
                if scope.startswith(start):
                    producers.note(run, producer, f"telemetry scope {scope}")
        if self.alone and segment.root is not None and run.outcome == "none":
            failed = records.spans.status[segment.root] == STATUSES.index("error")
            run.outcome = (
                "error" if failed and not self.reading.span(segment.root).facts.paused else "success"
            )
            run.error = records.pool.text(records.spans.error[segment.root]) or "" if failed else ""

    # ---------------------------------------------------------------- messages

    def _list(self, found: list[Message], at: At, run: Run, *, output: bool = False) -> MessageList:
        told = self.known.conversation.told
        items = lists.list_of(len(told), run, at, self.known.sequence, found)
        items.output = output
        self.known.share(items)
        told.append(items)
        return items

    def _given(self, found: list[Message], at: At, run: Run) -> None:
        """What a model or agent was given: the history, and the answers that came with it."""
        items = self._list(found, at, run)
        self._approvals(items, run, history=True)
        users = sum(is_user_turn(m) for m in items.messages)
        last_turn = max((entry.turn for entry in items.calls), default=0)
        listed: dict[str, list[ListCall]] = {}
        for entry in _with_id(items):
            listed.setdefault(entry.part.call_id, []).append(entry)
        for call_id, entries in listed.items():
            known = self.known.by_id.get(call_id, [])
            offset = max(0, len(known) - len(entries))
            for number, entry in enumerate(entries):
                if offset + number < len(known):
                    call = known[offset + number]
                else:
                    turn = run.turn - (max(users - 1, last_turn) - entry.turn)
                    call = self.known.new_call(call_id, run, at, turn)
                self._sighted(call, entry, items)
        self._orphans(items, run)

    def _gave(self, found: list[Message], at: At, run: Run) -> None:
        """What a model or agent gave: new calls, the results of this run, requests for decisions."""
        items = self._list(found, at, run, output=True)
        for entry in _with_id(items):
            self._sighted(self.tools.asked(entry.part.call_id, run, at), entry, items)
        self._approvals(items, run, history=False)
        self._orphans(items, run)

    def _sighted(self, call: Call, entry: ListCall, items: MessageList) -> None:
        entry.call = call
        call.told.append((items, entry))
        call.tool = call.tool or entry.part.name
        for part in entry.results:
            self._result(call, part, items)

    def _orphans(self, items: MessageList, run: Run) -> None:
        """Results whose call stands in another list."""
        for part in items.orphans:
            known = self.known.by_id.get(part.call_id)
            if known:
                self._result(known[-1], part, items)
            # a log record is one message and no whole list; a provider's own tool is asked for by its approval alone
            elif (
                self.alone
                and part.call_id
                and (items.at.kind == "log" or self.known.desk.asked.about(part.call_id))
            ):
                call = self.known.new_call(part.call_id, run, items.at, run.turn)
                call.tool = call.tool or part.name
                self._result(call, part, items)

    def _result(self, call: Call, part: Part, items: MessageList) -> None:
        cls = results.classify(part.content, part.error)
        self.tools.result(call, Result(call.id, part.content, cls, "telemetry", items.run, items.at, items.sequence,
                                       role=part.role))  # fmt: skip

    def _log(self, row: int, run: Run) -> None:
        fact, found = self.reading.log(row)
        at = At("log", row)
        given = [m for m in found if m["direction"] == "input"]
        gave = [m for m in found if m["direction"] != "input"]
        if given:
            self._given(given, at, run)
        if gave:
            self._gave(gave, at, run)
        if fact is not None and fact.kind != "message":
            self.lines.add(row, fact, run, self.known.sequence)

    # --------------------------------------------------------------- approvals

    def _approvals(self, items: MessageList, run: Run, *, history: bool) -> None:
        last_reply = max(
            (n for n, m in enumerate(items.messages) if m.get("role") == "assistant"), default=-1
        )
        for part in items.parts:
            if part.kind == "approval-request":
                self._asked(part, items, run, history=history)
            elif part.kind == "approval-response":
                self._answered(part, items, run, fresh=part.position > last_reply)

    def _known_approval(self, part: Part) -> Approval | None:
        by_id = self._by_id.get(part.approval_id) if part.approval_id else None
        by_call = self._by_call.get(part.call_id) if part.call_id else None
        return by_id or by_call

    def _remember(self, approval: Approval) -> None:
        """Under each of its names, the approval that was asked for last is found."""
        place = self._places.setdefault(id(approval), len(self._places))
        for named, name in ((self._by_id, approval.id), (self._by_id, approval.asks[-1].id),
                            (self._by_call, approval.call_id)):  # fmt: skip
            if name and place >= self._places[id(named.setdefault(name, approval))]:
                named[name] = approval

    def _asked(self, part: Part, items: MessageList, run: Run, *, history: bool) -> None:
        approval = self._known_approval(part)
        if approval is not None and (history or not self.alone):
            approval.told.append(items.at)
            approval.hosted = approval.hosted or part.hosted
            return
        calls = self.known.by_id.get(part.call_id)
        if not calls and part.call_id and not part.hosted:
            calls = [self.tools.asked(part.call_id, run, items.at)]
            calls[-1].tool = calls[-1].tool or part.name
        ask = Ask("telemetry", part.approval_id or part.call_id, part.call_id, run, items.at, items.sequence,
                  tool=part.name, arguments=canonical(part.arguments) if part.arguments else None)  # fmt: skip
        approval = self.known.desk.ask(ask, calls[-1] if calls else None)
        self._remember(approval)
        approval.told.append(items.at)
        approval.hosted = approval.hosted or part.hosted
        if self.alone and not history and run.outcome in ("none", "success"):
            run.outcome = "interrupt"

    def _answered(self, part: Part, items: MessageList, run: Run, *, fresh: bool) -> None:
        approval = self._known_approval(part)
        if approval is None:
            self._asked(part, items, run, history=True)
            approval = self._known_approval(part)
        if approval is None:
            return
        key = (approval.id, part.call_id, part.content)
        if key in self._answers:
            return
        decision = self._decision(part, approval)
        self._answers.add(key)
        name = part.approval_id or approval.id
        asked, answers = self.known.desk.asked, approval.answers
        seen = any(not a.refused and a.decision != "unseen" for a in answers)
        if seen and not (self.alone and fresh):
            approval.witnessed.append(
                Answer(name, decision, "telemetry", run, items.at, items.sequence, None, approval)
            )
            return
        # an answer is looked at once: afterwards it is not unseen any more
        looked = self._looked.get(id(approval), 0)
        unseen = [a for a in answers[looked:] if not a.refused and a.decision == "unseen"]
        self._looked[id(approval)] = len(answers)
        if unseen:
            for answer in unseen:
                answer.decision = decision
        else:
            given = Given(
                name if asked.was_asked_as(approval, name) else approval.id,
                decision,
                "telemetry",
                None,
            )
            self.known.desk.answer(given, run, items.at, items.sequence)

    @staticmethod
    def _decision(part: Part, approval: Approval) -> str:
        if part.content != "approved":
            return part.content or "unseen"
        asked = next((a.arguments for a in approval.asks if a.arguments is not None), None)
        if asked is not None and part.arguments and canonical(part.arguments) != asked:
            return "edited"
        return "approved"


def _with_id(items: MessageList) -> list[ListCall]:
    """Calls that can be told from others: an id may be cut off, or never have been recorded."""
    return [entry for entry in items.calls if entry.part.call_id]
