"""Releases by their leading package: which versions of the framework's packages belong together.

`releases.json` says which were released together, and `locks/` pins everything that is installed with
them, made once (`python -m workbench.replay.record --locks`). A release without a lock is resolved when it is first built, and the
result is kept in the cache.
"""

from __future__ import annotations

import hashlib
import json
import re
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


@cache
def pairs() -> dict[str, dict[str, str]]:
    """Versions by package, for each release in the order of their dates."""
    told: dict[str, dict[str, str]] = json.loads((_ROOT / "releases.json").read_text(encoding="utf-8"))
    return told


@cache
def others() -> dict[str, dict[str, dict[str, str]]]:
    """The same for the other families of packages, by their leading package."""
    text = (_ROOT / "releases.agent-spec.json").read_text(encoding="utf-8")
    return {AGENT_SPEC: json.loads(text)}


def leading(release: str) -> str:
    """The leading package of a release; no version is known in two families."""
    return next((family for family, known in others().items() if release in known), LEADING)


def packages(release: str) -> dict[str, str]:
    """The framework's packages of a release, the leading one first."""
    family = leading(release)
    known = others().get(family, pairs())
    if release not in known:
        raise ReplayError(f"no release {release} of {LEADING} is known; there are: {', '.join(pairs())}")
    return {family: release, **known[release]}


def bundled(release: str) -> Path:
    """Where the lock of a release is that comes with the workbench."""
    return _ROOT / "locks" / f"{release}.txt"


def lock(release: str) -> str:
    """The requirements of a release, everything pinned."""
    file = bundled(release)
    if file.exists():
        return file.read_text(encoding="utf-8")
    wanted = _wanted(release)
    kept = places.cache() / "locks" / f"{release}-{hashlib.sha256(wanted.encode()).hexdigest()[:12]}.txt"
    with locked(kept.with_suffix(".lock")):
        if not kept.exists():
            kept.write_text(resolve(release), encoding="utf-8")
    return kept.read_text(encoding="utf-8")


def resolve(release: str) -> str:
    """Resolve a release anew, for all supported versions of Python."""
    folder = places.cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    asked = folder / f"{release}.in"
    asked.write_text(_wanted(release), encoding="utf-8")
    try:
        return uv.run(
            "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--prerelease", "allow",
            "--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", asked,
        )  # fmt: skip
    except BuildError as problem:
        raise BuildError(
            f"the dependencies of {leading(release)} {release} could not be resolved:\n{problem}"
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


def _wanted(release: str) -> str:
    pinned = [f"{name}=={version}" for name, version in packages(release).items()]
    return "\n".join([*pinned, *GUEST, *EXTRAS.get(leading(release), ())]) + "\n"
