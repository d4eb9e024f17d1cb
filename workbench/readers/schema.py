"""The protocol tables as msgspec types: what a field must look like, and one Struct per event type.

A successful decode with `EVENT` means that the event keeps to the schema. Its attributes are
the columns of `Records.events` (`protocol.COLUMNS`), whatever the event type calls them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union, cast

import msgspec
from msgspec import Meta, Raw, Struct

from workbench.readers import protocol

# ------------------------------------------------------------------ what stands in the fields

_Pointer = Annotated[str, Meta(pattern="^$|^/")]


class _Add(Struct, tag_field="op", tag="add"):
    path: _Pointer
    value: Raw


class _Replace(Struct, tag_field="op", tag="replace"):
    path: _Pointer
    value: Raw


class _Test(Struct, tag_field="op", tag="test"):
    path: _Pointer
    value: Raw


class _Remove(Struct, tag_field="op", tag="remove"):
    path: _Pointer


class _Move(Struct, tag_field="op", tag="move", rename={"source": "from"}):
    path: _Pointer
    source: _Pointer


class _Copy(Struct, tag_field="op", tag="copy", rename={"source": "from"}):
    path: _Pointer
    source: _Pointer


class _Interrupt(Struct, rename="camel"):
    id: str
    reason: str
    message: str | None = None
    tool_call_id: str | None = None
    response_schema: dict[str, Any] | None = None
    expires_at: str | None = None
    metadata: dict[str, Any] | None = None
    subagent_run_id: str | None = None


class _Success(Struct, tag_field="type", tag="success", rename="camel"):
    pending_tool_call_ids: list[str] | None = None


class _Interrupted(Struct, tag_field="type", tag="interrupt"):
    interrupts: list[_Interrupt]


class _Cancelled(Struct, tag_field="type", tag="cancelled"):
    pass


class _SubagentSuccess(Struct, tag_field="type", tag="success"):
    pass


class _Suspended(Struct, tag_field="type", tag="suspended", rename="camel"):
    interrupt_ids: list[str] | None = None


class _Message(Struct):
    id: str
    role: str


#: msgspec type of each `protocol.Kind` of a field that must be there.
REQUIRED: dict[str, Any] = {
    "text": str,
    "integer": int,
    "flag": bool,
    "any": Raw,
    "object": dict[str, Any],
    "parts": str | list[dict[str, Any]],
    "patch": list[_Add | _Replace | _Test | _Remove | _Move | _Copy],
    "outcome": _Success | _Interrupted | _Cancelled,
    "subagent-outcome": _SubagentSuccess | _Suspended,
    "messages": list[_Message],
    "usage": list[dict[str, Any]],
    "text-role": Literal["developer", "system", "assistant", "user"],
    "reasoning-role": Literal["reasoning", "assistant"],  # "assistant" is what early clients asked for
    "tool-role": Literal["tool"],
    "subtype": Literal["tool-call", "message"],
}
#: The same for optional fields: null is accepted.
OPTIONAL: dict[str, Any] = {
    kind: Raw if kind == "any" else Union[wanted, None]  # noqa: UP007 - a type made at run time
    for kind, wanted in REQUIRED.items()
}

# ------------------------------------------------------------------ one Struct per event type


#: nothing, for fields of any value: one for all, because making one for each event is a fifth of decoding
_NONE = Raw()


class Event(Struct, kw_only=True):
    """What all events have in common, under the names of the columns."""

    timestamp: int | None = None
    raw_event: Raw = msgspec.field(default=_NONE, name="rawEvent")
    metadata: dict[str, Any] | None = None
    #: arrival time that some recorders add, epoch seconds
    arrival: int | float | None = msgspec.field(default=None, name="_timestamp")
    thread: str | None = msgspec.field(default=None, name="threadId")
    run: str | None = msgspec.field(default=None, name="runId")
    message: str | None = msgspec.field(default=None, name="messageId")
    parent: str | None = msgspec.field(default=None, name="parentMessageId")
    call: str | None = msgspec.field(default=None, name="toolCallId")
    subagent: str | None = msgspec.field(default=None, name="subagentRunId")
    role: str | None = None
    label: str | None = msgspec.field(default=None, name="name")


_ATTRIBUTES = {wire: column for column, wire in protocol.COLUMNS.items()}


def _struct(event_type: protocol.EventType) -> type[Event]:
    """The Struct of one event type, made from its table."""
    label = protocol.LABELS.get(event_type.name, "name")
    fields: list[tuple[str, Any, Any]] = [("label", str | None, msgspec.field(default=None, name=label))]
    for field in event_type.fields:
        attribute = (
            "label" if field.name == label else _ATTRIBUTES.get(field.name, protocol.snake(field.name))
        )
        if field.required:
            fields.append((attribute, REQUIRED[field.kind], msgspec.field(name=field.name)))
        elif field.kind == "any":
            fields.append((attribute, Raw, msgspec.field(default=_NONE, name=field.name)))
        else:
            fields.append((attribute, OPTIONAL[field.kind], msgspec.field(default=None, name=field.name)))
    if any(attribute == "label" for attribute, _, _ in fields[1:]):
        del fields[0]
    made = msgspec.defstruct(
        "".join(word.title() for word in event_type.name.split("_")),
        fields,
        bases=(Event,),
        tag_field="type",
        tag=event_type.name,
        kw_only=True,
        gc=False,  # short-lived, and never part of a cycle
        module=__name__,
    )
    return cast(type[Event], made)


#: Struct of each event type by its name.
STRUCTS: dict[str, type[Event]] = {event_type.name: _struct(event_type) for event_type in protocol.TYPES}
#: All event types, told apart by `type`.
EVENT: Any = Union[tuple(STRUCTS.values())]  # noqa: UP007
