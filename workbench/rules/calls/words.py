"""What the rules about calls, results and approvals share: findings with ids, and how calls are named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.calls.arguments import canonical
from workbench.calls.conversation import Answer, Approval, At, Call, Conversation, ListCall, Part, Result, Run
from workbench.findings import Finding

if TYPE_CHECKING:
    from workbench.trace import Trace

#: Decisions that let a call run.
GRANTED = frozenset({"approved", "edited"})
DENIED = frozenset({"rejected", "cancelled"})

#: Texts that stand where a result would, while somebody is still to decide or a job is still running.
_WAITING = re.compile(
    r"\b(pending|in[ _-]progress|queued|awaiting|waiting (for|on)|approval (is )?(required|needed)|"
    r"(needs?|requires?|require) (user |human |your )?(approval|confirmation)|confirm(ation)? (is )?(required|needed)|"
    r"please (approve|confirm))\b",
    re.IGNORECASE,
)
#: Words in which frameworks and tools say that nothing was done, beyond the literals of `calls.results`.
_DENIAL = re.compile(
    r"\b(reject\w*|declin\w*|den(y|ied)|refus\w*|disallow\w*|cancel\w*|abort\w*|skip\w*|dismiss\w*|with(held|drawn)|"
    r"not (been )?(approved|executed|allowed|permitted|authori[sz]ed|performed|run|carried out|confirmed)|unapproved|"
    r"(did|will|do|does|was|has) ?n[o'’]?t|said no|no (approval|answer|response|permission)|without approval|"
    r"time[d -]*out|expired)\b",
    re.IGNORECASE,
)


def told(call: Call | ListCall | Part) -> str:
    """`deploy (c1)`: how a message names a call."""
    part = call.part if isinstance(call, ListCall) else call
    if isinstance(part, Part):
        return named_call(part.name, part.call_id)
    return named_call(part.tool, part.id)


def named_call(tool: str, call_id: str) -> str:
    """`deploy (c1)`, or what there is of it."""
    return f"{tool} ({call_id})" if tool and call_id else tool or call_id or "a call without id"


def named_approval(approval: Approval) -> str:
    """`deploy (c1), approval i1`; the approval's id only where it differs from the call's."""
    call = named_call(approval.tool, approval.call_id)
    if not approval.call_id and not approval.tool:
        return f"approval {approval.id}" if approval.id else "an approval without id"
    return call if approval.id in ("", approval.call_id) else f"{call}, approval {approval.id}"


def finding(
    trace: Trace,
    run: Run,
    message: str,
    *places: At | int | None,
    calls: Iterable[Call | str] = (),
    approvals: Iterable[Approval | str] = (),
    other_ids: Iterable[str] = (),
    place: str = "stream",
    severity: str = "",
) -> Finding:
    """A finding; equal ids are kept once, empty ones are left out. `places` are its evidence, in order."""
    ask_ids = [a if isinstance(a, str) else a.id for a in approvals]
    call_ids = [c if isinstance(c, str) else c.id for c in calls]
    known = [at for at in places if at is not None]
    if place == "stream" and known and all(isinstance(at, At) and at.kind in ("span", "log") for at in known):
        place = "telemetry"
    return Finding(
        message,
        place=place,
        thread_id=run.thread_id,
        run_id=run.run_id,
        call_ids=_distinct(call_ids),
        approval_ids=_distinct(ask_ids),
        other_ids=_distinct(other_ids),
        evidence=tuple(dict.fromkeys(trace.evidence(*places))),
        severity=severity,
    )


def _distinct(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(i for i in ids if i))


def is_real(call: Call) -> bool:
    """A call that something has to carry out: with an id, and no confirmation made up by the framework."""
    return bool(call.id) and call.synthetic_for is None


class Waits:
    """Whether an approval stands before a call: its own, or one of its run that names no call (reading rule 1)."""

    def __init__(self, conversation: Conversation) -> None:
        self._loose = {(id(a.run), a.call_id) for a in conversation.approvals if a.call is None}

    def __call__(self, call: Call) -> bool:
        """Judge one call of the conversation."""
        run = id(call.run)
        return bool(call.approvals) or (run, call.id) in self._loose or (run, "") in self._loose


def granted(approval: Approval) -> Answer | None:
    """The first accepted answer that lets the call run."""
    return next((a for a in approval.accepted if a.decision in GRANTED), None)


def denied(approval: Approval) -> Answer | None:
    """The accepted answer that forbids the call, if none allowed it."""
    if granted(approval) is not None:
        return None
    return next((a for a in approval.accepted if a.decision in DENIED), None)


def ran(result: Result) -> bool:
    """The result shows beyond doubt that the tool was carried out.

    A text of unknown wording that speaks of waiting or refusing is no proof, nor is an error
    text: many servers report a refusal as one.
    """
    if result.decision or result.cls not in ("ok", "error"):
        return False
    if result.cls == "error":
        return "function failed" in result.content[:200].lower()
    return bool(result.content.strip()) and not undone(result.content) and not waiting(result.content)


def waiting(content: str) -> bool:
    """The text speaks of something still to come."""
    return bool(_WAITING.search(content[:300]))


def undone(content: str) -> bool:
    """The text speaks of something that was not done."""
    return bool(_DENIAL.search(content[:300])) or content.strip() in ("", "null", "None", "{}", "[]")


def same_content(one: str, other: str) -> bool:
    """Results are equal as texts or as JSON."""
    return one == other or content_key(one) == content_key(other)


def content_key(content: str) -> str:
    """One text for results that are equal as texts or as JSON."""
    bare = content.strip()
    return canonical(bare) if bare[:1] in ("{", "[", '"') else bare


def outcomes(call: Call | None, parts: Iterable[Part]) -> list[Part]:
    """Tool messages of a list without those that carry the decision on their call instead of a result."""
    answers = {r.content for r in call.results if r.decision} if call is not None else set()
    return [part for part in parts if part.content not in answers]
