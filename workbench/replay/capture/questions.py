"""Questions to a person, and the ids that the framework gave to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.shapes import decoded, dicts, named

CONFIRM = "confirm_changes"


@dataclass
class Question:
    """A call that a person was asked about, with the ids under which an answer may come."""

    call: str
    tool: str
    approval: str = ""
    interrupt: str = ""
    confirm: str = ""


def questions(exchange: Exchange) -> dict[str, Question]:
    """The questions of one response, by call."""
    made: dict[str, Question] = {}

    def question(function: Any) -> Question | None:
        if not isinstance(function, dict) or not isinstance(function.get("call_id"), str):
            return None
        call = function["call_id"]
        return made.setdefault(call, Question(call, str(function.get("name", ""))))

    for event in exchange.of("CUSTOM"):
        value = event.get("value")
        if event.get("name") == "function_approval_request" and isinstance(value, dict):
            asked = question(value.get("function_call"))
            if asked is not None:
                asked.approval = str(value.get("id", ""))
    for event in exchange.of("RUN_FINISHED"):
        outcome = event.get("outcome")
        for interrupt in dicts(outcome.get("interrupts") if isinstance(outcome, dict) else None):
            if named(interrupt.get("toolCallId")) in made:
                made[interrupt["toolCallId"]].interrupt = str(interrupt.get("id", ""))
        for interrupt in dicts(event.get("interrupt")):
            value = interrupt.get("value")
            asked = question(value.get("function_call")) if isinstance(value, dict) else None
            if asked is not None:
                asked.interrupt = str(interrupt.get("id", ""))
    for confirm, target in confirmations(exchange).items():
        if target in made:
            made[target].confirm = confirm
    return made


def confirmations(exchange: Exchange) -> dict[str, str]:
    """The calls of `confirm_changes` that the framework makes itself: their id, and the call they are about."""
    arguments = {
        str(event.get("toolCallId")): "" for event in exchange.of("TOOL_CALL_START") if event.get("toolCallName") == CONFIRM
    }  # fmt: skip
    for event in exchange.of("TOOL_CALL_ARGS"):
        if named(event.get("toolCallId")) in arguments:
            arguments[event["toolCallId"]] += str(event.get("delta", ""))
    made = {}
    for confirm, text in arguments.items():
        try:
            target = decoded(text).get("function_call_id")
        except (ValueError, AttributeError):
            continue
        if isinstance(target, str):
            made[confirm] = target
    return made
