"""What a capture leaves open, as readings: ways in which the agent may have been built."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: More than these are not tried: the tools of a capture with many stay as they were derived
MOST = 48
ORIGINS = ("static", "provider", "declared")
KINDS = ("plain", "approval-middleware", "harness")
#: A tool of the agent that is never called: some releases look for those of providers only where an agent has one
_IDLE = {
    "name": "idle_tool", "origin": "static", "gated": False, "description": "", "calls": {}, "result": "",
    "parameters": {"type": "object", "properties": {}},
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """One way to read what is open: kind of agent, and by tool its origin and whether it is gated.

    With `stored` the endpoint keeps the thread itself (snapshots).
    With `doubt` an error text that answers an approved call is not the tool's, but somebody's who did not find it.
    """

    kind: str
    tools: dict[str, tuple[str, bool]] = field(default_factory=dict)
    idle: bool = False
    doubt: bool = False
    stored: bool = False

    def __str__(self) -> str:
        parts = [
            f"{name} {origin}{', gated' if gated else ''}" for name, (origin, gated) in self.tools.items()
        ]
        return "; ".join(
            [
                f"{self.kind} agent",
                *parts,
                *(["beside a tool that is never called"] if self.idle else []),
                *(["error texts are not the tool's"] if self.doubt else []),
                *(["an endpoint that stores snapshots"] if self.stored else []),
            ]
        )

    def told(self) -> dict[str, Any]:
        """As data."""
        return {
            "kind": self.kind,
            "tools": {name: list(how) for name, how in self.tools.items()},
            "idle": self.idle,
            "doubt": self.doubt,
            "stored": self.stored,
        }

    @classmethod
    def of(cls, told: dict[str, Any]) -> Reading:
        """From data."""
        tools = {name: (how[0], bool(how[1])) for name, how in told["tools"].items()}
        return cls(told["kind"], tools, told["idle"], bool(told.get("doubt")), bool(told.get("stored")))

    def applied(self, spec: dict[str, Any]) -> dict[str, Any]:
        """A spec read this way."""
        tools = [self._tool(tool) for tool in spec["tools"]]
        return {
            **spec,
            "agent": {**spec["agent"], "kind": self.kind},
            **({"endpoint": {**spec["endpoint"], "snapshots": True}} if self.stored else {}),
            "tools": [*tools, *([_IDLE] if self.idle else [])],
        }

    def _tool(self, tool: dict[str, Any]) -> dict[str, Any]:
        if tool["name"] not in self.tools:
            return tool
        origin, gated = self.tools[tool["name"]]
        made = {key: value for key, value in tool.items() if key != "declared"}
        if self.doubt:
            said = tool.get("doubted", ())
            made["calls"] = {call: given for call, given in tool["calls"].items() if call not in said}
        made |= {"origin": "static" if origin == "declared" else origin, "gated": gated}
        return {**made, "declared": True} if origin == "declared" else made


def readings(spec: dict[str, Any], open_: dict[str, list[str]]) -> list[Reading]:
    """All readings of what is open, the derived one first; at most `MOST`."""
    derived = {tool["name"]: _how(tool) for tool in spec["tools"]}
    choices = [
        [(name, how) for how in _choices(derived[name], open_.get(name, []))]
        for name in derived
    ]  # fmt: skip
    kind = spec["agent"]["kind"]
    kinds = [kind, *(other for other in KINDS if other != kind)] if "agent" in open_ else [kind]
    doubts = (False, True) if any("doubted" in keys for keys in open_.values()) else (False,)
    # one after the other: of all combinations there are more than fit into the memory
    made = (
        Reading(kind, dict(chosen), idle, doubt)
        for chosen in itertools.product(*choices)
        for kind, doubt, idle in itertools.product(kinds, doubts, (False, True))
        if not idle or {origin for _, (origin, _) in chosen} == {"provider"}
    )
    first = Reading(kind, derived)
    return [first, *itertools.islice((reading for reading in made if reading != first), MOST - 1)]


def _how(tool: dict[str, Any]) -> tuple[str, bool]:
    return ("declared" if tool.get("declared") else tool["origin"], bool(tool["gated"]))


def _choices(derived: tuple[str, bool], free: list[str]) -> Iterator[tuple[str, bool]]:
    origins = ORIGINS if "origin" in free else (derived[0],)
    gates = (derived[1], not derived[1]) if "gated" in free else (derived[1],)
    for origin in (derived[0], *(other for other in origins if other != derived[0])):
        for gated in gates:
            # a tool that is only declared is never carried out, so that nothing of it can be gated
            if not (origin == "declared" and gated):
                yield origin, gated
