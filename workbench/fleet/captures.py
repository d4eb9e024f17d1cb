"""Which captures a folder, a glob or an address stands for: each is checked by itself."""

from __future__ import annotations

import glob
import importlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.exceptions import LoadError

#: files that tell about captures and are none
_BESIDE = frozenset({".md", ".tsv", ".py", ".ipynb", ".html", ".svg", ".png", ".parquet"})
#: what `workbench record` writes; all files in a folder with one of these are one recording
_RECORDED = re.compile(r"(agui|provider|otlp|agent)-.*\.jsonl")


@dataclass(frozen=True, slots=True, order=True)
class Capture:
    """One capture: its name in reports, what is opened for it, and its size and date where they are known."""

    name: str
    paths: tuple[str, ...]
    #: bytes, and when it was last written (ns); -1 where the place does not say
    size: int = -1
    written: int = -1

    @property
    def key(self) -> str:
        """The same for the same content, as far as size and date tell."""
        return f"{self.name}\0{self.size}\0{self.written}"


def captures(sources: Iterable[str]) -> list[Capture]:
    """All captures that the sources name, in the order of their names.

    A folder stands for every file in it and below, but for hidden ones and those that hold no capture; files
    that differ only in their endings (`a.sse`, `a.telemetry.jsonl`) are one capture, and so is a folder of
    `workbench record`. An address (`s3://…`, `https://…`) is opened by fsspec. Raises `LoadError` where a
    source is not there, or fsspec is missing.
    """
    found: dict[str, list[tuple[str, int, int]]] = {}
    for source in sources:
        for name, path, size, written in _files(source):
            found.setdefault(name, []).append((path, size, written))
    made = []
    for name, files in found.items():
        own = sorted(set(files))
        sizes = [size for _, size, _ in own]
        made.append(
            Capture(
                # a name that is no UTF-8 could not be written down
                name.encode("utf-8", "backslashreplace").decode(),
                tuple(path for path, _, _ in own),
                -1 if min(sizes) < 0 else sum(sizes),
                max(written for _, _, written in own),
            )
        )
    return sorted(made)


def _files(source: str) -> Iterator[tuple[str, str, int, int]]:
    if "://" in source:
        yield from _remote(source)
        return
    if source.startswith("sample:"):
        yield source, source, -1, -1
        return
    path = Path(source)
    if path.is_dir():
        yield from _folder(path)
        return
    matched = [source] if path.is_file() else sorted(glob.glob(source, recursive=True))  # noqa: PTH207 - `**` with a base
    if not matched:
        raise LoadError(f"{source}: no such file, folder or pattern")
    for one in matched:
        if Path(one).is_dir():
            yield from _folder(Path(one))
        else:
            yield from _local(one, _stem(one))


def _folder(folder: Path) -> Iterator[tuple[str, str, int, int]]:
    for home, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        recording = any(map(_RECORDED.fullmatch, names))
        for name in sorted(names):
            path = os.path.join(home, name)  # noqa: PTH118 - a hundred thousand times
            if name.startswith(".") or os.path.splitext(name)[1].lower() in _BESIDE:  # noqa: PTH122
                continue
            yield from _local(path, home if recording else _stem(path))


def _local(path: str, name: str) -> Iterator[tuple[str, str, int, int]]:
    try:
        known = os.stat(path)  # noqa: PTH116
    except OSError:
        yield name, path, -1, -1
        return
    if not stat.S_ISREG(known.st_mode):
        return  # to open a pipe is to wait for its other end
    yield name, path, known.st_size, known.st_mtime_ns


def _stem(path: str) -> str:
    """The path without its endings, of which a capture may have several (`a.telemetry.jsonl.gz`)."""
    home, name = os.path.split(path)
    stem = name.partition(".")[0] or name
    return os.path.join(home, stem)  # noqa: PTH118


def _remote(address: str) -> Iterator[tuple[str, str, int, int]]:
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError:
        raise LoadError(f'{address}: addresses need fsspec: pip install "agui-workbench[fleet]"') from None
    system, _, (root, *_) = fsspec.get_fs_token_paths(address)
    protocol = address.partition("://")[0]
    listed: dict[str, Any] = (
        system.find(root, detail=True) if "*" not in address else system.glob(root, detail=True)
    )
    for path, known in sorted(listed.items()):
        if known.get("type") == "directory" or os.path.splitext(path)[1].lower() in _BESIDE:  # noqa: PTH122
            continue
        full = path if "://" in path else f"{protocol}://{path}"
        yield _stem(full), full, int(known.get("size") or -1), -1


def opened(capture: Capture) -> list[Any]:
    """What `workbench.load` takes for a capture; what stands at an address is fetched into memory."""
    return [_fetched(path) if "://" in path else path for path in capture.paths]


def _fetched(address: str) -> Any:
    import io

    fsspec: Any = importlib.import_module("fsspec")
    with fsspec.open(address, "rb", compression=None) as file:
        held = io.BytesIO(file.read())
    held.name = address
    return held
