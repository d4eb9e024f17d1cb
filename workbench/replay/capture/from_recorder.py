"""What the recorder inside of an agent wrote down: see `workbench.record.agent_framework` for its lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.replay.capture.hints import Hints
from workbench.trace import Trace

_SOURCE = "the agent's recording"
#: What `create_harness_agent` adds and nothing else does
_HARNESS = "agent_framework._harness."


def learn(trace: Trace, found: Hints) -> None:
    """Take up what the recordings among the sources of a trace say."""
    running: dict[str, str] = {}
    told = _Agent()
    for line in _lines(trace):
        kind = line.get("kind")
        if kind == "versions" and isinstance(line.get("packages"), dict):
            found.versions |= {str(name): str(version) for name, version in line["packages"].items()}
        elif kind == "agent":
            told.agent(line, found)
        elif kind == "tools":
            told.offered(line, found)
        elif kind in ("execution", "execution-end"):
            _executed(line, found, running)


def _lines(trace: Trace) -> Iterator[dict[str, Any]]:
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


class _Agent:
    """Describes the one agent of a recording; of several, nothing is known for all."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._mcp = False

    def agent(self, line: dict[str, Any], found: Hints) -> None:
        """Its own tools, and its kind from what surrounds it."""
        classes = [str(name) for key in ("middleware", "providers") for name in line.get(key) or ()]
        self._kinds.add(_kind(classes))
        self._mcp |= bool(line.get("mcpTools"))
        for tool in _dicts(line.get("tools")):
            declared = tool.get("declarationOnly") is True
            _described(tool, "declared" if declared else "static", found)
        if len(self._kinds) == 1:
            found.agent["kind"] = (_kind(classes), _SOURCE)
        else:
            found.agent.pop("kind", None)
        if isinstance(line.get("requireConfirmation"), bool):
            found.endpoint["require_confirmation"] = (line["requireConfirmation"], _SOURCE)

    def offered(self, line: dict[str, Any], found: Hints) -> None:
        """What a model was offered beyond the agent's own came from a context provider, or from MCP servers."""
        for tool in _dicts(line.get("tools")):
            _described(tool, None if self._mcp else "provider", found)


def _kind(classes: list[str]) -> str:
    asks = any(name.endswith(".ToolApprovalMiddleware") for name in classes)
    harness = [
        name for name in classes if name.startswith(_HARNESS) and not name.endswith(".ToolApprovalMiddleware")
    ]
    return "harness" if asks and harness else "approval-middleware" if asks else "plain"


def _described(tool: dict[str, Any], origin: str | None, found: Hints) -> None:
    name = str(tool.get("name"))
    if origin is not None:
        found.learn(name, "origin", origin, _SOURCE)
    mode = tool.get("approvalMode", tool.get("approval_mode"))
    if mode is not None:
        found.learn(name, "gated", mode == "always_require", _SOURCE)


def _executed(line: dict[str, Any], found: Hints, running: dict[str, str]) -> None:
    """A result as the tool gave it; `running` are the tools of executions that have begun."""
    if line.get("kind") == "execution":
        running[str(line.get("id"))] = str(line.get("tool"))
        return
    tool, call = running.get(str(line.get("id")), ""), line.get("callId")
    problem, result = line.get("exception"), line.get("result")
    if not tool or not call:
        return
    if isinstance(problem, dict):
        found.gave(tool, str(call), {"error": str(problem.get("message"))}, _SOURCE)
    elif result is not None:
        items = result if isinstance(result, list) else [result]
        text = "".join(str(i.get("text", "")) if isinstance(i, dict) else str(i) for i in items)
        found.gave(tool, str(call), {"result": text}, _SOURCE)


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())
