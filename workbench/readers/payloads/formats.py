"""Files of payloads and histories: JSON documents and JSON lines."""

from __future__ import annotations

import re
from typing import Any

from workbench.readers import tolerant
from workbench.readers.json_events import too_large
from workbench.readers.lines import lines
from workbench.readers.payloads.find import Found, find
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

_LISTS = ("messages", "input", "contents")
_HISTORY = re.compile(
    rb'"contents"\s*:\s*\[|"lc"\s*:\s*1|"type"\s*:\s*"(human|ai)(MessageChunk)?"|"type"\s*:\s*"function_call(_output)?"'
    rb'|"role"\s*:\s*("|\{)'
)
_SENT = re.compile(rb'"(messages|input|contents)"\s*:\s*\[')


def read(reading: Reading) -> None:
    """Read the document, or its lines where it is no document."""
    if too_large(reading):
        return
    document = reading.content.whole()
    data = document.strip()
    start = document.find(data)
    decoded = tolerant.decode(data)
    if decoded.error and b"\n" in data:
        _read_lines(reading)
        return
    line = reading.content.first_line + document[:start].count(b"\n")
    offset = reading.content.start + start
    if decoded.error:
        reading.problem(decoded.error, line=line, offset=offset, data=data)
        reading.cut("the document is damaged or ends early")
        return
    if decoded.repair:
        reading.remark(decoded.repair, line=line, offset=offset, data=data)
    found = find(decoded.value)
    if not found:
        reading.problem("no list of messages in it", line=line, offset=offset, data=data)
    for made in found:
        add(reading, made, line=line, offset=offset, length=len(data))


def add(reading: Reading, made: Found, *, line: int | None, offset: int | None, length: int | None,
        member: int | None = None) -> int:  # fmt: skip
    """One payload or history into the records; its number."""
    return reading.payload(
        made.body, history=made.history, place=made.place, answer=made.answer, line=line, offset=offset, length=length,
        member=member, time=made.time, status=made.answer.status if made.answer else None, url=made.url,
    )  # fmt: skip


def _read_lines(reading: Reading) -> None:
    number = reading.content.first_line - 1
    cut = False
    for offset, line in lines(reading.content, reading.limits):
        number += 1
        if line is None:
            reading.problem(
                f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
            )
            continue
        data = line.strip()
        if not data:
            continue
        decoded = tolerant.decode(data)
        found = find(decoded.value) if not decoded.error else []
        cut = bool(decoded.error)
        if decoded.error:
            reading.problem(decoded.error, line=number, offset=offset, data=data)
        elif not found:
            reading.ignore("records of other kinds")
        for made in found:
            add(reading, made, line=number, offset=offset + line.find(data), length=len(data))
    if cut:
        reading.cut("the last line ends inside its JSON")


def _is_payload(sniff: Sniff) -> bool:
    """A request to a provider by its outermost keys."""
    if sniff.first != b"{" or sniff.has_data_lines:
        return False
    keys: dict[str, Any] = sniff.keys
    if {"threadId", "thread_id", "type", "event"} & set(keys):
        return False
    listed = any(keys.get(key) == "[" for key in _LISTS)
    named = any(keys.get(key) == '"' for key in ("model", "modelId"))
    sent = keys.get("contents") == "[" or keys.get("messages") == "["
    return (listed and (named or sent)) or (named and keys.get("input") == '"')


def _is_exchange(sniff: Sniff) -> bool:
    """A request beside its answer, or lines of such; and frameworks' own lists of messages."""
    if sniff.has_types or sniff.has_data_lines or sniff.first not in (b"{", b"["):
        return False
    if b'"threadId"' in sniff.head or b'"resourceSpans"' in sniff.head or b'"startedDateTime"' in sniff.head:
        return False
    keys = set(sniff.keys)
    if sniff.first == b"{" and {"request", "body", "json_data", "payload", "request_body"} & keys:
        return _SENT.search(sniff.head) is not None
    if sniff.first == b"[" and sniff.text[1:].lstrip()[:1] not in (b"{", b"]"):
        return False
    return _HISTORY.search(sniff.head) is not None and bool(_content(sniff.head))


def _content(head: bytes) -> bool:
    return any(
        mark in head for mark in (b'"content"', b'"contents"', b'"parts"', b'"function_call', b'"tool_calls"')
    )


PAYLOAD = Format(
    name="provider-payload",
    title="Request to a model provider (OpenAI, Anthropic, Gemini, Bedrock, Mistral, Ollama)",
    recognised_by="an object, or lines of objects, with a list of messages, input items or contents",
    extensions=(".json", ".jsonl"),
    recognise=_is_payload,
    read=read,
)

HISTORY = Format(
    name="history",
    title="Messages of agent-framework, LangChain or a provider: lists, sessions, checkpoints, exchanges",
    recognised_by="lists of messages anywhere in a document, or requests beside their responses",
    extensions=(".json", ".jsonl"),
    recognise=_is_exchange,
    read=read,
)
