"""Lines of a capture with their offsets: LF, CRLF and CR in any mix, never the whole file at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from workbench.readers.content import CHUNK, Content
from workbench.readers.limits import Limits

_ENDS = re.compile(rb"(\r\n|\n|\r)")
_END = re.compile(rb"\r\n|\n|\r(?!\n|\Z)")


def lines(
    content: Content, limits: Limits, progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes | None]]:
    """Yield `(offset, line)` without line ends; None stands for a line beyond `limits.max_line`.

    A line end never stands inside JSON text, so a raw CR may always end a line. `progress`
    gets the number of bytes of each piece that was read.
    """
    for offset, block in blocks(content, limits, progress):
        if block is None:
            yield offset, None
        else:
            yield from split(offset, block, limits)


def blocks(
    content: Content, limits: Limits, progress: Callable[[int], None] | None = None
) -> Iterator[tuple[int, bytes | None]]:
    """Yield `(offset, block)` of whole lines, the last one perhaps without its end; None is a line too long."""
    offset = content.start  # of the line that is being gathered
    held: list[bytes] = []
    held_size = 0
    skipped = 0  # bytes of a line that is too long
    for chunk in content.chunks(min(CHUNK, limits.max_line)):
        if progress is not None:
            progress(len(chunk))
        rest = chunk
        if skipped:
            end = _END.search(rest)
            if end is None:
                skipped += len(rest)
                continue
            yield offset, None
            offset += skipped + end.end()
            skipped = 0
            rest = rest[end.end() :]
        # A CR that ends the piece may be half of a CRLF: it waits for the next piece.
        cut = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, max(len(rest) - 1, 0))) + 1
        if not cut:
            held.append(rest)
            held_size += len(rest)
            if held_size > limits.max_line:
                skipped = held_size
                held, held_size = [], 0
            continue
        block = b"".join([*held, rest[:cut]]) if held else rest[:cut]
        held, held_size = [rest[cut:]], len(rest) - cut
        yield offset, block
        offset += len(block)
    if skipped:
        yield offset, None
        return
    block = b"".join(held)
    if block:
        yield offset, block


def split(offset: int, block: bytes, limits: Limits) -> Iterator[tuple[int, bytes | None]]:
    """The lines of a block that begins at `offset`, as `lines` gives them."""
    if b"\r" in block:
        for line, end_size in _split(block):
            yield offset, line if len(line) <= limits.max_line else None
            offset += len(line) + end_size
        return
    parts = block.split(b"\n")
    if not parts[-1]:
        parts.pop()  # behind the last LF
    for line in parts:
        yield offset, line if len(line) <= limits.max_line else None
        offset += len(line) + 1


def _split(block: bytes) -> Iterator[tuple[bytes, int]]:
    """Lines of a block with the sizes of their ends; an empty rest is no line."""
    pieces = _ENDS.split(block)
    for index in range(0, len(pieces) - 1, 2):
        yield pieces[index], len(pieces[index + 1])
    if pieces[-1]:
        yield pieces[-1], 0
