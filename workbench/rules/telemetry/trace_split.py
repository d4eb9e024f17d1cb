"""An approval whose two halves are in two traces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Call
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Finding
from workbench.rules.calls.words import finding, told
from workbench.rules.registry import rule

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("trace-split", code="TEL004", severity="info", needs=("spans",))
def trace_split(trace: Trace) -> Iterator[Finding]:
    """One approval was asked for in one trace and carried out in another.

    Why it hurts: a trace viewer shows half a story twice: a request that nobody seems to answer,
        and a tool that seems to run without being asked.
    No fault when: the approval comes over HTTP. Every request is a trace of its own, so this is
        how it looks when all is well; the finding is the link between the two.
    What to do: read both traces together. A link from the second to the first (span link, or a
        common conversation id) helps everyone who comes later.
    Example:
        {"traceId": "5b8efff798038103d269b633813fc60c", "name": "invoke_agent helper"}
        {"traceId": "0af7651916cd43dd8448eb211c80319c", "name": "execute_tool move"}
    Sources: GenAI conventions; openai/openai-agents-python#2540.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            ran = next((e for e in call.executions if e.ran and e.trace), None)
            asked = _asked(trace, call, ran) if ran is not None and call.id else None
            if ran is None or asked is None:
                continue
            place, first = asked
            message = f"{told(call)} was asked for in trace {first} and carried out in trace {ran.trace}."
            yield finding(trace, ran.run, message, place, ran.at, calls=(call,), approvals=call.approvals,
                          other_ids=(first, ran.trace), place="telemetry")  # fmt: skip


def _asked(trace: Trace, call: Call, ran: Execution) -> tuple[At, str] | None:
    """Where telemetry shows the request for a decision: in messages, in a paused span, or in the run that asked."""
    spans, text = trace.records.spans, trace.records.pool.text
    places = [at for approval in call.approvals for at in approval.told if at.kind == "span"]
    places += [e.at for e in call.executions if e.pause and e.at.kind == "span"]
    if not places:
        places = [
            At("span", row)
            for a in call.approvals
            for row in (a.run.spans if a.run is not ran.run else ())[:1]
        ]
    found = [(at, text(spans.trace[at.row]) or "") for at in places]
    if not found or any(name == ran.trace for _, name in found[:1]):
        return None
    return found[0] if found[0][1] else None
