"""run-parent-unknown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import about, capital, named_by_id

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("run-parent-unknown", code="RUN008", severity="info", scope="capture")
def run_parent_unknown(trace: Trace) -> Iterator[Finding]:
    """A run names a parentRunId that is not in the capture.

    Why it hurts: the branch that the run continues cannot be followed here; findings that need
        the earlier run are missing or milder.
    No fault when: the parent is in another file of the same conversation: load them together.
    What to do: add the capture of the parent run, or check that the client sends the id of a
        run that exists.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2", "parentRunId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2"}
    Sources: AG-UI serialization, branching with parentRunId.
    """
    runs = [run for conversation in trace.conversations for run in conversation.runs]
    known = {run.run_id for run in runs}
    for run in runs:
        if run.parent_run_id and run.parent_run_id not in known and run.replay_of is None:
            message = f"{capital(named_by_id(run))} names parent run {run.parent_run_id}, which is not in the capture."
            yield about(trace, run, message, run.start, other_ids=(run.parent_run_id,))
