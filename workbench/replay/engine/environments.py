"""Environments of released packages, built by uv into the user's cache and keyed by what is in them.

An environment is built beside its place and moved there when it is whole, under a lock: what was
interrupted is begun again, two builders of the same one wait for each other, and what is there is complete.
Once built it needs no network.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workbench.replay.engine import interpreters, places, releases, uv
from workbench.replay.engine.errors import BuildError, ReplayError
from workbench.replay.engine.locks import locked

#: told what is being done, in a few words
Progress = Callable[[str], None]
_MARK = "workbench.json"


@dataclass(frozen=True)
class Environment:
    """A built environment: its folder, the interpreter in it, and the version of that."""

    folder: Path
    python: Path
    version: str


def build(
    release: str,
    *,
    python: str | None = None,
    replaced: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Environment:
    """The environment of a release, built where it is not there yet.

    `python` is a version as `3.12`; `replaced` maps package names to a local checkout or wheel that is
    installed instead of the released one. Raises `BuildError` with uv's words, `ReplayError` where
    interpreter, release or replacement are not to be had.
    """
    say = progress or (lambda _: None)
    version, interpreter = interpreters.interpreter(python)
    local = {releases.normal(name): _source(name, place) for name, place in (replaced or {}).items()}
    requirements = releases.without(releases.lock(release), set(local))
    key = _key(requirements, version, local)
    root = places.cache() / "environments"
    folder = root / key
    if not _whole(folder):
        with locked(root / f"{key}.lock"):
            if not _whole(folder):
                started = time.monotonic()
                say(f"building {releases.leading(release)} {release} for Python {version} …")
                _build(folder, requirements, local, interpreter, release)
                say(f"built {releases.leading(release)} {release} in {time.monotonic() - started:.0f} s")
    inner = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
    return Environment(folder, folder / inner, version)


def _build(folder: Path, requirements: str, local: Mapping[str, Path], python: Path, release: str) -> None:
    unfinished = folder.with_name(f"{folder.name}.part")
    for remains in (folder, unfinished):
        shutil.rmtree(remains, ignore_errors=True)
    wanted = folder.with_name(f"{folder.name}.txt")
    wanted.write_text(requirements, encoding="utf-8")
    try:
        uv.run("venv", "--quiet", "--no-project", "--relocatable", "--python", python, unfinished)
        uv.run("pip", "install", "--quiet", "--no-deps", "--python", unfinished, "--requirements", wanted)
        for place in local.values():
            # a folder is built as it is now, not linked: the key stands for its content
            uv.run("pip", "install", "--quiet", "--no-deps", "--refresh", "--python", unfinished, place)
    except BuildError as problem:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise BuildError(
            f"the environment for {releases.leading(release)} {release} could not be built:\n{problem}\n"
            "Nothing was left behind; run it again when the cause is gone."
        ) from problem
    told = {"release": release, "files": _count(unfinished)}
    (unfinished / _MARK).write_text(json.dumps(told), encoding="utf-8")
    unfinished.replace(folder)


def _whole(folder: Path) -> bool:
    """Whether an environment is complete: cleaners of caches take single files."""
    try:
        told = json.loads((folder / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(told["files"] == _count(folder))


def _count(folder: Path) -> int:
    return sum(
        1 for path in folder.rglob("*")
        if path.suffix != ".pyc" and path.name not in (_MARK, "__pycache__", ".lock") and not path.is_dir()
    )  # fmt: skip


def _key(requirements: str, version: str, local: Mapping[str, Path]) -> str:
    digest = hashlib.sha256(f"{sys.platform}\n{version}\n{requirements}".encode())
    for name, place in sorted(local.items()):
        digest.update(name.encode())
        files = (
            [place] if place.is_file() else sorted(path for path in place.rglob("*") if _counts(path, place))
        )
        for path in files:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def _counts(path: Path, root: Path) -> bool:
    parts = path.relative_to(root).parts
    return path.is_file() and not any(part.startswith(".") or part == "__pycache__" for part in parts)


def _source(name: str, place: str) -> Path:
    path = Path(place).expanduser().absolute()
    if path.is_dir():
        if not (path / "pyproject.toml").exists() and not (path / "setup.py").exists():
            raise ReplayError(f"{name}: {path} has no pyproject.toml; give the folder of the package itself")
    elif path.suffix != ".whl":
        raise ReplayError(f"{name}: {path} is neither a folder nor a wheel")
    elif not path.exists():
        raise ReplayError(f"{name}: {path} is not there")
    return path
