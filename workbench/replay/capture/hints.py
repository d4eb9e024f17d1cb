"""What telemetry and the recorder inside of an agent add: they settle what the wire leaves open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.replay.capture.exchanges import Chosen
from workbench.trace import Trace


@dataclass
class Hints:
    """By tool: what is known, and from where (`origin`, `gated`, `calls`); and the versions that ran."""

    by_tool: dict[str, dict[str, tuple[Any, str]]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    agent: dict[str, tuple[Any, str]] = field(default_factory=dict)

    def of(self, tool: str) -> dict[str, tuple[Any, str]]:
        """What is known of a tool."""
        return self.by_tool.get(tool, {})

    def learn(self, tool: str, key: str, value: Any, source: str) -> None:
        """Keep the first that is said of a property."""
        self.by_tool.setdefault(tool, {}).setdefault(key, (value, source))


def hints(trace: Trace, chosen: Chosen) -> Hints:
    """Gather from the agent's recording, then from spans."""
    found = Hints()
    running: dict[str, str] = {}
    for line in _recording(trace):
        _recorded(line, found)
        _executed(line, found, running)
    for call in chosen.calls:
        for execution in call.executions:
            result = getattr(execution, "result", None)
            if execution.ran and isinstance(result, str) and result:
                _result(call.tool, call.id, {"result": result}, "an execute_tool span", found)
    return found


def _recording(trace: Trace) -> Iterator[dict[str, Any]]:
    """The lines that `workbench.recorder` wrote, in the sources of a trace."""
    for source in trace.records.sources:
        if source.format != "agent-recording" or not Path(source.path).is_file():
            continue
        with Path(source.path).open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                try:
                    value = json.loads(line)
                except ValueError:
                    continue  # loading has reported it
                if isinstance(value, dict):
                    yield value


def _recorded(line: dict[str, Any], found: Hints) -> None:
    kind = line.get("kind")
    if kind == "versions" and isinstance(line.get("packages"), dict):
        found.versions |= {str(name): str(version) for name, version in line["packages"].items()}
    elif kind == "agent":
        for tool in _dicts(line.get("tools")):
            _described(tool, "static", found)
        classes = [str(name) for name in line.get("middleware") or ()]
        if any("ToolApproval" in name for name in classes):
            found.agent["kind"] = ("approval-middleware", "the agent's recording")
    elif kind == "tools":
        # what the model was offered beyond the agent's own came from a context provider
        for tool in _dicts(line.get("tools")):
            _described(tool, "provider", found)


def _executed(line: dict[str, Any], found: Hints, running: dict[str, str]) -> None:
    """A result as the tool gave it; `running` are the tools of executions that have begun."""
    if line.get("kind") == "execution":
        running[str(line.get("id"))] = str(line.get("tool"))
    elif line.get("kind") == "execution-end" and line.get("callId"):
        tool = running.get(str(line.get("id")), "")
        problem, result = line.get("exception"), line.get("result")
        if isinstance(problem, dict):
            _result(
                tool,
                str(line["callId"]),
                {"error": str(problem.get("message"))},
                "the agent's recording",
                found,
            )
        elif result is not None:
            items = result if isinstance(result, list) else [result]
            text = "".join(str(i.get("text", "")) if isinstance(i, dict) else str(i) for i in items)
            _result(tool, str(line["callId"]), {"result": text}, "the agent's recording", found)


def _result(tool: str, call: str, given: dict[str, str], source: str, found: Hints) -> None:
    calls, before = found.of(tool).get("calls", ({}, source))
    found.by_tool.setdefault(tool, {})["calls"] = ({call: given, **calls}, before)


def _described(tool: dict[str, Any], origin: str, found: Hints) -> None:
    name = str(tool.get("name"))
    found.learn(name, "origin", origin, "the agent's recording")
    mode = tool.get("approvalMode", tool.get("approval_mode"))
    if mode is not None:
        found.learn(name, "gated", mode == "always_require", "the agent's recording")


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
