"""Which findings and which calls a person asked for: one thread, one call, a least severity."""

from __future__ import annotations

from workbench.calls.conversation import Call, Conversation
from workbench.findings import Findings
from workbench.known import known
from workbench.trace import Trace
from workbench.views import selection


def conversations(trace: Trace, thread: str = "", call_id: str = "") -> list[Conversation]:
    """The conversations with that thread and that call or approval; all where none is given.

    Raises `ValueError`, naming what there is, for an id that the capture does not have.
    """
    return selection.conversations(trace, thread=thread or None, call_id=call_id or None)


def ids_of(trace: Trace, call_id: str, thread: str = "") -> frozenset[str]:
    """Every call and approval id that belongs to a call or approval of that id.

    An approval brings its call, a call its approvals, and a confirmation call
    (`confirm_changes`) the call that it stands for. Empty for an empty `call_id`; raises
    `ValueError` for one that the capture does not have.
    """
    if not call_id:
        return frozenset()
    ids = {call_id}
    for conversation in conversations(trace, thread, call_id):
        calls = _calls(conversation, call_id)
        ids.update(call.id for call in calls)
        ids.update(approval.id for call in calls for approval in call.approvals)
    return frozenset(ids)


def narrowed(findings: Findings, *, thread: str = "", call_id: str = "", severity: str = "info") -> Findings:
    """The findings about one thread and one call (or approval), of that severity or worse.

    Counts, sources and skipped rules stay those of the whole capture. Raises `ValueError`
    for a thread or call that is not there, so that a mistyped id never looks healthy.
    """
    items = findings.at_least(severity)
    if thread:
        threads = {i for c in conversations(findings.trace, thread) for i in (c.thread_id, *c.thread_ids)}
        items = [f for f in items if f.thread_id in threads]
    ids = ids_of(findings.trace, call_id, thread)
    if ids:
        items = [f for f in items if ids.intersection((*f.call_ids, *f.approval_ids))]
    return Findings(findings.trace, items, findings.skipped, known(findings.trace, items))


def _calls(conversation: Conversation, call_id: str) -> list[Call]:
    wanted = {call_id, *(a.call_id for a in conversation.approvals if a.id == call_id)}
    wanted |= {c.synthetic_for for c in conversation.calls if c.id in wanted and c.synthetic_for}
    return [call for call in conversation.calls if call.id in wanted or (call.synthetic_for or "") in wanted]
