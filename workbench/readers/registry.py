"""The formats in the order in which they are tried, and what runs the first that fits.

Readers of other distributions come first, so that one can take what a built-in reader would take
for something else. What such a reader does wrong is a problem of the capture, never a crash.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

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


#: Entry points of other distributions: an object `Format`, or a function that gives one or several
GROUP = "workbench.readers"

#: Filled by `workbench.readers.catalogue`, in the order of recognition.
_FORMATS: list[Format] = []


class _Plugins:
    """Formats of entry points; `faults` says which could not be had, and why."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.faults: list[str] = []
        self.loaded = False

    def load(self) -> None:
        """Add the formats of all entry points before the built-in ones, by the name of their entry point."""
        from importlib.metadata import entry_points

        self.loaded = True
        self.faults = []
        _FORMATS[:] = [known for known in _FORMATS if known.name not in self.names]
        self.names = set()
        found: list[Format] = []
        for point in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
            try:
                for new in _formats_of(point.load()):
                    if new.name in {known.name for known in (*_FORMATS, *found)}:
                        raise ValueError(f"format {new.name} is already there")  # noqa: TRY301 - one place says it
                    found.append(new)
            except Exception as problem:  # noqa: BLE001 - foreign code may raise anything
                said = f"{type(problem).__name__}: {problem}"
                self.faults.append(f"reader {point.name} ({point.value}) cannot be used: {said[:200]}")
        self.names = {new.name for new in found}
        _FORMATS[:0] = found


_PLUGINS = _Plugins()


def _formats_of(given: Any) -> Iterator[Format]:
    """The formats that an entry point stands for; raises `TypeError` for anything else."""
    if callable(given):
        given = given()
    for item in (given,) if isinstance(given, Format) else given:
        if not isinstance(item, Format):
            raise TypeError(f"{type(item).__name__} is no Format")
        yield item


def plugin_faults() -> tuple[str, ...]:
    """What is wrong with readers of other distributions, as sentences."""
    known_formats()
    return tuple(_PLUGINS.faults)


def reload_plugins() -> None:
    """Look for entry points again, as after an installation into the running process."""
    known_formats()
    _PLUGINS.load()


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

    if not _PLUGINS.loaded:
        _PLUGINS.load()
    return tuple(_FORMATS)


def recognise(sniff: Sniff) -> Format | None:
    """The first format that fits."""
    for known in known_formats():
        try:
            if known.recognise(sniff):
                return known
        except Exception as problem:
            if known.name not in _PLUGINS.names:
                raise
            fault = f"reader {known.name} cannot tell its format: {type(problem).__name__}: {problem}"[:200]
            if fault not in _PLUGINS.faults:
                _PLUGINS.faults.append(fault)
    return None


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
            "requests (RunAgentInput), AG-UI DevTools and inspector captures, logs and pasted text with events, "
            "protobuf, gzip and zip (all of them: workbench formats)",
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
    elif known.name in _PLUGINS.names:
        _read_foreign(known.name, known.read, reading)
    else:
        known.read(reading)
    return reading.counts.format


def _read_foreign(name: str, read: Callable[[Reading], None], reading: Reading) -> None:
    """Run the reader of another distribution; what it raises ends this content and nothing else."""
    try:
        read(reading)
    except (OSError, MemoryError):
        raise  # the caller says these better
    except Exception as problem:  # noqa: BLE001 - foreign code may raise anything
        reading.problem(f"reader {name} failed: {type(problem).__name__}: {problem}"[:200])
        reading.cut("could not be read to its end")
