"""run-id-reused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("run-id-reused", code="RUN007", severity="warning", scope="thread")
def run_id_reused(trace: Trace) -> Iterator[Finding]:
    """A runId is started again in its thread.

    Why it hurts: stores that key by run overwrite the first one, and clients that have seen the
        end of the run ignore the second.
    No fault when: the second stream repeats the first event by event, as a reconnect does; then
        this is information, and nothing else in the repetition is reported.
    What to do: make a new runId for every request, also for a resume and for a retry.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "assistant"}
    Sources: ag-ui-protocol/ag-ui#643; ag-ui-protocol/ag-ui#1724.
    """
    for _, slip in slips(trace, "run-id-reused"):
        equal = slip.variant == "equal"
        how = "with the same events: a replay" if equal else "with other events"
        message = f"Run id {slip.run.run_id} is started again {how}."
        yield report(trace, slip, message, severity="info" if equal else "", other_ids=(slip.run.run_id,))
