"""run-error-hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.calls.conversation import At, Conversation, Run
from workbench.findings import Finding
from workbench.readers.telemetry.columns import STATUSES
from workbench.readers.telemetry.mapping import PAUSES
from workbench.rules.registry import rule
from workbench.rules.slips import about, named, quoted, report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace

#: Names under which frameworks report that the whole run failed, letters only: agno
#: `RunError`, `TeamRunError`, `WorkflowError`; OpenAI Responses `response.failed`; CrewAI
#: `crew_kickoff_failed`, `flow_failed`; LangChain `on_chain_error`; a stream's bare `error`.
_FAILED = frozenset({
    "runerror", "runfailed", "teamrunerror", "workflowerror", "workflowrunerror", "workflowfailed",
    "workflowfailedevent", "crewkickofffailed", "crewkickofffailedevent", "flowfailed", "responsefailed",
    "responseerror", "agentrunerror", "agenterror", "agentexecutionerror", "onchainerror", "error",
})  # fmt: skip
#: Errors that say that nobody was listening any more
_LEFT = re.compile(r"GeneratorExit|CancelledError|OperationCanceled|TaskCanceled|AbortError|ClientDisconnect")
_LETTERS = re.compile(r"[^a-z]+")
_SAYING = ("message", "content", "error", "errorMessage", "error_message", "detail")


@rule("run-error-hidden", code="RUN010", severity="error", scope="run")
def run_error_hidden(trace: Trace) -> Iterator[Finding]:
    """The run failed, but its stream ends as a success.

    Why it hurts: the user sees a finished, empty or half answer; retries, alerts and the
        approval that was being carried out all believe that the work was done.
    No fault when: the framework recovered, so that messages or calls follow its error; or the
        error is one tool's, which is a result like any other. An error span of the agent that
        only records a pause for a person is `pause-marked-error`.
    What to do: translate the framework's error event to RUN_ERROR, and return after it.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RAW", "event": {"event": "RunError", "content": "quota reached"}}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: agno-agi/agno#9487; ag-ui-protocol/ag-ui#1941.
    """
    for _, slip in slips(trace, "run-error-hidden"):
        message = f"RUN_ERROR in {named(slip.run)} is followed by RUN_FINISHED as a success."
        yield report(trace, slip, message)
    for conversation in trace.conversations:
        yield from _in_raw(trace, conversation)
        yield from _in_spans(trace, conversation)


def _in_raw(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    reported: set[int] = set()
    for run, row in conversation.raws:
        if run.outcome != "success" or run.end is None or row > run.end or id(run) in reported:
            continue
        # most RAW events are no errors: decode only what may be one
        text = trace.records.json_bytes(row)
        if b"rror" not in text and b"ailed" not in text:
            continue
        event = trace.json(row)
        said = _failure(event.get("event")) if event.get("type") == "RAW" else None
        if said is None or _goes_on(conversation, run, row):
            continue
        reported.add(id(run))
        told = f": {quoted(said, 200)}" if said else ""
        message = f"The framework reported an error inside {named(run)}{told}, but the run ends as a success."
        yield about(trace, run, message, row, run.end)


def _in_spans(trace: Trace, conversation: Conversation) -> Iterator[Finding]:
    """The agent's own span ended in an error that is neither a pause nor the client's leaving."""
    spans = trace.records.spans
    for run in conversation.runs:
        if run.outcome != "success" or run.end is None:
            continue
        for root in run.roots:
            if STATUSES[spans.status[root]] != "error":
                continue
            error = trace.records.pool.text(spans.error[root]) or ""
            if PAUSES.search(error[:4000]) or _LEFT.search(error[:4000]):
                continue
            told = f": {quoted(error, 200)}" if error else ""
            message = (
                f"The agent's span of {named(run)} ended in an error{told}, but the run ends as a success."
            )
            yield about(trace, run, message, At("span", root), run.end, place="telemetry")


def _failure(event: Any) -> str | None:
    """What a framework's event says about the failure of its run; None where it is no failure."""
    if not isinstance(event, dict):
        return None
    word = next(
        (event[k] for k in ("event", "type", "event_type", "eventType") if isinstance(event.get(k), str)), ""
    )
    inner = event.get("data", event.get("payload"))
    if _LETTERS.sub("", word.lower()) not in _FAILED:
        # ADK events have no name: a failed one carries errorCode and errorMessage
        code = event.get("errorCode", event.get("error_code"))
        if not (code and (event.get("errorMessage") or event.get("error_message"))):
            return None
    return _said(event) or (_said(inner) if isinstance(inner, dict) else "")


def _said(event: dict[str, Any]) -> str:
    for key in _SAYING:
        value = event.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict) and isinstance(value.get("message"), str):
            return str(value["message"])
    return ""


def _goes_on(conversation: Conversation, run: Run, row: int) -> bool:
    """A message or call of the run starts after the error: the framework went on working."""
    messages = any(m.run is run and m.start is not None and m.start > row for m in conversation.messages)
    return messages or any(s.run is run and s.event > row for c in conversation.calls for s in c.starts)
