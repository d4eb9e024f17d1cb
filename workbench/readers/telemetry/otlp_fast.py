"""OTLP spans in the form that the specification gives them, one export per line: the fast way.

Every span is decoded by a typed decoder that leaves its attributes alone; the few facts that joins
need are looked up in the bytes of the attributes. What is not in this form is left to `otlp`, span by span.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from workbench.readers import tolerant
from workbench.readers.records import NO_TIME
from workbench.readers.telemetry import clock, mapping, values
from workbench.readers.telemetry.columns import FORM_CODES, SHORT
from workbench.readers.telemetry.otlp_rows import events_of
from workbench.readers.telemetry.rows import SpanRow
from workbench.readers.telemetry.writer import SignalWriter

FAILURES = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_NONE = msgspec.Raw(b"")
_OTLP = FORM_CODES["otlp"]
_HEX16 = re.compile(r"(?!0{16})[0-9a-f]{16}").fullmatch
_HEX32 = re.compile(r"(?!0{32})[0-9a-f]{32}").fullmatch


class _Attribute(msgspec.Struct, gc=False):
    key: str = ""
    value: msgspec.Raw = _NONE


class _Status(msgspec.Struct, gc=False, frozen=True):
    code: int = 0
    message: str = ""


class _Span(msgspec.Struct, gc=False):
    traceId: str = ""  # noqa: N815 - the names of the wire
    spanId: str = ""  # noqa: N815
    parentSpanId: str | None = ""  # noqa: N815
    name: str = ""
    kind: int = 0
    startTimeUnixNano: int = 0  # noqa: N815
    endTimeUnixNano: int = 0  # noqa: N815
    attributes: msgspec.Raw = _NONE
    events: msgspec.Raw = _NONE
    status: _Status = _Status()


class _Named(msgspec.Struct, gc=False, frozen=True):
    name: str = ""


class Scope(msgspec.Struct, gc=False):
    """Spans of one scope, not decoded."""

    spans: list[msgspec.Raw]
    scope: _Named = _Named()


class _Resource(msgspec.Struct, gc=False):
    scopeSpans: list[Scope]  # noqa: N815
    resource: msgspec.Raw = _NONE


class _Export(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    resourceSpans: list[_Resource]  # noqa: N815


decode_export = msgspec.json.Decoder(_Export, strict=False).decode
decode_span = msgspec.json.Decoder(_Span, strict=False).decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_attributes = msgspec.json.Decoder(list[_Attribute]).decode


class _Needles(NamedTuple):
    """How attributes begin, up to their text.

    Quotes inside of texts are escaped, so what is looked for cannot stand inside of a message.
    """

    operation: bytes
    call: bytes
    tool: bytes
    thread: bytes
    error: bytes
    arguments: bytes
    result: bytes


def _needles(form: bytes) -> _Needles:
    keys = (
        "operation.name",
        "tool.call.id",
        "tool.name",
        "conversation.id",
        "",
        "tool.call.arguments",
        "tool.call.result",
    )
    return _Needles(*(form % (f"gen_ai.{key}" if key else "error.type").encode() for key in keys))


_CLOSE = _needles(b'{"key":"%s","value":{"stringValue":"')
#: As Python's json writes it
_SPACED = _needles(b'{"key": "%s", "value": {"stringValue": "')
_REST = re.compile(rb'(?:[^"\\]|\\.)*+(?=")', re.DOTALL).match
_ELSEWHERE = -2
#: An id that is good, for spans without a parent
_SOME = "0" * 15 + "1"


class FastSpans:
    """Takes the spans of a scope together; `left` takes those of a scope that is not in the plain form."""

    def __init__(self, writer: SignalWriter, left: Callable[[bytes, int, int, int, int], None]) -> None:
        self.writer = writer
        self._left = left
        #: operations, tools and threads come again with every span: their codes by their bytes
        self._operations: dict[bytes, int] = {}
        self._words: dict[bytes, int] = {}
        self._tool_span = writer.code("execute_tool")

    def scope(self, scope: Scope, data: bytes, end: int, base: int, line: int, service: int) -> int:
        """Take the spans of a scope, none of which stands before `end` in `data`; the end of the last one."""
        texts = [bytes(raw) for raw in scope.spans]
        if not texts:
            return end
        offsets, end = _offsets(texts, data, end, base)
        named = self.writer.code(scope.scope.name)
        try:
            spans = [decode_span(text) for text in texts]
            taken = self._plain(spans) and self._take(
                spans, offsets, [len(text) for text in texts], line, named, service
            )
        except FAILURES:
            taken = False
        if not taken:
            for text, offset in zip(texts, offsets, strict=True):
                self._left(text, offset, line, named, service)
        return end

    def _plain(self, spans: list[_Span]) -> bool:
        """Whether all ids and times are as the specification has them."""
        starts, ends = [span.startTimeUnixNano for span in spans], [span.endTimeUnixNano for span in spans]
        return (
            all(map(_HEX16, [span.spanId for span in spans]))
            and all(map(_HEX32, {span.traceId for span in spans}))
            and all(map(_HEX16, {span.parentSpanId or _SOME for span in spans}))
            and min(starts) >= 0
            and min(ends) >= 0
            and max(starts) < clock.LIMIT
            and max(ends) < clock.LIMIT
        )

    def _take(
        self, spans: list[_Span], offsets: list[int], lengths: list[int], line: int, scope: int, service: int
    ) -> bool:
        """Append all spans but those that are there already; False, and nothing done, if one is not plain."""
        writer = self.writer
        rows, reading, counts = writer.records.spans, writer.reading, writer.reading.counts
        given = len(spans)
        keys = [f"{span.traceId} {span.spanId}" for span in spans]
        known = writer.seen
        if not known.keys().isdisjoint(keys) or len(set(keys)) < len(keys):
            fresh = {key: place for place, key in reversed(list(enumerate(keys))) if key not in known}
            kept = sorted(fresh.values())
            spans, keys = [spans[place] for place in kept], [keys[place] for place in kept]
            offsets, lengths = [offsets[place] for place in kept], [lengths[place] for place in kept]
        attributes = [bytes(span.attributes) for span in spans]
        facts = [self._facts(held, span) for held, span in zip(attributes, spans, strict=True)]
        # from here on nothing fails
        if len(spans) < given:
            reading.duplicate(given - len(spans))
        number, count = len(rows.source), len(spans)
        known.update(zip(keys, range(number, number + count), strict=True))
        for at, fact in enumerate(facts):
            if fact[0] == self._tool_span and len(attributes[at]) < SHORT:
                rows.content[number + at] = attributes[at]
        rows.source.extend([reading.source] * count)
        rows.member.extend([reading.member] * count)
        rows.record.extend(range(counts.records, counts.records + count))
        rows.line.extend([line] * count)
        rows.offset.extend(offsets)
        rows.length.extend(lengths)
        rows.form.extend([_OTLP] * count)
        rows.service.extend([service] * count)
        rows.scope.extend([scope] * count)
        rows.trace.extend(writer.codes([span.traceId for span in spans]))
        rows.span.extend([span.spanId for span in spans])
        rows.parent.extend([span.parentSpanId or None for span in spans])
        rows.name.extend(writer.codes([span.name for span in spans]))
        rows.kind.extend([span.kind if 0 <= span.kind < 6 else 0 for span in spans])
        rows.start.extend([span.startTimeUnixNano or NO_TIME for span in spans])
        rows.end.extend([span.endTimeUnixNano or NO_TIME for span in spans])
        rows.status.extend([span.status.code if 0 <= span.status.code < 3 else 0 for span in spans])
        columns = zip(*facts, strict=True) if facts else ()
        for column, found in zip(
            (rows.operation, rows.call, rows.tool, rows.thread, rows.error), columns, strict=False
        ):
            column.extend(found)
        counts.records += count
        counts.rows += count
        return True

    def _facts(self, attributes: bytes, span: _Span) -> tuple[int, int, int, int, int]:
        """Codes of operation, call, tool, thread, and of what went wrong.

        Found without decoding where the GenAI conventions name all of them.
        """
        failed = span.status.code == 2
        needles = _SPACED if attributes.startswith(b'[{"key": ') else _CLOSE
        at = attributes.find(needles.operation)
        if at >= 0:
            at += len(needles.operation)
            word = attributes[at : attributes.find(b'"', at)]
            operation = self._operations.get(word)
            if operation is None:
                operation = self._operations[word] = self._operation(word)
            if operation != _ELSEWHERE:
                at = attributes.find(needles.thread)
                if at >= 0:
                    at += len(needles.thread)
                    thread = self._word(attributes[at : attributes.find(b'"', at)])
                elif (
                    b"ession" in attributes or b"hread" in attributes or b"onversation" in attributes
                    or b"chatId" in attributes or b"chat_id" in attributes
                ):  # fmt: skip
                    thread = _ELSEWHERE  # another key may name it
                else:
                    thread = -1
                if thread != _ELSEWHERE:
                    error = (
                        self.writer.code(_error(span, _after(attributes, needles.error))) if failed else -1
                    )
                    if operation != self._tool_span:
                        return operation, -1, -1, thread, error
                    call, at = _after(attributes, needles.call), attributes.find(needles.tool)
                    if call and call != mapping.NO_CALL_ID and at >= 0:
                        at += len(needles.tool)
                        tool = self._word(attributes[at : attributes.find(b'"', at)])
                        if tool != _ELSEWHERE:
                            return operation, self.writer.code(call), tool, thread, error
        lifted = mapping.lift(picked(attributes, mapping.LIFTED), span.name)
        code = self.writer.code
        return (
            code(lifted.operation), code(lifted.call_id), code(lifted.tool), code(lifted.thread),
            code(_error(span, lifted.error)) if failed else -1,
        )  # fmt: skip

    def _operation(self, word: bytes) -> int:
        """The code of an operation that is one of OpenTelemetry's own words."""
        text = word.decode("utf-8", "replace")
        plain = text.isascii() and text.islower() and "\\" not in text and text not in mapping.OPERATIONS
        return self.writer.code(text) if plain else _ELSEWHERE

    def _word(self, word: bytes) -> int:
        code = self._words.get(word)
        if code is None:
            text = word.decode("utf-8", "replace")
            code = self._words[word] = self.writer.code(text) if text and "\\" not in text else _ELSEWHERE
        return code


def picked(attributes: bytes, keys: frozenset[str]) -> dict[str, str | None]:
    """Some attributes as text; raises what the decoder raises."""
    if not attributes:
        return {}
    return {a.key: text_of(bytes(a.value)) for a in _decode_attributes(attributes) if a.key in keys}


def texts(data: bytes, keys: frozenset[str]) -> dict[str, str | None] | None:
    """Some attributes of a span in the plain form; None where it has another one."""
    try:
        span = decode_span(data)
        return picked(bytes(span.attributes), keys) if span.spanId else None
    except FAILURES:
        return None


def _after(attributes: bytes, needle: bytes) -> str | None:
    """The text of the attribute whose beginning is given; None where it is not there in this form."""
    at = attributes.find(needle)
    if at < 0:
        return None
    at += len(needle)
    text = attributes[at : attributes.find(b'"', at)]
    if b"\\" not in text:
        return text.decode("utf-8", "replace")
    rest = _REST(attributes, at)
    if rest is None:
        return None
    quoted = b'"' + rest[0] + b'"'
    try:
        return _decode_text(quoted)
    except FAILURES:
        return values.as_text(tolerant.decode(quoted).value)


def _offsets(texts: list[bytes], data: bytes, end: int, base: int) -> tuple[list[int], int]:
    """Where the spans of one array stand, the first of them behind `end`; and the end of the last one."""
    at = data.find(texts[0], end)
    offsets = []
    for text in texts:
        # between two spans stands nothing but a comma and blanks
        at = data.find(b"{", at)
        offsets.append(base + at)
        at += len(text)
    return offsets, at


def content(attributes: bytes) -> tuple[str | None, str | None]:
    """Arguments and result of a tool span."""
    needles = _SPACED if attributes.startswith(b'[{"key": ') else _CLOSE
    arguments, result = _after(attributes, needles.arguments), _after(attributes, needles.result)
    if arguments is not None and result is not None:
        return mapping.written(arguments), result or None
    try:
        return mapping.content_of(picked(attributes, mapping.CONTENT))
    except FAILURES:
        return None, None


def _error(span: _Span, said: str | None) -> str:
    """What went wrong in a span whose status is an error."""
    if span.status.message:
        return span.status.message
    events = bytes(span.events)
    row = SpanRow(events=events_of(tolerant.decode(events).value)) if b"exception" in events else None
    return (mapping.exception_of(row) if row is not None else None) or said or "error"


def text_of(raw: bytes) -> str | None:
    """The text of an AnyValue in JSON, without decoding the usual form."""
    if raw.startswith(b'{"stringValue":"') and raw.endswith(b'"}') and b"\\" not in raw:
        return raw[16:-2].decode("utf-8", "replace")
    return values.as_text(values.any_value(tolerant.decode(raw).value))
