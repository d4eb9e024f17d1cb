"""Approvals of one conversation: requests over all channels, answers in all forms, and their fate.

One approval may be shown by a CUSTOM event, a confirmation call, an interrupt outcome and a
legacy field: asks for one call in one run are one approval. Answers come as `resume`,
`forwardedProps`, tool messages or `function_approvals`; where the request is not in the
capture, a result for the waiting call stands for an unseen answer (reading rule 14).
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_right
from itertools import islice
from typing import Any

import msgspec

from workbench.calls import decisions, results
from workbench.calls.arguments import canonical
from workbench.calls.asked import Asked, accepted
from workbench.calls.conversation import Answer, Approval, Ask, At, Call, Conversation, Result, Run
from workbench.calls.decisions import Given

_REFUSED = re.compile(
    r"(APPROVAL|WORKFLOW)_RESUME_|APPROVAL_TOOL_UNAVAILABLE|APPROVAL_INVOCATION_DISABLED|WORKFLOW_CHECKPOINT_LOAD_FAILED"
)


class Desk:
    """Collects asks and answers while the walk goes on, and settles every approval at the end."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.approvals = conversation.approvals
        self.asked = Asked()

    def ask(self, ask: Ask, call: Call | None) -> Approval:
        """Add one sighting of a request to the approval it belongs to, or open a new one."""
        approval = self._same_request(ask, call)
        if approval is None:
            approval = Approval(ask.id or ask.call_id, ask.call_id, ask.run, ask.at, ask.sequence)
            self.approvals.append(approval)
        if ask.channel == "outcome" and ask.id and "outcome" not in self.asked.channels(approval):
            approval.id = ask.id
        approval.asks.append(ask)
        approval.call_id = approval.call_id or ask.call_id
        if call is not None and approval.call is None:
            approval.call = call
            call.approvals.append(approval)
        self.asked.add(approval, ask)
        return approval

    def _same_request(self, ask: Ask, call: Call | None) -> Approval | None:
        if ask.channel == "outcome" and (nameless := self.asked.nameless(ask.run)) is not None:
            return nameless
        if ask.id and not ask.call_id:
            # several requests without a call: the one of this id comes before any that is merely nameless
            first = self.asked.first(ask.id, ask.run)
            if first is not None:
                return first
        for approval in self.asked.candidates(ask, call):
            here = self.asked.in_run(approval, ask.run)
            confirms = self._by_confirmation(approval, call)
            same_call = confirms or not ask.call_id or not approval.call_id or ask.call_id == approval.call_id
            same_id = bool(ask.id) and self.asked.was_asked_as(approval, ask.id)
            if here:
                if ask.call_id and ask.call_id == approval.call_id:
                    other_id = [a for a in here if a.channel == ask.channel and ask.id and a.id != ask.id]
                    if not other_id:
                        return approval
                elif (same_id and same_call) or confirms or (self._pointerless(approval, ask) and same_call):
                    return approval
            elif same_id and same_call and not self._another_time(approval, ask, call):
                return approval
        return None

    @staticmethod
    def _by_confirmation(approval: Approval, call: Call | None) -> bool:
        """The interrupt names the confirmation call (ADK) that made this request, not the real call."""
        if call is None or call.synthetic_for is None:
            return False
        rows = {start.event for start in call.starts}
        return any(
            s.channel == "confirm-call" and s.at.kind == "event" and s.at.row in rows for s in approval.asks
        )

    def _pointerless(self, approval: Approval, ask: Ask) -> bool:
        """A confirmation call that does not say which call it means is the interrupt without a call."""
        channels = {*self.asked.channels(approval), ask.channel}
        return "confirm-call" in channels and len(channels) > 1 and not approval.call_id and not ask.call_id

    @staticmethod
    def _another_time(approval: Approval, ask: Ask, call: Call | None) -> bool:
        """The id is used again in a later turn for another occurrence (ids that equal tool names)."""
        later = ask.run.turn > approval.run.turn
        return later and accepted(approval) and (call is None or call is not approval.call)

    def answer(self, given: Given, run: Run, at: At, sequence: int) -> Answer:
        """Give one answer to the approval that it names; a stray where nothing was asked."""
        answer = Answer(given.id, given.decision, given.form, run, at, sequence, given.payload)
        for approval in self._meant(given):
            answer.approval = approval
            approval.answers.append(answer)
        if answer.approval is None:
            self.conversation.strays.append(answer)
        run.answers.append(answer)
        return answer

    def _meant(self, given: Given) -> list[Approval]:
        if not given.id:
            waiting = self.asked.open()
            graph = [a for a in waiting if "on_interrupt" in self.asked.channels(a)]
            return graph or waiting[-1:]
        meant = self.asked.meant(given.id)
        return [] if meant is None else [meant]

    def adopt(self, run: Run, at: At) -> None:
        """Answers to interrupts that no stream of the capture shows, asked by confirmation calls of this very list.

        The history holds the confirmation calls, the resume the ids of the interrupts: where both are
        equally many, they are the same requests in the same order.
        """
        strays = [a for a in run.answers if a.approval is None and a.form == "resume" and a.id]
        waiting = [
            a
            for a in self.approvals
            if not a.answers and all(x.channel == "confirm-call" and x.at == at for x in a.asks)
        ]
        if not strays or len(strays) != len(waiting):
            return
        for answer, approval in zip(strays, waiting, strict=True):
            self.conversation.strays.remove(answer)
            answer.approval = approval
            approval.answers.append(answer)
            self.asked.rename(approval, answer.id)

    def of_call(self, call: Call) -> list[Approval]:
        """Approvals that a message about this call answers: its own, or those it was made to confirm."""
        if call.synthetic_for is None:
            loose = [a for a in self.asked.about(call.id) if a.call is None]
            return sorted({id(a): a for a in (*call.approvals, *loose)}.values(), key=self.asked.position)
        pointed = self.asked.about(call.synthetic_for) if call.synthetic_for else []
        return self.asked.confirmed_by(call) or pointed

    def unseen(self, call: Call, result: Result) -> None:
        """A result for a waiting call, in a run whose request is not in the capture, is an answer."""
        for approval in call.approvals:
            if accepted(approval) or approval.run is result.run or result.run.request is not None:
                continue
            decision = "rejected" if result.cls == "refusal" else "unseen"
            answer = Answer(approval.id, decision, "", result.run, result.at, result.sequence, None, approval)
            approval.answers.append(answer)

    def refuse(self, run: Run, status: int | None) -> None:
        """Reading rule 7: answers of a run that refuses them are none."""
        bare = run.outcome == "error" and run.events <= 2
        run.refused = bool(run.answers) and (
            (run.outcome == "error" and bool(_REFUSED.match(run.error_code))) or bare or (status or 0) >= 400
        )
        for answer in run.answers:
            answer.refused = run.refused
            if run.refused and answer.approval is not None:
                self.asked.reopen(answer.approval)

    def settle(self, last: int) -> None:
        """Decide decision and state of every approval; `last` is the number of the last run."""
        alike: dict[tuple[str, str | None, int], list[Approval]] = {}
        for approval in self.approvals:
            self._misnamed(approval)
            self._describe(approval)
            self._placeholders(approval)
            alike.setdefault((approval.tool, approval.arguments, approval.run.turn), []).append(approval)
        for group in alike.values():
            group.sort(key=_sequence)
        for approval in self.approvals:
            if approval.accepted:
                approval.decision = approval.accepted[0].decision
            elif approval.answers:
                approval.decision = approval.answers[-1].decision
            approval.reasked_by = self._asked_again(
                approval, alike[approval.tool, approval.arguments, approval.run.turn]
            )
            approval.state = self._state(approval, last)

    def _misnamed(self, approval: Approval) -> None:
        """A resume that names the call instead of the interrupt is an answer only where the server took it so."""
        if "outcome" not in approval.channels or approval.call_id in {a.id for a in approval.asks}:
            return
        results_in = {id(r.run) for r in approval.call.results} if approval.call else set()
        for answer in list(approval.answers):
            # a rejection leaves no trace, so that only a refusal tells
            silent = answer.decision in ("rejected", "cancelled") and not answer.refused
            wrong = answer.form == "resume" and answer.id == approval.call_id
            if wrong and not silent and id(answer.run) not in results_in:
                approval.answers.remove(answer)
                answer.approval = None
                self.conversation.strays.append(answer)

    @staticmethod
    def _describe(approval: Approval) -> None:
        call = approval.call
        approval.tool = next((a.tool for a in approval.asks if a.tool), call.tool if call else "")
        shown = next((a.arguments for a in approval.asks if a.arguments is not None), None)
        approval.arguments = shown if shown is not None else call.arguments if call else None
        try:
            asked_with = msgspec.json.decode(approval.arguments or "")
        except (msgspec.DecodeError, RecursionError):
            return  # arguments that are no JSON cannot be told from edited ones
        for answer in approval.answers:
            if answer.decision == "approved" and isinstance(answer.payload, dict):
                answer.decision = decisions.decide(answer.payload, asked_with) or "approved"

    @staticmethod
    def _placeholders(approval: Approval) -> None:
        """An error text as the result of a call that waits at an interrupt of the same run is none."""
        call = approval.call
        for result in call.results if call else ():
            here = (
                result.place in ("stream", "snapshot")
                and result.run is approval.run
                and not approval.run.answers
            )
            if here and (result.cls == "error" or result.content.strip() in ("None", "null", "")):
                result.cls = "placeholder"

    @staticmethod
    def _asked_again(approval: Approval, alike: list[Approval]) -> Approval | None:
        """The request for the same again; `alike` are those for the same action in one turn, by sequence."""
        answered = approval.accepted[0] if approval.accepted else None
        placeholder = (
            next((r for r in approval.call.results if r.cls == "placeholder"), None)
            if approval.call
            else None
        )
        since = min((x.sequence for x in (answered, placeholder) if x is not None), default=None)
        if since is None or (answered is not None and answered.decision == "unseen" and placeholder is None):
            return None
        if answered and any(
            a.sequence > answered.sequence and a.run is not approval.run for a in approval.asks
        ):
            return approval
        if not approval.tool:
            return None
        later = islice(alike, bisect_right(alike, since, key=_sequence), None)
        return next((other for other in later if other is not approval), None)

    def _state(self, approval: Approval, last: int) -> str:
        if approval.reasked_by is not None:
            return "reasked"
        if not approval.accepted:
            return "refused" if approval.answers else "open"
        answer = approval.accepted[0]
        call = approval.call
        if approval.channels == ["client-tool"] and not (call and call.streamed):
            return "answered"
        executions = [r for r in call.real_results if r.sequence >= answer.sequence] if call else []
        told = any(e.ran and e.sequence >= answer.sequence for e in call.executions) if call else False
        if executions or told:
            again = [a for a in approval.accepted[1:] if any(r.run is a.run for r in executions[1:])]
            return "replayed" if again and len({r.content for r in executions}) == 1 else "executed"
        if approval.decision in ("rejected", "cancelled") or (call is None and not approval.call_id):
            return "answered"
        run = answer.run
        over = run.over or run.number < last
        failed = call is not None and any(r.cls == "placeholder" for r in call.results)
        return "lost" if failed or (over and run.complete) else "answered"


def _sequence(approval: Approval) -> int:
    return approval.sequence


def from_interrupt(entry: dict[str, Any], run: Run, at: At, sequence: int, channel: str) -> Ask:
    """An entry of `outcome.interrupts`, or of the field `interrupt` before outcomes existed."""
    value = entry.get("value")
    metadata = entry.get("metadata")
    framework = metadata.get("agent_framework") if isinstance(metadata, dict) else None
    called = next(
        (
            c
            for v in (value, framework, entry)
            if isinstance(v, dict) and isinstance(c := v.get("function_call"), dict)
        ),
        {},
    )
    call_id = entry.get("toolCallId", entry.get("tool_call_id"))
    if not isinstance(call_id, str):
        call_id = _text(called.get("call_id"))
    arguments = called.get("arguments")
    return Ask(
        channel, _text(entry.get("id")), call_id, run, at, sequence,
        tool=_text(called.get("name")),
        arguments=None if arguments is None else canonical(arguments),
        reason=_text(entry.get("reason")),
        question=_text(entry.get("message")),
        expires=_time(entry.get("expiresAt")),
    )  # fmt: skip


def from_custom(name: str, value: Any, run: Run, at: At, sequence: int) -> Ask | None:
    """A CUSTOM event that asks: function_approval_request, or on_interrupt of LangGraph, CrewAI and Mastra."""
    if name == "function_approval_request" and isinstance(value, dict):
        ask = from_interrupt(value, run, at, sequence, "custom")
        ask.id = ask.id or ask.call_id
        return ask
    if name != "on_interrupt":
        return None
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return Ask("on_interrupt", "", "", run, at, sequence, question=value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        return Ask("on_interrupt", "", "", run, at, sequence, question=results.text_of(value))
    call_id, run_id = _text(value.get("toolCallId")), _text(value.get("runId"))
    own = _text(value.get("id")) or (f"{run_id}::{call_id}" if call_id and run_id else "")
    arguments = value.get("args")
    question = next(
        (value[k] for k in ("message", "question", "prompt") if isinstance(value.get(k), str)), ""
    )
    return Ask(
        "on_interrupt", own, call_id, run, at, sequence,
        tool=_text(value.get("toolName")),
        arguments=canonical(arguments) if isinstance(arguments, dict) else None,
        reason=_text(value.get("type")),
        question=question,
    )  # fmt: skip


def from_confirmation(call: Call, arguments: str, at: At, sequence: int) -> Ask:
    """A synthetic confirmation call (confirm_changes, adk_request_confirmation, request_info)."""
    try:
        value = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError):
        value = None
    value = value if isinstance(value, dict) else {}
    original = value.get("originalFunctionCall", value.get("original_function_call"))
    original = original if isinstance(original, dict) else {}
    target = _text(value.get("function_call_id") or original.get("id"))
    shown = value.get("function_arguments", original.get("args"))
    own = _text(value.get("request_id")) if call.tool == "request_info" else ""
    call.synthetic_for = target
    return Ask(
        "confirm-call", own or call.id, target, call.run, at, sequence,
        tool=_text(value.get("function_name") or original.get("name")),
        arguments=None if shown is None else canonical(shown),
        reason=call.tool,
    )  # fmt: skip


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _time(value: Any) -> int | None:
    """ISO time as UTC ns; None where it is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = dt.datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    delta = moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000_000 + delta.microseconds * 1000
