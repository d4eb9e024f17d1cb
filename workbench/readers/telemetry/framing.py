"""JSON values in a content, one per line, over many lines, or amid the other output of a program.

Nothing is held but the value that is being gathered, so a file of lines may be as large as it likes.
A damaged value ends where the next one begins at the start of a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from workbench.readers.lines import lines
from workbench.readers.reading import Reading

OPENS = re.compile(rb'\{[ \t]*(?:["}\r\n]|\Z)|\[[ \t]*(?:[\[{\]\r\n]|\Z)')
#: A value behind a prefix on its line, as logging libraries write one
_BEHIND = re.compile(rb'\{"(?:resource(?:Spans|Logs|Metrics)?|scopeSpans)" ?:')
#: A string; one that does not end is taken as a whole, so that it is not tried from every quote inside
_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*+("|\\?\Z)', re.DOTALL)
_DATA = re.compile(rb"data: ?(?=[\[{])")
#: A further record in an array
_FURTHER = re.compile(rb'[\]}]?, ?\{"')
#: Field lines of server-sent events that carry no value
_FIELDS = re.compile(rb"(?:event|id|retry)(?::|\Z)|:|data: ?(?:\[DONE\])?\s*\Z")

#: Lines up to here are looked at from end to end
_SHORT = 4096


class Frame(NamedTuple):
    """A value, or a line of other text (`value` is false)."""

    data: bytes
    line: int
    offset: int
    value: bool = True
    #: the content ended inside of it
    cut: bool = False


def depth(text: bytes) -> int:
    """Brackets that are opened and not closed, strings left aside."""
    bare = _STRINGS.sub(lambda found: b"" if found[1] == b'"' else found[0], text) if b'"' in text else text
    opened = bare.count(b"{") + bare.count(b"[")
    return opened - bare.count(b"}") - bare.count(b"]")


def frames(reading: Reading) -> Iterator[Frame]:
    """All values and lines of the content, in order."""
    content, limits = reading.content, reading.limits
    number = content.first_line - 1
    start = first = level = 0
    gathering = False
    end = content.start
    for offset, line in lines(content, limits, reading.progress):
        number += 1
        if line is None:
            reading.problem(f"a line of more than {limits.max_line:,} bytes", line=number, offset=offset)
            gathering = False
            continue
        data = line.strip(b" \t\r")
        if gathering:
            begins = line[:1] in (b"{", b"[") and OPENS.match(line) is not None
            if begins and _is_new(content.data.read(start, min(offset - start, 80)), line):
                yield Frame(content.data.read(start, end - start), first, start)
                gathering = False
            elif offset + len(line) - start > limits.max_json_document:
                reading.problem(
                    "a value that is too large", line=first, offset=start, data=content.data.read(start, 80)
                )
                gathering = False
                continue
            else:
                level += depth(data)
                end = offset + len(line)
                if level <= 0 and data[-1:] in (b"}", b"]", b","):
                    yield Frame(content.data.read(start, end - start).rstrip(b" \t\r,"), first, start)
                    gathering = False
                continue
        if not data:
            continue
        at = offset + line.find(data[:1]) if data is not line else offset
        if _FIELDS.match(data):
            continue
        mark = _DATA.match(data)
        if mark is not None:
            data, at = data[mark.end() :], at + mark.end()
        elif OPENS.match(data) is None and not _is_damaged(data):
            behind = _BEHIND.search(data)
            if behind is None:
                yield Frame(data, number, at, value=False)
                continue
            data, at = data[behind.start() :], at + behind.start()
        data = data.rstrip(b",") if data[-1:] == b"," else data
        if mark is not None or _is_whole(data):
            yield Frame(data, number, at)
            continue
        gathering, start, first, end = True, at, number, offset + len(line)
        level = depth(data)
    if gathering:
        yield Frame(content.data.read(start, end - start), first, start, cut=True)


def _is_damaged(line: bytes) -> bool:
    """Whether a line that does not begin like a value is one all the same: an array whose first record is damaged."""
    return line[:1] + line[-1:] in (b"{}", b"[]") and _FURTHER.search(line, 0, 1 << 16) is not None


def _is_whole(line: bytes) -> bool:
    """Whether a line is a value of its own. In a long one only the ends are looked at."""
    if line[:1] + line[-1:] not in (b"{}", b"[]"):
        return False
    return len(line) > _SHORT or depth(line) <= 0


def _is_new(head: bytes, line: bytes) -> bool:
    """Whether a line at the margin begins a further value rather than continuing the one that is gathered.

    An array may have its elements at the margin, one per line.
    """
    return not (head[:1] == b"[" and line[:1] == b"{") or head[:3] == b"[{\n" or OPENS.match(head) is None
