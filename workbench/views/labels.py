"""What an event says, in one line: the words on the arrows of a sequence diagram."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from workbench.views.text import MAX_TEXT, clean, plural, short_id

#: what an arrow means; each kind has its own colour and its own shape
KINDS = (
    "request",
    "answer",
    "run",
    "text",
    "reasoning",
    "call",
    "result",
    "approval",
    "state",
    "error",
    "work",
    "log",
    "other",
)
_BY_PREFIX = (
    ("TEXT_MESSAGE_", "text"),
    ("REASONING_", "reasoning"),
    ("THINKING_", "reasoning"),
    ("TOOL_CALL_RESULT", "result"),
    ("TOOL_CALL_", "call"),
    ("RUN_ERROR", "error"),
    ("SUBAGENT_ERROR", "error"),
    ("RUN_", "run"),
    ("STEP_", "run"),
    ("SUBAGENT_", "run"),
    ("STATE_", "state"),
    ("MESSAGES_SNAPSHOT", "state"),
    ("ACTIVITY_", "state"),
)
#: events that come in long runs, of which consecutive ones are drawn as one arrow
DELTAS = frozenset(
    {
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_CHUNK",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_CHUNK",
        "REASONING_MESSAGE_CONTENT",
        "REASONING_MESSAGE_CHUNK",
        "THINKING_TEXT_MESSAGE_CONTENT",
        "RAW",
    }
)


def kind_of(event_type: str) -> str:
    """The kind of arrow of an event type, in whatever spelling it was written."""
    name = event_type.upper()
    return next((kind for prefix, kind in _BY_PREFIX if name.startswith(prefix)), "other")


def compact(value: object, limit: int = MAX_TEXT) -> str:
    """A decoded value in one line: texts as they are, the rest as JSON."""
    if isinstance(value, str):
        return clean(value, limit)
    if value is None:
        return ""
    try:
        return clean(msgspec.json.encode(value).decode("utf-8", "replace"), limit)
    except (TypeError, ValueError, RecursionError):
        return clean(repr(type(value)), limit)


def joined(*parts: object) -> str:
    """The parts that say something, with a dot between them."""
    return " · ".join(text for part in parts if (text := compact(part)))


def of_event(event_type: str, event: dict[str, Any]) -> str:
    """The words for one decoded event, without its type."""
    name = event_type.upper()
    get = event.get
    if name.startswith(("TEXT_MESSAGE_", "REASONING_MESSAGE_", "THINKING_TEXT_MESSAGE_")):
        if "delta" in event:
            return quoted(compact(get("delta")))
        return joined(
            get("role") if name.endswith("START") else "", short_id(get("messageId", get("message_id")))
        )
    if name == "TOOL_CALL_RESULT":
        return compact(get("content"))
    if name.startswith("TOOL_CALL_"):
        call = short_id(get("toolCallId", get("tool_call_id")))
        if name.endswith("START"):
            return joined(get("toolCallName", get("tool_call_name")), call)
        return compact(get("delta")) if "delta" in event else compact(call)
    if name == "RUN_STARTED":
        return short_id(get("runId", get("run_id")))
    if name == "RUN_FINISHED":
        return _finish(event)
    if name == "RUN_ERROR":
        return joined(get("code"), get("message"))
    if name == "MESSAGES_SNAPSHOT":
        return messages(get("messages"))
    if name.startswith("STEP_"):
        return compact(get("stepName", get("step_name")))
    if name == "STATE_SNAPSHOT":
        return compact(get("snapshot"))
    if name == "STATE_DELTA":
        return compact(get("delta"))
    if name.startswith("ACTIVITY_"):
        return joined(get("activityType"), get("content", get("patch")))
    if name == "CUSTOM":
        return joined(get("name"), get("value"))
    if name == "RAW":
        return _raw(get("event"), get("source"))
    rest = {key: value for key, value in event.items() if key not in ("type", "timestamp", "rawEvent")}
    return compact(rest) if rest else ""


def quoted(text: str) -> str:
    """A text that somebody said, in quotation marks."""
    return f"“{text}”" if text else ""


def approval(name: object, tool: str, arguments: str | None, approval_id: str) -> str:
    """The words of an event that asks for an approval."""
    return joined(
        name, f"{clean(tool, 80)}({clean(arguments or '', 160)})" if tool else "", short_id(approval_id)
    )


def messages(items: object) -> str:
    """How many messages a list holds, by role."""
    if not isinstance(items, list):
        return ""
    roles = Counter(str(m.get("role", "?")) if isinstance(m, dict) else "?" for m in items)
    parts = [f"{count} {clean(role, 40)}" for role, count in roles.items()]
    return f"{plural(len(items), 'message')}: {', '.join(parts)}" if parts else "no messages"


def _finish(event: dict[str, Any]) -> str:
    outcome = event.get("outcome")
    word = outcome.get("type") if isinstance(outcome, dict) else outcome
    entries = outcome.get("interrupts") if isinstance(outcome, dict) else event.get("interrupt")
    asked = [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    said = [joined(e.get("message") or e.get("reason"), short_id(e.get("id"))) for e in asked]
    many = plural(len(asked), "interrupt") if len(asked) > 1 else word or ("interrupt" if asked else "")
    return joined(many, "; ".join(said)) or short_id(event.get("runId", event.get("run_id")))


def _raw(event: object, source: object) -> str:
    if isinstance(event, dict):
        told = joined(event.get("event"), event.get("name"))
        return joined(source, told or event)
    return joined(source, event)
