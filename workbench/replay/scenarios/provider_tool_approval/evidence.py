"""Which arms the claims rest on, and where they look in them."""

from __future__ import annotations

import json
from typing import Any

from workbench.replay.arms import Replay
from workbench.replay.claims import Arms, Listed

PLACEHOLDER = "Error: Tool call invocation failed."
FORMS = ("call-result", "confirm-changes", "function-approvals", "resume", "resume-interrupts", "command")
AGENTS = ("plain", "no-static-tools", "approval-middleware", "harness")
OPTIONS = ("option-1", "option-2", "option-3", "workaround")
#: the matrix of the report: every form of approval, kind of agent and kind of provider
MATRIX: list[dict[str, str]] = [
    {"model": "scripted", "agent": agent, "provider": provider, "form": form}
    for agent in AGENTS
    for provider in ("file-access", "own")
    for form in FORMS
]
MODELS = ("scripted", "chat", "anthropic", "responses-stateless", "responses")

#: what is run on every release
SURVEY: list[Listed] = [
    *(("unpatched", {"model": "scripted", "agent": agent}) for agent in ("plain", "harness")),
    ("option-1", {"model": "scripted"}),
]
ARMS: list[Listed] = [
    *(("unpatched", {"agent": agent}) for agent in AGENTS),
    *(("unpatched", options) for options in MATRIX),
    *(("unpatched", {"model": model}) for model in MODELS),
    *(
        ("unpatched", {"provider": name})
        for name in ("none", "ungated", "stock", "mcp", "skills", "skills-mixed")
    ),
    ("unpatched", {"speech": "apology"}),
    ("unpatched", {"decision": "reject"}),
    *((name, {"agent": agent}) for name in OPTIONS for agent in AGENTS),
    *((name, {"provider": "skills"}) for name in OPTIONS),
    *((name, {"decision": "reject"}) for name in OPTIONS),
    *(("unpatched", {"provider": name}) for name in ("throws", "source")),
    ("unpatched", {"provider": "source", "release": "1.0.0rc8"}),
    *(("unpatched", {"snapshots": "on", "agent": agent}) for agent in ("plain", "harness")),
    *SURVEY,
]


def texts(arm: Replay, step: int, kind: str) -> list[dict[str, Any]]:
    """The events of a type in a step."""
    _, _, stream = arm.steps[step].runs[0]
    events = [json.loads(line[6:]) for line in stream.split("\n") if line.startswith("data: ")]
    return [event for event in events if event["type"] == kind]


def results(arm: Replay, step: int) -> list[str]:
    """What the TOOL_CALL_RESULT events of a step say."""
    return [event["content"] for event in texts(arm, step, "TOOL_CALL_RESULT")]


def seen(arm: Replay, function: str, by: str = "", step: str = "approve") -> list[dict[str, Any]]:
    """What a function saw in a step, called by the transport or in the run."""
    return [told for told in arm.seen if (told["step"], told["function"], told["by"]) == (step, function, by)]


def fixed(arms: Arms, name: str, **options: str) -> bool:
    """One execution, one question, nothing wrong."""
    found = arms.outcome(name, **options)
    return found.word == "clean" and (found.executions, found.questions) == (1, 1)
