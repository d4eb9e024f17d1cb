"""uv, the tool that builds environments, and the settings it gets.

It is taken from the checkout's `.tools`, from PATH, or put into the cache by pip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.replay.engine import interpreters, places
from workbench.replay.engine.errors import BuildError
from workbench.replay.engine.locks import locked
from workbench.replay.engine.settings import PIP_ENVIRONMENT, UV_VERSION, pip_settings, uv_environment

_EXE = "uv.exe" if sys.platform == "win32" else "uv"


def command() -> Path:
    """The path of uv; it is installed into the cache where there is none."""
    root = Path(__file__).resolve().parents[3]
    kept = places.cache() / f"uv-{UV_VERSION}"
    for place in (root / ".tools" / "bin" / _EXE, kept / "bin" / _EXE):
        if place.exists():
            return place
    on_path = shutil.which("uv")
    if on_path:
        return Path(on_path)
    with locked(places.cache() / "uv.lock"):
        if not (kept / "bin" / _EXE).exists():
            _install(kept)
    return kept / "bin" / _EXE


def run(*arguments: str | Path) -> str:
    """Run uv and give what it printed; `BuildError` with its own words where it fails."""
    done = subprocess.run(  # noqa: S603 - uv with arguments of ours
        [str(command()), *map(str, arguments)],
        env=uv_environment(_settings()), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
        raise BuildError(said)
    return done.stdout


def versions(package: str) -> list[str]:
    """All versions of a package, newest first, as pip names them with the configuration that it has."""
    said = "no interpreter with pip was found"
    for python in _with_pip():
        done = subprocess.run(  # noqa: S603 - pip with arguments of ours
            [str(python), "-m", "pip", "index", "versions", "--pre", package],
            env={**os.environ, **PIP_ENVIRONMENT}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        for line in done.stdout.splitlines():
            if line.startswith("Available versions: "):
                return line.partition(": ")[2].split(", ")
        said = done.stderr.strip() or said
    raise BuildError(f"pip names no versions of {package}: {said}")


def _settings() -> dict[str, str]:
    """What pip is configured with; empty without pip."""
    for python in _with_pip():
        listed = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [str(python), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
        )
        if listed.returncode == 0:
            return pip_settings(listed.stdout)
    return {}


def _with_pip() -> Iterator[Path]:
    """Interpreters to ask for pip: this one, its base, and what else is on this machine."""
    yield Path(sys.executable)
    yield Path(sys.base_prefix) / "bin" / "python3"
    yield from interpreters.found().values()


def _install(folder: Path) -> None:
    said = "no interpreter with pip was found"
    unfinished = folder.with_name(folder.name + ".part")
    for python in _with_pip():
        shutil.rmtree(unfinished, ignore_errors=True)
        arguments = [
            "install",
            "--quiet",
            "--no-warn-script-location",
            "--target",
            str(unfinished),
            f"uv=={UV_VERSION}",
        ]
        try:
            done = subprocess.run(  # noqa: S603 - pip with arguments of ours
                [str(python), "-m", "pip", *arguments],
                env={**os.environ, **PIP_ENVIRONMENT}, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError:
            continue
        if done.returncode == 0:
            unfinished.replace(folder)
            return
        said = done.stderr.strip() or said
    raise BuildError(f"uv {UV_VERSION} could not be installed with pip: {said}")
