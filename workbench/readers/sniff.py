"""The first bytes of a content, looked at from the sides that tell formats apart."""

from __future__ import annotations

import re
from functools import cached_property

from workbench.readers import protocol, tolerant
from workbench.readers.content import Content
from workbench.readers.json_split import split_object
from workbench.readers.limits import Limits

# a string may be cut, also behind a backslash: it is never tried again from a quote inside of it
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}:,]', re.DOTALL)
_VALUE = re.compile(rb"\s*(\S)")
_TYPE = re.compile(rb'"type\\?"\s*:\s*\\?"([A-Za-z_]{3,60})\\?"')
_ENDS = re.compile(rb"\r\n|\n|\r")
_SPACE = b" \t\r\n"


def object_keys(text: bytes, start: int = 0, *, inside: str = "") -> dict[str, str]:
    """Keys of the first object of some JSON text with the first character of their values.

    Reads as far as the text goes and never raises. With `inside`, the keys of the object that
    stands under that key.
    """
    keys: dict[str, str] = {}
    depth = 0
    key = ""
    first = text[start : start + 1]
    level = 2 if first == b"[" else 1
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        if token in (b"{", b"["):
            if inside and depth == level and key == inside and token == b"{":
                return object_keys(text, match.start())
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth < level:
                break
        elif token == b"," and depth == level:
            key = ""
        elif token[:1] == b'"' and depth == level and not key:
            after = _VALUE.match(text, match.end())
            if after is not None and after[1] == b":":
                key = token[1:-1].decode("utf-8", "replace")
                value = _VALUE.match(text, after.end())
                keys[key] = value[1].decode("latin-1") if value else ""
    return keys


def _is_object(line: bytes) -> bool:
    """Whether a line is an object, also one that has to be repaired: lone surrogates, NaN, bytes that are not UTF-8."""
    return split_object(line) is not None or (
        line[:1] + line[-1:] == b"{}" and isinstance(tolerant.decode(line).value, dict)
    )


class Sniff:
    """The head of a content; every property is computed once."""

    def __init__(self, content: Content, limits: Limits) -> None:
        self.head = content.head(limits.max_sniff)
        #: the content is no longer than the head
        self.whole = content.size <= len(self.head)

    @cached_property
    def text(self) -> bytes:
        """The head without leading blanks."""
        return self.head.lstrip(_SPACE)

    @cached_property
    def first(self) -> bytes:
        """The first byte that is no blank."""
        return self.text[:1]

    @cached_property
    def lines(self) -> list[bytes]:
        """The first lines that are not blank; one that the head cuts is left out if others are there."""
        lines = _ENDS.split(self.text[: 256 * 1024])
        if not self.whole and len(lines) > 1:
            lines.pop()
        return [line for line in lines[:2000] if line.strip()]

    @cached_property
    def keys(self) -> dict[str, str]:
        """Keys of the first object (see `object_keys`)."""
        return object_keys(self.text) if self.first in (b"{", b"[") and not self.has_data_lines else {}

    @cached_property
    def line_keys(self) -> list[dict[str, str]]:
        """The same of each of the first twenty lines that begin with `{`."""
        return [object_keys(line) for line in self.lines[:60] if line.lstrip(_SPACE)[:1] == b"{"][:20]

    @cached_property
    def is_lines(self) -> bool:
        """Whether it is one JSON object per line rather than one document."""
        if self.has_data_lines:
            return False
        lines = self.lines[:60]
        whole = sum(_is_object(line.strip()) for line in lines if b"{" in line)
        if len(lines) == 1:
            return self.first == b"{"
        return whole >= 1 and whole * 2 >= len(lines)

    @cached_property
    def has_types(self) -> bool:
        """Whether an AG-UI event type stands anywhere in the head."""
        return any(protocol.known_type(name.decode()) for name in _TYPE.findall(self.head))

    @cached_property
    def types(self) -> list[str]:
        """Values of all `"type"` keys in the head."""
        return [name.decode() for name in re.findall(rb'"type"\s*:\s*"([A-Za-z_.]{3,60})"', self.head)]

    @cached_property
    def has_data_lines(self) -> bool:
        """Whether a line begins with `data:`, which no line of a JSON document can."""
        return re.search(rb"(?:\A|[\r\n])[ \t>]*data:", self.head) is not None
