"""AG-UI events in protobuf (application/vnd.ag-ui.event+proto): one Event message → the event as JSON has it.

Field numbers are those of the protocol's 1.0 release, which only added to those of 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.readers import protocol
from workbench.readers.proto_wire import (
    BYTES,
    MAX_DEPTH,
    VARINT,
    WireError,
    fields,
    json_struct,
    json_value,
    signed,
    text,
)

#: Event.event: the number of each type
TYPES = dict(
    enumerate(
        (
            "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TOOL_CALL_START", "TOOL_CALL_ARGS",
            "TOOL_CALL_END", "STATE_SNAPSHOT", "STATE_DELTA", "MESSAGES_SNAPSHOT", "RAW", "CUSTOM", "RUN_STARTED",
            "RUN_FINISHED", "RUN_ERROR", "STEP_STARTED", "STEP_FINISHED", "TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK",
            "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR", "TOOL_CALL_RESULT", "ACTIVITY_SNAPSHOT",
            "ACTIVITY_DELTA", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
            "REASONING_MESSAGE_END", "REASONING_MESSAGE_CHUNK", "REASONING_END", "REASONING_ENCRYPTED_VALUE",
        ),
        start=1,
    )
)  # fmt: skip


def _fields(texts: str, **others: str) -> dict[int, tuple[str, str]]:
    """Field numbers from words like `2:messageId`, and from keywords like `value="3:json"`."""
    table = {int(n): (name, "text") for n, _, name in (word.partition(":") for word in texts.split())}
    for name, said in others.items():
        number, _, kind = said.partition(":")
        table[int(number)] = (name, kind)
    return table


#: Fields of each message: name as in JSON, and what it holds: text, flag, number, json (Value), struct, op,
#: or another message; `*` repeats.
MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "Base": _fields("", timestamp="2:number", rawEvent="3:json", metadata="4:struct"),
    "TEXT_MESSAGE_START": _fields("2:messageId 3:role 4:name 5:subagentRunId"),
    "TEXT_MESSAGE_CONTENT": _fields("2:messageId 3:delta 4:subagentRunId"),
    "TEXT_MESSAGE_END": _fields("2:messageId 3:subagentRunId"),
    "TEXT_MESSAGE_CHUNK": _fields("2:messageId 3:role 4:delta 5:name 6:subagentRunId"),
    "TOOL_CALL_START": _fields("2:toolCallId 3:toolCallName 4:parentMessageId 5:subagentRunId"),
    "TOOL_CALL_ARGS": _fields("2:toolCallId 3:delta 4:subagentRunId"),
    "TOOL_CALL_END": _fields("2:toolCallId 3:subagentRunId"),
    "TOOL_CALL_CHUNK": _fields("2:toolCallId 3:toolCallName 4:parentMessageId 5:delta 6:subagentRunId"),
    "TOOL_CALL_RESULT": _fields(
        "2:subagentRunId 3:messageId 4:toolCallId 5:content 6:role", contentParts="7:Part*"
    ),
    "STATE_SNAPSHOT": _fields("3:subagentRunId", snapshot="2:json"),
    "STATE_DELTA": _fields("3:subagentRunId", delta="2:Operation*"),
    "MESSAGES_SNAPSHOT": _fields("", messages="2:Message*"),
    "ACTIVITY_SNAPSHOT": _fields(
        "2:subagentRunId 3:messageId 4:activityType", content="5:struct", replace="6:flag"
    ),
    "ACTIVITY_DELTA": _fields("2:subagentRunId 3:messageId 4:activityType", patch="5:Operation*"),
    "RAW": _fields("3:source 4:subagentRunId", event="2:json"),
    "CUSTOM": _fields("2:name 4:subagentRunId", value="3:json"),
    "RUN_STARTED": _fields("2:threadId 3:runId 4:parentRunId 6:protocolVersion", input="5:Input"),
    "RUN_FINISHED": _fields(
        "2:threadId 3:runId 5:outcome",
        result="4:json", interrupts="6:Interrupt*", usage="7:Usage*", pendingToolCallIds="8:text*",
    ),
    "RUN_ERROR": _fields("2:code 3:message", usage="4:Usage*"),
    "STEP_STARTED": _fields("2:stepName 3:subagentRunId"),
    "STEP_FINISHED": _fields("2:stepName 3:subagentRunId"),
    "REASONING_START": _fields("2:subagentRunId 3:messageId"),
    "REASONING_MESSAGE_START": _fields("2:subagentRunId 3:messageId 4:role"),
    "REASONING_MESSAGE_CONTENT": _fields("2:subagentRunId 3:messageId 4:delta"),
    "REASONING_MESSAGE_END": _fields("2:subagentRunId 3:messageId"),
    "REASONING_MESSAGE_CHUNK": _fields("2:subagentRunId 3:messageId 4:delta"),
    "REASONING_END": _fields("2:subagentRunId 3:messageId"),
    "REASONING_ENCRYPTED_VALUE": _fields("2:subagentRunId 3:subtype 4:entityId 5:encryptedValue"),
    "SUBAGENT_STARTED": _fields(
        "2:subagentRunId 3:name 4:description 5:parentSubagentRunId 6:parentToolCallId 7:parentMessageId"
    ),
    "SUBAGENT_FINISHED": _fields("2:subagentRunId 4:outcome", result="3:json", interruptIds="5:text*"),
    "SUBAGENT_ERROR": _fields("2:subagentRunId 3:message 4:code"),
    "Operation": _fields("2:path 3:from", op="1:op", value="4:json"),
    "Message": _fields(
        "1:id 2:role 3:content 4:name 6:toolCallId 7:error 10:subagentRunId 11:encryptedValue 12:activityType",
        toolCalls="5:Call*", contentParts="8:Part*", metadata="9:struct", activityContent="13:struct",
    ),
    "Call": _fields("1:id 2:type 5:encryptedValue", function="3:Function", metadata="4:struct"),
    "Function": _fields("1:name 2:arguments"),
    "Part": _fields("", text="1:TextPart", image="2:Media", audio="3:Media", video="4:Media", document="5:Media"),
    "TextPart": _fields("1:text 2:id", metadata="3:json"),
    "Media": _fields("3:id", source="1:Source", metadata="2:json"),
    "Source": _fields("", data="1:Inline", url="2:Inline", file="3:File"),
    "Inline": _fields("1:value 2:mimeType"),
    "File": _fields("1:value 2:provider 3:mimeType"),
    "Interrupt": _fields(
        "1:id 2:reason 3:message 4:toolCallId 6:expiresAt 8:subagentRunId",
        responseSchema="5:json", metadata="7:json",
    ),
    "Usage": _fields(
        "1:provider 2:model", inputTokens="3:number", outputTokens="4:number", totalTokens="5:number",
        reasoningTokens="6:number", cachedInputTokens="7:number", cacheWriteInputTokens="8:number",
    ),
    "Input": _fields(
        "1:threadId 2:runId 3:parentRunId 10:protocolVersion", state="4:json", messages="5:Message*",
        tools="6:Tool*", context="7:Context*", forwardedProps="8:json", resume="9:Resume*",
    ),
    "Tool": _fields("1:name 2:description", parameters="3:json", metadata="4:struct"),
    "Context": _fields("1:description 2:value"),
    "Resume": _fields("1:interruptId 2:status", payload="3:json", metadata="4:struct"),
}  # fmt: skip
_OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")
#: Text that JSON must have; protobuf leaves out what is empty.
_MUST = {
    "Operation": ("path",),
    "Message": ("id", "role"),
    "Call": ("id", "type"),
    "Function": ("name", "arguments"),
    "Interrupt": ("id", "reason"),
    "Input": ("threadId", "runId"),
    "Resume": ("interruptId", "status"),
}


@dataclass(frozen=True, slots=True)
class DecodedEvent:
    """An event as JSON has it, or why it is none; `unknown` counts fields that no release has."""

    event: dict[str, Any]
    error: str = ""
    unknown: int = 0


def header(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Number of the event type and start of the message, if one message fills `at…end`; else (0, at)."""
    try:
        found = next(fields(data, at, end), None)
    except WireError:
        return 0, at
    if found is None or found[1] != BYTES or found[4] != end:
        return 0, at
    return found[0], found[3]


def decode_event(data: bytes) -> DecodedEvent:
    """One Event message without its length."""
    number, start = header(data, 0, len(data))
    if not number:
        return DecodedEvent({}, "no Event message of AG-UI")
    kind = TYPES.get(number)
    if kind is None:
        return DecodedEvent({}, f"an Event of type {number}, which the protocol does not have up to 1.0")
    decoder = _Decoder(data)
    try:
        event = decoder.message(kind, start, len(data), 0)
        base = decoder.base
    except WireError as problem:
        return DecodedEvent({}, f"damaged: {problem}")
    made = {"type": kind, **base, **event}
    event_type = protocol.BY_NAME[kind]
    for field in event_type.fields:
        if field.required and field.name not in made:
            made[field.name] = (
                [] if field.kind in ("patch", "messages") else {} if field.kind == "any" else ""
            )
    if kind == "STATE_SNAPSHOT":
        made.setdefault("snapshot", None)
    _unfold_outcome(made)
    return DecodedEvent(made, unknown=decoder.unknown)


def _unfold_outcome(event: dict[str, Any]) -> None:
    """The wire has the kind of an outcome and its lists side by side."""
    interrupts = event.pop("interrupts", None)
    pending = event.pop("pendingToolCallIds", None)
    suspended = event.pop("interruptIds", None)
    if "outcome" not in event:
        return
    outcome = {"type": event["outcome"]}
    if interrupts is not None:
        outcome["interrupts"] = interrupts
    if pending is not None:
        outcome["pendingToolCallIds"] = pending
    if suspended is not None:
        outcome["interruptIds"] = suspended
    event["outcome"] = outcome


class _Decoder:
    """One message with all that is inside it."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.base: dict[str, Any] = {}
        self.unknown = 0

    def message(self, kind: str, start: int, end: int, depth: int) -> dict[str, Any]:
        """The fields of a message under their names in JSON."""
        if depth > MAX_DEPTH:
            raise WireError("nested too deeply")
        table = MESSAGES[kind]
        result: dict[str, Any] = {}
        for number, wire, value, begin, stop in fields(self.data, start, end):
            if number == 1 and kind in protocol.BY_NAME and wire == BYTES:
                self.base.update(self.message("Base", begin, stop, depth + 1))
                continue
            name, holds = table.get(number, ("", ""))
            if not name:
                # The base repeats the type, which the kind of message has told.
                self.unknown += not (kind == "Base" and number == 1)
                continue
            held = self._value(holds.removesuffix("*"), wire, value, begin, stop, depth)
            if holds.endswith("*"):
                result.setdefault(name, []).append(held)
            else:
                result[name] = held
        return self._finish(kind, result)

    def _value(self, holds: str, wire: int, value: Any, begin: int, stop: int, depth: int) -> Any:
        if (wire == VARINT) != (holds in ("flag", "number", "op")) or wire not in (VARINT, BYTES):
            raise WireError("a field of another type")
        if holds == "text":
            return text(self.data, begin, stop)
        if holds == "json":
            return json_value(self.data, begin, stop)
        if holds == "struct":
            return json_struct(self.data, begin, stop)
        if holds == "flag":
            return bool(value)
        if holds == "number":
            return signed(value)
        if holds == "op":
            return _OPERATIONS[value] if value < len(_OPERATIONS) else str(value)
        return self.message(holds, begin, stop, depth + 1)

    def _finish(self, kind: str, made: dict[str, Any]) -> dict[str, Any]:
        """What protobuf leaves out or keeps apart, as JSON has it."""
        for name in _MUST.get(kind, ()):
            made.setdefault(name, "")
        if "contentParts" in made:
            parts = made.pop("contentParts")
            made["content"] = parts
        if "activityContent" in made:
            made["content"] = made.pop("activityContent")
        if kind == "Operation":
            made.setdefault("op", _OPERATIONS[0])
            if made["op"] in ("add", "replace", "test"):
                made.setdefault("value", None)
        elif kind == "Input":
            made.setdefault("messages", [])
        elif kind in ("Part", "Source") and made:
            # One of several is set, and its name is the type.
            name, inner = next(iter(made.items()))
            return {"type": name, **inner}
        return made
