"""Captures of any format → `Records`: one format, one file, recognised by content.

`load` is what `workbench.load` wraps; `formats()` lists what is recognised, `samples()` the
bundled captures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.exceptions import LoadError
from workbench.readers import requests
from workbench.readers.bundled import samples
from workbench.readers.content import Content
from workbench.readers.limits import Limits
from workbench.readers.reading import Reading
from workbench.readers.records import Problem, Records, RequestRecord, Source
from workbench.readers.registry import Format, known_formats, plugin_faults, read_content, register
from workbench.readers.sources import Input, inputs

__all__ = ["Format", "Limits", "formats", "load", "register", "samples"]

Progress = Callable[[str, int, int], None]


def formats() -> tuple[Format, ...]:
    """All formats in the order in which they are tried."""
    return known_formats()


def load(
    sources: Sequence[Any],
    *,
    strict: bool = False,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Records:
    """Read captures: paths, folders, globs, bytes, file objects, `-`, `sample:NAME`, in any mix.

    What cannot be read becomes a problem and costs nothing else. With `strict=True` any problem
    raises `LoadError`. `progress(path, bytes_done, bytes_total)` is called for each piece read.
    """
    limits = limits or Limits()
    records = Records()
    carried: list[RequestRecord] = []
    seen: dict[object, int] = {}
    for given in inputs(sources, limits):
        if given.identity is not None and given.identity in seen:
            note = f"given again as {given.label}, read once"
            records.sources[seen[given.identity]].notes.append(note)
            continue
        number = len(records.sources)
        if given.identity is not None:
            seen[given.identity] = number
        records.sources.append(Source(given.label))
        _read(records, carried, number, given, limits, progress)
    records.events.settle()
    _add_carried(records, carried)
    if records.sources:
        records.problems += [Problem(0, fault) for fault in plugin_faults()]
    if strict and records.problems:
        raise LoadError([_line(records, problem) for problem in records.problems])
    return records


def _read(
    records: Records,
    carried: list[RequestRecord],
    number: int,
    given: Input,
    limits: Limits,
    progress: Progress | None,
) -> None:
    source = records.sources[number]
    if given.data is None:
        source.format = "unreadable"
        source.complete = False
        source.notes.append(given.fault)
        records.problems.append(Problem(number, given.fault))
        return
    total = source.bytes = given.data.size
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done = min(done + size, total)
        assert progress is not None
        progress(source.path, done, total)

    content = Content(given.data)
    reading = Reading(records, carried, number, content, limits, progress=advance if progress else None)
    for note in given.notes:
        reading.remark(note)
        reading.cut(note)
    try:
        source.format = read_content(reading)
    except OSError as problem:  # the file went away, or the disk failed, while it was read
        reading.remark(f"reading stopped: {problem.strerror or problem}")
        reading.cut("could not be read to its end")
    except MemoryError:
        reading.remark("reading stopped: not enough memory")
        reading.cut("could not be read to its end")
    if progress is not None and done < total:
        progress(source.path, total, total)


def _add_carried(records: Records, carried: list[RequestRecord]) -> None:
    """Requests inside RUN_STARTED, except where the real body is in the capture."""
    bodies = {requests.key(request.body) for request in records.requests}
    pool = records.pool
    for request in carried:
        assert request.event is not None
        body = requests.run_input(request.body)
        request.body = request.body if body is None else body
        thread, run = requests.key(request.body)
        row = request.event
        thread = thread if thread is not None else pool.text(records.events.own_thread[row])
        run = run if run is not None else pool.text(records.events.own_run[row])
        if (thread, run) not in bodies:
            records.requests.append(request)


def _line(records: Records, problem: Problem) -> str:
    """A problem as one line of text."""
    place = records.sources[problem.source].path
    if problem.member:
        place += f" {problem.member}"
    if problem.line is not None:
        place += f":{problem.line}"
    return f"{place}: {problem.reason}"
