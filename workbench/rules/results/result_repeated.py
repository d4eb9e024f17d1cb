"""A second result for a call: in one run or list, or again in a later run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from workbench.calls import results
from workbench.calls.arguments import differs
from workbench.calls.conversation import At, Call, Part, Result, Run
from workbench.findings import Finding
from workbench.rules.calls.call_executed_twice import repeated
from workbench.rules.calls.call_id_collision import clashes
from workbench.rules.calls.words import content_key, finding, outcomes, told
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


class Pair(NamedTuple):
    """Two results of one call occurrence in one run or list."""

    call: Call
    run: Run
    place: str
    at: tuple[At, ...]
    first: str
    second: str
    equal: bool
    #: both are outcomes, neither placeholder nor refusal
    real: bool


def _pairs(trace: Trace) -> Iterator[Pair]:
    for conversation in trace.conversations:
        for call in conversation.calls:
            if len(call.streamed) < 2 and not call.listed and not call.told:
                continue
            # Two calls under one id have two results: that fault is `call-id-collision`.
            if not call.id or any(clashes(call)):
                continue
            by_run: dict[int, list[Result]] = {}
            for result in call.streamed:
                if not result.decision:
                    by_run.setdefault(id(result.run), []).append(result)
            for group in by_run.values():
                alike: dict[str, list[Result]] = {}
                for result in group:
                    alike.setdefault(content_key(result.content), []).append(result)
                for second in group[1:]:
                    same = alike[content_key(second.content)]
                    first = next((r for r in same[:2] if r is not second), group[0])
                    yield Pair(call, second.run, "stream", (call.at, first.at, second.at), first.content, second.content,
                               len(same) > 1, {first.cls, second.cls} <= {"ok", "error"})  # fmt: skip
            yield from _in_lists(call)


def _in_lists(call: Call) -> Iterator[Pair]:
    for items, entry in (*call.listed, *(pair for pair in call.told if not pair[0].output)):
        parts = outcomes(call, entry.results)
        # A doubled call with a result for each copy is one fault: `call-duplicated`, or
        # `call-id-collision` where the copies are two calls.
        copies = len(entry.copies)
        own = entry.part
        collided = any(differs(own.name, own.arguments, c.name, c.arguments) for c in entry.copies)
        alike: dict[str, Part] = {}
        for number, second in enumerate(parts):
            first = alike.setdefault(content_key(second.content), second)
            if not number:
                continue
            equal = first is not second
            first = first if equal else parts[0]
            if number <= copies and (equal or collided):
                continue
            classes = {results.classify(p.content, p.error) for p in (first, second)}
            yield Pair(call, items.run, items.place, (items.at,), first.content, second.content, equal,
                       classes <= {"ok", "error"})  # fmt: skip


@rule("result-duplicated", code="RES003", severity="warning", needs=("calls",))
def result_duplicated(trace: Trace) -> Iterator[Finding]:
    """A call has the same result twice in one run or message list.

    Why it hurts: the answer is shown twice, and providers refuse two tool messages for one call.
    No fault when: the second one stands in a later run (`result-replayed`), differs
        (`result-conflicting`), or belongs to a later occurrence of an id that is used again.
    What to do: look for a result that is sent when the tool ends and again when its approval
        or its message is settled; keep one tool message per call when lists are merged.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "ok"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x2", "toolCallId": "c1", "content": "ok"}
    Sources: microsoft/agent-framework#7043.
    """
    for pair in _pairs(trace):
        if pair.equal:
            where = named(pair.run) if pair.place == "stream" else f"the {pair.place} of {named(pair.run)}"
            message = f"{told(pair.call)} has the result {quoted(pair.first)} twice in {where}."
            yield finding(trace, pair.run, message, *pair.at, calls=(pair.call,), place=pair.place)


@rule("result-conflicting", code="RES004", severity="error", needs=("calls",))
def result_conflicting(trace: Trace) -> Iterator[Finding]:
    """A call has two different results in one run or message list.

    Why it hurts: user and model may see different outcomes of one action, and nobody can tell
        which one happened.
    No fault when: one of them is a placeholder or a refusal text, or they stand in different
        runs (`call-executed-twice`).
    What to do: find out whether the tool ran twice (its own log) or one result was rewritten
        on the way (a summary, a truncation, a wrapper that catches errors).
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "3 rows"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x2", "toolCallId": "c1", "content": "4 rows"}
    Sources: AG-UI events, tool call results.
    """
    for pair in _pairs(trace):
        if not pair.equal and pair.real:
            where = named(pair.run) if pair.place == "stream" else f"the {pair.place} of {named(pair.run)}"
            message = f"{told(pair.call)} has two results in {where}: {quoted(pair.first)} and {quoted(pair.second)}."
            yield finding(trace, pair.run, message, *pair.at, calls=(pair.call,), place=pair.place)


@rule("result-replayed", code="RES005", severity="warning", needs=("calls",))
def result_replayed(trace: Trace) -> Iterator[Finding]:
    """A later run sends the result of a call again.

    Why it hurts: clients append it as new; with a fresh message id it stands twice in the
        history that goes to the model.
    No fault when: the whole run is sent again (`run-id-reused`), or the second text differs
        (`call-executed-twice`). agent-framework-ag-ui 1.7.0 answers a repeated resume so on
        purpose; the finding says when that is the case.
    What to do: check on the server that the tool was not carried out again, and on the client
        why the answer was sent twice.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "ok"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r3"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x2", "toolCallId": "c1", "content": "ok"}
    Sources: agent-framework-ag-ui 1.2.2 and 1.7.0 with a resume sent twice.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            outcomes = [r for r in call.real_results if r.place == "stream" and call.id]
            for first, second, equal in repeated(outcomes):
                if not equal:
                    continue
                resumed = any(a.run is second.run for p in call.approvals for a in p.answers)
                legal = " It answers a resume that was sent again, which is legal." if resumed else ""
                message = (
                    f"{told(call)} had the result {quoted(first.content)} in {named(first.run)}; "
                    f"{named(second.run)} sends it again.{legal}"
                )
                yield finding(trace, second.run, message, call.at, first.at, second.at,
                              calls=(call,), approvals=call.approvals if resumed else ())  # fmt: skip
