"""Recorded exchanges with model providers: a request whole, its answer in the pieces it came in.

    {"kind":"request","exchange":"p1","tMs":…,"time":…,"method":"POST","url":…,"body":{…}}
    {"kind":"response","exchange":"p1","tMs":…,"status":200,"mime":"text/event-stream"}
    {"kind":"chunk","exchange":"p1","tMs":…,"text":"data: …"}
    {"kind":"end","exchange":"p1","tMs":…,"complete":true,"why":""}

Each exchange is put together as an entry of a HAR, and judged as one.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from workbench.readers import har, times, tolerant
from workbench.readers.har_entry import Entry
from workbench.readers.json_split import split_object
from workbench.readers.lines import lines
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

#: The lines of an answer belong to the record of its request
_PIECES = {"response": "responses", "chunk": "pieces of answers", "end": "ends of answers"}


class _Exchange:
    """What is known of one exchange."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.post = ""
        self.time: int | None = None
        self.method = self.url = self.mime = ""
        self.status = 0
        self.texts: list[str] = []
        self.ended = False
        self.why = ""

    def entry(self, name: str) -> Entry:
        """The exchange as an entry of a HAR."""
        started = None if self.time is None else datetime.fromtimestamp(self.time / 1e9, UTC).isoformat()
        request: dict[str, Any] = {"method": self.method, "url": self.url, "postData": {"text": self.post}}
        content: dict[str, Any] = {"mimeType": self.mime}
        if self.texts:
            content["text"] = "".join(self.texts)
        response = {"status": self.status, "content": content}
        value = {"startedDateTime": started, "request": request, "response": response}
        return Entry(name, value, self.offset, damaged=not self.ended or bool(self.why))


def read(reading: Reading) -> None:
    """Read the exchanges, in the order of their requests."""
    found: dict[str, _Exchange] = {}
    number = reading.content.first_line - 1
    for offset, line in lines(reading.content, reading.limits, reading.progress):
        number += 1
        if line is None:
            reading.problem(
                f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
            )
            continue
        if not line.strip():
            continue
        why = _take(reading, found, line, offset)
        if why:
            reading.problem(why, line=number, offset=offset, data=line)
            if not line.rstrip().endswith(b"}"):
                reading.cut("the last line ends inside its JSON")
    if any(not exchange.ended for exchange in found.values()):
        reading.cut("the recording ended while an answer was on its way")
    for why in sorted({exchange.why for exchange in found.values() if exchange.why}):
        reading.cut(why)
    har.read_entries(reading, [exchange.entry(name) for name, exchange in found.items()])


def _take(reading: Reading, found: dict[str, _Exchange], line: bytes, offset: int) -> str:
    """One line: "" when it was used, else why it could not be."""
    decoded = tolerant.decode(line)
    value = decoded.value
    if decoded.error or not isinstance(value, dict):
        return decoded.error or "JSON, but no object"
    kind, name = value.get("kind"), value.get("exchange")
    if kind == "header":
        reading.ignore("header")
        return ""
    if not isinstance(name, str):
        return "a line without `exchange`"
    if kind == "request":
        if name in found:
            return f"exchange {name[:80]} is there already"
        exchange = found[name] = _Exchange(offset)
        exchange.method, exchange.url = str(value.get("method") or ""), str(value.get("url") or "")
        exchange.time = times.nanoseconds(value.get("time"))
        body = dict(split_object(line) or ()).get("body")
        if body is not None:
            exchange.post = line[body.start : body.end].decode("utf-8", "replace")
        elif "body" in value:
            exchange.post = msgspec.json.encode(value["body"]).decode()
        return ""
    if not isinstance(kind, str) or kind not in _PIECES:
        return "no line of a recorded exchange"
    known = found.get(name)
    if known is None:
        return f"the request of exchange {name[:80]} is missing"
    if kind == "response":
        known.status = value["status"] if value.get("status") in range(1000) else 0
        known.mime = str(value.get("mime") or "")
    elif kind == "chunk":
        known.texts.append(str(value.get("text") or ""))
    else:
        known.ended, known.why = True, "" if value.get("complete") else str(value.get("why") or "cut")
    reading.ignore(_PIECES[kind])
    return ""


def _recognise(sniff: Sniff) -> bool:
    return sniff.is_lines and b'"recording":"provider"' in sniff.text[:1000].replace(b" ", b"")


FORMAT = Format(
    name="provider-recording",
    title="Exchanges with a model provider, recorded by `workbench record`",
    recognised_by='a first line with "recording": "provider"',
    extensions=(".jsonl",),
    recognise=_recognise,
    read=read,
)
