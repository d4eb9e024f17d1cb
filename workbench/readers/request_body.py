"""A request body (RunAgentInput), camelCase or snake_case, bare or in CopilotKit's single-route envelope."""

from __future__ import annotations

from workbench.readers import requests, tolerant
from workbench.readers.json_events import too_large
from workbench.readers.json_split import split_object
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff


def read(reading: Reading) -> None:
    """Read the document as one request."""
    if too_large(reading):
        return
    document = reading.content.whole()
    data = document.strip()
    offset = reading.content.start + document.find(data)
    decoded = tolerant.decode(data)
    body = requests.run_input(decoded.value)
    line = reading.content.first_line + document[: document.find(data)].count(b"\n")
    if body is None:
        why = decoded.error or "no RunAgentInput: threadId and messages are missing or of a wrong type"
        reading.problem(why, line=line, offset=offset, data=data)
        if decoded.error:
            reading.cut("the request is damaged or ends early")
        return
    if decoded.repair:
        reading.remark(decoded.repair, line=line, offset=offset, data=data)
    if isinstance(decoded.value.get("method"), str):
        inner = dict(split_object(data) or ()).get("body")
        if inner is not None:
            line += data[: inner.start].count(b"\n")
            offset, data = offset + inner.start, data[inner.start : inner.end]
    reading.request(body, line=line, offset=offset, length=len(data))


def recognise(sniff: Sniff) -> bool:
    """An object with a thread and messages, and no type."""
    keys = set(sniff.keys)
    if sniff.first != b"{" or "type" in keys or "event" in keys:
        return False
    named = bool({"threadId", "thread_id"} & keys)
    return named and (
        "messages" in keys or (bool({"runId", "run_id"} & keys) and "[" not in sniff.keys.values())
    )


def _is_single_route(sniff: Sniff) -> bool:
    return sniff.first == b"{" and sniff.keys.get("method") == '"' and sniff.keys.get("body") == "{"


SINGLE_ROUTE = Format(
    name="copilotkit-route",
    title="CopilotKit single-route request",
    recognised_by='an object with method ("agent/run"), params and `body`; `body` is the request',
    extensions=(".json",),
    recognise=_is_single_route,
    read=read,
)

FORMAT = Format(
    name="request",
    title="Request body (RunAgentInput)",
    recognised_by="an object with threadId, runId and messages (or thread_id, …)",
    extensions=(".json",),
    recognise=recognise,
    read=read,
)
