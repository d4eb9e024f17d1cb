"""Captures pasted into an issue: fences and `data:` lines between prose."""

from __future__ import annotations

import re
from dataclasses import dataclass

from workbench.readers.json_events import too_large
from workbench.readers.lines import lines
from workbench.readers.reading import Reading
from workbench.readers.registry import Format, read_content, recognise
from workbench.readers.sniff import Sniff

_FENCE = re.compile(rb"[ \t>]{0,12}(`{3,}|~{3,})")
_SSE_LINE = re.compile(rb"(data|id|event|retry)?:")
#: what no other format of text begins with: payloads as people paste them
_PASTED = re.compile(
    rb"""['"]json_data['"]\s{0,4}:|(?:\A|[\r\n])[ \t>]{0,12}\[\d{1,5}/(?:user|assistant|tool|system)\] [a-z_]{3}"""
)
_STARTS = frozenset({"RUN_STARTED", "RUN_ERROR"})
_ENDS = frozenset({"RUN_FINISHED", "RUN_ERROR"})


@dataclass(slots=True)
class _Block:
    """Lines that are read together: what stands in a fence, or bare `data:` lines."""

    start: int
    first_line: int
    end: int = -1


def read(reading: Reading) -> None:
    """Read each fence and each run of `data:` lines as its own stream; prose is counted as noise."""
    if too_large(reading):
        return
    blocks = _blocks(reading)
    for block in blocks:
        _read_block(reading, block)


def _blocks(reading: Reading) -> list[_Block]:
    """Find the blocks, and count every other line that is not blank."""
    content = reading.content
    blocks: list[_Block] = []
    fence: bytes = b""
    open_block: _Block | None = None  # of bare lines; a fence has `fence` set as well
    number = content.first_line - 1
    for offset, line in lines(content, reading.limits):
        number += 1
        text = line or b""
        mark = _FENCE.match(text)
        if fence:
            assert open_block is not None
            if mark is not None and mark[1].startswith(fence) and not text[mark.end() :].strip():
                open_block.end = offset
                blocks.append(open_block)
                fence, open_block = b"", None
                reading.ignore("fence marks")
            continue
        if open_block is not None and (mark is not None or (text.strip() and not _SSE_LINE.match(text))):
            open_block.end = offset
            blocks.append(open_block)
            open_block = None
        if mark is not None:
            fence = mark[1]
            open_block = _Block(offset + len(text) + 1, number + 1)
            reading.ignore("fence marks")
        elif open_block is None and text.startswith(b"data:"):
            open_block = _Block(offset, number)
        elif open_block is None and (line is None or text.strip()):
            reading.ignore("prose lines")
    if open_block is not None:
        open_block.end = content.end
        blocks.append(open_block)
        if fence:
            reading.note("the last fence is not closed")
    return blocks


def _read_block(reading: Reading, block: _Block) -> None:
    records = reading.records
    inner = reading.inside(reading.content.view(block.start, max(block.end, block.start), block.first_line))
    known = recognise(Sniff(inner.content, reading.limits))
    if known is None or known.read is None or known is FORMAT:
        if inner.content.whole().strip():
            # Code, logs, tracebacks: pastes are full of them.
            reading.ignore("fences without events" if known is None else f"fences with {known.title}")
        return
    streams, events, problems = len(records.streams), len(records.events), reading.counts.problems
    ignored = reading.counts.ignored["noise lines"]
    name = reading.counts.format
    read_content(inner)
    reading.counts.format = name
    if not reading.counts.ignored["noise lines"]:
        del reading.counts.ignored["noise lines"]
    lossy = reading.counts.problems > problems or reading.counts.ignored["noise lines"] > ignored
    for number in range(streams, len(records.streams)):
        rows = [row for row in range(events, len(records.events)) if records.events.stream[row] == number]
        types = [records.pool.text(records.events.type[row]) for row in rows]
        if lossy or (types and not (types[0] in _STARTS and types[-1] in _ENDS)):
            records.streams[number].complete = False
            reading.cut("an excerpt pasted into text")


FORMAT = Format(
    name="markdown",
    title="Text pasted from an issue (Markdown with fences)",
    recognised_by="a fence (```) with events, `data:` lines or a payload in it",
    extensions=(".md", ".txt"),
    recognise=lambda sniff: (
        re.search(rb"(?:\A|[\r\n])[ \t>]{0,12}(```|~~~)", sniff.head) is not None
        and (sniff.has_data_lines or sniff.has_types or _PASTED.search(sniff.head) is not None)
        and sniff.first not in (b"{", b"[")
    ),
    read=read,
)
