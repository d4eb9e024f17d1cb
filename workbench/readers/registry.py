"""The formats in the order in which they are tried, and what runs the first that fits."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass

from workbench.readers.reading import Reading
from workbench.readers.sniff import Sniff


@dataclass(frozen=True, slots=True)
class Format:
    """One capture format.

    `recognise` judges content alone; `extensions` are usual file names, for people.
    A format without `read` is known but not read: `advice` says what to do instead.
    """

    name: str
    title: str
    recognised_by: str
    extensions: tuple[str, ...]
    recognise: Callable[[Sniff], bool]
    read: Callable[[Reading], None] | None = None
    advice: str = ""


#: Filled by `workbench.readers.catalogue`, in the order of recognition.
_FORMATS: list[Format] = []


def register(*formats: Format, before: str | None = None) -> None:
    """Add formats, at the end or before the one named.

    Raises `ValueError` for a name that is taken, or where `before` is not there.
    """
    for new in formats:
        names = [known.name for known in _FORMATS]
        if new.name in names:
            raise ValueError(f"format {new.name} is already there")
        _FORMATS.insert(names.index(before) if before is not None else len(names), new)


def known_formats() -> tuple[Format, ...]:
    """All formats, in the order of recognition."""
    import workbench.readers.catalogue  # noqa: F401 - fills the registry

    return tuple(_FORMATS)


def recognise(sniff: Sniff) -> Format | None:
    """The first format that fits."""
    return next((known for known in known_formats() if known.recognise(sniff)), None)


def read_content(reading: Reading) -> str:
    """Recognise what stands in `reading.content` and read it; the name of the format."""
    content = reading.content
    if content.head(3) == codecs.BOM_UTF8:
        reading.content = content.view(content.start + 3)
    sniff = Sniff(reading.content, reading.limits)
    known = recognise(sniff)
    if known is None:
        if not sniff.text and sniff.whole:
            reading.remark("empty: there is nothing to read", line=1, offset=reading.content.start)
            reading.note("empty")
            return "empty"
        reading.problem(
            "not recognised: looked for SSE, HTTP dumps, HAR, JSON and JSON lines with AG-UI events, "
            "requests (RunAgentInput), AG-UI DevTools captures, pasted text with events, gzip",
            line=reading.content.first_line,
            offset=reading.content.start,
            data=sniff.head,
        )
        return "unknown"
    if reading.depth > reading.limits.max_depth:
        reading.problem(f"more than {reading.limits.max_depth} wrappers inside each other", data=sniff.head)
        return known.name
    # A wrapper (gzip, HTTP dump) overwrites this with what it found inside.
    reading.counts.format = known.name
    if known.read is None:
        reading.problem(
            f"recognised as {known.title}, which is not read: {known.advice}",
            line=reading.content.first_line,
            offset=reading.content.start,
            data=sniff.head,
        )
    else:
        known.read(reading)
    return reading.counts.format
