"""What was checked already: JSON lines that a run appends to, so that another can go on after it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from workbench.exceptions import WorkbenchError
from workbench.fleet.captures import Capture
from workbench.fleet.one import Asked, Row, well_formed

_FORMAT = 1
#: a place behind the end of every journal
_BEYOND = 1 << 62


class Journal:
    """The rows of a run. The file is there whole up to its last line, whatever happens; a cut line is dropped."""

    def __init__(self, path: Path, asked: Asked) -> None:
        self.path = path
        self._asked: dict[str, Any] = {
            "kind": "fleet",
            "format": _FORMAT,
            "asked": json.loads(json.dumps(asdict(asked))),
        }
        self.rows: dict[str, Row] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Read what is there. Raises `WorkbenchError` where that is no journal, that of another question, or in use."""
        new = not self.path.exists()
        self._file = self.path.open("w+b" if new else "r+b")
        try:
            self._hold()
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def _hold(self) -> None:
        """Two runs would write over the lines of each other."""
        assert self._file is not None
        if sys.platform == "win32":
            import msvcrt

            self._file.seek(_BEYOND)  # a lock there keeps nobody from reading what is before
            with _free(self.path):
                msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)
            self._file.seek(0)
        else:
            import fcntl

            with _free(self.path):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _read(self) -> None:
        assert self._file is not None
        good = 0
        head = msgspec.json.encode(self._asked) + b"\n"
        for number, line in enumerate(self._file):
            if number == 0 and not head.startswith(line):
                raise WorkbenchError(self._other(line))
            if not line.endswith(b"\n"):
                break
            good += len(line)
            try:
                value = msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                continue  # what it was about is checked again
            if number and well_formed(value):
                self.rows[value["key"]] = value
        self._file.truncate(good)
        self._file.seek(good)
        if not good:
            self._write(self._asked)

    def _other(self, line: bytes) -> str:
        """Why a file that begins with this line is not written to."""
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            value = None
        if isinstance(value, dict) and value.get("kind") == "fleet":
            return f"{self.path} is the journal of another question: {json.dumps(value.get('asked'))}"
        return f"{self.path} is no journal of `check --each`, and is left as it is"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, row: Row) -> None:
        """Write a row down."""
        self.rows[str(row["key"])] = row
        self._write(row)

    def _write(self, value: dict[str, Any]) -> None:
        assert self._file is not None
        self._file.write(msgspec.json.encode(value) + b"\n")
        self._file.flush()

    def left(self, some: Sequence[Capture]) -> list[Capture]:
        """The captures that are not in it yet; one that was written anew since is."""
        return [capture for capture in some if capture.key not in self.rows]

    def of(self, some: Sequence[Capture]) -> Iterator[Row]:
        """The rows of these captures, in their order."""
        return (self.rows[capture.key] for capture in some if capture.key in self.rows)


@contextmanager
def _free(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise WorkbenchError(
            f"{path} is written by another run; wait for it, or take another file"
        ) from problem
