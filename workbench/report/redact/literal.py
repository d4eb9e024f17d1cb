"""JSON text as a lenient tree that knows where each piece stands, and string literals by their units.

Nothing is normalised and nothing refused: what is not JSON stays where it is, so that text that was
broken is broken in the same way afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],:]|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|[^\W\d][\w$]*|\s+|.', re.DOTALL
)
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_SHORT = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


class Node:
    """One value: `kind` is `{`, `[`, `"`, `0` for a number, `w` for a word (true, bare text).

    `items` are the values of an array, or the (key, value) pairs of an object; a value may be missing.
    """

    __slots__ = ("end", "items", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.items: list[tuple[Node | None, Node | None]] = []


def parse(text: str) -> list[Node]:
    """The values of a text, however many stand in it; stray commas and brackets are passed over."""
    roots = Node("[", 0, len(text))
    stack = [roots]
    key: list[Node | None] = [None]
    for match in _TOKEN.finditer(text):
        first = match[0][0]
        node: Node | None = None
        if first == '"':
            node = Node('"', match.start(), match.end())
        elif first in "{[":
            node = Node(first, match.start(), len(text))
        elif first in "}]":
            if len(stack) > 1:
                _flush(stack, key)
                stack.pop().end = match.end()
                key.pop()
            continue
        elif first == ":":
            top = stack[-1]
            if top.kind == "{" and top.items and key[-1] is None and top.items[-1][0] is None:
                # the string before the colon was a key
                last = top.items.pop()[1]
                if last is not None and last.kind == '"':
                    key[-1] = last
                else:
                    top.items.append((None, last))
            continue
        elif first == ",":
            _flush(stack, key)
            continue
        elif first.isspace():
            continue
        else:
            node = Node(
                "0" if first.isdigit() or (first == "-" and len(match[0]) > 1) else "w",
                match.start(),
                match.end(),
            )
        stack[-1].items.append((key[-1], node))
        key[-1] = None
        if first in "{[":
            stack.append(node)
            key.append(None)
    while stack:
        _flush(stack, key)
        stack.pop()
        key.pop()
    return [value for _, value in roots.items if value is not None]


def _flush(stack: list[Node], key: list[Node | None]) -> None:
    """A key without a value is kept as one."""
    if key[-1] is not None:
        stack[-1].items.append((key[-1], None))
        key[-1] = None


def units(raw: str) -> Iterator[tuple[str, str]]:
    """The inside of a string literal as pairs of (as written, character that it stands for)."""
    if "\\" not in raw:
        yield from zip(raw, raw, strict=True)
        return
    for match in _UNIT.finditer(raw):
        unit = match[0]
        if len(unit) == 1:
            yield unit, unit
        elif len(unit) == 12:
            high, low = int(unit[2:6], 16), int(unit[8:12], 16)
            yield unit, chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        elif len(unit) == 6:
            yield unit, chr(int(unit[2:6], 16))
        elif unit[1] in _SHORT:
            yield unit, _SHORT[unit[1]]
        else:
            # no escape of JSON: it stays two characters
            yield from zip(unit, unit, strict=True)


def decode(raw: str) -> str:
    """The characters that the inside of a literal stands for."""
    return raw if "\\" not in raw else "".join(character for _, character in units(raw))


def encode(raw: str, new: str) -> str:
    """The inside of a literal with other characters, each written as the one that it replaces was."""
    if "\\" not in raw:
        return new
    out = []
    for (unit, old), character in zip(units(raw), new, strict=True):
        if old == character:
            out.append(unit)
        elif len(unit) == 1:
            out.append(character)
        else:
            out.append(_escape(character, upper=any(c in "ABCDEF" for c in unit[2:])))
    return "".join(out)


def _escape(character: str, *, upper: bool) -> str:
    code = ord(character)
    form = "{:04X}" if upper else "{:04x}"
    if code < 0x10000:
        return "\\u" + form.format(code)
    code -= 0x10000
    return "\\u" + form.format(0xD800 + (code >> 10)) + "\\u" + form.format(0xDC00 + (code & 0x3FF))


def inside(text: str, node: Node) -> tuple[int, int]:
    """Where the inside of a string node begins and ends; a cut one has no closing quote."""
    raw = text[node.start : node.end]
    closed = len(raw) > 1 and raw.endswith('"') and not (len(raw) - len(raw[:-1].rstrip("\\")) - 1) % 2
    return node.start + 1, node.end - 1 if closed else node.end
