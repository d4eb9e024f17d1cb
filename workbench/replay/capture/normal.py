"""Events as text that two runs have in common: exactly, and in their shape.

Exactly: every field of every event, with the ids that a framework makes up numbered in the order in which
they appear. Ids of the model's calls stay, because the recorded model says them again. The shape leaves out what
releases say differently: it is kinds of events, tools and roles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.shapes import dicts

_ID_KEYS = frozenset(
    {"threadId", "runId", "messageId", "parentMessageId", "toolCallId", "interruptId", "id", "parentRunId", "call_id", "function_call_id"}
)  # fmt: skip
_MADE_UP = re.compile(
    r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\baf-call-[0-9a-f]+|\b[0-9a-f]{32}\b"
)


def exact(exchanges: Iterable[Exchange], calls: Iterable[str]) -> list[list[str]]:
    """The lines of each exchange: its status where it was refused, and its events."""
    numbers = _Numbers(calls)
    made = []
    for exchange in exchanges:
        lines = [
            json.dumps(numbers.of(event), sort_keys=True, ensure_ascii=False) for event in exchange.events
        ]
        made.append(lines if (exchange.status or 200) < 400 else [f"HTTP {exchange.status}"])
    return made


class _Numbers:
    """Numbers for ids, in the order in which they come."""

    def __init__(self, calls: Iterable[str]) -> None:
        self._kept = set(calls)
        self._numbers: dict[str, str] = {}

    def of(self, value: Any, key: str = "") -> Any:
        """A value with numbered ids."""
        if isinstance(value, dict):
            return {name: self.of(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [self.of(item) for item in value]
        if not isinstance(value, str) or value in self._kept:
            return value
        if key in _ID_KEYS:
            # an id may be made of another: approval-response-<interrupt>
            inner = _MADE_UP.sub(lambda found: self._number(found[0]), value)
            return inner if inner != value else self._number(value)
        return _MADE_UP.sub(lambda found: self._number(found[0]), value)

    def _number(self, value: str) -> str:
        if value in self._kept:
            return value
        return self._numbers.setdefault(value, f"#{len(self._numbers) + 1}")


def skeleton(exchanges: Iterable[Exchange]) -> list[list[str]]:
    """The shape of each exchange: kinds of events with tools and roles, pieces of one message together."""
    made = []
    for exchange in exchanges:
        lines: list[str] = [] if (exchange.status or 200) < 400 else [f"HTTP {exchange.status}"]
        for event in exchange.events:
            line = _shape(event)
            if line and (not lines or lines[-1] != line or not line.endswith(("CONTENT", "ARGS"))):
                lines.append(line)
        made.append(lines)
    return made


def _shape(event: dict[str, Any]) -> str:
    kind = str(event.get("type"))
    if kind == "TOOL_CALL_START":
        return f"{kind} {event.get('toolCallName')}"
    if kind == "CUSTOM":
        return "" if event.get("name") == "usage" else f"{kind} {event.get('name')}"
    if kind == "MESSAGES_SNAPSHOT":
        return f"{kind} {' '.join(str(m.get('role')) for m in dicts(event.get('messages')))}"
    if kind == "RUN_FINISHED":
        outcome = event.get("outcome")
        asks = event.get("interrupt") or (isinstance(outcome, dict) and outcome.get("interrupts"))
        return f"{kind} {'interrupt' if asks else 'success'}"
    if kind == "RUN_ERROR":
        return f"{kind} {event.get('code')}"
    return kind
