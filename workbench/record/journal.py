"""A recording: a folder of files that only grow, one line a record, each written at once.

Whatever ends the process, the lines before are whole and the last one is whole or cut. Several processes
may record into one folder, because each has files of its own.

    agui-….agui.jsonl     requests to agents and the events they streamed (format `agui-devtools`)
    provider-….jsonl      requests to model providers and what they answered (format `provider-recording`)
    otlp-….jsonl          spans and log records (format `otlp`)
    agent-….jsonl         what `recorder()` saw inside of the agent (format `agent-recording`)
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import weakref
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from workbench.record.secrets import Secrets

#: How the files end, by what is in them
SUFFIXES = {"agui": ".agui.jsonl", "provider": ".jsonl", "otlp": ".jsonl", "agent": ".jsonl"}


def say(words: str) -> None:
    """Tell whoever runs this; a closed standard error is no reason to fail."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"workbench: {words}\n")


class Recording:
    """A folder that is recorded into. Its files come with their first record.

    Raises `OSError` where the folder cannot be made. A file that cannot be written later (a full disk)
    is said once on standard error and ends the recording, not what is recorded.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.secrets = Secrets()
        self._journals: dict[str, Journal] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Recording: {self.folder}>"

    def journal(self, kind: str) -> Journal:
        """The file of this process for records of a kind (a key of `SUFFIXES`)."""
        with self._lock:
            found = self._journals.get(kind)
            if found is None or found.process != os.getpid():  # a server forks its workers
                found = self._journals[kind] = Journal(self, kind)
            return found

    def close(self) -> None:
        """Close the files. What is recorded later goes into new ones."""
        with self._lock:
            for journal in self._journals.values():
                journal.close()
            self._journals.clear()


class Journal:
    """One file of a recording. Safe to use from several threads."""

    def __init__(self, recording: Recording, kind: str) -> None:
        self.process = os.getpid()
        self.kind = kind
        self.secrets = recording.secrets
        self._folder = recording.folder
        self._file = -1
        self._lock = threading.Lock()
        self._failed = False
        self._numbers = 0
        self.path: Path | None = None
        # Times are those of one steady clock, so that a change of the system's clock makes none go back.
        self._start = time.time_ns()
        self._steady = time.perf_counter_ns()

    def passed(self) -> float:
        """Milliseconds since the journal began."""
        return (time.perf_counter_ns() - self._steady) // 1000 / 1000

    def now(self) -> int:
        """UTC nanoseconds."""
        return self._start + time.perf_counter_ns() - self._steady

    def number(self) -> int:
        """A number that this journal has not given out before, from 1."""
        with self._lock:
            self._numbers += 1
            return self._numbers

    def write(self, *records: dict[str, Any]) -> None:
        """Add records; all of one call reach the file together."""
        self.add([msgspec.json.encode(record) for record in records])

    def add(self, lines: list[bytes]) -> None:
        """Add lines of JSON, without their ends. Never raises for a disk that is full or gone."""
        if not lines:
            return
        data = self.secrets.strike(b"\n".join(lines)) + b"\n"
        with self._lock:
            if self._failed:
                return
            try:
                if self._file < 0:
                    self._open()
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file, view) :]
            except OSError as problem:
                self._failed = True
                say(f"recording stopped: {self.path or self._folder}: {problem.strerror}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
            self._file = -1
            self._failed = True

    def _open(self) -> None:
        started = datetime.fromtimestamp(self._start / 1e9, UTC)
        stem = f"{self.kind}-{started:%Y%m%dT%H%M%S}-{os.getpid()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        for attempt in range(1000):
            more = f"-{attempt}" if attempt else ""
            self.path = self._folder / f"{stem}{more}{SUFFIXES[self.kind]}"
            try:
                # conversations are private: nobody but the owner reads them
                self._file = os.open(self.path, flags, 0o600)
                break
            except FileExistsError:
                continue
        else:
            raise OSError(0, "no free name")
        if self.kind == "otlp":
            return  # the format has no header
        header = {
            "kind": "header",
            "schemaVersion": 1,
            "tool": f"agui-workbench@{_version()}",
            "recording": self.kind,
            "capturedAt": started.isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "redacted": ["headers", "query"],
        }
        os.write(self._file, msgspec.json.encode(header) + b"\n")


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("agui-workbench")
    except metadata.PackageNotFoundError:
        return "0"


#: One recording for each folder of a process, so that what one part learns as a secret all keep
_OPEN: weakref.WeakValueDictionary[Path, Recording] = weakref.WeakValueDictionary()


def as_recording(folder: str | os.PathLike[str] | Recording) -> Recording:
    """The recording itself, or that of a folder."""
    if isinstance(folder, Recording):
        return folder
    path = Path(folder).absolute()
    found = _OPEN.get(path)
    if found is None:
        found = _OPEN[path] = Recording(folder)
    else:
        path.mkdir(parents=True, exist_ok=True)
    return found
