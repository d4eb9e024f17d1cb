"""Typed netstrings, which mitmproxy's flow files are made of: `SIZE:BYTES` and a letter for the type."""

from __future__ import annotations

from typing import Any

#: Digits of a size; a flow is never larger than what they can say
_DIGITS = 12
_MAX_DEPTH = 40


def element(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Start and end of the bytes of the element at `at`, and its type; raises `ValueError`."""
    colon = data.find(b":", at, min(at + _DIGITS + 1, end))
    digits = data[at:colon]
    if colon < 0 or not digits.isdigit():
        raise ValueError("no size")
    start = colon + 1
    stop = start + int(digits)
    if stop >= end:
        raise ValueError("ends behind what it stands in")
    return start, stop, data[stop]


def value(data: bytes, at: int, end: int, depth: int = 0) -> tuple[Any, int]:
    """The element at `at` as a Python value, and where the next begins; raises `ValueError`."""
    start, stop, kind = element(data, at, end)
    if depth > _MAX_DEPTH:
        raise ValueError("nested too deeply")
    raw = data[start:stop] if kind not in b"}]" else b""
    made: Any = None
    if kind == ord(","):
        made = raw
    elif kind == ord(";"):
        made = raw.decode("utf-8", "replace")
    elif kind in b"#^":
        made = int(raw) if kind == ord("#") else float(raw)
    elif kind == ord("!"):
        made = raw == b"true"
    elif kind in b"}]":
        items = []
        inner = start
        while inner < stop:
            item, inner = value(data, inner, stop, depth + 1)
            items.append(item)
        made = items
        if kind == ord("}"):
            if len(items) % 2 or not all(isinstance(key, str | bytes) for key in items[::2]):
                raise ValueError("a map without keys")
            keys = [key.decode("latin-1") if isinstance(key, bytes) else key for key in items[::2]]
            made = dict(zip(keys, items[1::2], strict=True))
    elif kind != ord("~"):
        raise ValueError(f"type {kind}")
    return made, stop + 1
