"""uv, the tool that builds environments, and the settings it gets.

It is taken from the checkout's `.tools`, from PATH, or put into the cache by pip. What pip is configured
with (mirror, extra indexes, certificates, proxy) is handed on, because uv does not read that.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from workbench.replay.engine import interpreters, places
from workbench.replay.engine.errors import BuildError
from workbench.replay.engine.locks import locked

VERSION = "0.13.9"
_EXE = "uv.exe" if sys.platform == "win32" else "uv"


def command() -> Path:
    """The path of uv; it is installed into the cache where there is none."""
    root = Path(__file__).resolve().parents[3]
    kept = places.cache() / f"uv-{VERSION}"
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
        env=environment(pip_settings()), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}"
        raise BuildError(said)
    return done.stdout


def pip_settings() -> dict[str, str]:
    """Read pip's settings by option name: environment over `[install]` over `[global]`; empty without pip."""
    for python in _with_pip():
        listed = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [str(python), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
        )
        if listed.returncode == 0:
            break
    else:
        return {}
    settings: dict[str, tuple[int, str]] = {}
    ranks = {"global": 0, "install": 1, ":env:": 2}
    for line in listed.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        if section in ranks and ranks[section] >= settings.get(option, (0, ""))[0]:
            settings[option] = (ranks[section], str(ast.literal_eval(value)))
    return {option: value for option, (_, value) in settings.items()}


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The environment for uv; what the person has set for uv stays as it is."""
    told = dict(os.environ)
    told.pop("VIRTUAL_ENV", None)

    def hand_on(name: str, value: str) -> None:
        if value:
            told.setdefault(name, value)

    hand_on("UV_PYTHON_DOWNLOADS", "never")
    hand_on("UV_LINK_MODE", "copy" if sys.platform == "win32" else "")
    hand_on("UV_DEFAULT_INDEX", settings.get("index-url", ""))
    extra = [index for index in settings.get("extra-index-url", "").split() if _reachable(index)]
    if extra:
        hand_on("UV_INDEX", " ".join(extra))
        # as pip does: the best version of all indexes, not of the first that has the name
        hand_on("UV_INDEX_STRATEGY", "unsafe-best-match")
    links = [place for place in settings.get("find-links", "").split() if _reachable(place)]
    hand_on("UV_FIND_LINKS", ",".join(links))
    hand_on("UV_INSECURE_HOST", settings.get("trusted-host", ""))
    hand_on("UV_HTTP_TIMEOUT", settings.get("default-timeout", settings.get("timeout", "")))
    if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        hand_on("UV_NO_INDEX", "1")
    certificates = settings.get("cert", "")
    if certificates and Path(certificates).is_file():
        hand_on("SSL_CERT_FILE", certificates)
    # as pip does: trust what the system trusts
    hand_on("UV_SYSTEM_CERTS", "1")
    for name in ("HTTP_PROXY", "HTTPS_PROXY"):
        if name.lower() not in told:
            hand_on(name, settings.get("proxy", ""))
    return told


def _with_pip() -> Iterator[Path]:
    """Interpreters to ask for pip: this one, its base, and what else is on this machine."""
    yield Path(sys.executable)
    yield Path(sys.base_prefix) / "bin" / "python3"
    yield from interpreters.found().values()


def _install(folder: Path) -> None:
    said = "no interpreter with pip was found"
    settings = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    unfinished = folder.with_name(folder.name + ".part")
    for python in _with_pip():
        shutil.rmtree(unfinished, ignore_errors=True)
        arguments = [
            "install",
            "--quiet",
            "--no-warn-script-location",
            "--target",
            str(unfinished),
            f"uv=={VERSION}",
        ]
        try:
            done = subprocess.run(  # noqa: S603 - pip with arguments of ours
                [str(python), "-m", "pip", *arguments],
                env={**os.environ, **settings}, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except OSError:
            continue
        if done.returncode == 0:
            unfinished.replace(folder)
            return
        said = done.stderr.strip() or said
    raise BuildError(f"uv {VERSION} could not be installed with pip: {said}")


def _reachable(location: str) -> bool:
    """False for a folder that is not there: pip passes over it, uv would stop."""
    parts = urlsplit(location)
    if parts.scheme == "file":
        return Path(url2pathname(parts.path)).exists()
    return bool(parts.netloc) or Path(location).exists()
