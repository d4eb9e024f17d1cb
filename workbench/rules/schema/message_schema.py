"""The messages of requests and snapshots, and the entries of a resume, against the protocol.

The readers check the fields of events; what stands inside their message lists, and request
bodies, are looked at here. Only what no client accepts counts: messages without an id, null in
optional fields and fields of one's own are common and do no harm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.calls.conversation import At, Run
from workbench.findings import Finding
from workbench.rules.slips import quoted

if TYPE_CHECKING:
    from workbench.trace import Trace

_ROLES = frozenset({"developer", "system", "user", "assistant", "tool", "activity", "reasoning"})
_STATUS = frozenset({"resolved", "cancelled"})
_SHOWN = 20

#: kind of departure, field, what it says, call id
Departure = tuple[str, str, str, str]


@dataclass(slots=True)
class _Group:
    """One departure of one kind of list: a history repeats it in every request."""

    run: Run
    detail: str
    places: dict[At, None] = field(default_factory=dict)
    calls: dict[str, None] = field(default_factory=dict)


def departures(trace: Trace, kind: str) -> Iterator[Finding]:
    """Findings for one kind of departure, `field-missing` or `field-invalid`, by thread, place and field."""
    for conversation in trace.conversations:
        groups: dict[tuple[str, str], _Group] = {}
        for run, place, at, departure in _all(trace, conversation.runs, conversation.lists):
            if departure[0] == kind:
                group = groups.setdefault((place, departure[1]), _Group(run, departure[2]))
                group.places[at] = None
                if departure[3]:
                    group.calls[departure[3]] = None
        for (place, name), group in groups.items():
            where = "A snapshot" if place == "snapshot" else "A request"
            detail = f": {quoted(group.detail, 120)}" if group.detail else ""
            what = f"has {name} that is not valid{detail}" if kind == "field-invalid" else f"has no {name}"
            times = f" ({len(group.places)} times)" if len(group.places) > 1 else ""
            yield Finding(
                f"{where} {what}{times}.",
                place=place,
                thread_id=group.run.thread_id,
                run_id=group.run.run_id,
                call_ids=tuple(group.calls),
                other_ids=(name,),
                evidence=trace.evidence(*list(group.places)[:_SHOWN]),
            )


def _all(trace: Trace, runs: list[Run], lists: list[Any]) -> Iterator[tuple[Run, str, At, Departure]]:
    for items in lists:
        if items.place in ("request", "snapshot"):
            for message in items.messages:
                for departure in _message(message):
                    yield items.run, items.place, items.at, departure
    for run in runs:
        if run.request is not None:
            for departure in _resume(trace.records.requests[run.request].body.get("resume")):
                yield run, "request", At("request", run.request), departure


def _message(message: dict[str, Any]) -> Iterator[Departure]:
    role = message.get("role")
    call_id = _either(message, "toolCallId", "tool_call_id")
    if role is None:
        yield "field-missing", "messages.role", "", ""
    elif not (isinstance(role, str) and role in _ROLES) and call_id is None:
        # with a call id it is `result-wrong-role`
        yield "field-invalid", "messages.role", str(role), ""
    if role == "tool" and call_id is None:
        yield "field-missing", "messages.toolCallId", "", ""
    calls = _either(message, "toolCalls", "tool_calls")
    if calls is not None and not isinstance(calls, list):
        yield "field-invalid", "messages.toolCalls", type(calls).__name__, ""
    for call in calls if isinstance(calls, list) else ():
        yield from _call(call)


def _call(call: Any) -> Iterator[Departure]:
    if not isinstance(call, dict):
        yield "field-invalid", "messages.toolCalls", str(call), ""
        return
    own = call.get("id")
    call_id = own if isinstance(own, str) else ""
    if own is None:
        yield "field-missing", "messages.toolCalls.id", "", ""
    function = call.get("function")
    if not isinstance(function, dict):
        kind = "field-missing" if function is None else "field-invalid"
        yield kind, "messages.toolCalls.function", "", call_id
        return
    for key in ("name", "arguments"):
        value = function.get(key)
        if value is None:
            yield "field-missing", f"messages.toolCalls.function.{key}", "", call_id
        elif not isinstance(value, str):
            yield "field-invalid", f"messages.toolCalls.function.{key}", str(value), call_id


def _resume(entries: Any) -> Iterator[Departure]:
    for entry in entries if isinstance(entries, list) else ():
        status = entry.get("status") if isinstance(entry, dict) else None
        if status is not None and not (isinstance(status, str) and status in _STATUS):
            yield "field-invalid", "resume.status", str(status), ""


def _either(value: dict[str, Any], *keys: str) -> Any:
    for key in keys:
        found = value.get(key)
        if found is not None:
            return found
    return None
