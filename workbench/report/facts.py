"""What every report says about itself: versions, when the capture was made, how to see the view again."""

from __future__ import annotations

import platform
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.readers.records import NO_TIME
from workbench.report.plain import count, plain

if TYPE_CHECKING:
    from workbench.trace import Trace

_SOURCES = 5


def short_name(path: str) -> str:
    """A path without the folders of the person's own machine."""
    pure = Path(path)
    if not pure.is_absolute():
        return path
    try:
        return pure.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return pure.name


def made_with(trace: Trace) -> str:
    """Versions and facts of the capture in a sentence or two; no time is made up."""
    import workbench

    sources = trace.records.sources
    formats = ", ".join(dict.fromkeys(s.format for s in sources)) or "nothing"
    times = [time for time in trace.records.events.time if time != NO_TIME]
    times += [request.time for request in trace.records.requests if request.time is not None]
    when = f", recorded {_said(min(times))} to {_said(max(times))}" if times else ", without times"
    return (
        f"agui-workbench {workbench.__version__}, Python {platform.python_version()}. "
        f"Read from {count(len(sources), 'source')} ({formats}): {count(len(trace.records.events), 'event')}, "
        f"{count(len(trace.records.requests), 'request')}{when}."
    )


def again(trace: Trace) -> str:
    """The command that shows the same in a terminal."""
    paths = list(dict.fromkeys(short_name(source.path) for source in trace.records.sources))
    shown = " ".join(shlex.quote(plain(path, 200)) for path in paths[:_SOURCES])
    return f"workbench check {shown}" + (" …" if len(paths) > _SOURCES else "")


def named(participant: str) -> str:
    """The name of a participant of the ladder: the kind of its key is left out."""
    return participant.partition(":")[2] or participant


def _said(nanoseconds: int) -> str:
    try:
        return f"{datetime.fromtimestamp(nanoseconds // 10**9, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return "at a time out of range"
