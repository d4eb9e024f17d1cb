"""The AG-UI event types with their fields, both protocol generations, as data.

Read from ag-ui-protocol 0.1.4–0.1.22 and 1.0.0. What either generation accepts is
accepted here: optional fields may be null, a result's content may be a list of parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "text", "integer", "flag", "any", "object", "parts", "patch", "outcome", "subagent-outcome",
    "messages", "usage", "text-role", "reasoning-role", "tool-role", "subtype",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an event: wire name, what it holds, whether it must be there."""

    name: str
    kind: Kind = "text"
    required: bool = False


@dataclass(frozen=True, slots=True)
class EventType:
    """One event type; `removed` names the release that no longer has it."""

    name: str
    fields: tuple[Field, ...]
    since: str = "0.1.4"
    removed: str = ""


def _must(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name, required=True) for name in names)


def _may(*names: str) -> tuple[Field, ...]:
    return tuple(Field(name) for name in names)


#: Fields that any event may have.
COMMON = (Field("timestamp", "integer"), Field("rawEvent", "any"), Field("metadata", "object"))

_LANE = Field("subagentRunId")
_ROLE = Field("role", "text-role")
_USAGE = Field("usage", "usage")
_DELTA = Field("delta", required=True)

#: `value`, `event` and `snapshot` are required by the schema, but the official Python encoder
#: leaves out a field that is null, so their absence says null and is no fault of the producer.
TYPES: tuple[EventType, ...] = (
    EventType(
        "RUN_STARTED",
        (*_must("threadId", "runId"), *_may("parentRunId", "protocolVersion"), Field("input", "object")),
    ),
    EventType(
        "RUN_FINISHED",
        (*_must("threadId", "runId"), Field("result", "any"), Field("outcome", "outcome"), _USAGE),
    ),
    EventType("RUN_ERROR", (*_must("message"), *_may("code"), _USAGE)),
    EventType("STEP_STARTED", (*_must("stepName"), _LANE)),
    EventType("STEP_FINISHED", (*_must("stepName"), _LANE)),
    EventType("TEXT_MESSAGE_START", (*_must("messageId"), _ROLE, *_may("name"), _LANE)),
    EventType("TEXT_MESSAGE_CONTENT", (*_must("messageId"), _DELTA, _LANE)),
    EventType("TEXT_MESSAGE_END", (*_must("messageId"), _LANE)),
    EventType("TEXT_MESSAGE_CHUNK", (*_may("messageId", "delta", "name"), _ROLE, _LANE), "0.1.10"),
    EventType("TOOL_CALL_START", (*_must("toolCallId", "toolCallName"), *_may("parentMessageId"), _LANE)),
    EventType("TOOL_CALL_ARGS", (*_must("toolCallId"), _DELTA, _LANE)),
    EventType("TOOL_CALL_END", (*_must("toolCallId"), _LANE)),
    EventType(
        "TOOL_CALL_CHUNK", (*_may("toolCallId", "toolCallName", "parentMessageId", "delta"), _LANE), "0.1.10"
    ),
    EventType(
        "TOOL_CALL_RESULT",
        (
            *_must("messageId", "toolCallId"),
            Field("content", "parts", required=True),
            Field("role", "tool-role"),
            _LANE,
        ),
        "0.1.10",
    ),
    EventType("STATE_SNAPSHOT", (Field("snapshot", "any"), _LANE)),
    EventType("STATE_DELTA", (Field("delta", "patch", required=True), _LANE)),
    EventType("MESSAGES_SNAPSHOT", (Field("messages", "messages", required=True),)),
    EventType(
        "ACTIVITY_SNAPSHOT",
        (
            *_must("messageId", "activityType"),
            Field("content", "any", required=True),
            Field("replace", "flag"),
            _LANE,
        ),
        "0.1.10",
    ),
    EventType(
        "ACTIVITY_DELTA",
        (*_must("messageId", "activityType"), Field("patch", "patch", required=True), _LANE),
        "0.1.10",
    ),
    EventType("RAW", (Field("event", "any"), *_may("source"), _LANE)),
    EventType("CUSTOM", (*_must("name"), Field("value", "any"), _LANE)),
    EventType("REASONING_START", (*_must("messageId"), _LANE), "0.1.11"),
    EventType("REASONING_END", (*_must("messageId"), _LANE), "0.1.11"),
    EventType(
        "REASONING_MESSAGE_START", (*_must("messageId"), Field("role", "reasoning-role"), _LANE), "0.1.11"
    ),
    EventType("REASONING_MESSAGE_CONTENT", (*_must("messageId"), _DELTA, _LANE), "0.1.11"),
    EventType("REASONING_MESSAGE_END", (*_must("messageId"), _LANE), "0.1.11"),
    EventType("REASONING_MESSAGE_CHUNK", (*_may("messageId", "delta"), _LANE), "0.1.11"),
    EventType(
        "REASONING_ENCRYPTED_VALUE",
        (*_must("entityId", "encryptedValue"), Field("subtype", "subtype", required=True), _LANE),
        "0.1.11",
    ),
    EventType(
        "SUBAGENT_STARTED",
        (
            *_must("subagentRunId", "name"),
            *_may("description", "parentSubagentRunId", "parentToolCallId", "parentMessageId"),
        ),
        "0.1.11",
    ),
    EventType(
        "SUBAGENT_FINISHED",
        (*_must("subagentRunId"), Field("result", "any"), Field("outcome", "subagent-outcome")),
        "0.1.11",
    ),
    EventType("SUBAGENT_ERROR", (*_must("subagentRunId", "message"), *_may("code")), "0.1.11"),
    EventType("THINKING_START", _may("title"), "0.1.10", "1.0.0"),
    EventType("THINKING_END", (), "0.1.10", "1.0.0"),
    EventType("THINKING_TEXT_MESSAGE_START", (), "0.1.10", "1.0.0"),
    EventType("THINKING_TEXT_MESSAGE_CONTENT", (_DELTA,), "0.1.10", "1.0.0"),
    EventType("THINKING_TEXT_MESSAGE_END", (), "0.1.10", "1.0.0"),
)

BY_NAME = {event_type.name: event_type for event_type in TYPES}
#: Types that the current generation no longer has.
DEPRECATED = frozenset(event_type.name for event_type in TYPES if event_type.removed)

#: Event columns and the wire fields that fill them, for every type alike.
COLUMNS = {
    "thread": "threadId",
    "run": "runId",
    "message": "messageId",
    "parent": "parentMessageId",
    "call": "toolCallId",
    "role": "role",
    "subagent": "subagentRunId",
}
#: The wire field behind the column `name`; `name` itself for all other types.
LABELS = {
    "TOOL_CALL_START": "toolCallName",
    "TOOL_CALL_CHUNK": "toolCallName",
    "STEP_STARTED": "stepName",
    "STEP_FINISHED": "stepName",
    "ACTIVITY_SNAPSHOT": "activityType",
    "ACTIVITY_DELTA": "activityType",
}


def snake(name: str) -> str:
    """`toolCallId` as `tool_call_id`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)


def known_type(name: str) -> bool:
    """Whether a type value belongs to AG-UI, also where it was written in lower case.

    `custom`, `raw` and other plain words say nothing in lower case.
    """
    return name in BY_NAME or ("_" in name and name.upper() in BY_NAME)
