"""Live objects as captures: what a notebook has in memory, in the formats that files have.

Objects are told by what they can do, not by their type, so that nothing has to be imported: whoever has them
has imported it already. Each kind is written as the lines that its own tool would have written, and read by the
reader of those; `trace.raw(row)` gives that text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from workbench.readers import agent_messages, live_frame, live_telemetry


class NotLiveError(TypeError):
    """An object that is none of those that can be loaded; the message says what was wrong."""


def convert(source: Any) -> Iterator[tuple[str, bytes]]:
    """Captures made of an object, each with the name of what it holds.

    Known are lists (also tuples and mixtures) of opentelemetry-sdk's spans and log records, of agent-framework
    messages, of AG-UI events and of their dictionaries; in-memory exporters; an agent-framework session,
    response or message; a data frame of events. Raises `NotLiveError` for anything else.
    """
    if live_frame.is_frame(source):
        yield "events", live_frame.lines(source)
        return
    for method in ("get_finished_spans", "get_finished_logs"):
        if callable(getattr(source, method, None)):
            yield from convert(list(getattr(source, method)()))
            return
    if _is_session(source):
        yield from _session(source)
        return
    items = list(source) if isinstance(source, Sequence | set | frozenset) else [source]
    if not items:
        yield "objects", b""
        return
    groups: dict[str, list[Any]] = {}
    for number, item in enumerate(items):
        kind = _kind(item)
        if not kind:
            where = f"item {number} of the list is" if len(items) > 1 else "it is"
            raise NotLiveError(
                f"{where} of type {type(item).__module__}.{type(item).__qualname__}, and no span, log record, "
                "message, AG-UI event or dictionary of one"
            )
        groups.setdefault(kind, []).append(item)
    for kind, members in groups.items():
        yield kind, _WRITERS[kind](members)


def _kind(item: Any) -> str:
    if hasattr(item, "contents") and hasattr(item, "role"):
        return "messages"
    if _is_response(item):
        return "messages"
    if live_telemetry.is_span(item):
        return "spans"
    if live_telemetry.is_log(item):
        return "logs"
    if isinstance(item, Mapping):
        return "messages" if "contents" in item and "role" in item else "events"
    if callable(getattr(item, "model_dump", None)):
        return "events"
    return ""


def _is_session(source: Any) -> bool:
    return isinstance(getattr(source, "state", None), dict) and hasattr(source, "session_id")


def _is_response(item: Any) -> bool:
    """An AgentResponse or ChatResponse, which has the messages of one answer."""
    return isinstance(getattr(item, "messages", None), list) and hasattr(item, "response_id")


def _session(source: Any) -> Iterator[tuple[str, bytes]]:
    """The history of a session: message lists below its state, each of some history provider."""
    found = False
    for value in source.state.values():
        messages = value.get("messages") if isinstance(value, dict) else None
        if isinstance(messages, list) and messages:
            found = True
            yield "session", _history(messages, str(source.session_id))
    if not found:
        yield "session", b""


def _messages(items: Iterable[Any]) -> bytes:
    flat = [inner for item in items for inner in (item.messages if _is_response(item) else (item,))]
    return _history(flat, "messages")


def _history(messages: Iterable[Any], thread: str) -> bytes:
    """Messages as the request that would carry them: nothing else tells calls, results and decisions."""
    plain = [_plain(message) for message in messages]
    body = {"threadId": thread, "messages": agent_messages.agui(m for m in plain if isinstance(m, dict))}
    return msgspec.json.encode(body)


def _events(items: Iterable[Any]) -> bytes:
    """AG-UI events and requests, one a line."""
    return b"".join(_encoded(_wire(item)) + b"\n" for item in items)


def _wire(item: Any) -> Any:
    """An AG-UI object with the names of the wire; a dictionary as it is."""
    if isinstance(item, Mapping):
        return item
    return item.model_dump(mode="json", by_alias=True, exclude_none=True)


def _plain(value: Any) -> Any:
    """A message as `to_dict` gives it."""
    to_dict = getattr(value, "to_dict", None)
    return to_dict() if callable(to_dict) else dict(value) if isinstance(value, Mapping) else None


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=_unknown)


def _unknown(value: Any) -> Any:
    """What JSON has no form for: an object that knows one, else how it prints."""
    for method in ("to_dict", "model_dump", "item"):
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    return str(value)


_WRITERS = {
    "messages": _messages,
    "events": _events,
    "spans": live_telemetry.spans,
    "logs": live_telemetry.logs,
}
