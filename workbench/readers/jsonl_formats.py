"""The kinds of JSON lines, told apart by the keys of the first lines."""

from __future__ import annotations

from workbench.readers import protocol
from workbench.readers.jsonl import CONNECTION_KEYS, read
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

_IDS = frozenset({"threadId", "thread_id"})


def _share(sniff: Sniff, wanted: int) -> bool:
    """At least half of the first lines, and one at least."""
    return wanted >= 1 and wanted * 2 >= len(sniff.line_keys)


def _is_devtools(sniff: Sniff) -> bool:
    if not sniff.is_lines:
        return False
    if b'"kind":"header"' in sniff.text[:4096].replace(b" ", b"") and "schemaVersion" in sniff.keys:
        return True
    return _share(sniff, sum("kind" in keys and CONNECTION_KEYS[0] in keys for keys in sniff.line_keys))


def _is_wrapped(sniff: Sniff) -> bool:
    if not sniff.is_lines or not (sniff.has_types or sniff.line_keys):
        return False
    wrapped = sum(
        keys.get("event") in ("{", '"') or keys.get("input") == "{"
        for keys in sniff.line_keys
        if "type" not in keys
    ) + sum(keys.get("event") == "{" and "type" in keys and "source" not in keys for keys in sniff.line_keys)
    others = sum(
        bool({"ts", "direction", "kind", "time"} & set(keys)) and bool({"data", "payload"} & set(keys))
        for keys in sniff.line_keys
        if "event" not in keys
    )
    asked = any(keys.get("input") == "{" for keys in sniff.line_keys) and b'"threadId"' in sniff.text
    return (sniff.has_types or asked) and _share(sniff, wrapped + others)


def _is_plain(sniff: Sniff) -> bool:
    if not sniff.is_lines:
        return False
    typed = sum("type" in keys for keys in sniff.line_keys)
    asked = sum(bool(_IDS & set(keys)) and "messages" in keys for keys in sniff.line_keys)
    if asked and len(sniff.lines) > 1 and _share(sniff, asked + typed):
        return True
    return any(map(protocol.known_type, sniff.types)) and _share(sniff, typed + asked)


DEVTOOLS = Format(
    name="agui-devtools",
    title="AG-UI DevTools capture",
    recognised_by='a first line with kind "header" and schemaVersion, then lines with kind and connId',
    extensions=(".agui.jsonl",),
    recognise=_is_devtools,
    read=read,
)

WRAPPED = Format(
    name="jsonl-wrapped",
    title="JSON lines with an envelope around each event",
    recognised_by="lines with an event under `event`, `data` or `payload`; requests may stand between",
    extensions=(".jsonl", ".ndjson"),
    recognise=_is_wrapped,
    read=read,
)

PLAIN = Format(
    name="jsonl",
    title="JSON lines of events or requests",
    recognised_by="lines that are events or RunAgentInput bodies; extra fields are allowed",
    extensions=(".jsonl", ".ndjson"),
    recognise=_is_plain,
    read=read,
)
