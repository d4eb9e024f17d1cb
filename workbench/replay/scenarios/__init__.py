"""The bugs that can be replayed: a folder each, with the scenario as data, its claims and what is expected of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from workbench.replay.engine.errors import ReplayError

_ROOT = Path(__file__).resolve().parent


@cache
def names() -> tuple[str, ...]:
    """The names of all scenarios, as `provider-tool-approval`."""
    found = _ROOT.glob("*/scenario.json")
    return tuple(sorted(path.parent.name.replace("_", "-") for path in found))


def folder(name: str) -> Path:
    """The folder of a scenario; `ReplayError` where there is none of that name."""
    if name not in names():
        raise ReplayError(f"no replay is called {name!r}; there are: {', '.join(names())}")
    return _ROOT / name.replace("-", "_")


def scenario(name: str) -> dict[str, Any]:
    """A scenario as it is declared in its `scenario.json`."""
    told: dict[str, Any] = json.loads((folder(name) / "scenario.json").read_text(encoding="utf-8"))
    return told


def expectations(name: str) -> dict[str, Any]:
    """What is expected of the claims of a scenario: verdicts by claim."""
    told: dict[str, Any] = json.loads((folder(name) / "expectations.json").read_text(encoding="utf-8"))
    return told


def family(name: str) -> str:
    """The package whose releases a scenario is run on: the first that it is about."""
    return str(scenario(name)["packages"][0])
