"""HAR archives of browsers, Playwright and proxies: requests, event streams, WebSocket messages.

Producers differ in where the events are: Chrome keeps bodies in base64 and messages with times in
`_eventSourceMessages` (which is all there is while a stream is open), Firefox and mitmproxy keep
plain text, Firefox's extension API gives the bare inner log, Playwright may omit bodies.
"""

from __future__ import annotations

import re
from typing import Any

from workbench.readers import requests, tolerant
from workbench.readers.har_entry import Attached, Entry, read_entry, read_payload
from workbench.readers.json_events import too_large
from workbench.readers.json_split import Piece, Salvage, split_array, split_object, value_after
from workbench.readers.payloads import dialects
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff, object_keys

#: Addresses of model providers, where the body does not tell
_PROVIDER_PATH = re.compile(
    r"/(v1/)?(chat/completions|responses|messages|embeddings|completions)(\?|$)"
    r"|/api/(chat|generate)(\?|$)|:(stream)?generateContent|/model/[^/]+/(invoke|converse)",
    re.IGNORECASE,
)
_ENTRY_KEYS = ("startedDateTime", "request", "response", "_resourceType")
_MESSAGE_KEYS = ("_eventSourceMessages", "_webSocketMessages")


def read(reading: Reading, attached: Attached | None = None) -> None:
    """Read the entries; `attached` has the bodies that the archive keeps outside of itself."""
    if too_large(reading):
        return
    document = reading.content.whole()
    entries: list[Entry] = []
    for index, (piece, key) in enumerate(_entries(reading, document)):
        entry = _decode(reading, document, piece, index, key, attached)
        if entry is not None:
            entries.append(entry)
    read_entries(reading, entries)
    if not entries and not reading.counts.problems:
        reading.note("no entries")


def read_entries(reading: Reading, entries: list[Entry]) -> None:
    """Read entries in the order in which they were started; ties keep the order of the file."""
    agent: list[Entry] = []
    for entry in entries:
        kind = classify(entry)
        if kind == "agent":
            agent.append(entry)
        elif kind == "provider payloads":
            read_payload(reading, entry)
        else:
            reading.ignore(kind)
    latest = 0
    for entry in agent:
        # An entry without a readable time stays behind its predecessor.
        latest = entry.order = latest if entry.time is None else entry.time
    for entry in sorted(agent, key=lambda entry: entry.order):
        read_entry(reading, entry)


def _entries(reading: Reading, document: bytes) -> list[tuple[Piece, str]]:
    """The entries as pieces of the document, with the path of the list they stand in."""
    outer = split_object(document)
    members = dict(outer or [])
    prefix = "entries"
    if "log" in members:
        prefix = "log.entries"
        log = members["log"]
        members = dict(split_object(document, log.start, log.end) or [])
    if outer is not None:
        entries = members.get("entries")
        pieces = split_array(document, entries.start, entries.end) if entries else None
        if pieces is None:
            reading.problem(
                "a HAR without a list of entries", line=1, offset=reading.content.start, data=document
            )
        return [(piece, prefix) for piece in pieces or ()]
    reading.note("the document as a whole is not JSON and was read entry by entry")
    prefix = "log.entries" if "log" in object_keys(document[:4096].lstrip()) else "entries"
    start = re.compile(rb'"entries"\s*:\s*\[').search(document)
    if start is None:
        reading.problem("not JSON", line=1, offset=reading.content.start, data=document)
        return []
    salvage = Salvage(document, lambda value: "request" in value and "response" in value)
    found: list[tuple[Piece, str]] = []
    for piece in salvage.pieces(start.end()):
        if not piece.whole and found and document[piece.start : piece.start + 1] != b"{":
            # Brackets inside a damaged message closed its entry too early: what follows belongs to it.
            piece = Piece(found.pop()[0].start, piece.end, whole=False)  # noqa: PLW2901 - the same, longer
        if not piece.key:
            found.append((piece, prefix))
    if not salvage.closed:
        reading.cut("the document ends early")
    return found


def _decode(
    reading: Reading, document: bytes, piece: Piece, index: int, path: str, attached: Attached | None
) -> Entry | None:
    """One entry; of a damaged one, the parts that are whole."""
    name = f"{path}[{index}]"
    offset = reading.content.start + piece.start
    if piece.whole:
        decoded = tolerant.decode(document[piece.start : piece.end])
        if decoded.repair:
            reading.remark(f"{name}: {decoded.repair}", offset=offset)
        value = decoded.value
        if not isinstance(value, dict):
            reading.problem(f"{name} is no object", offset=offset, data=document[piece.start : piece.end])
            return None
        return Entry(name, value, offset, attached=attached)
    value = {}
    for key in _ENTRY_KEYS:
        part = value_after(document, key, piece.start, piece.end)
        if part is not None:
            value[key] = tolerant.decode(document[part.start : part.end]).value
    damaged = False
    for key in _MESSAGE_KEYS:
        found = re.compile(rb'"' + key.encode() + rb'"\s*:\s*\[').search(document, piece.start, piece.end)
        if found is None:
            continue
        salvage = Salvage(document[: piece.end], lambda value: "data" in value and "time" in value)
        messages = []
        for part in salvage.pieces(found.end()):
            if part.key:
                break
            if part.whole:
                messages.append(tolerant.decode(document[part.start : part.end]).value)
            else:
                damaged = True
                messages.append({"data": document[part.start : part.end].decode("utf-8", "replace")})
        value[key] = messages
    if not damaged:
        reading.problem(f"{name} is damaged: not JSON", offset=offset, data=document[piece.start : piece.end])
    reading.cut(f"{name} is damaged")
    return Entry(name, value, offset, damaged=True, attached=attached) if value else None


def classify(entry: Entry) -> str:
    """`agent` for an exchange with an AG-UI agent, `provider payloads`, or why an entry is ignored."""
    if entry.body is not None:
        return "agent"
    value = entry.posted
    if isinstance(value, dict) and dialects.of_body(value, entry.url) is not None:
        return "provider payloads"
    if requests.is_provider_body(value) or _PROVIDER_PATH.search(entry.url):
        return "provider exchanges"
    if entry.is_stream or entry.has_messages:
        return "agent"
    return "other HTTP entries"


def _is_har(sniff: Sniff) -> bool:
    if sniff.first != b"{":
        return False
    keys: dict[str, Any] = sniff.keys
    if keys.get("log") == "{":
        keys = object_keys(sniff.text, inside="log")
        return bool({"entries", "creator", "pages", "browser"} & set(keys))
    return keys.get("entries") == "[" and ("creator" in keys or b'"startedDateTime"' in sniff.head)


FORMAT = Format(
    name="har",
    title="HAR archive (Chrome, Firefox, Playwright, mitmproxy)",
    recognised_by="an object with log.entries, or the bare log with entries and creator",
    extensions=(".har",),
    recognise=_is_har,
    read=read,
)
