"""Which tools the agent had, and what they gave: stubs with recorded results, by call id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.replay.capture.assumptions import Assumption
from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.hints import Hints
from workbench.replay.capture.model import Said
from workbench.replay.capture.questions import questions
from workbench.replay.capture.shapes import dicts

#: A result that stands for one that the capture does not show
INVENTED = "(What this tool gives is not in the recording.)"
_FAILED = re.compile(r"^Error: Function failed\.(?: Exception: (?P<why>.*))?$", re.DOTALL)
_UNKNOWN = re.compile(r"^Error: Requested function .* not found", re.DOTALL)
#: What stands where the framework did not find a tool that it had asked about
_LOST = re.compile(r"^Error: (Tool call invocation failed\.|Requested function .* not found)", re.DOTALL)
_ERROR = re.compile(r"^Error\b")
#: What the framework writes in place of a result
_OWN = re.compile(
    r"^(Error: (Tool call invocation (failed|was rejected by user)\.|Argument parsing failed\.|Requested function .* not found)"
    r"|Tool execution skipped)",
    re.DOTALL,
)


@dataclass
class Tools:
    """The agent's own tools as the spec of a replay has them, and which of their properties are open."""

    made: list[dict[str, Any]] = field(default_factory=list)
    #: what may be otherwise, by tool: `origin`, `gated`, `doubted`
    open: dict[str, list[str]] = field(default_factory=dict)
    assumptions: list[Assumption] = field(default_factory=list)
    #: calls whose result was invented
    invented: list[str] = field(default_factory=list)


def tools(
    exchanges: list[Exchange], said: Said, hints: Hints, overrides: Mapping[str, Any] | None = None
) -> Tools:
    """Derive the tools; `overrides` are the user's, by tool: `origin`, `gated`, `calls`."""
    overrides = overrides or {}
    seen = _Seen(exchanges, said)
    made = Tools()
    for name in dict.fromkeys(said.calls.values()):
        calls = [call for call, tool in said.calls.items() if tool == name]
        client = name in seen.client_tools and not any(call in seen.results for call in calls)
        # whoever was asked about a call was asked by an agent that knows the tool
        absent = any(_UNKNOWN.match(seen.results.get(call, "")) for call in calls) and not (
            seen.asked & set(calls)
        )
        if not client and not absent:
            _tool(made, name, calls, seen, hints.of(name), dict(overrides.get(name) or {}))
    return made


class _Seen:
    """What the events show of calls: results in the stream, questions, results from the client."""

    def __init__(self, exchanges: list[Exchange], said: Said) -> None:
        self.results: dict[str, str] = {}
        self.asked: set[str] = set()
        self.sent: set[str] = set()
        self.rejected: set[str] = set()
        #: calls that a person was not asked about while another of the same turn waited for one
        self.held: set[str] = set()
        self.client_tools: set[str] = set()
        for exchange in exchanges:
            self.client_tools |= {str(tool.get("name")) for tool in dicts(exchange.request.get("tools"))}
            self.asked |= set(questions(exchange))
            for event in exchange.of("TOOL_CALL_RESULT"):
                call, content = str(event.get("toolCallId")), event.get("content")
                # a placeholder that is followed by the real result was not the last word
                if call not in self.results or _OWN.match(self.results[call]):
                    self.results[call] = content if isinstance(content, str) else str(content)
            for message in dicts(exchange.request.get("messages")):
                if message.get("role") == "tool":
                    self.sent.add(str(message.get("toolCallId")))
        for turns in said.steps:
            for turn in turns:
                of_turn = {content["call"] for content in turn["contents"] if content.get("name")}
                if of_turn & self.asked:
                    self.held |= of_turn - self.asked - set(self.results)


def described(name: str) -> dict[str, Any]:
    """How a model is told of a tool: no capture shows it, and nothing depends on it."""
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {"name": name, "description": "", "parameters": parameters}


def _tool(
    made: Tools,
    name: str,
    calls: list[str],
    seen: _Seen,
    hint: Mapping[str, tuple[Any, str]],
    said: Mapping[str, Any],
) -> None:
    def settle(key: str, assumed: Any, evidence: str, *, certain: bool) -> Any:
        if key in said:
            assumed, evidence, certain = said[key], "as you said", True
        elif key in hint:
            (assumed, evidence), certain = hint[key], True
        if not certain:
            made.open.setdefault(name, []).append(key)
        made.assumptions.append(
            Assumption(f"tool {name}, {key}", str(assumed), evidence, f"tools.{name}.{key}=…")
        )
        return assumed

    origin = settle("origin", *_origin(calls, seen), certain=False)
    gated, evidence, certain = _gate(calls, seen)
    gated = settle("gated", gated, evidence, certain=certain or origin == "declared")
    told: dict[str, Any] = {
        **described(name), "origin": "static" if origin == "declared" else origin, "gated": bool(gated),
        "calls": {}, "result": INVENTED, **({"declared": True} if origin == "declared" else {}),
    }  # fmt: skip
    known = {**hint.get("calls", ({}, ""))[0], **(said.get("calls") or {})}
    for call in calls:
        result = _result(known.get(call), seen.results.get(call))
        if result is not None:
            told["calls"][call] = result
            if call not in known and call in seen.asked and _ERROR.match(seen.results[call]):
                told.setdefault("doubted", []).append(call)
        elif origin != "declared":
            made.invented.append(call)
    if "doubted" in told:
        made.open.setdefault(name, []).append("doubted")
        made.assumptions.append(
            Assumption(
                f"error of {', '.join(told['doubted'])}", "the tool's own",
                "a server that did not find the tool may have written it", f"tools.{name}.calls.ID=…",
            )
        )  # fmt: skip
    made.made.append(told)


def _origin(calls: list[str], seen: _Seen) -> tuple[str, str]:
    """Where the tool comes from, and what speaks for it."""
    asked = [call for call in calls if call in seen.asked]
    if not asked and all(call in seen.sent and call not in seen.results for call in calls):
        return "declared", "its results came from the client, which did not declare it"
    for call in asked:
        if _LOST.match(seen.results.get(call, "")):
            return "provider", f"approved, and {call} got a placeholder"
    return "static", "nothing speaks against it"


def _gate(calls: list[str], seen: _Seen) -> tuple[bool, str, bool]:
    """Whether a person has to agree, what speaks for it, and whether that is certain."""
    asked = [call for call in calls if call in seen.asked]
    ran = [call for call in calls if call in seen.results and call not in seen.asked]
    if asked:
        return True, f"a person was asked about {asked[0]}", not ran
    if ran:
        return False, f"{ran[0]} was carried out without a question", True
    if any(call in seen.held for call in calls):
        return False, "held back beside a call that a person was asked about", False
    return False, "neither a question nor a result is in the capture", False


def _result(known: Any, shown: str | None) -> dict[str, str] | None:
    """What a stub gives: as is known, else as was shown; None where the capture has nothing from the tool."""
    if known is not None:
        return known if isinstance(known, dict) else {"result": str(known)}
    if shown is None or _OWN.match(shown):
        return None
    failed = _FAILED.match(shown)
    if failed:
        return {"error": failed["why"] or "(why it failed is not in the recording)"}
    return {"result": shown}


def invention(call: str, tool: str) -> Assumption:
    """The assumption that stands for an invented result."""
    return Assumption(
        f"result of {call}", "a marked text", "the capture has no result that the tool gave", f"tools.{tool}.calls.{call}=…"
    )  # fmt: skip
