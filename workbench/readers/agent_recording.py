"""What `workbench.recorder` saw inside of an agent: versions, tools, model calls, executions.

A model call becomes a history: the list that the chat client was handed. The other lines are what a
replay needs besides; they are counted, and stay reachable in the file.
"""

from __future__ import annotations

from typing import Any

from workbench.readers import agent_messages, times, tolerant
from workbench.readers.lines import lines
from workbench.readers.payloads import agent_framework
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

#: Lines that no table has, with what they are counted as
KINDS = {
    "header": "header",
    "versions": "descriptions of the agent",
    "agent": "descriptions of the agent",
    "tools": "descriptions of the agent",
    "model-update": "pieces of answers",
    "model-end": "ends of answers",
    "execution": "executions",
    "execution-end": "ends of executions",
}


def read(reading: Reading) -> None:
    """Read the lines."""
    number = reading.content.first_line - 1
    toolsets: dict[str, Any] = {}
    for offset, line in lines(reading.content, reading.limits, reading.progress):
        number += 1
        if line is None:
            reading.problem(
                f"a line of more than {reading.limits.max_line:,} bytes", line=number, offset=offset
            )
            continue
        if not line.strip():
            continue
        decoded = tolerant.decode(line)
        value = decoded.value
        if decoded.error or not isinstance(value, dict):
            reading.problem(decoded.error or "JSON, but no object", line=number, offset=offset, data=line)
            if not line.rstrip().endswith(b"}"):
                reading.cut("the last line ends inside its JSON")
            continue
        kind = value.get("kind")
        if kind == "tools" and isinstance(value.get("id"), str):
            toolsets[value["id"]] = value.get("tools")
        if kind == "model-call" and isinstance(value.get("messages"), list):
            history = agent_framework.history(value["messages"])
            history.sent = True
            reading.payload(
                _payload(value, toolsets),
                history=history,
                place="history",
                line=number,
                offset=offset,
                length=len(line.rstrip()),
                time=times.nanoseconds(value.get("time")),
                url=str(value.get("client") or ""),
            )
        elif isinstance(kind, str) and kind in KINDS:
            reading.ignore(KINDS[kind])
        else:
            reading.problem("no line of an agent's recording", line=number, offset=offset, data=line)


def _payload(value: dict[str, Any], toolsets: dict[str, Any]) -> dict[str, Any]:
    """A model call as a request to a provider."""
    messages = [message for message in value["messages"] if isinstance(message, dict)]
    tools = toolsets.get(str(value.get("toolset")))
    options = value.get("options")
    said = options.get("instructions") if isinstance(options, dict) else None
    system = [{"role": "system", "content": said}] if isinstance(said, str) and said else []
    return {
        "model": str(value.get("model") or "unknown"),
        "messages": [*system, *agent_messages.chat(messages)],
        "tools": [
            {
                "type": "function",
                "function": {key: tool.get(key) for key in ("name", "description", "parameters")},
            }
            for tool in (tools if isinstance(tools, list) else ())
            if isinstance(tool, dict)
        ],
    }


def _recognise(sniff: Sniff) -> bool:
    return sniff.is_lines and b'"recording":"agent"' in sniff.text[:1000].replace(b" ", b"")


FORMAT = Format(
    name="agent-recording",
    title="Model calls and executions inside of an agent, recorded by `workbench.recorder`",
    recognised_by='a first line with "recording": "agent"',
    extensions=(".jsonl",),
    recognise=_recognise,
    read=read,
)
