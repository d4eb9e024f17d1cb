"""The wire format of protocol buffers: tags, varints, and google.protobuf.Value as JSON values.

Only what the AG-UI messages need, and bounded: a message is never read beyond its end and nesting
never goes deeper than `MAX_DEPTH`, whatever the bytes say.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

#: As deep as the official decoders follow a message
MAX_DEPTH = 100
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


class WireError(ValueError):
    """The bytes are no message of the expected kind."""


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number of up to 64 bits at `at`, and where it ends."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7
    raise WireError("a number does not end")


def signed(value: int) -> int:
    """The same 64 bits as a signed number."""
    return value - (1 << 64) if value >> 63 else value


def fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, Any, int, int]]:
    """Fields of the message in `start…end`: number, wire type, number or None, start and end of its bytes."""
    at = start
    while at < end:
        tag, at = varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        value: int | None = None
        begin = at
        if not number:
            raise WireError("field 0")
        if kind == VARINT:
            value, at = varint(data, at, end)
        elif kind == BYTES:
            size, begin = varint(data, at, end)
            at = begin + size
        elif kind in (FIXED64, FIXED32):
            at += 8 if kind == FIXED64 else 4
        else:
            raise WireError(f"wire type {kind}")
        if at > end:
            raise WireError("a field ends behind its message")
        yield number, kind, value, begin, at


def text(data: bytes, start: int, end: int) -> str:
    """A string field."""
    try:
        return data[start:end].decode()
    except UnicodeDecodeError:
        raise WireError("text is not UTF-8") from None


def json_value(data: bytes, start: int, end: int, depth: int = 0) -> Any:
    """A google.protobuf.Value; null where none of its fields is set."""
    if depth > MAX_DEPTH:
        raise WireError("nested too deeply")
    result: Any = None
    for number, kind, value, begin, stop in fields(data, start, end):
        if number == 1 and kind == VARINT:
            result = None
        elif number == 2 and kind == FIXED64:
            result = _number(struct.unpack_from("<d", data, begin)[0])
        elif number == 3 and kind == BYTES:
            result = text(data, begin, stop)
        elif number == 4 and kind == VARINT:
            result = bool(value)
        elif number == 5 and kind == BYTES:
            result = json_struct(data, begin, stop, depth + 1)
        elif number == 6 and kind == BYTES:
            result = [
                json_value(data, low, high, depth + 1)
                for inner, wire, _, low, high in fields(data, begin, stop)
                if (inner, wire) == (1, BYTES)
            ]
    return result


def json_struct(data: bytes, start: int, end: int, depth: int = 0) -> dict[str, Any]:
    """A google.protobuf.Struct: a map from text to Value."""
    result: dict[str, Any] = {}
    for number, kind, _, begin, stop in fields(data, start, end):
        if (number, kind) != (1, BYTES):
            continue
        key, value = "", None
        for inner, wire, _, low, high in fields(data, begin, stop):
            if (inner, wire) == (1, BYTES):
                key = text(data, low, high)
            elif (inner, wire) == (2, BYTES):
                value = json_value(data, low, high, depth + 1)
        result[key] = value
    return result


def _number(value: float) -> float | int | None:
    """All numbers are doubles on the wire; whole ones are written without a fraction, as JSON would."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - NaN is not itself
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
