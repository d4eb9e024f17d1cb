"""What the model said, read off the events: turns of contents, step by step.

A new model call begins with the first output of the model after the result of a call made in the same run; results
that come before it belong to the client's answer. What the framework writes itself is left out: confirmation
calls, closing texts, and calls that it emits again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.questions import confirmations
from workbench.replay.capture.shapes import decoded, named

#: Codes of RUN_ERROR with which the framework itself refuses
_OWN_CODES = re.compile(r"^(APPROVAL|WORKFLOW)_")
#: Texts with which agent-framework-ag-ui closes a run that answers `confirm_changes`, without a model
_OWN_TEXTS = re.compile(
    r"Changes confirmed and applied successfully!|Acknowledged\."
    r"|Executing \d+ approved steps:\n.*All steps completed successfully!"
    r"|No problem! What would you like me to change about the plan\?",
    re.DOTALL,
)
#: Events that say what a recorded model cannot say again; they are named
_UNTOLD = ("STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "STEP_STARTED", "RAW")

Turn = dict[str, Any]


@dataclass
class Said:
    """The turns of each step; `calls` are the tools that were called, by call id; `untold` types of events."""

    steps: list[list[Turn]] = field(default_factory=list)
    calls: dict[str, str] = field(default_factory=dict)
    untold: set[str] = field(default_factory=set)


def said(exchanges: list[Exchange]) -> Said:
    """Read the turns of all steps."""
    made = Said()
    for exchange in exchanges:
        made.steps.append(_Step(exchange, made).turns)
    return made


class _Step:
    """Reads one response."""

    def __init__(self, exchange: Exchange, before: Said) -> None:
        self.turns: list[Turn] = []
        self._before = before
        self._open: Turn | None = None
        self._first: dict[str, Any] = {}
        self._calls: dict[str, str] = {}
        self._again: set[str] = set()
        self._own = confirmations(exchange)
        # calls of earlier steps that are answered in this one, and may be emitted again
        self._answered = {
            str(event.get("toolCallId")) for event in exchange.of("TOOL_CALL_RESULT")
        } & set(before.calls)  # fmt: skip
        text = "".join(str(event.get("delta", "")) for event in exchange.of("TEXT_MESSAGE_CONTENT"))
        self._skips_text = _OWN_TEXTS.fullmatch(text) is not None
        for event in exchange.events:
            self._take(event, exchange.request)
        before.calls |= self._calls_made()

    def _calls_made(self) -> dict[str, str]:
        return {
            content["call"]: content["name"]
            for turn in self.turns
            for content in turn["contents"]
            if content.get("name")
        }

    def _take(self, event: dict[str, Any], request: dict[str, Any]) -> None:
        kind = str(event.get("type"))
        if kind == "RUN_STARTED":
            # releases up to 1.0.1 give a run the id of the model's response
            for key, name in (("runId", "response_id"), ("threadId", "conversation_id")):
                if (
                    event.get(key) != request.get(key)
                    and isinstance(event.get(key), str)
                    and request.get(key)
                ):
                    self._first[name] = event[key]
        elif kind in ("TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK"):
            if event.get("delta") and not self._skips_text:
                self._say({"text": event["delta"]})
        elif kind == "REASONING_MESSAGE_CONTENT":
            self._say({"reasoning": event.get("delta", ""), "id": event.get("messageId", "")})
        elif kind == "TOOL_CALL_START":
            self._start(str(event.get("toolCallId")), str(event.get("toolCallName")))
        elif kind == "TOOL_CALL_ARGS":
            self._arguments(str(event.get("toolCallId")), str(event.get("delta", "")))
        elif kind == "TOOL_CALL_RESULT":
            if named(event.get("toolCallId")) in self._calls:
                self._open = None
        elif kind == "CUSTOM" and event.get("name") == "usage":
            self._say({"usage": event.get("value")})
        elif kind == "RUN_ERROR":
            self._error(str(event.get("code") or ""), str(event.get("message") or ""))
        elif kind in _UNTOLD:
            self._before.untold.add(kind)

    def _say(self, content: dict[str, Any]) -> None:
        if self._open is None:
            self._open = {"contents": [], **(self._first if not self.turns else {})}
            self.turns.append(self._open)
        self._open["contents"].append(content)

    def _start(self, call: str, tool: str) -> None:
        if call in self._own:
            return
        if call in self._calls:
            # emitted again by the framework, if it was whole; else it goes on
            if _whole(self._calls[call]):
                self._again.add(call)
            return
        if call in self._answered:
            self._again.add(call)
            return
        self._calls[call] = ""
        self._say({"call": call, "name": tool, "arguments": ""})

    def _arguments(self, call: str, delta: str) -> None:
        if call in self._own or call in self._again or call not in self._calls:
            return
        begun = self._calls[call]
        self._calls[call] += delta
        last = self._open["contents"][-1] if self._open is not None else None
        if not begun and last is not None and last.get("call") == call:
            last["arguments"] = delta
        else:
            self._say({"call": call, "name": "", "arguments": delta})

    def _error(self, code: str, message: str) -> None:
        if not _OWN_CODES.match(code):
            self._say({"error": {"code": code or "RuntimeError", "message": message}})


def _whole(arguments: str) -> bool:
    try:
        decoded(arguments)
    except ValueError:
        return False
    return True
