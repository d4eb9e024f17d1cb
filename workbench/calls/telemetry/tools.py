"""Tools at work: which call each of their spans belongs to, and whether it is a further execution."""

from __future__ import annotations

import re

from workbench.calls import results
from workbench.calls.conversation import At, Call, Result, Run
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry.execution import Execution
from workbench.calls.telemetry.reading import Reading
from workbench.calls.telemetry.seen import Occurrences, SeenCall, Waiting
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry.mapping import Facts

#: Ids that some servers count anew in every response
_COUNTED = re.compile(r"[a-z_-]*+\d{1,3}")


class Tools:
    """The calls of a conversation, as the spans of their tools find them."""

    def __init__(self, known: Sightings, reading: Reading, *, alone: bool) -> None:
        self.known = known
        self.reading = reading
        self.alone = alone
        self._begun: dict[int, tuple[Execution, Call]] = {}
        #: spans without a call id wait for a call that they fit
        self._nameless: list[Execution] = []
        self._seen: dict[int, SeenCall] = {}
        self._occurrences: dict[str, Occurrences] = {}

    def asked(self, call_id: str, run: Run, at: At) -> Call:
        """The occurrence that a model's answer in this run asks for; a new one in a new turn."""
        known = self.known.by_id.get(call_id)
        if known and not (run.turn > known[-1].turn and known[-1].settled_anyhow):
            return known[-1]
        return self.known.new_call(call_id, run, at, run.turn)

    def begin(self, row: int, run: Run) -> None:
        """A tool begins to work."""
        records = self.reading.records
        facts, spans = self.reading.span(row).facts, records.spans
        start, end = (None if t == NO_TIME else t for t in (spans.start[row], spans.end[row]))
        made = Execution(
            At("span", row), run, self.known.sequence, facts.tool or "", facts.call_id or "",
            records.pool.text(spans.trace[row]) or "", start, end, _cls(facts), facts.arguments, facts.result,
            facts.error or "", facts.paused,
        )  # fmt: skip
        if not made.call_id:
            self._nameless.append(made)
            return
        call = self._occurrence(made, facts)
        call.tool = call.tool or made.tool
        self._begun[row] = made, call
        self._seen_of(call).add(made)

    def end(self, row: int) -> None:
        """A tool is done: its result, if it is one."""
        made, call = self._begun.get(row, (None, None))
        if made is not None and call is not None and made.ran:
            self.result(call, self._outcome(call, made, self.known.sequence))

    @staticmethod
    def _outcome(call: Call, made: Execution, sequence: int) -> Result:
        text = made.result if made.result is not None else made.error
        return Result(call.id, text, made.cls, "telemetry", made.run, made.at, sequence)

    def result(self, call: Call, result: Result) -> None:
        """A result that telemetry shows; equal ones are one."""
        if self.alone:
            self.known.desk.unseen(call, result)
        self._seen_of(call).result(result, call.results if self.alone else call.witnessed)

    def _seen_of(self, call: Call) -> SeenCall:
        seen = self._seen.get(id(call))
        if seen is None:
            seen = self._seen[id(call)] = SeenCall(call, self.reading.records)
        return seen

    def _occurrence(self, made: Execution, facts: Facts) -> Call:
        known = self.known.by_id.get(made.call_id)
        if not known:
            return self.known.new_call(made.call_id, made.run, made.at, made.run.turn)
        last = self._occurrences.setdefault(made.call_id, Occurrences(known)).until(made.run)
        if not self.alone:
            return last
        seen = self._seen_of(last)
        counted = facts.doubt == "tool-name" or _COUNTED.fullmatch(made.call_id.lower()) is not None
        if seen.ran_elsewhere(made.run) and ((counted and made.run.turn > last.turn) or not seen.like(made)):
            return self.known.new_call(made.call_id, made.run, made.at, made.run.turn)
        return last

    def finish(self) -> None:
        """Spans without a call id: the only call of their tool and run that nobody carried out yet, else their own."""
        if not self._nameless:
            return
        waiting = Waiting(self.known.conversation.calls)
        for made in self._nameless:
            call, others = waiting.fits(made)
            if others:
                self.known.conversation.loose.append(made)  # which of them it was, nobody can tell
                continue
            if call is not None:
                made.joined = "inferred"
                waiting.remove(call)
            else:
                if not self.alone:
                    continue
                call = self.known.new_call("", made.run, made.at, made.run.turn)
                call.tool = made.tool
            self._seen_of(call).add(made)
            if made.ran:
                self.result(call, self._outcome(call, made, made.sequence))


def _cls(facts: Facts) -> str:
    if facts.error is not None:
        return "error"
    return results.classify(facts.result, "") if facts.result else "ok"
