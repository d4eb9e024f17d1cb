"""The event schema: what a decoded event departs from, one rule per kind of departure.

The readers note every departure while they decode (`Records.deviations`); equal ones are
one finding, so that a producer's habit does not drown the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.rows import at_rows
from workbench.rules.schema.message_schema import departures
from workbench.rules.slips import quoted

if TYPE_CHECKING:
    from workbench.readers.records import Deviation
    from workbench.trace import Trace

_PATCHES = frozenset({"STATE_DELTA", "ACTIVITY_DELTA"})


def _folded(trace: Trace, kind: str) -> Iterator[tuple[str, str, list[Deviation]]]:
    """Departures of one kind by event type and field, in order of appearance."""
    records = trace.records
    groups: dict[tuple[str, str], list[Deviation]] = {}
    for deviation in records.deviations:
        if deviation.kind == kind:
            event_type = records.pool.text(records.events.type[deviation.event]) or ""
            groups.setdefault((event_type, deviation.field), []).append(deviation)
    for (event_type, field), group in groups.items():
        yield event_type, field, group


def _times(group: list[Deviation]) -> str:
    return f" ({len(group)} events)" if len(group) > 1 else ""


def _rows(group: list[Deviation]) -> list[int]:
    return list(dict.fromkeys(deviation.event for deviation in group))


def _calls(trace: Trace, group: list[Deviation]) -> tuple[str, ...]:
    """The calls that the events are about, where they say so."""
    records = trace.records
    ids = (records.pool.text(records.events.call[deviation.event]) for deviation in group)
    return tuple(dict.fromkeys(i for i in ids if i))


@rule("schema-unknown-type", code="SCH001", severity="warning", scope="capture")
def schema_unknown_type(trace: Trace) -> Iterator[Finding]:
    """An event type that neither protocol generation knows; lower-case names count as unknown.

    Why it hurts: clients up to 0.0.59 abort at an unknown type; newer ones drop the event with
        a warning in the console.
    No fault when: the name is an AG-UI type in capitals, deprecated ones included.
    What to do: send things of your own as CUSTOM with a name, foreign events as RAW, and write
        types in capitals.
    Example:
        {"type": "text_message_start", "messageId": "m1", "role": "assistant"}
    Sources: AG-UI events, EventType; enforceEvents of @ag-ui/client 1.0.0.
    """
    for event_type, field, group in _folded(trace, "unknown-type"):
        word = event_type or group[0].detail or field
        upper = " (types are written in capitals)" if word != word.upper() else ""
        message = f"Unknown event type {quoted(word)}{upper}{_times(group)}."
        yield at_rows(trace, _rows(group), message, other_ids=(word,))


@rule("schema-field-missing", code="SCH002", severity="error", scope="capture", needs=())
def schema_field_missing(trace: Trace) -> Iterator[Finding]:
    """An event, or a message of a request or snapshot, lacks a field that the protocol requires.

    Why it hurts: clients refuse the event and with it the stream; an event without its id
        cannot be joined with anything.
    No fault when: the field is optional in either protocol generation. A field that is there
        but empty is another fault (`call-id-empty`, `call-name-empty`). A message without an id
        is not reported.
    What to do: build events with the official SDK's classes, or validate them in a test.
    Example:
        {"type": "TEXT_MESSAGE_START", "role": "assistant"}
    Sources: AG-UI events, required fields of each type (ag-ui-protocol 0.1.4 to 1.0.0).
    """
    for event_type, field, group in _folded(trace, "field-missing"):
        if event_type in _PATCHES and field not in ("delta", "patch", "messageId", "activityType"):
            continue  # inside a patch: state-delta-invalid
        message = f"{event_type} without {field}{_times(group)}."
        yield at_rows(trace, _rows(group), message, call_ids=_calls(trace, group),
                      other_ids=(f"{event_type}.{field}",))  # fmt: skip
    yield from departures(trace, "field-missing")


@rule("schema-field-invalid", code="SCH003", severity="error", scope="capture", needs=())
def schema_field_invalid(trace: Trace) -> Iterator[Finding]:
    """A field of an event, message or resume entry has a type or value that the protocol does not allow.

    Why it hurts: clients refuse the event and with it the stream; lenient ones ignore the field,
        for instance an interrupt whose outcome they do not know.
    No fault when: either protocol generation allows it: null in an optional field, a list of
        parts as a result's content. A malformed patch is `state-delta-invalid`.
    What to do: compare with the protocol's type of that field; numbers written as texts and
        objects written as JSON texts are the usual causes.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "timestamp": "2026-09-21T14:13:00Z"}
    Sources: AG-UI events, field types (ag-ui-protocol 0.1.4 to 1.0.0).
    """
    for event_type, field, group in _folded(trace, "field-invalid"):
        if event_type in _PATCHES and field.startswith(("delta", "patch")):
            continue
        detail = f": {quoted(group[0].detail, 120)}" if group[0].detail else ""
        message = f"{event_type}.{field} is not valid{detail}{_times(group)}."
        yield at_rows(trace, _rows(group), message, call_ids=_calls(trace, group),
                      other_ids=(f"{event_type}.{field}",))  # fmt: skip
    yield from departures(trace, "field-invalid")


@rule("schema-snake-case", code="SCH004", severity="warning", scope="capture")
def schema_snake_case(trace: Trace) -> Iterator[Finding]:
    """Keys of events are written in snake_case.

    Why it hurts: the Python models accept both spellings, TypeScript clients reject the event;
        the fault shows up only in the browser.
    No fault when: the key stands in data of your own: a CUSTOM value, a state, tool arguments.
    What to do: serialise with `by_alias=True`, or with the SDK's encoder.
    Example:
        {"type": "RUN_STARTED", "thread_id": "t1", "run_id": "r1"}
    Sources: ag-ui-protocol, populate_by_name of its models; @ag-ui/core event schemas.
    """
    keys: dict[str, list[Deviation]] = {}
    for _, field, group in _folded(trace, "snake-case"):
        keys.setdefault(field, []).extend(group)
    if keys:
        rows = sorted({deviation.event for group in keys.values() for deviation in group})
        names = ", ".join(sorted(keys))
        count = f" ({len(rows)} events)" if len(rows) > 1 else ""
        yield at_rows(trace, rows, f"Keys in snake_case: {names}{count}.", other_ids=tuple(sorted(keys)))


@rule("schema-deprecated", code="SCH005", severity="info", scope="capture")
def schema_deprecated(trace: Trace) -> Iterator[Finding]:
    """An event type that protocol 1.0 removed: the THINKING_* family.

    Why it hurts: clients of 1.0 translate them to REASONING_* and warn; other SDKs drop them.
    No fault when: all your clients are older than 1.0.
    What to do: emit REASONING_* events, which carry a message id.
    Example:
        {"type": "THINKING_START"}
        {"type": "THINKING_TEXT_MESSAGE_START"}
        {"type": "THINKING_TEXT_MESSAGE_CONTENT", "delta": "Let me see."}
    Sources: ag-ui-protocol 1.0.0, 31 event types instead of 36.
    """
    from workbench.readers.protocol import DEPRECATED

    records = trace.records
    codes = {records.pool.codes[name]: name for name in DEPRECATED if name in records.pool.codes}
    if not codes:
        return
    rows = [row for row, code in enumerate(records.events.type) if code in codes]
    if rows:
        names = tuple(sorted({codes[records.events.type[row]] for row in rows}))
        count = f" ({len(rows)} events)" if len(rows) > 1 else ""
        yield at_rows(trace, rows, f"Removed in protocol 1.0: {', '.join(names)}{count}.", other_ids=names)
