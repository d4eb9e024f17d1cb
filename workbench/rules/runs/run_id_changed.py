"""run-id-changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import named_by_id, report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("run-id-changed", code="RUN006", severity="warning", scope="run")
def run_id_changed(trace: Trace) -> Iterator[Finding]:
    """The threadId or runId of a run's end differs from its start, or that of the start from the request.

    Why it hurts: what is stored under the run's id is not found again: a resume goes to another
        thread, a client that waits for its runId waits for ever.
    No fault when: the producer is LangGraph, whose RUN_FINISHED often carries its own run id;
        then this is information. An id that the request left out may be given by the server,
        and a stream that sends earlier runs again keeps their ids.
    What to do: take both ids from the request once, and use them for every RUN_* event.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "8f2c"}
    Sources: AG-UI events, RunStarted and RunFinished.
    """
    for _, slip in slips(trace, "run-id-changed"):
        if slip.variant == "request" and slip.run.replay_of is not None:
            continue  # a reconnect: the request asks for the thread, the replay brings its runs
        mild = slip.run.producer == "langgraph"
        detail = f": {slip.detail}" if slip.detail else f" to {', '.join(slip.ids)}"
        message = f"The ids of {named_by_id(slip.run)} changed{detail}."
        yield report(trace, slip, message, severity="info" if mild else "")
