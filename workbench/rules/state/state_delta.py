"""The three ways in which a patch of the shared state or of an activity goes wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import about, quoted
from workbench.rules.state.patches import PatchProblem, problems

if TYPE_CHECKING:
    from workbench.trace import Trace


def _report(trace: Trace, kind: str) -> Iterator[tuple[PatchProblem, str]]:
    for problem in problems(trace):
        if problem.kind == kind:
            yield problem, f"activity {problem.document}" if problem.document else "the shared state"


def _finding(trace: Trace, problem: PatchProblem, message: str) -> Finding:
    return about(trace, problem.run, message, problem.row, problem.base,
                 other_ids=(problem.document,) if problem.document else ())  # fmt: skip


@rule("state-delta-failed", code="STA001", severity="error")
def state_delta_failed(trace: Trace) -> Iterator[Finding]:
    """A STATE_DELTA or ACTIVITY_DELTA cannot be applied to the document as it is at that point.

    Why it hurts: the client keeps the old state with at most a console warning; from here on the
        user sees something else than the agent.
    No fault when: the document was never shown in full, so that nobody knows what is in it
        (`state-delta-before-snapshot`).
    What to do: compute patches against the state that was last sent, not against the agent's
        own; send a STATE_SNAPSHOT after a resume or a reconnect.
    Example:
        {"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}}
        {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/b/x", "value": 2}]}
    Sources: RFC 6902, section 4; AG-UI events, state management.
    """
    for problem, what in _report(trace, "failed"):
        yield _finding(trace, problem, f"The patch of {what} fails: {quoted(problem.detail, 160)}")


@rule("state-delta-invalid", code="STA002", severity="error")
def state_delta_invalid(trace: Trace) -> Iterator[Finding]:
    """A STATE_DELTA or ACTIVITY_DELTA is not a JSON Patch.

    Why it hurts: clients refuse the event, or skip the patch in silence.
    No fault when: the patch is an empty list, which changes nothing.
    What to do: send a list of operations with `op`, a `path` that begins with “/”, and `value`
        or `from` where the operation needs it. A merge patch (a plain object) is no JSON Patch.
    Example:
        {"type": "STATE_SNAPSHOT", "snapshot": {}}
        {"type": "STATE_DELTA", "delta": [{"op": "set", "path": "a", "value": 1}]}
    Sources: RFC 6902, sections 3 and 4; RFC 6901; ag-ui-protocol 1.0.0, typed operations.
    """
    for problem, what in _report(trace, "invalid"):
        yield _finding(trace, problem, f"The patch of {what} is malformed: {problem.detail}.")


@rule("state-delta-before-snapshot", code="STA003", severity="info")
def state_delta_before_snapshot(trace: Trace) -> Iterator[Finding]:
    """A STATE_DELTA comes before any STATE_SNAPSHOT, or an ACTIVITY_DELTA before its ACTIVITY_SNAPSHOT.

    Why it hurts: a client that starts with an empty state applies the patch to nothing; most
        patches then fail, and later ones with them.
    No fault when: the request carried the state, or the capture begins after the snapshot.
    What to do: send a STATE_SNAPSHOT right after the first RUN_STARTED of a thread.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a", "value": 1}]}
    Sources: AG-UI events, state management.
    """
    for problem, what in _report(trace, "early"):
        yield _finding(trace, problem, f"A patch of {what} comes before anything shows it in full.")
