"""Releases by their leading package: which versions of the framework's packages belong together.

`releases.json` says, for each family of packages (named by its leading one), which were released together
and when; `python -m workbench.replay.releases --refresh` asks the registry anew. `locks/` pins everything
that is installed with those that recordings are made on (`python -m workbench.replay.record --locks`). A
release without a lock is resolved when it is first built, as it would have been on the day after its date
where the index tells when files were published, and the result is kept in the cache.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from workbench.replay.engine import places, uv
from workbench.replay.engine.errors import BuildError, ReplayError
from workbench.replay.engine.locks import locked

LEADING = "agent-framework-ag-ui"
AGENT_SPEC = "ag-ui-agent-spec"
#: what the guest itself needs
GUEST = ("httpx", "opentelemetry-sdk")
#: what a family of packages needs besides: its runtime, and what makes spans of it
EXTRAS = {AGENT_SPEC: ("ag-ui-agent-spec[langgraph]", "openinference-instrumentation-langchain")}

_ROOT = Path(__file__).resolve().parents[1]
DATA = _ROOT / "releases.json"


@cache
def families() -> dict[str, dict[str, dict[str, str]]]:
    """What `releases.json` says: rows by release, by leading package; in a row `date`, and versions by package."""
    told: dict[str, dict[str, dict[str, str]]] = json.loads(DATA.read_text(encoding="utf-8"))
    return told


def pairs(family: str = LEADING) -> dict[str, dict[str, str]]:
    """Versions by package, for each release in the order of their dates."""
    return {
        release: {name: version for name, version in row.items() if name != "date"}
        for release, row in families().get(family, {}).items()
    }


def released(release: str, family: str = LEADING) -> str:
    """The day on which a release came out, as 2026-07-23; empty where it is not known."""
    return families().get(family, {}).get(release, {}).get("date", "")


def packages(release: str, family: str = LEADING) -> dict[str, str]:
    """The framework's packages of a release, the leading one first."""
    known = pairs(family)
    if release not in known:
        raise ReplayError(f"no release {release} of {family} is known; there are: {', '.join(known)}")
    return {family: release, **known[release]}


def bundled(release: str, family: str = LEADING) -> Path:
    """Where the lock of a release is that comes with the workbench."""
    return _ROOT / "locks" / f"{_file(release, family)}.txt"


def lock(release: str, family: str = LEADING) -> str:
    """The requirements of a release, everything pinned."""
    file = bundled(release, family)
    if file.exists():
        return file.read_text(encoding="utf-8")
    wanted = _wanted(release, family) + _until(release, family)
    digest = hashlib.sha256(wanted.encode()).hexdigest()[:12]
    kept = places.cache() / "locks" / f"{_file(release, family)}-{digest}.txt"
    with locked(kept.with_suffix(".lock")):
        if not kept.exists():
            kept.write_text(resolve(release, family), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def resolve(release: str, family: str = LEADING) -> str:
    """Resolve a release anew, for all supported versions of Python, with the dependencies of its day."""
    folder = places.cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / f"{_file(release, family)}.in"
    asked.write_text(_wanted(release, family), encoding="utf-8")
    until = _until(release, family)
    compiled = (
        "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--prerelease", "if-necessary-or-explicit",
        "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", asked,
    )  # fmt: skip
    if until:
        with suppress(BuildError):  # an index without publish times knows nothing of that day
            return uv.run(*compiled, "--exclude-newer", until)
    try:
        return uv.run(*compiled)
    except BuildError as problem:
        raise BuildError(
            f"the dependencies of {family} {release} could not be resolved:\n{problem}"
        ) from problem


def without(requirements: str, names: set[str]) -> str:
    """Requirements without some packages."""
    kept = [line for line in requirements.splitlines() if _name(line) not in names]
    return "\n".join(kept) + "\n"


def normal(name: str) -> str:
    """A package name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(line: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", line)
    return normal(found.group()) if found else ""


def _wanted(release: str, family: str) -> str:
    pinned = [f"{name}=={version}" for name, version in packages(release, family).items()]
    return "\n".join([*pinned, *EXTRAS.get(family, ()), *GUEST]) + "\n"


def _until(release: str, family: str) -> str:
    """The day after that of the release: what is released together comes out in the course of hours."""
    day = released(release, family)
    return str(date.fromisoformat(day) + timedelta(days=1)) if day else ""


def _file(release: str, family: str) -> str:
    return release if family == LEADING else f"{family}-{release}"
