"""What a caller gives to `load`, taken apart into single inputs in a stable order."""

from __future__ import annotations

import glob
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.readers import bundled, live
from workbench.readers.content import Bytes, FileBytes, MemoryBytes, spool
from workbench.readers.limits import MIB, Limits

#: Lists of these are lists of sources
_NAMES = (str, bytes, os.PathLike)
_DIGITS = re.compile(r"(\d+)")


@dataclass(slots=True)
class Input:
    """One input: bytes to read, or the reason why there are none."""

    label: str
    data: Bytes | None = None
    fault: str = ""
    notes: list[str] = field(default_factory=list)
    #: tells the same file under two names
    identity: object = None


def natural(name: str) -> list[tuple[int, int | str]]:
    """Sort key under which `run2` stands before `run10`."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in _DIGITS.split(name)]


def inputs(sources: Sequence[Any], limits: Limits) -> Iterator[Input]:
    """All inputs, in the order given; files of one folder or glob in natural order. Never raises."""
    unnamed = 0
    for source in sources:
        if isinstance(source, bytes | bytearray | memoryview):
            unnamed += 1
            yield Input("<bytes>" if unnamed == 1 else f"<bytes {unnamed}>", MemoryBytes(bytes(source)))
        elif isinstance(source, str | os.PathLike):
            yield from _named(os.fspath(source), limits, is_text=isinstance(source, str))
        elif hasattr(source, "read"):
            yield _file_object(source, limits)
        elif isinstance(source, list | tuple) and source and all(isinstance(s, _NAMES) for s in source):
            yield from inputs(source, limits)
        else:
            yield from _live(source)


def _live(source: Any) -> Iterator[Input]:
    """Objects in memory; whatever is wrong with them becomes the reason why they cannot be loaded."""
    try:
        for name, data in live.convert(source):
            yield Input(f"<{name}>", MemoryBytes(data))
    except live.NotLiveError as problem:
        yield Input(f"<{type(source).__name__}>", fault=f"not a source: {problem}")
    except Exception as problem:  # noqa: BLE001 - foreign objects may raise anything when they are asked
        said = f"{type(problem).__name__}: {problem}"[:200]
        yield Input(f"<{type(source).__name__}>", fault=f"cannot be read: {said}")


def _named(name: str | bytes, limits: Limits, *, is_text: bool) -> Iterator[Input]:
    """A path, or one of the texts that stand for something else."""
    label = os.fsdecode(name)
    if is_text and label == "-":
        yield _stream("-", getattr(sys.stdin, "buffer", sys.stdin), limits, identity="-")
        return
    if is_text and label.startswith("sample:"):
        found = bundled.find(label.removeprefix("sample:"))
        if not found:
            known = ", ".join(bundled.samples()) or "none"
            yield Input(label, fault=f"no bundled capture of that name; there are: {known}")
        for path in found:
            yield from _path(path, label if len(found) == 1 else f"{label}/{path.name}", limits)
        return
    try:
        path = Path(label).expanduser() if is_text else Path(label)
        exists = path.exists()
    except (OSError, ValueError, RuntimeError) as problem:
        yield Input(label, fault=f"cannot be opened: {problem}")
        return
    if not exists and is_text and glob.has_magic(label):
        # Hidden files are left out, as a shell does.
        matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 - keeps absolute and relative patterns as given
        matches = sorted(matches, key=natural)
        if not matches:
            yield Input(label, fault="no file matches")
        for match in matches:
            if not (Path(match).is_dir() and "**" in label):
                yield from _path(Path(match), match, limits)
        return
    yield from _path(path, label, limits)


def _path(path: Path, label: str, limits: Limits) -> Iterator[Input]:
    try:
        status = path.stat()
    except (OSError, ValueError) as problem:
        yield Input(label, fault="no such file" if isinstance(problem, FileNotFoundError) else _said(problem))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _folder(path, label, limits)
        return
    if not stat.S_ISREG(status.st_mode):
        try:
            with path.open("rb") as file:
                yield _stream(label, file, limits, identity=None)
        except OSError as problem:
            yield Input(label, fault=_said(problem))
        return
    if not os.access(path, os.R_OK):
        yield Input(label, fault="cannot be opened: permission denied")
        return
    identity = (status.st_dev, status.st_ino) if status.st_ino else str(path.resolve())
    yield Input(label, FileBytes(path.absolute(), status.st_size), identity=identity)


def _folder(path: Path, label: str, limits: Limits) -> Iterator[Input]:
    """All files below a folder; hidden ones and links to folders are left out."""
    files: list[Path] = []
    faults: list[OSError] = []
    for parent, folders, names in os.walk(path, onerror=faults.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(parent, name) for name in names if not name.startswith(".")]
    for problem in faults:
        yield Input(str(problem.filename or label), fault=_said(problem))
    if not files and not faults:
        yield Input(label, fault="a folder without files")
    for file in sorted(files, key=lambda file: natural(file.relative_to(path).as_posix())):
        try:
            if not stat.S_ISREG(file.stat().st_mode):
                continue  # sockets and pipes below a folder would block
        except OSError as problem:
            yield Input(str(file), fault=_said(problem))
            continue
        yield from _path(file, f"{label.rstrip('/')}/{file.relative_to(path).as_posix()}", limits)


def _file_object(source: Any, limits: Limits) -> Input:
    name = getattr(source, "name", None)
    label = name if isinstance(name, str) and name else "<file>"
    return _stream(label, source, limits, identity=id(source))


def _stream(label: str, source: Any, limits: Limits, identity: object) -> Input:
    """Read what cannot be read again, and keep it."""

    def pieces() -> Iterator[bytes]:
        while piece := source.read(MIB):
            yield piece.encode("utf-8", "surrogatepass") if isinstance(piece, str) else bytes(piece)

    try:
        data, more = spool(pieces(), limits.max_decompressed)
    except (OSError, ValueError, TypeError) as problem:
        return Input(label, fault=_said(problem), identity=identity)
    made = Input(label, data, identity=identity)
    if more:
        made.notes.append(f"more than {limits.max_decompressed:,} bytes; the rest was left out")
    return made


def _said(problem: Exception) -> str:
    words = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
    return f"cannot be opened: {words[:1].lower()}{words[1:]}"
