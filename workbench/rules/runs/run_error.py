"""run-error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import about, capital, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("run-error", code="RUN009", severity="info", scope="run")
def run_error(trace: Trace) -> Iterator[Finding]:
    """A run ended in RUN_ERROR; the finding repeats its code and message.

    Why it hurts: it may not: RUN_ERROR is a proper end. But it is the first thing to know.
    No fault when: always: this is information.
    What to do: read the code. APPROVAL_RESUME_* and WORKFLOW_RESUME_* are refused answers to an
        interrupt; an exception class name points at the server's log.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_ERROR", "code": "RuntimeError", "message": "quota reached"}
    Sources: AG-UI events, RunError; agent-framework-ag-ui 1.7.0, error codes of the endpoint.
    """
    for conversation in trace.conversations:
        for run in conversation.runs:
            if run.outcome != "error" or run.end is None or run.replay_of is not None:
                continue
            code = f" {run.error_code}" if run.error_code else ""
            said = f": {quoted(run.error, 200)}" if run.error else "."
            message = f"{capital(named(run))} ended in RUN_ERROR{code}{said}"
            yield about(trace, run, message, run.end)
