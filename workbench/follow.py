"""A recording that is still being written, as tables that are always current."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.readers import Limits
from workbench.trace import Trace, load

#: How often a folder is looked at while somebody waits, seconds
_PAUSE = 0.1
#: How long a line may stand unfinished before it counts as cut, seconds
_PATIENCE = 0.3
_Signature = tuple[tuple[str, int, int], ...]


def follow(folder: str | os.PathLike[str], *, limits: Limits | None = None) -> Following:
    """Follow a folder that is recorded into, which need not be there yet.

    live = wb.follow("recording")
    live.trace.calls                # the calls so far; asked again, the calls by then
    for trace in live.watch(60):    # a new trace for each change, for a minute
        print(trace)
    """
    return Following(folder, limits)


class Following:
    """What `follow` gives: `trace` is loaded anew when something was written since."""

    def __init__(self, folder: str | os.PathLike[str], limits: Limits | None = None) -> None:
        self.folder = Path(folder)
        self.limits = limits
        self._seen: _Signature | None = None
        self._trace: Trace | None = None

    def __repr__(self) -> str:
        return f"<Following {self.folder}: {self.trace!r}>"

    @property
    def trace(self) -> Trace:
        """The trace of everything that is written by now; the same object while nothing is new."""
        seen = self._signature()
        if self._trace is None or seen != self._seen:
            self._wait_for_lines()
            # taken before the files are read: what is written meanwhile counts as new
            self._seen = self._signature()
            sources: list[Any] = [self.folder] if self._seen else []
            self._trace = load(*sources, limits=self.limits)
        return self._trace

    def watch(self, seconds: float | None = None) -> Iterator[Trace]:
        """The trace now, and again after every change, for so many seconds (or until interrupted)."""
        end = None if seconds is None else time.monotonic() + seconds
        yield self.trace
        while end is None or time.monotonic() < end:
            left = _PAUSE if end is None else min(_PAUSE, max(end - time.monotonic(), 0))
            time.sleep(left)
            if self._signature() != self._seen:
                yield self.trace

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        for parent, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                path = os.path.join(parent, name)  # noqa: PTH118 - a path for every file at every look is too dear
                try:
                    yield path, os.stat(path)  # noqa: PTH116 - as above
                except OSError:
                    continue  # gone in between

    def _signature(self) -> _Signature:
        return tuple((path, status.st_size, status.st_mtime_ns) for path, status in self._files())

    def _wait_for_lines(self) -> None:
        """Wait a little where the last line of a file is just being written."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and any(
            status.st_size and path.endswith(".jsonl") and not _closed(path, status.st_size)
            for path, status in self._files()
        ):
            time.sleep(0.01)


def _closed(path: str, size: int) -> bool:
    try:
        with Path(path).open("rb") as file:
            file.seek(size - 1)
            return file.read(1) == b"\n"
    except OSError:
        return True
