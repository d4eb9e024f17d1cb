"""What spans and debug logs of agent-framework say about the tools of an agent.

Three things name the agent's own tools: `gen_ai.tool.definitions` of the agent's span (with the option for the
latest conventions), the `[TOOLS]` lines of the endpoint, and in `tool_map` lines of the framework everything
that can be carried out, also what a context provider brought along. What is missing proves nothing, as long as
no list was seen: not every set of options writes one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from workbench.readers.records import Records
from workbench.readers.telemetry import log_lines
from workbench.replay.capture.exchanges import Chosen
from workbench.replay.capture.hints import Hints

_OWN = re.compile(r"\[TOOLS\]\s+- (?P<tool>\S+): approval_mode=(?P<mode>\w+)")
_COUNT = re.compile(r"\[TOOLS\] Agent has \d+ configured tools")
_SPAN, _TOOLS, _MAP, _TOOL = "the agent's span", "a [TOOLS] line", "a tool_map line", "an execute_tool span"


@dataclass
class _Lists:
    """Names by the list that they stand in; `seen` are the lists that there were, be they empty."""

    own: dict[str, str] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    gated: dict[str, tuple[bool, str]] = field(default_factory=dict)
    seen: str = ""


def learn(records: Records, chosen: Chosen, found: Hints) -> None:
    """Take up what the telemetry of a conversation says."""
    lists = _Lists()
    for run in chosen.runs:
        for row in run.spans:
            _definitions(records.span(row).attributes, lists)
        for row in run.logs:
            log = records.log(row)
            if isinstance(log.body, str):
                _line(log.body, lists)
    client = {name for run in chosen.runs for name in run.client_tools}
    for call in chosen.calls:
        _calls(call, found)
        tool = call.tool
        ran = call.approvals or any(execution.ran for execution in call.executions)
        if tool in lists.own and ran:
            # a tool that is only declared would have neither run nor asked
            found.learn(tool, "origin", "static", lists.own[tool])
        elif tool not in lists.own and lists.seen and tool not in client and (tool in lists.runs or ran):
            found.learn(tool, "origin", "provider", f"it could run, and {lists.seen} does not name it")
    for tool, (gated, source) in lists.gated.items():
        found.learn(tool, "gated", gated, source)


def _definitions(attributes: dict[str, Any], lists: _Lists) -> None:
    told = attributes.get("gen_ai.tool.definitions")
    if attributes.get("gen_ai.operation.name") != "invoke_agent" or told is None:
        return
    try:
        listed = json.loads(told) if isinstance(told, str) else told
    except ValueError:
        return  # cut short: what is missing would look like somebody else's
    lists.seen = lists.seen or _SPAN
    for tool in listed if isinstance(listed, list) else ():
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            lists.own.setdefault(tool["name"], _SPAN)


def _line(text: str, lists: _Lists) -> None:
    if text.startswith("[TOOLS]"):
        own = _OWN.match(text)
        if own is not None:
            lists.own.setdefault(own["tool"], _TOOLS)
            lists.gated.setdefault(own["tool"], (own["mode"] == "always_require", _TOOLS))
        elif _COUNT.match(text):
            lists.seen = lists.seen or "the list of [TOOLS] lines"
        return
    fact = log_lines.line_fact(text) if text.startswith("_try_execute") else None
    if fact is not None and fact.kind == "tool-map":
        for name in fact.tools:
            lists.runs.setdefault(name, _MAP)
        for name in fact.approval_tools:
            lists.gated.setdefault(name, (True, _MAP))


def _calls(call: Any, found: Hints) -> None:
    for execution in call.executions:
        if not execution.ran or execution.joined != "call id":
            continue
        if execution.cls == "ok" and execution.result:
            found.gave(call.tool, call.id, {"result": execution.result}, _TOOL)
        elif execution.cls == "error" and execution.error:
            found.gave(call.tool, call.id, {"error": execution.error}, _TOOL)
