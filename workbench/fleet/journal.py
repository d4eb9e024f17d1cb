"""What was checked already: JSON lines that a run appends to, so that another can go on after it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from workbench.exceptions import WorkbenchError
from workbench.fleet.captures import Capture
from workbench.fleet.one import Asked, Row

_FORMAT = 1


class Journal:
    """The rows of a run. The file is there whole up to its last line, whatever happens; a cut line is dropped."""

    def __init__(self, path: Path, asked: Asked) -> None:
        self.path = path
        self._asked = {"kind": "fleet", "format": _FORMAT, "asked": json.loads(json.dumps(asdict(asked)))}
        self.rows: dict[str, Row] = {}
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        """Read what is there. Raises `WorkbenchError` where it is the journal of another question."""
        good = 0
        if self.path.exists():
            data = self.path.read_bytes()
            for number, line in enumerate(data.splitlines(keepends=True)):
                try:
                    value = msgspec.json.decode(line)
                except msgspec.DecodeError:
                    break
                if not line.endswith(b"\n") or not isinstance(value, dict):
                    break
                if number == 0 and value != self._asked:
                    raise WorkbenchError(
                        f"{self.path} is the journal of another question: {json.dumps(value.get('asked'))}"
                    )
                if number:
                    self.rows[str(value.get("key"))] = value
                good += len(line)
        self._file = self.path.open("r+b" if self.path.exists() else "w+b")
        self._file.truncate(good)
        self._file.seek(good)
        if not good:
            self._write(self._asked)
        return self

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
