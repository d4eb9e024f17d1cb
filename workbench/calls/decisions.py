"""Answers to approvals: what a payload decides, and where a request carries answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

_FLAGS = ("approved", "accepted", "confirmed", "approve", "accept", "allow", "isApproved")
_YES = frozenset(
    {"approve", "approved", "accept", "accepted", "allow", "confirm", "confirmed", "yes", "true", "ok"}
)
_NO = frozenset(
    {"reject", "rejected", "deny", "denied", "decline", "declined", "refuse", "no", "false", "ignore"}
)
_EDIT = frozenset({"edit", "edited", "modify"})
_CANCEL = frozenset({"cancel", "cancelled", "canceled"})
_EDITED_KEYS = ("editedArgs", "edited_args", "editedArguments", "edited_action", "editedAction")
#: Keys that name a decision in the payloads of LangGraph's and others' review helpers.
_WORD_KEYS = ("decision", "type", "action", "answer", "response", "status", "outcome")


@dataclass(frozen=True, slots=True)
class Given:
    """One answer as a request carries it. `id` is the interrupt or call id, "" where it has none."""

    id: str
    decision: str
    form: str
    payload: Any


#: lists in lists, or texts of JSON in each other, that are looked into for a decision
_DEPTH = 8


def decide(payload: Any, arguments: Any = None, depth: int = _DEPTH) -> str | None:
    """The decision in a payload: approved, edited, rejected or cancelled; None where it holds none.

    `arguments` are those that were shown, so that changed ones can be told from repeated ones.
    """
    if depth < 0:
        return None
    if isinstance(payload, str):
        return _decide_text(payload, arguments, depth)
    if isinstance(payload, bool):
        return "approved" if payload else "rejected"
    if isinstance(payload, list):
        decisions = [decide(item, arguments, depth - 1) for item in payload]
        return _overall([d for d in decisions if d]) if decisions and all(decisions) else None
    if not isinstance(payload, dict):
        return None
    for key in _FLAGS:
        flag = payload.get(key)
        if isinstance(flag, str) and flag.lower() in ("true", "false"):
            flag = flag.lower() == "true"
        if isinstance(flag, bool):
            if not flag:
                return "rejected"
            return "edited" if _edited(payload, arguments) else "approved"
    if payload.get("cancelled") is True or payload.get("canceled") is True:
        return "cancelled"
    if isinstance(payload.get("decisions"), list):
        return decide(payload["decisions"], arguments, depth - 1)
    for key in _WORD_KEYS:
        word = payload.get(key)
        if isinstance(word, str):
            decision = _word(word)
            if decision:
                return "edited" if decision == "approved" and _edited(payload, arguments) else decision
    return None


def _decide_text(text: str, arguments: Any, depth: int) -> str | None:
    stripped = text.strip()
    if stripped[:1] in ("{", "[", '"') or stripped in ("true", "false"):
        try:
            return decide(msgspec.json.decode(stripped), arguments, depth - 1)
        except (msgspec.DecodeError, RecursionError):
            return None
    return _word(stripped)


def _word(text: str) -> str | None:
    word = text.strip().lower().rstrip(".!")
    if word in _YES:
        return "approved"
    if word in _NO:
        return "rejected"
    if word in _EDIT:
        return "edited"
    return "cancelled" if word in _CANCEL else None


def _edited(payload: dict[str, Any], arguments: Any) -> bool:
    for key in _EDITED_KEYS:
        edited = payload.get(key)
        if edited is not None and edited != arguments:
            return True
    # Direct edits: one property per argument beside the flag (agent-framework 1.1 and later).
    if isinstance(arguments, dict):
        return any(key in payload and payload[key] != value for key, value in arguments.items())
    return False


def _overall(decisions: list[str]) -> str | None:
    """Several decisions in one payload: equal ones are that one; mixed ones are read as edited."""
    distinct = set(decisions)
    if not distinct:
        return None
    return distinct.pop() if len(distinct) == 1 else "edited"


def is_decision(content: str) -> str | None:
    """The decision that a tool message carries instead of a result: a JSON object or flag, never bare prose."""
    text = content.strip()
    if not text.startswith("{"):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or not any(key in value for key in ("approved", "accepted", "confirmed")):
        return None
    # A tool may well return {"approved": true, "score": 0.7, …}: a decision is little else.
    extra = set(value) - {"approved", "accepted", "confirmed", "steps", "reason", "feedback", "comment", "message",
                          "payload", "hint", *_EDITED_KEYS}  # fmt: skip
    return decide(value) if not extra else None


def resume_entries(body: dict[str, Any]) -> Iterator[Given]:
    """Answers in `resume`, `forwardedProps.command` and `forwardedProps.resume` of a request body."""
    yield from _entries(body.get("resume"), "resume")
    props = body.get("forwardedProps", body.get("forwarded_props"))
    if not isinstance(props, dict):
        return
    command = props.get("command")
    if isinstance(command, dict):
        event = command.get("interruptEvent", command.get("interrupt_event"))
        yield from _entries(command.get("resume"), "command", _event_id(event))
    yield from _entries(props.get("resume"), "command")


def _event_id(event: Any) -> str:
    if isinstance(event, str):
        try:
            event = msgspec.json.decode(event)
        except (msgspec.DecodeError, RecursionError):
            return ""
    if not isinstance(event, dict):
        return ""
    if isinstance(event.get("id"), str):
        return str(event["id"])
    call, run = event.get("toolCallId"), event.get("runId")
    return f"{run}::{call}" if isinstance(call, str) and isinstance(run, str) else str(call or "")


def _entries(value: Any, form: str, default_id: str = "") -> Iterator[Given]:
    if value is None:
        return
    if isinstance(value, dict):
        inner = value.get("interrupts")
        if isinstance(inner, list):
            value = inner
        elif "interruptId" in value or "interrupt_id" in value:
            value = [value]
    if isinstance(value, list) and value and all(isinstance(v, dict) and _entry_id(v) for v in value):
        for entry in value:
            payload = entry.get("payload", entry.get("value", entry.get("response")))
            if entry.get("status") in ("cancelled", "canceled"):
                decision = "cancelled"
            else:
                decision = decide(payload) or "unseen"
            yield Given(_entry_id(entry), decision, form, payload)
        return
    if isinstance(value, list) and not value:
        return
    yield Given(default_id, decide(value) or "unseen", form, value)


def _entry_id(entry: dict[str, Any]) -> str:
    for key in ("interruptId", "interrupt_id", "id"):
        if isinstance(entry.get(key), str):
            return str(entry[key])
    return ""


def message_approvals(message: dict[str, Any]) -> Iterator[Given]:
    """Answers in `function_approvals` of one user message (agent-framework before 1.0)."""
    entries = message.get("function_approvals", message.get("functionApprovals"))
    if not isinstance(entries, list):
        return
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            yield Given(entry["id"], decide(entry) or "unseen", "function-approvals", entry)
