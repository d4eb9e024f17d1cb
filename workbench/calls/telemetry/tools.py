"""Tools at work: which call each of their spans belongs to, and whether it is a further execution."""

from __future__ import annotations

import re

from workbench.calls import results
from workbench.calls.arguments import canonical
from workbench.calls.conversation import At, Call, Result, Run
from workbench.calls.sightings import Sightings
from workbench.calls.telemetry.execution import Execution
from workbench.calls.telemetry.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry.mapping import Facts

#: Ids that some servers count anew in every response
_COUNTED = re.compile(r"[a-z_-]*\d{1,3}")


class Tools:
    """The calls of a conversation, as the spans of their tools find them."""

    def __init__(self, known: Sightings, reading: Reading, *, alone: bool) -> None:
        self.known = known
        self.reading = reading
        self.alone = alone
        self._begun: dict[int, Execution] = {}
        #: spans without a call id wait for a call that they fit
        self._nameless: list[Execution] = []

    def asked(self, call_id: str, run: Run, at: At) -> Call:
        """The occurrence that a model's answer in this run asks for; a new one in a new turn."""
        known = self.known.by_id.get(call_id)
        if known and not (known[-1].settled_anyhow and run.turn > known[-1].turn):
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
        self._begun[row] = made
        if not made.call_id:
            self._nameless.append(made)
            return
        call = self._occurrence(made, facts)
        call.tool = call.tool or made.tool
        self._add(call, made)

    def end(self, row: int) -> None:
        """A tool is done: its result, if it is one."""
        made = self._begun.get(row)
        if made is None or not made.call_id or not made.ran:
            return
        call = next((c for c in self.known.by_id.get(made.call_id, ()) if made in c.executions), None)
        if call is not None:
            self.result(call, self._outcome(call, made, self.known.sequence))

    @staticmethod
    def _outcome(call: Call, made: Execution, sequence: int) -> Result:
        text = made.result if made.result is not None else made.error
        return Result(call.id, text, made.cls, "telemetry", made.run, made.at, sequence)

    def result(self, call: Call, result: Result) -> None:
        """A result that telemetry shows; equal ones are one."""
        target = call.results if self.alone else call.witnessed
        if self.alone:
            self.known.desk.unseen(call, result)
        for other in target:
            if other.content == result.content or not result.content or _same(other.content, result.content):
                return
            if not other.content:
                # the span of the tool without content came first
                other.content, other.cls = result.content, result.cls
                return
            if other.cls == result.cls == "error":
                return  # an exception, and what the model is told of it
        target.append(result)

    def _occurrence(self, made: Execution, facts: Facts) -> Call:
        known = self.known.by_id.get(made.call_id)
        if not known:
            return self.known.new_call(made.call_id, made.run, made.at, made.run.turn)
        fitting = [c for c in known if c.run.number <= made.run.number] or known[:1]
        last = fitting[-1]
        if not self.alone:
            return last
        again = any(e.ran and e.run is not made.run for e in last.executions)
        counted = facts.doubt == "tool-name" or _COUNTED.fullmatch(made.call_id.lower()) is not None
        if again and ((counted and made.run.turn > last.turn) or not _like(last, made)):
            return self.known.new_call(made.call_id, made.run, made.at, made.run.turn)
        return last

    def _add(self, call: Call, made: Execution) -> None:
        made.nested = next((e for e in call.executions if e.nested is None and self._one(e, made)), None)
        call.executions.append(made)

    def _one(self, first: Execution, second: Execution) -> bool:
        """Two views of one execution: one span inside the other, in whatever order they were read."""
        if first.trace != second.trace or first.at.kind != "span":
            return False
        records = self.reading.records
        rows = {first.at.row, second.at.row}
        for row in tuple(rows):
            here: int | None = row
            for _ in range(20):
                parent = records.spans.parent[here] if here is not None else None
                here = records.span_rows.get(f"{first.trace} {parent}") if parent else None
                if here is None:
                    break
                if here in rows:
                    return True
        spans = records.spans
        other_scope = spans.scope[first.at.row] != spans.scope[second.at.row]
        if None in (first.start, first.end, second.start, second.end) or not other_scope:
            return False
        return first.start < second.end and second.start < first.end  # type: ignore[operator]

    def finish(self) -> None:
        """Spans without a call id: the only call of their tool and run that nobody carried out yet, else their own."""
        for made in self._nameless:
            fits = [
                call
                for call in self.known.conversation.calls
                if call.id and call.tool == made.tool and call.synthetic_for is None and not call.executions
                and _near(call, made) and _like(call, made)
            ]  # fmt: skip
            if len(fits) == 1:
                made.joined = "inferred"
                call = fits[0]
            elif fits:
                self.known.conversation.loose.append(made)  # which of them it was, nobody can tell
                continue
            else:
                if not self.alone:
                    continue
                call = self.known.new_call("", made.run, made.at, made.run.turn)
                call.tool = made.tool
            self._add(call, made)
            if made.ran:
                self.result(call, self._outcome(call, made, made.sequence))


def _near(call: Call, made: Execution) -> bool:
    """Asked for in the same run, or approved in it."""
    if call.run is made.run or any(items.run is made.run for items, _ in call.told):
        return True
    return any(a.run is made.run for p in call.approvals for a in p.accepted)


def _like(call: Call, made: Execution) -> bool:
    """The arguments do not speak against it."""
    if call.tool and made.tool and call.tool != made.tool:
        return False
    ours = next((e.arguments for e in call.executions if e.arguments), None)
    if ours is None:
        ours = next((entry.part.arguments for _, entry in call.told if entry.part.arguments), None)
    return ours is None or made.arguments is None or canonical(ours) == canonical(made.arguments)


def _cls(facts: Facts) -> str:
    if facts.error is not None:
        return "error"
    return results.classify(facts.result, "") if facts.result else "ok"


def _same(one: str, other: str) -> bool:
    if one.strip() == other.strip():
        return True
    return one[:1] in '{["' and canonical(one) == canonical(other)
