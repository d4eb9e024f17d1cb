"""JSON text that was cut off, read as far as its values are whole."""

from __future__ import annotations

import re
from typing import Any

from workbench.readers import tolerant

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{},:]|-?\d[\d.eE+-]*|true|false|null|\s+', re.DOTALL)
#: Longest text that is looked at
_LONGEST = 16 * 1024 * 1024
_DEEPEST = 200


def loads(text: str) -> Any:
    """The value; what was cut off is left out, None where nothing is whole."""
    return read(text)[0]


def read(text: str) -> tuple[Any, bool]:
    """The value as far as it is whole, and whether all of it is."""
    decoded = tolerant.decode(text.encode("utf-8", "replace"))
    if not decoded.error:
        return decoded.value, True
    kept = _closed(text[:_LONGEST])
    return (tolerant.decode(kept.encode("utf-8", "replace")).value if kept else None), False


def _closed(text: str) -> str:
    """The text up to its last whole value, with the brackets that are missing; "" for none.

    A number at the end may be cut, a key without its value says nothing: neither is kept.
    """
    stack: list[str] = []
    best = ""
    safe, closers = 0, ""
    expect_key: list[bool] = []
    at = 0
    while (found := _TOKEN.match(text, at)) is not None:
        piece, at = found[0], found.end()
        if piece.isspace():
            continue
        if piece in "{[":
            if len(stack) >= _DEEPEST:
                break
            stack.append("}" if piece == "{" else "]")
            expect_key.append(piece == "{")
            safe, closers = at, "".join(reversed(stack))
        elif piece in "}]":
            if not stack or stack.pop() != piece:
                break
            expect_key.pop()
            safe, closers = at, "".join(reversed(stack))
            if not stack:
                break
        elif piece == ",":
            if expect_key:
                expect_key[-1] = stack[-1] == "}"
        elif piece == ":":
            if expect_key:
                expect_key[-1] = False
        elif expect_key and expect_key[-1]:
            continue  # a key
        elif piece[0] == '"' or piece in ("true", "false", "null") or at < len(text):
            safe, closers = at, "".join(reversed(stack))
    best = text[:safe] + closers
    return best if safe else ""
