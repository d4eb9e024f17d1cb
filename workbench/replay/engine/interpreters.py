"""Interpreters of this machine: those on PATH and those of pyenv. None is ever downloaded."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from workbench.replay.engine.errors import ReplayError

#: Python versions that the guest runs on, the preferred one first
SUPPORTED = ("3.12", "3.11", "3.13", "3.14")

_PROBE = "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)"


@cache
def found() -> dict[str, Path]:
    """Interpreters by their version of two numbers, as `3.12`.

    A command that is there but fails, as pyenv's shims do for a version that is not selected, is passed over.
    """
    known: dict[str, Path] = {}
    for command in _candidates():
        try:
            told = subprocess.run(  # noqa: S603 - interpreters of this machine
                [str(command), "-I", "-c", _PROBE], capture_output=True, text=True, timeout=30, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = told.stdout.split("\n")
        if told.returncode == 0 and len(lines) > 1:
            known.setdefault(lines[0].rpartition(".")[0], Path(lines[1]))
    return known


def interpreter(version: str | None = None) -> tuple[str, Path]:
    """The version and the path of an interpreter: the one asked for, or the first supported one."""
    here = found()
    for wanted in (version,) if version else SUPPORTED:
        if wanted in here:
            return wanted, here[wanted]
    had = ", ".join(sorted(here)) or "none"
    asked = f"Python {version}" if version else f"one of Python {', '.join(SUPPORTED)}"
    raise ReplayError(f"{asked} is needed for the environment; on PATH and in pyenv there are: {had}")


def _candidates() -> list[Path]:
    own = [Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"]
    on_path = [Path(path) for name in SUPPORTED if (path := shutil.which(f"python{name}"))]
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    suffix = Path("python.exe") if sys.platform == "win32" else Path("bin/python")
    managed = []
    if root.is_dir():
        numbered = [path for path in root.iterdir() if re.fullmatch(r"3\.\d+\.\d+", path.name)]
        numbered.sort(key=lambda path: [int(part) for part in path.name.split(".")], reverse=True)
        managed = [path / suffix for path in numbered if path.name.rpartition(".")[0] in SUPPORTED]
    return [path for path in (*managed, *on_path, *own, Path(sys.executable)) if path.exists()]
