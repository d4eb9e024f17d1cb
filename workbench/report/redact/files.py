"""Redacts whole inputs: what each of them is written back as, and what is known before the first."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from workbench.readers.limits import Limits
from workbench.readers.sources import Input, inputs
from workbench.report.redact import convert, lines
from workbench.report.redact.document import Facts, Hole, Redactor, is_json, join
from workbench.trace import Trace, load

_STREAMS = frozenset({"sse", "copilotkit-debug", "openai-responses"})
_JSON = frozenset({"jsonl", "jsonl-wrapped", "agui-devtools", "json-array", "json-object", "request", "copilotkit-route",
                   "copilotkit-inspector", "aimock", "agui-inspector", "har", "otlp", "history"})  # fmt: skip
_PACKED = (
    b"\x1f\x8b",
    b"PK\3\4",
    b"\x28\xb5\x2f\xfd",
    b"\xff\xfe",
    b"\xfe\xff",
    b"SQLite format 3",
    b"HTTP/",
)


@dataclass(frozen=True, slots=True)
class Written:
    """One redacted input: its label, a file name for it, its bytes, and what to say about the format."""

    label: str
    name: str
    data: bytes
    note: str = ""


def facts(trace: Trace) -> Facts:
    """The names of tools and the ids of a trace, wherever they stand."""
    tools: set[str] = set()
    ids: set[str] = set()
    records = trace.records
    for conversation in trace.conversations:
        ids.update((conversation.thread_id, *conversation.thread_ids))
        ids.update(run.run_id for run in conversation.runs)
        for call in conversation.calls:
            ids.add(call.id)
            tools.add(call.tool)
            tools.update(start.tool for start in call.starts)
        for approval in conversation.approvals:
            ids.update((approval.id, approval.call_id))
            tools.add(approval.tool)
    events = records.events
    for column in (events.message, events.call, events.parent, events.subagent):
        ids.update(filter(None, map(records.pool.text, set(column))))
    kinds = {code for code, text in enumerate(records.pool.values) if text.startswith("TOOL_CALL_")}
    tools.update(
        records.pool.text(name) or ""
        for name, kind in zip(events.name, events.type, strict=False)
        if kind in kinds
    )
    for column in (records.spans.tool, records.spans.call, records.spans.thread):
        known = set(filter(None, map(records.pool.text, set(column))))
        (tools if column is records.spans.tool else ids).update(known)
    for request in (*records.requests, *records.payloads):
        tools.update(_tools(request.body))
    for payload in records.payloads:
        for block in payload.history.blocks("call", "approval-request", "approval-response"):
            tools.add(block.name)
            ids.update((block.call_id, block.approval_id))
    return Facts(frozenset(filter(None, tools)), frozenset(filter(None, ids)))


def _tools(body: dict[str, Any]) -> Iterator[str]:
    """Names of tools that a request declares or calls."""
    for tool in body["tools"] if isinstance(body.get("tools"), list) else ():
        if isinstance(tool, dict):
            for value in (tool, tool.get("function")):
                if isinstance(value, dict) and isinstance(value.get("name"), str):
                    yield value["name"]
    for message in body["messages"] if isinstance(body.get("messages"), list) else ():
        calls = (message.get("toolCalls") or message.get("tool_calls")) if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                yield function["name"]


class Held(io.BytesIO):
    """An input that can be read more than once: standard input, an open file."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name

    def read(self, size: int | None = -1) -> bytes:
        """As a file reads; at its end it begins again."""
        data = super().read(size)
        if not data:
            self.seek(0)
        return data


def held(sources: Sequence[Any], limits: Limits | None = None) -> list[Any]:
    """The sources, with those that can be read only once kept in memory."""
    kept: list[Any] = []
    for source in sources:
        if isinstance(source, bytes | bytearray | memoryview) or (
            source != "-" and not hasattr(source, "read")
        ):
            kept.append(source)
        else:
            kept += [
                Held(item.label, item.data.read(0, item.data.size) if item.data else b"")
                for item in inputs([source], limits or Limits())
            ]
    return kept


def redacted(
    redactor: Redactor, sources: Sequence[Any], trace: Trace, limits: Limits | None = None
) -> Iterator[Written]:
    """Redact each input; one that nothing can be made of is written without data, with the reason in `note`."""
    by_path: dict[str, int] = {}
    for number, source in enumerate(trace.records.sources):
        by_path.setdefault(source.path, number)
    for item in inputs(sources, limits or Limits()):
        yield one(redactor, item, trace, by_path.get(item.label, -1))


def one(redactor: Redactor, item: Input, trace: Trace, source: int) -> Written:
    """Redact one input, which is a source of the trace."""
    name = PurePosixPath(item.label.replace("\\", "/")).name or "capture"
    name = {"-": "stdin", "<bytes>": "bytes"}.get(name, name)
    if item.data is None or source < 0:
        return Written(item.label, name, b"", item.fault or "not read")
    data = item.data.read(0, item.data.size)
    kind = trace.records.sources[source].format
    packed = data.startswith(_PACKED) or b"\0" in data[:4096]
    if not packed and (kind in _STREAMS or kind in _JSON or kind.startswith("provider")):
        text = data.decode("utf-8", "surrogateescape")
        return Written(item.label, name, text_of(redactor, text, streams=kind in _STREAMS))
    if data.startswith(b"PK\3\4") and (made := _zip(redactor, data, trace, source)):
        return Written(item.label, name, made)
    if not redactor.everything and not packed:
        scrubbed = redactor.scrub(data.decode("utf-8", "surrogateescape"))
        return Written(item.label, name, scrubbed.encode("utf-8", "surrogateescape"))
    return _converted(redactor, item.label, name, trace, source)


def text_of(redactor: Redactor, text: str, *, streams: bool = False) -> bytes:
    """A text of one of the formats that are written back in kind."""
    parts: list[str | Hole]
    if streams or lines.is_stream(text[:65536]):
        parts = lines.stream(redactor, text)
    elif is_json(
        next((line for line, _ in lines.lines(text) if line.strip("\ufeff \t")), "").lstrip("\ufeff")
    ):
        parts = lines.json_lines(redactor, text)
    else:
        parts = redactor.json(text)
    redactor.settle()
    return join(parts).encode("utf-8", "surrogateescape")


def _converted(redactor: Redactor, label: str, name: str, trace: Trace, source: int) -> Written:
    agui, otlp = convert.agui(trace, source), convert.otlp(trace, source)
    payloads = convert.payloads(trace, source)
    if payloads and not agui and not otlp:
        parts = lines.json_lines(redactor, payloads)
        redactor.settle()
        data = join(parts).encode("utf-8", "surrogateescape")
        kind = trace.records.sources[source].format
        return Written(
            label, f"{name}.jsonl", data, f"{kind} is not written back; this is JSON lines of its payloads"
        )
    if not agui and not otlp:
        return Written(label, name, b"", "nothing was read from it, so nothing is written")
    # a DevTools capture may hold lines of telemetry too; the last line may be cut
    text = otlp + agui if agui else otlp
    new = f"{name}.agui.jsonl" if agui else f"{name}.otlp.jsonl"
    form = "AG-UI DevTools lines (.agui.jsonl)" if agui else "OTLP JSON lines"
    kind = trace.records.sources[source].format
    parts = lines.json_lines(redactor, text)
    redactor.settle()
    data = join(parts).encode("utf-8", "surrogateescape")
    return Written(label, new, data, f"{kind} is not written back; this is {form}")


def _zip(redactor: Redactor, data: bytes, trace: Trace, source: int) -> bytes | None:
    """An archive of Aspire's telemetry, member by member; None for any other, or one that is damaged."""
    records = trace.records
    if records.sources[source].format != "zip" or any(number == source for number in records.events.source):
        return None
    if any(request.source == source for request in records.requests):
        return None
    out = io.BytesIO()
    room = Limits().max_decompressed
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
            for number, info in enumerate(old.infolist()):
                with old.open(info) as file:
                    member = file.read(room + 1)
                room -= len(member)
                if room < 0:
                    return None
                text = member.decode("utf-8", "surrogateescape")
                made = (
                    text_of(redactor, text)
                    if text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
                    else redactor.text(text).encode("utf-8", "surrogateescape")
                )
                new.writestr(
                    zipfile.ZipInfo(_member(redactor, info.filename, number), (1980, 1, 1, 0, 0, 0)),
                    made,
                    zipfile.ZIP_DEFLATED,
                )
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError):
        return None
    return out.getvalue()


def _member(redactor: Redactor, name: str, number: int) -> str:
    """The name of a member, whose file is called after a service; its folder says what it holds."""
    path = PurePosixPath(name)
    folder = (
        path.parts[0]
        if len(path.parts) > 1
        and path.parts[0] in ("resources", "consolelogs", "structuredlogs", "traces", "metrics")
        else ""
    )
    stem = path.stem if not redactor.everything else redactor.exchange.text(path.stem)
    made = "".join(c if c.isalnum() or c in "-_." else "_" for c in stem)[:80] or f"member{number}"
    return f"{folder}/{made}{path.suffix[:10]}" if folder else f"{number}-{made}{path.suffix[:10]}"


def reloaded(written: Iterable[Written]) -> Trace:
    """The trace of redacted inputs, under the labels of the originals."""
    return load(*(Held(item.label, item.data) for item in written if item.data))
