"""One call, two executions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.calls.conversation import Call, Result
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Finding
from workbench.rules.calls.words import content_key, finding, told, waiting
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


def repeated(results: list[Result]) -> Iterator[tuple[Result, Result, bool]]:
    """Results that came again in a later run: (first, later, whether their contents are equal).

    `results` are outcomes of one call in order. Each later run is judged once.
    """
    judged: set[int] = set()
    #: the first two results of a content, and the last two of all, that are of different runs
    first: dict[str, list[Result]] = {}
    last: list[Result] = []
    for result in results:
        alike = first.setdefault(content_key(result.content), [])
        earlier = next((r for r in reversed(last) if r.run is not result.run), None)
        if earlier is not None and id(result.run) not in judged:
            judged.add(id(result.run))
            equal = next((r for r in alike if r.run is not result.run), None)
            yield equal or earlier, result, equal is not None
        if len(alike) < 2 and all(r.run is not result.run for r in alike):
            alike.append(result)
        last = [*(r for r in last[-2:] if r.run is not result.run), result][-2:]


@rule("call-executed-twice", code="CAL004", severity="error", needs=("calls",))
def call_executed_twice(trace: Trace) -> Iterator[Finding]:
    """One call was carried out twice: two different results in two runs, or two spans of its tool.

    Why it hurts: the mail is sent twice, the server restarted twice. A person approved once.
    No fault when: the same result is only sent again (`result-replayed`), both results stand
        in one run (`result-conflicting`), or the first text is a placeholder or says that the
        work is still going on. A span that only records a pause, a second view of one
        execution (two instrumentations), and a retry after an error are no second execution.
    What to do: look for an approval that stays in the history and is carried out anew with
        every request. Take it out once it is settled, and make the tool idempotent by call id.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "restarted #1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r3"}
        {"type": "TOOL_CALL_RESULT", "messageId": "x2", "toolCallId": "c1", "content": "restarted #2"}
    Sources: microsoft/agent-framework#4075.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            reported = False
            outcomes = [r for r in call.real_results if r.place == "stream" and call.id]
            for first, second, equal in repeated(outcomes):
                if equal or waiting(first.content):
                    continue
                message = (
                    f"{told(call)} gave {quoted(first.content)} in {named(first.run)} and "
                    f"{quoted(second.content)} in {named(second.run)}: it was carried out twice."
                )
                reported = True
                yield finding(trace, second.run, message, call.at, first.at, second.at,
                              calls=(call,), approvals=call.approvals)  # fmt: skip
            if not reported and (pair := _at_work(call)) is not None:
                one, two = pair
                where = (
                    f"twice in {named(one.run)}"
                    if one.run is two.run
                    else f"in {named(one.run)} and again in {named(two.run)}"
                )
                message = f"{told(call)} was carried out {where}, as two spans of the tool show."
                yield finding(trace, two.run, message, one.at, two.at, call.at,
                              calls=(call,), approvals=call.approvals, place="telemetry")  # fmt: skip


def _at_work(call: Call) -> tuple[Execution, Execution] | None:
    """Two executions of which the first succeeded; not of an id that is used again in a later turn."""
    done = [e for e in call.executions if e.ran and e.joined == "call id"]
    for one, two in pairwise(done):
        reused = call.id == call.tool and one.run.turn != two.run.turn
        if call.id and one.cls == "ok" and not reused:
            return one, two
    return None
