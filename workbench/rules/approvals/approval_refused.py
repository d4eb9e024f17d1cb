"""The server refuses an answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At, Run
from workbench.findings import Finding
from workbench.rules.approvals.waiting import open_before
from workbench.rules.calls.words import finding
from workbench.rules.registry import rule
from workbench.rules.slips import capital, named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace

_CODES = re.compile(r"(APPROVAL|WORKFLOW)_RESUME_|APPROVAL_TOOL_UNAVAILABLE")


@rule("approval-refused", code="APR017", severity="warning")
def approval_refused(trace: Trace) -> Iterator[Finding]:
    """The endpoint refused the answer to an approval.

    Why it hurts: the person decided, and nothing came of it; most clients show a plain error.
    No fault when: the run failed later for another reason, after it had taken up its work.
    What to do: the code says why. INVALID and INVALID_RESPONSE: the payload has another form
        than the responseSchema asks. NOT_FOUND: the server no longer knows the approval (restart,
        second answer, other thread). MISSING_INTERRUPT: not all open approvals were answered.
        REQUIRED: the request answers none. APPROVAL_TOOL_UNAVAILABLE: the tool is gone.
    Example:
        {"threadId": "t1", "runId": "r2", "messages": [],
            "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": true}}]}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "RUN_ERROR", "message": "unknown interrupt", "code": "APPROVAL_RESUME_NOT_FOUND"}
    Sources: agent-framework-ag-ui, codes of RUN_ERROR.
    """
    for conversation in trace.conversations:
        for run in conversation.runs:
            if run.replay_of is not None or not (
                run.refused or (run.outcome == "error" and _CODES.match(run.error_code))
            ):
                continue
            meant = [a.approval for a in run.answers if a.approval is not None]
            meant = meant or next((waiting for _, waiting in open_before(conversation, {id(run)})), [])
            strays = [a.id for a in run.answers if a.approval is None]
            message = f"{capital(named(run))} refuses the answer: {_reason(run)}."
            at = At("request", run.request) if run.request is not None else None
            yield finding(trace, run, message, *(a.at for a in meant[:5]), at, run.end,
                          calls=[a.call_id for a in meant], approvals=meant, other_ids=strays)  # fmt: skip


def _reason(run: Run) -> str:
    if run.outcome != "error":
        return "the response is an HTTP error"
    words = quoted(run.error) if run.error else ""
    return " ".join(part for part in (run.error_code, words) if part) or "RUN_ERROR right after the resume"
