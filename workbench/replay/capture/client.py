"""What the client sent, step by step, without the ids that belong to the recorded run.

The history of a request is "what I knew after step n, and these new messages", where that is what was sent;
answers name the call that they are about. `guest.conversation` makes requests of it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from workbench.replay.capture.assumptions import Assumption
from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.questions import Question, questions
from workbench.replay.capture.shapes import decoded, dicts, named
from workbench.replay.guest import view

Json = dict[str, Any]


@dataclass
class Sent:
    """The steps of a conversation for the guest, and what was assumed."""

    steps: list[Json] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)


def sent(exchanges: list[Exchange]) -> Sent:
    """Read what the client sent."""
    made = Sent()
    views: list[list[Json]] = []
    asked: dict[str, Question] = {}
    for number, exchange in enumerate(exchanges):
        messages = dicts(exchange.request.get("messages"))
        start, added = _split(messages, views)
        if start is None and number == 0 and any(m.get("role") == "assistant" for m in messages):
            made.assumptions.append(
                Assumption("history", "sent as it was recorded", "the capture begins in the middle of the thread",
                           "load the earlier runs, too")
            )  # fmt: skip
        elif start is None and number:
            made.assumptions.append(
                Assumption(
                    "history",
                    f"sent as it was recorded in step {number + 1}",
                    "it is not what the client knew after an earlier run",
                )
            )
        written = _Writer(asked)
        told = [written.message(message) for message in (messages if start is None else added)]
        body = {key: value for key, value in exchange.request.items() if key != "messages"}
        request = {
            **written.body(body),
            "messages": told if start is None else {"view": start, "then": told},
        }
        step: Json = {"name": f"step-{number + 1}", "request": request}
        # of a list that was sent as a whole, only its end can answer what was asked last
        latest = added if start is not None else messages[-len(asked) :]
        answers = written.answers(body, latest)
        if answers:
            step |= {"form": written.form, "answers": answers}
        made.steps.append(step)
        views.append(view.after(messages, exchange.events))
        asked |= questions(exchange)
    return made


def _split(messages: list[Json], views: list[list[Json]]) -> tuple[int | None, list[Json]]:
    """The latest step whose view these messages begin with, and the messages that were added to it."""
    for number in range(len(views) - 1, -1, -1):
        known = views[number]
        if known and len(known) <= len(messages) and all(map(_same, known, messages)):
            return number, messages[len(known) :]
    return None, messages


def _same(one: Any, other: Json) -> bool:
    """Clients leave out what is empty, and names that they do not know."""
    if not isinstance(one, dict):
        return False

    def told(message: Json) -> Any:
        calls = [(c.get("id"), c.get("function")) for c in dicts(message.get("toolCalls"))]
        return (
            message.get("role"),
            message.get("id"),
            message.get("content") or "",
            message.get("toolCallId"),
            calls,
        )

    return bool(told(one) == told(other))


class _Writer:
    """Writes one request with names in the place of the framework's ids, and notes the answers in it."""

    def __init__(self, asked: dict[str, Question]) -> None:
        self._asked = asked
        self.form = ""
        self._confirms = {q.confirm: q.call for q in asked.values() if q.confirm}
        self._interrupts = {
            q.interrupt or q.approval: q.call for q in asked.values() if q.interrupt or q.approval
        }
        self._approvals = {q.approval: q.call for q in asked.values() if q.approval}

    def message(self, message: Json) -> Json:
        """One message of the history."""
        made = dict(message)
        if named(message.get("toolCallId")) in self._confirms:
            made["toolCallId"] = {"$id": ["confirm", self._confirms[message["toolCallId"]]]}
        approvals = message.get("function_approvals")
        if isinstance(approvals, list):
            made["function_approvals"] = [
                {**item, "id": {"$id": ["approval", self._approvals[item["id"]]]}}
                if isinstance(item, dict) and named(item.get("id")) in self._approvals
                else item
                for item in approvals
            ]
        calls = message.get("toolCalls")
        if isinstance(calls, list):
            made["toolCalls"] = [
                {**call, "id": {"$id": ["confirm", self._confirms[call["id"]]]}}
                if isinstance(call, dict) and named(call.get("id")) in self._confirms
                else call
                for call in calls
            ]
        return made

    def body(self, body: Json) -> Json:
        """The rest of a request."""
        made = dict(body)
        for key in ("resume", "forwardedProps", "forwarded_props"):
            if key in made:
                made[key] = self._resume(made[key])
        return made

    def _resume(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._resume(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {
            key: {"$id": ["interrupt", self._interrupts[item]]}
            if key in ("interruptId", "id") and isinstance(item, str) and item in self._interrupts
            else self._resume(item)
            for key, item in value.items()
        }

    def answers(self, body: Json, added: list[Json]) -> list[Json]:
        """The answers in a request: call, decision and payload; sets `form`."""
        found: dict[str, Json] = {}

        def note(form: str, call: str, payload: Any, *, status: Any = None) -> None:
            decided = _decision(payload)
            if decided is not None or status is not None:
                self.form = self.form or form
                found[call] = {"call": call, "accepted": bool(decided), "payload": payload}
                if decided is None or not _plain(payload) or status not in (None, "resolved"):
                    # another form would lose something of it
                    found[call]["only"] = True

        for entry, form in _resumed(body):
            call = self._interrupts.get(str(entry.get("interruptId", entry.get("id"))))
            if call is not None:
                note(form, call, entry.get("payload", entry.get("value")), status=entry.get("status"))
        for message in added:
            target = str(message.get("toolCallId"))
            if message.get("role") == "tool" and target in self._confirms:
                note("confirm-changes", self._confirms[target], _decoded(message.get("content")))
            elif message.get("role") == "tool" and target in self._asked:
                note("call-result", target, _decoded(message.get("content")))
            for item in dicts(message.get("function_approvals")):
                call = self._approvals.get(named(item.get("id"))) or named(item.get("call_id"))
                if call in self._asked:
                    note("function-approvals", call, {"accepted": bool(item.get("approved"))})
        return list(found.values())


def _resumed(body: Json) -> Iterator[tuple[Json, str]]:
    """The entries of a request that resume something, with the form they have."""
    props = body.get("forwardedProps") or body.get("forwarded_props") or {}
    command = props.get("command") if isinstance(props, dict) else None
    told = command.get("resume") if isinstance(command, dict) else None
    places = ((body.get("resume"), "resume"), (told, "command"))
    for value, form in places:
        entries = value.get("interrupts") if isinstance(value, dict) else value
        named = "resume-interrupts" if isinstance(value, dict) and form == "resume" else form
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield entry, named


def _decoded(content: Any) -> Any:
    try:
        return decoded(content) if isinstance(content, str) else content
    except ValueError:
        return content


def _decision(payload: Any) -> bool | None:
    """What a payload decides; None where it decides nothing."""
    if not isinstance(payload, dict):
        return None
    for key in ("accepted", "approved"):
        if isinstance(payload.get(key), bool):
            return bool(payload[key])
    return None


def _plain(payload: Any) -> bool:
    """A bare yes or no, which any form can carry."""
    return isinstance(payload, dict) and set(payload) <= {"accepted", "approved", "steps"}
