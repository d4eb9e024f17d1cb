"""Which arms the claims rest on, and where they look in them."""

from __future__ import annotations

import json
from typing import Any

from workbench.replay.arms import Replay
from workbench.replay.claims import Listed

ORPHAN = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
DANGLING = "An assistant message with 'tool_calls' must be followed by tool messages"
FIXES = ("correlate", "replace", "replace-repair", "by-call", "by-call-repair", "old-id")
#: what each patch is tried on
TRIED = {
    "unpatched": (
        "one", "none", "two", "poisoned", "restarted", "renamed", "answered", "abandoned", "late", "confirm", "said", "seat",
    ),
    "correlate": ("one", "two", "abandoned"),
    "replace": ("one", "two", "abandoned", "late", "confirm", "said", "seat"),
    "replace-repair": ("one", "two", "abandoned", "late", "confirm", "seat"),
    "by-call": ("one", "two", "abandoned", "late", "seat"),
    "by-call-repair": ("one", "two", "abandoned", "late"),
    "old-id": ("one", "two"),
}  # fmt: skip

#: what is run on every release
SURVEY: list[Listed] = [("unpatched", {"tools": tools}) for tools in ("sync", "async")]
ARMS: list[Listed] = [
    *((arm, {"case": case}) for arm, cases in TRIED.items() for case in cases),
    *SURVEY,
    ("unpatched", {"case": "two", "tools": "async"}),
    ("correlate", {"tools": "async"}),
    ("unpatched", {"telemetry": "on"}),
]


def events(arm: Replay, step: int, *kinds: str) -> list[dict[str, Any]]:
    """The events of these types in a step."""
    _, _, stream = arm.steps[step].runs[0]
    told = [json.loads(line[6:]) for line in stream.split("\n") if line.startswith("data: ")]
    return [event for event in told if event["type"] in kinds]


def warnings(arm: Replay) -> list[str]:
    """What the adapter warned about."""
    return [told["said"] for told in arm.seen if told["function"] == "warning"]


def merges(arm: Replay) -> list[dict[str, Any]]:
    """What each turn was merged from: messages of the checkpoint, of the request, and those added."""
    return [told for told in arm.seen if told["function"] == "filter_only_new_messages"]


def correlated(arm: Replay) -> list[dict[str, Any]]:
    """The tracing events of the executions of tools."""
    return [told for told in arm.seen if "event" in told]


def refused(arm: Replay) -> dict[str, str]:
    """The words of the provider for each step that it refused."""
    return {
        step.name: json.loads(text)["error"]["message"]
        for step in arm.steps
        for _, status, text in step.payloads
        if status >= 400
    }


def roles(messages: list[dict[str, Any]]) -> list[str]:
    """Roles of messages in order, calls and results marked with their call."""
    told = []
    for message in messages:
        calls = [call if isinstance(call, str) else call["id"] for call in message.get("toolCalls") or message.get("tool_calls") or ()]  # fmt: skip
        result = message.get("toolCallId") or message.get("tool_call_id")
        told.append(message["role"] + (f"({', '.join(calls)})" if calls else f"({result})" if result else ""))
    return told


def valid(messages: list[dict[str, Any]]) -> bool:
    """Whether every result of an AG-UI history follows its call, and every call has its results."""
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["toolCallId"] not in waiting:
                return False
            waiting.remove(message["toolCallId"])
        elif waiting:
            return False
        else:
            waiting = {call["id"] for call in message.get("toolCalls") or ()}
    return not waiting
