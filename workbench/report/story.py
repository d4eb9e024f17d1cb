"""What became of every tool call and approval, told in steps: `asked in run 1 → approved in run 2 → …`.

The text output, the Markdown for an issue and the notebook tell the same story from here.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from workbench.calls.conversation import Approval, Call, Conversation, Run
from workbench.report.plain import count, plain
from workbench.trace import Trace

#: longest arguments or result in a step, in characters
EXCERPT = 60


@dataclass(frozen=True, slots=True)
class Fate:
    """One call occurrence or one approval without a call, and its way through the capture.

    `steps` are short phrases in order; `end` says in one word how it ended: ok, failed,
    placeholder, refused, waiting, lost, client, none.
    """

    thread_id: str
    call_id: str
    approval_id: str
    tool: str
    arguments: str
    steps: tuple[str, ...]
    end: str

    def __str__(self) -> str:
        return " → ".join(self.steps)


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a conversation: what happened in a run, in words."""

    run: Run
    sequence: int
    kind: str
    text: str
    call_id: str = ""


def fates(conversation: Conversation) -> list[Fate]:
    """The calls of a conversation in order of asking, then the approvals that no call was seen for."""
    told = [fate(call) for call in conversation.calls if call.synthetic_for is None]
    seen = {id(a) for call in conversation.calls for a in call.approvals}
    real = {call.id for call in conversation.calls}
    # A confirmation call without the call it points at is all that is known of it.
    told += [
        fate(c) for c in conversation.calls if c.synthetic_for is not None and c.synthetic_for not in real
    ]
    for approval in conversation.approvals:
        if id(approval) not in seen:
            way = _Way()
            _approval(way, approval)
            if approval.state == "open":
                way.add("still waits for an answer")
            told.append(
                Fate(
                    conversation.thread_id, approval.call_id, approval.id, approval.tool,
                    approval.arguments or "", tuple(way.steps), "waiting" if approval.state == "open" else "none",
                )
            )  # fmt: skip
    return told


def sentences(conversation: Conversation) -> list[str]:
    """What happened in a thread in at most four sentences, without a judgement."""
    runs = [run for run in conversation.runs if run.seen]
    producers = [run.producer for run in runs if run.producer != "unknown"]
    by = f", written by {producers[0]}" if producers else ""
    ends = Counter(_OUTCOMES.get(run.outcome, run.outcome) for run in runs)
    told = [f"{count(len(runs), 'run')}{by}" + (f": {_counted(ends)}" if ends else "") + "."]
    real = [call for call in conversation.calls if call.synthetic_for is None]
    if not real and not conversation.approvals:
        return [*told, "No tool call and no approval."]
    executed = sum(bool(call.real_results) for call in real)
    told.append(f"{count(len(real), 'tool call')}, {executed or 'none'} with a result.")
    if conversation.approvals:
        words = Counter(_decided(approval) for approval in conversation.approvals)
        told.append(f"{count(len(conversation.approvals), 'approval')}: {_counted(words)}.")
        if answers_unseen(conversation):
            told.append("No request is in the capture, and requests carry the answers; a HAR has both.")
    return told


def answers_unseen(conversation: Conversation) -> bool:
    """True where approvals stand open and no request, which would carry the answer, is in the capture."""
    return all(run.request is None for run in conversation.runs) and any(
        approval.state == "open" or approval.decision == "unseen" for approval in conversation.approvals
    )


def _decided(approval: Approval) -> str:
    if approval.state == "open":
        return "waiting"
    return "decision not seen" if approval.decision in ("unseen", "none") else approval.decision


def _counted(words: Counter[str]) -> str:
    """`approved` alone, `2 approved, 1 waiting` for several words."""
    if len(words) == 1:
        ((word, number),) = words.items()
        return word if number == 1 else f"all {word}"
    return ", ".join(f"{number} {word}" for word, number in words.items())


_OUTCOMES = {
    "success": "finished",
    "interrupt": "interrupted to ask a person",
    "cancelled": "cancelled",
    "error": "failed",
    "none": "without an end",
}


class _Way:
    """Steps in order; a run is named where it differs from the one before."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self._run: Run | None = None

    def add(self, words: str, run: Run | None = None, content: str | None = None) -> None:
        if run is not None and run is not self._run:
            words += f" in run {run.number + 1}"
            self._run = run
        if content is not None:
            words += f": {plain(content, EXCERPT) or '(empty)'}"
        self.steps.append(words)


def fate(call: Call) -> Fate:
    """The way of one call occurrence; that of a confirmation call is the call that it asks about."""
    way = _Way()
    if call.synthetic_for is None:
        way.add("asked", call.run)
        for approval in call.approvals:
            _approval(way, approval)
        end = _end(way, call)
    else:
        way.add(
            f"asks a person about {plain(call.synthetic_for, EXCERPT) or 'a call without an id'}", call.run
        )
        end = "none"
    approval_id = call.approvals[0].id if call.approvals else ""
    return Fate(call.thread_id, call.id, approval_id, call.tool, call.arguments or "", tuple(way.steps), end)


def _approval(way: _Way, approval: Approval) -> None:
    way.add("approval asked", approval.run)
    for answer in approval.answers:
        if answer.decision == "unseen":
            way.add("answered by a decision that is not in the capture")
        else:
            way.add(answer.decision, answer.run)
            if answer.refused:
                way.add("the endpoint refused the answer")


def _end(way: _Way, call: Call) -> str:
    """Add the last step; the word for how it ended."""
    results = [r for r in call.results if not r.decision]
    result = next((r for r in results if r.cls in ("ok", "error")), None)
    if result:
        way.add("answered" if result.cls == "ok" else "failed", result.run, result.content)
        return "ok" if result.cls == "ok" else "failed"
    if results and results[0].cls == "placeholder":
        way.add("placeholder instead of a result", results[0].run, results[0].content)
        return "placeholder"
    if results or any(a.decision in ("rejected", "cancelled") for a in call.approvals):
        way.add("not executed, as decided")
        return "refused"
    if any(a.state == "open" for a in call.approvals):
        way.add("still waits for an answer")
        return "waiting"
    if any(a.state == "reasked" for a in call.approvals):
        way.add("asked again instead of being executed")
        return "lost"
    if call.approvals:
        way.add("no result in the capture")
        return "lost"
    decided = next((r for r in call.results if r.decision), None)
    if decided:
        way.add(f"{decided.decision} by the client", decided.run)
        return "client"
    way.add(
        "left to the client, no answer in the capture" if call.client_side else "no result in the capture"
    )
    return "client" if call.client_side else "none"


def steps(trace: Trace, conversation: Conversation, call_ids: frozenset[str] = frozenset()) -> list[Step]:
    """The conversation line by line, in order; with `call_ids` only what concerns these calls.

    Deltas are joined: a text message or a call with its arguments is one line.
    """
    told: list[Step] = []

    def add(run: Run, sequence: int, kind: str, text: str, call_id: str = "") -> None:
        if not call_ids or call_id in call_ids:
            told.append(Step(run, sequence, kind, text, call_id))

    for message in conversation.messages:
        # an empty message only owns calls
        if text := plain(trace.text(message.deltas), EXCERPT * 2):
            add(
                message.run,
                message.sequence,
                "text",
                f"{plain(message.role or message.kind, EXCERPT)}: {text}",
            )
    for call in conversation.calls:
        for start in call.starts:
            shown = f"call {plain(start.tool, EXCERPT)}({plain(start.arguments, EXCERPT)})"
            add(start.run, start.sequence, "call", shown, call.id)
        if not call.starts:
            shown = f"call {plain(call.tool, EXCERPT)}({plain(call.arguments or '', EXCERPT)})"
            shown += "" if call.told or call.executions else ", not streamed"
            add(call.run, call.sequence, "call", shown, call.id)
        for result in call.streamed:
            shown = f"result of {plain(call.tool, EXCERPT)} ({result.cls}): {plain(result.content, EXCERPT)}"
            add(result.run, result.sequence, "result", shown, call.id)
        for done in call.executions:
            what = f"paused: {plain(done.pause, EXCERPT)}" if done.pause else done.cls
            gave = plain(done.result or done.error, EXCERPT)
            shown = f"{plain(done.tool, EXCERPT) or 'a tool'} at work ({what})" + (
                f": {gave}" if gave else ""
            )
            add(done.run, done.sequence, "work", shown, call.id)
    for result in conversation.orphans:
        shown = f"result for a call that was never made: {plain(result.content, EXCERPT)}"
        add(result.run, result.sequence, "result", shown, result.call_id)
    for approval in conversation.approvals:
        if approval.asks:
            ask = approval.asks[0]
            shown = (
                f"approval {plain(approval.id, EXCERPT)} asked ({', '.join(map(plain, approval.channels))})"
            )
            add(ask.run, ask.sequence, "ask", shown, approval.call_id)
        for answer in approval.answers:
            if answer.decision != "unseen":
                refused = ", refused by the endpoint" if answer.refused else ""
                shown = f"{answer.decision} ({plain(answer.form) or 'told by the result'}){refused}"
                add(answer.run, answer.sequence, "answer", shown, approval.call_id)
    for answer in conversation.strays:
        add(
            answer.run,
            answer.sequence,
            "answer",
            f"answer to an approval never offered: {plain(answer.id, EXCERPT)}",
        )
    return sorted(told, key=lambda step: (step.run.number, step.sequence))
