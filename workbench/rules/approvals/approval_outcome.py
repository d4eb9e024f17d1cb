"""What the end of a run says about approvals: nothing, too little, or in an old field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import Approval, Conversation, Run
from workbench.findings import Finding
from workbench.rules.calls.words import finding, named_approval
from workbench.rules.registry import rule
from workbench.rules.slips import capital, listed, named

if TYPE_CHECKING:
    from workbench.trace import Trace


@rule("approval-empty", code="APR013", severity="error", scope="run")
def approval_empty(trace: Trace) -> Iterator[Finding]:
    """A run ends with an interrupt outcome that holds no interrupt.

    Why it hurts: the client waits for an answer to nothing: there is no card, and no resume
        can be sent.
    No fault when: at least one interrupt stands in it.
    What to do: end with `success` when nothing is pending. Look for a filter that drops the
        interrupts (unknown reason, no call id) after the outcome was chosen.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1",
         "outcome": {"type": "interrupt", "interrupts": []}}
    Sources: AG-UI interrupts: at least one.
    """
    for conversation in trace.conversations:
        for run in conversation.runs:
            if (
                run.outcome == "interrupt"
                and not run.interrupts
                and run.end is not None
                and run.replay_of is None
            ):
                message = f"{capital(named(run))} ends with an interrupt outcome without interrupts."
                yield finding(trace, run, message, run.end)


@rule("approval-not-in-outcome", code="APR014", severity="error", scope="run", needs=("approvals",))
def approval_not_in_outcome(trace: Trace) -> Iterator[Finding]:
    """An approval was asked by a CUSTOM event, and the outcome of the run does not list it.

    Why it hurts: clients that follow the protocol look at the outcome: they show no card, or
        only one of several, and the resume they send is partial.
    No fault when: the run failed or is cut, the older field `interrupt` lists it, or it is a
        LangGraph-style `on_interrupt` without any outcome. A warning where nothing in the
        capture shows that the server knows outcomes.
    What to do: put every pending request into `outcome.interrupts`, not only the last one.
    Example:
        {"type": "CUSTOM", "name": "function_approval_request", "value":
            {"id": "i1", "function_call": {"call_id": "c1", "name": "deploy", "arguments": {}}}}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: AG-UI interrupts; agent-framework-ag-ui before outcomes.
    """
    for conversation in trace.conversations:
        knows = any("outcome" in a.channels for a in conversation.approvals)
        for run, missing in _missing(conversation):
            outcome = isinstance(trace.json(run.end or 0).get("outcome"), dict)
            names = listed([named_approval(a) for a in missing])
            message = f"{capital(named(run))} asks for {names} by event, but its end does not list it."
            yield finding(trace, run, message, *(a.at for a in missing), run.end,
                          calls=[a.call_id for a in missing], approvals=missing,
                          severity="" if outcome or knows else "warning")  # fmt: skip


def _missing(conversation: Conversation) -> Iterator[tuple[Run, list[Approval]]]:
    """Runs that ended well, with the approvals that they asked by event only."""
    found: dict[int, tuple[Run, list[Approval]]] = {}
    for approval in conversation.approvals:
        asked: dict[int, tuple[Run, set[str]]] = {}
        for ask in approval.asks:
            asked.setdefault(id(ask.run), (ask.run, set()))[1].add(ask.channel)
        for run, channels in asked.values():
            if run.end is None or run.outcome == "error" or channels & {"outcome", "legacy-field"}:
                continue
            by_event = "custom" in channels or ("on_interrupt" in channels and bool(run.interrupts))
            done = approval.call is not None and any(r.run is run for r in approval.call.real_results)
            if by_event and not done and not any(a.run is run for a in approval.answers):
                found.setdefault(id(run), (run, []))[1].append(approval)
    yield from found.values()


@rule("approval-legacy-field", code="APR019", severity="info", scope="run", needs=("approvals",))
def approval_legacy_field(trace: Trace) -> Iterator[Finding]:
    """Approvals stand in the old field `interrupt` of RUN_FINISHED instead of the outcome.

    Why it hurts: current clients do not read it: for them the run ended as a success.
    No fault when: always: this is information about an old server.
    What to do: upgrade (agent-framework-ag-ui writes outcomes from 1.0.0rc8 on), or let the
        client read both.
    Example:
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "interrupt": [
            {"id": "c1", "value": {"type": "function_approval_request"}}]}
    Sources: agent-framework PR 6925; AG-UI interrupts.
    """
    for conversation in trace.conversations:
        found: dict[int, tuple[Run, list[Approval]]] = {}
        for approval in conversation.approvals:
            for ask in approval.asks:
                if ask.channel == "legacy-field":
                    found.setdefault(id(ask.run), (ask.run, []))[1].append(approval)
        for run, old in found.values():
            message = f"{capital(named(run))} lists {len(old)} approval(s) in the old field `interrupt`."
            yield finding(trace, run, message, run.end, calls=[a.call_id for a in old], approvals=old)
