"""Texts made of lines: event streams and JSON lines. Line ends, field names and comments' places stay."""

from __future__ import annotations

import base64 as codec
import binascii
import re
from collections.abc import Iterator

from workbench.report.redact.document import Hole, Redactor, is_json, join

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FIELD = re.compile(r"(\ufeff?(?:data|event|id|retry)[ \t]?:[ ]?)(.*)", re.DOTALL)
_STREAM = re.compile(r"(?:\A|[\r\n])\ufeff?data:")
_EVENT = re.compile(r"[A-Za-z_][\w.:-]{0,80}")
_TIMED = re.compile(r"[A-Z_]{3,60}_\d{10,19}|\d{1,19}(?:-\d{1,19})?")
_END = "[DONE]"
_COMMENTS = frozenset(
    {"", "keepalive", "keep-alive", "ping", "connected", "heartbeat", "ok", "open", "stream-start"}
)


def is_stream(text: str) -> bool:
    """Whether a text is an event stream."""
    return bool(_STREAM.search(text))


def lines(text: str) -> Iterator[tuple[str, str]]:
    """The lines with their ends; not those of `str.splitlines`, which ends one at U+2028."""
    for match in _LINE.finditer(text):
        if match[0]:
            yield match[1], match[2]


def stream(redactor: Redactor, text: str) -> list[str | Hole]:
    """An event stream."""
    parts: list[str | Hole] = []
    #: lines of one event whose data is spread over them: prefix, data, line end
    frame: list[tuple[str, str, str]] = []

    def close() -> None:
        if frame:
            parts.extend(_frame(redactor, frame))
            frame.clear()

    with redactor.apart():
        for line, end in lines(text):
            match = _FIELD.fullmatch(line)
            if match is None or not match[1].lstrip("\ufeff").startswith("data"):
                close()
                parts += (_other(redactor, line, match), end)
            elif match[2].strip() == _END:
                close()
                parts += (line, end)
            elif not frame and is_json(match[2]):
                parts += (match[1], *redactor.json(match[2]), end)
            else:
                frame.append((match[1], match[2], end))
        close()
    return parts


def _frame(redactor: Redactor, frame: list[tuple[str, str, str]]) -> Iterator[str | Hole]:
    """One event on several `data:` lines: gone through as one text, put back line by line."""
    if len(frame) > 1 and any(is_json(data) for _, data, _ in frame):
        # events without the empty line between them, one of them damaged
        for prefix, data, end in frame:
            yield prefix
            yield from redactor.json(data)
            yield end
        return
    ends = iter([end for _, _, end in frame])
    prefixes = iter([prefix for prefix, _, _ in frame])
    yield next(prefixes)
    for part in redactor.json("\n".join(data for _, data, _ in frame)):
        if isinstance(part, Hole):
            yield part
            continue
        first, *rest = part.split("\n")
        yield first
        for piece in rest:
            yield next(ends, "\n") + next(prefixes, "") + piece
    yield next(ends, "")


def _other(redactor: Redactor, line: str, match: re.Match[str] | None) -> str:
    """A line without data: a field, a comment, or what does not belong there."""
    if match is not None:
        name, value = match[1], match[2]
        if not redactor.everything or name.startswith("retry") or not value:
            return redactor.scrub(line)
        if name.startswith("event") and _EVENT.fullmatch(value):
            return name + redactor.scrub(value)
        return name + (value if _TIMED.fullmatch(value) else redactor.id(value))
    bare = line.lstrip("\ufeff")
    if bare.startswith(":") and redactor.everything:
        said = bare[1:].strip()
        if said.lower() in _COMMENTS or said.isdigit():
            return line
    return redactor.text(line)


def json_lines(redactor: Redactor, text: str) -> list[str | Hole]:
    """JSON lines: each line is a text of its own."""
    parts: list[str | Hole] = []
    for line, end in lines(text):
        parts += (*redactor.json(line), end)
    return parts


def base64(redactor: Redactor, text: str) -> list[str | Hole] | None:
    """A body in base64: decoded, exchanged, and encoded again; None for one that cannot be."""
    try:
        data = codec.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return None
    # bytes that are no text are exchanged as the characters that stand for them, and come back as bytes
    inner = data.decode("utf-8", "surrogateescape")
    if is_stream(inner):
        parts = stream(redactor, inner)
    elif inner.lstrip()[:1] in ("{", "["):
        parts = redactor.json(inner)
    elif "\udc80" <= max(inner, default="") <= "\udcff" or "\0" in inner:
        parts = [codec.b64decode(_noise(redactor, text)).decode("utf-8", "surrogateescape")]
    else:
        parts = [redactor.text(inner)]
    return [Encoded(text, parts)]


def _noise(redactor: Redactor, text: str) -> str:
    """Binary data: other base64 of the same length."""
    return codec.b64encode(b"\0" * (len(codec.b64decode(text)))).decode() if redactor.everything else text


class Encoded(Hole):
    """Parts that stand in base64."""

    __slots__ = ()

    def __init__(self, raw: str, inner: list[str | Hole]) -> None:
        super().__init__(raw, raw, inner)

    def render(self) -> str:
        """The text as base64."""
        assert self.inner is not None
        return codec.b64encode(join(self.inner).encode("utf-8", "surrogateescape")).decode()
