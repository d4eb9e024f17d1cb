"""The life of a run in its stream: RUN_STARTED, its events, one RUN_FINISHED or RUN_ERROR.

These rules mirror one state machine, which the walk runs (`workbench.calls.runs`); here is
what each departure means.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Slip
from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import about, capital, cut, listed, named_by_id, report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("run-start-missing", code="RUN001", severity="error", scope="run")
def run_start_missing(trace: Trace) -> Iterator[Finding]:
    """The first event of a stream is neither RUN_STARTED nor RUN_ERROR.

    Why it hurts: clients that verify the protocol stop at the first event, and everything
        after it has no run and no thread to belong to.
    No fault when: the stream opens with RUN_ERROR (a refused request does that), or the
        capture visibly begins in the middle; then this is information.
    What to do: emit RUN_STARTED before the first model call, also on the path that only
        replays stored events. In a capture taken by hand, copy it from its first line.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: AG-UI events, run lifecycle; verifyEvents of @ag-ui/client, all versions.
    """
    for conversation, slip in slips(trace, "run-start-missing"):
        mild = not slip.run.complete or conversation.starts_late
        message = f"The stream begins with {slip.variant or 'an event'} instead of RUN_STARTED."
        yield report(trace, slip, message, severity="info" if mild else "")


@rule("run-nested", code="RUN002", severity="error", scope="run")
def run_nested(trace: Trace) -> Iterator[Finding]:
    """RUN_STARTED arrives while another run of the same stream and thread is still active.

    Why it hurts: events carry no run id, so nobody can tell which run the following ones
        belong to; verifying clients abort.
    No fault when: the file is a log in which the streams of several threads are mixed.
    What to do: end the outer run first, or give an inner agent its own subagentRunId instead
        of a run. A server that forwards another server's events must drop its RUN_* events.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r2"}
    Sources: AG-UI events, run lifecycle; verifyEvents of @ag-ui/client; ag-ui-protocol/ag-ui#1016.
    """
    for _, slip in slips(trace, "run-nested"):
        outer = f"run {slip.ids[0]}" if slip.ids and slip.ids[0] else "another run"
        message = f"{capital(named_by_id(slip.run))} starts while {outer} is still active."
        yield report(trace, slip, message, other_ids=(*slip.ids, slip.run.run_id))


@rule("run-end-missing", code="RUN003", severity="error", scope="run")
def run_end_missing(trace: Trace) -> Iterator[Finding]:
    """A run has neither RUN_FINISHED nor RUN_ERROR.

    Why it hurts: the client's spinner never stops, open messages stay open, and nobody knows
        whether the work was done.
    No fault when: the capture itself is cut (an unfinished HAR, a truncated last frame), or a
        reconnect brings the whole run once more; then this is information.
    What to do: look at the server's log at that moment: most often an exception escaped the
        event generator, or a proxy closed the connection. Wrap the generator so that every
        exception becomes RUN_ERROR.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "One mom"}
    Sources: AG-UI events, run lifecycle; ag-ui-protocol/ag-ui#2416.
    """
    for conversation, slip in slips(trace, "run-end-missing"):
        again = slip.run.replay_of
        while again is not None and again.end is None:
            again = again.replay_of
        whole = again is not None
        mild = whole or cut(slip.run, conversation)
        why = " A later stream sends the whole run." if whole else " The capture is cut here." if mild else ""
        message = f"{capital(named_by_id(slip.run))} has no RUN_FINISHED or RUN_ERROR.{why}"
        yield report(trace, slip, message, severity="info" if mild else "")


@rule("event-after-run-end", code="RUN004", severity="error", scope="run")
def event_after_run_end(trace: Trace) -> Iterator[Finding]:
    """Events follow the terminal event of a run before the next RUN_STARTED.

    Why it hurts: clients close the subscription at the end of the run: late text, results and
        snapshots are lost, or make a verifying client throw.
    No fault when: a new RUN_STARTED comes first.
    What to do: flush everything before the terminal event. Look for background tasks (title
        generation, persistence, telemetry) that still write to the stream.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
        {"type": "STATE_SNAPSHOT", "snapshot": {"done": true}}
    Sources: AG-UI events, run lifecycle; verifyEvents of @ag-ui/client; ag-ui-protocol/ag-ui#1941.
    """
    late: dict[int, list[Slip]] = {}
    for _, slip in slips(trace, "event-after-run-end"):
        late.setdefault(id(slip.run), []).append(slip)
    for group in late.values():
        run = group[0].run
        kinds = listed(list(dict.fromkeys(slip.variant or "an event" for slip in group)))
        count = f" ({len(group)} events)" if len(group) > 1 else ""
        message = f"{kinds} after the end of {named_by_id(run)}{count}."
        yield about(trace, run, message, *(slip.at for slip in group[:10]), run.end)


@rule("run-ended-twice", code="RUN005", severity="error", scope="run")
def run_ended_twice(trace: Trace) -> Iterator[Finding]:
    """A run gets a second terminal event.

    Why it hurts: one half of the clients reports success, the other half a failure; code that
        stores the run on its end stores it twice.
    No fault when: a RUN_STARTED stands between the two. An error that ends as a success is
        `run-error-hidden` instead.
    What to do: make one place responsible for ending the run; an error handler must not fall
        through to the code that finishes it.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
        {"type": "RUN_ERROR", "message": "connection reset"}
    Sources: AG-UI events, run lifecycle; ag-ui-protocol/ag-ui#1941.
    """
    for _, slip in slips(trace, "run-ended-twice"):
        message = (
            f"{capital(named_by_id(slip.run))} had already ended when {slip.variant or 'another end'} came."
        )
        yield report(trace, slip, message)


@rule("runs-interleaved", code="RUN011", severity="warning", scope="thread")
def runs_interleaved(trace: Trace) -> Iterator[Finding]:
    """Message or call events of two runs of one thread alternate in one stream.

    Why it hurts: events carry no run id; a client that keeps one current run files text,
        arguments and results under the wrong one.
    No fault when: the runs belong to different threads, or follow each other.
    What to do: serialise the runs of a thread on the server, or open one response per run.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "a"}
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r2"}
        {"type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "b"}
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"}
    Sources: ag-ui-protocol/ag-ui#1016.
    """
    for _, slip in slips(trace, "runs-interleaved"):
        other = f"run {slip.ids[0]}" if slip.ids and slip.ids[0] else "another run"
        message = f"Events of {named_by_id(slip.run)} and {other} alternate in one stream."
        yield report(trace, slip, message, other_ids=(*slip.ids, slip.run.run_id))
