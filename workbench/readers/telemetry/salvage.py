"""Records of a JSON value that does not parse: what is whole is kept, what is not costs itself.

The arrays that hold records are found by their keys, and gone through element by element. Behind a
damaged element the next whole one that can be a record is looked for.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workbench.readers.json_split import Salvage, value_after

#: Arrays of records. Metrics are only counted: those of a damaged export are left out with it.
_ARRAYS = re.compile(rb'"(spans|logRecords|log_records|observations|data)"\s*:\s*\[')
_SCOPES = re.compile(rb'"(?:scope|instrumentationLibrary|instrumentation_library)"')
_RESOURCES = re.compile(rb'"resource"\s*:')
#: A resource or scope that is longer is not looked for
_LONGEST = 1 << 16
_NEXT = re.compile(rb",\s*(?=\{)")
#: The bracket of an array inside of an object, and that of the whole document
_CLOSES = re.compile(rb'\]\s*(?:\}|,\s*"|\Z)')
_CLOSES_ALL = re.compile(rb"\]\s*\Z")
_SPACE = re.compile(rb"\s*")
#: Keys of which a record, or an object around records, has one at least; parts of records have none of them
_MARKS = frozenset({
    "logId", "log_id", "traceID", "context", "spanContext", "body", "operation_Id", "OperationId", "resource",
    "scope", "resourceSpans", "resourceLogs", "resourceMetrics", "resource_spans", "resource_logs",
})  # fmt: skip
_IDS = frozenset({"spanId", "span_id", "spanID", "id"})
_NAMES = frozenset({"name", "operationName", "operation_name"})
_TIMES = frozenset({"timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano"})
_BODIES = frozenset(
    {"body", "severityNumber", "severity_number", "severityText", "severity_text", "traceId", "flags"}
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A record, or what is left where one was damaged; `key` is that of its array."""

    start: int
    end: int
    key: str
    whole: bool = True


def is_record(value: Any) -> bool:
    """Whether an object can be a record: a span, a log record, or something that holds them."""
    if not isinstance(value, dict) or "key" in value:
        return False
    keys = value.keys()
    if _IDS & keys and _NAMES & keys and len(value) > 3:
        return True
    return bool(_MARKS & keys or (_TIMES & keys and _BODIES & keys))


def pieces(document: bytes) -> Iterator[Piece]:
    """Records of all arrays, in order. Nothing is given twice; the work is bounded."""
    salvage = Salvage(document, is_record)
    arrays = [(found.end(), found[1].decode()) for found in _ARRAYS.finditer(document)]
    start = _skip(document, 0)
    if document[start : start + 1] == b"[":
        arrays.insert(0, (start + 1, ""))
    done = 0
    for number, (begin, key) in enumerate(arrays):
        if begin < done:
            continue
        further = [place for place, _ in arrays[number + 1 : number + 2]]
        for piece in _elements(document, salvage, begin, key, further[0] if further else len(document)):
            done = piece.end
            yield piece


def _elements(document: bytes, salvage: Salvage, begin: int, key: str, inner: int) -> Iterator[Piece]:
    """Elements of the array that begins at `begin`. `inner` is where the next array of records begins."""
    at = _skip(document, begin)
    while document[at : at + 1] == b"{":
        found = salvage.element(at)
        if (
            found is not None
            and _ends(document, found[1])
            and not _swallowed(document, salvage, at, found[1])
        ):
            yield Piece(at, found[1], key)
            at = _skip(document, found[1])
            if document[at : at + 1] != b",":
                break
            at = _skip(document, at + 1)
            continue
        following = _following(document, salvage, at)
        if at < inner < following:
            return  # what is damaged holds an array of records itself
        yield Piece(at, following, key, whole=False)
        at = _skip(document, following + 1) if document[following : following + 1] == b"," else following
    closed = (_CLOSES if key else _CLOSES_ALL).match(document, at) is not None
    if at < len(document) and not closed:
        # not even the beginning of an element is there, or the bracket is not that of the array
        following = _following(document, salvage, at)
        if not at < inner < following:
            yield Piece(at, following, key, whole=False)
            if following < len(document):
                yield from _elements(document, salvage, following + 1, key, inner)


def _following(document: bytes, salvage: Salvage, at: int) -> int:
    """The comma before the next whole record; the end of the document where no more comes."""
    for found in _NEXT.finditer(document, at + 1):
        value = salvage.element(found.end())
        if value is not None and is_record(value[0]) and _ends(document, value[1]):
            return found.start()
    return len(document)


def _swallowed(document: bytes, salvage: Salvage, start: int, end: int) -> bool:
    """Whether an element has others inside: its closing brackets are lost, and later ones were taken for them."""
    for found in _NEXT.finditer(document, start, end):
        value = salvage.element(found.end())
        if value is not None and is_record(value[0]) and "spanId" in value[0]:
            return True
    return False


def _ends(document: bytes, at: int) -> bool:
    at = _skip(document, at)
    return document[at : at + 1] in (b",", b"]")


def _skip(document: bytes, at: int) -> int:
    found = _SPACE.match(document, at)
    return found.end() if found else at


class Around:
    """The resources and scopes of a damaged document, each found and decoded once."""

    def __init__(self, document: bytes) -> None:
        self._document = document
        self._scopes = [found.start() for found in _SCOPES.finditer(document)]
        self._resources = [found.start() for found in _RESOURCES.finditer(document)]
        first = _ARRAYS.search(document)
        #: the resource stands before its records, except in what Aspire writes
        self._before = bool(first and self._resources and self._resources[0] < first.start())
        self._values: dict[int, bytes | None] = {}

    def of(self, piece: Piece) -> tuple[bytes | None, bytes | None]:
        """The resource and the scope that a record belongs to, as far as they are whole."""
        scope = self._value(self._scopes, bisect_left(self._scopes, piece.start) - 1)
        at = bisect_left(self._resources, piece.start)
        return self._value(self._resources, at - 1 if self._before else at), scope

    def _value(self, places: list[int], number: int) -> bytes | None:
        if not 0 <= number < len(places):
            return None
        at = places[number]
        if at not in self._values:
            key = self._document[at + 1 : self._document.index(b'"', at + 1)].decode()
            found = value_after(self._document, key, at, min(len(self._document), at + _LONGEST))
            self._values[at] = self._document[found.start : found.end] if found is not None else None
        return self._values[at]
