"""What is known of an agent beyond the wire: it settles what the wire leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Hints:
    """By tool: what is known, and from where (`origin`, `gated`, `calls`); of the agent its kind; versions that ran.

    Whoever says something first is believed: the recorder inside of an agent comes before telemetry.
    """

    by_tool: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    agent: dict[str, tuple[Any, str]] = field(default_factory=dict)
    endpoint: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def of(self, tool: str) -> dict[str, tuple[Any, str]]:
        """What is known of a tool."""
        return self.by_tool.get(tool, {})

    def learn(self, tool: str, key: str, value: Any, source: str) -> None:
        """Keep the first that is said of a property."""
        self.by_tool.setdefault(tool, {}).setdefault(key, (value, source))

    def gave(self, tool: str, call: str, given: dict[str, str], source: str) -> None:
        """Keep what a tool gave to a call: `result` or `error`, the first that is said."""
        calls, before = self.of(tool).get("calls", ({}, source))
        self.by_tool.setdefault(tool, {})["calls"] = ({call: given, **calls}, before)
