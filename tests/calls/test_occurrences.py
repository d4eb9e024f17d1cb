"""The table of docs/occurrences.md, row by row."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.calls.tables import executions

PAGE = Path(__file__).parents[2] / "docs" / "occurrences.md"


def _rows() -> list[tuple[str, str, str, str]]:
    text = PAGE.read_text(encoding="utf-8").split("## The hard cases")[1]
    table = text[text.index("| case | wire |") :].splitlines()[2:]
    rows = []
    for line in table:
        if line.startswith("|"):
            case, wire, occurrences, findings = (cell.strip() for cell in line.strip("|").split("|"))
            rows.append((case, wire.strip("`"), occurrences.strip("`"), findings.strip("`")))
    return rows


def _message(call: str, tool: str, arguments: str) -> dict[str, Any]:
    function = {"name": tool, "arguments": arguments}
    return {
        "id": f"m-{call}",
        "role": "assistant",
        "toolCalls": [{"id": call, "type": "function", "function": function}],
    }


def wire_events(wire: str) -> list[dict[str, Any]]:
    """The events of a wire in the notation of the page."""
    events: list[dict[str, Any]] = []
    run, users = "", []
    for step in wire.split(" · "):
        word, _, rest = step.partition(" ")
        match word:
            case "run":
                run, _, more = rest.partition(" ")
                event: dict[str, Any] = {"type": "RUN_STARTED", "threadId": "t", "runId": run}
                if more:
                    event["input"] = {"threadId": "t", "runId": run, "messages": [], "tools": []}
                if user := re.search(r"user (\S+)", more):
                    users.append({"id": user[1], "role": "user", "content": f"question {user[1]}"})
                    event["input"]["messages"] = list(users)
                if resume := re.search(r"resume (\S+) (\S+)", more):
                    payload = {"approved": resume[2] == "yes"}
                    event["input"]["resume"] = [
                        {"interruptId": resume[1], "status": "resolved", "payload": payload}
                    ]
                events.append(event)
            case "start" | "call":
                call, tool, *arguments = rest.split(" ", 2)
                events.append({"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool})
                events += [
                    {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text} for text in arguments
                ]
                if word == "call":
                    events.append({"type": "TOOL_CALL_END", "toolCallId": call})
            case "args":
                call, text = rest.split(" ", 1)
                events.append({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text})
            case "end":
                events.append({"type": "TOOL_CALL_END", "toolCallId": rest})
            case "result":
                call, text = rest.split(" ", 1)
                message_id = f"res-{run}-{call}"
                events.append(
                    {"type": "TOOL_CALL_RESULT", "messageId": message_id, "toolCallId": call, "content": text}
                )
            case "snapshot":
                call, tool, arguments_text, *result = rest.split(" ", 3)
                messages = [_message(call, tool, arguments_text)]
                messages += [
                    {"id": f"t-{call}", "role": "tool", "toolCallId": call, "content": r} for r in result
                ]
                events.append({"type": "MESSAGES_SNAPSHOT", "messages": messages})
            case "finish":
                events.append({"type": "RUN_FINISHED", "threadId": "t", "runId": run})
            case "interrupt":
                interrupt, call = rest.split(" ")
                entry = {"id": interrupt, "reason": "tool_call", "toolCallId": call}
                outcome = {"type": "interrupt", "interrupts": [entry]}
                events.append({"type": "RUN_FINISHED", "threadId": "t", "runId": run, "outcome": outcome})
            case _:
                raise AssertionError(f"unknown step {step!r}")
    return events


@pytest.mark.parametrize(
    ("case", "wire", "occurrences", "findings"), _rows(), ids=[row[0] for row in _rows()]
)
def test_hard_case(case: str, wire: str, occurrences: str, findings: str) -> None:
    trace = wb.load(json.dumps(wire_events(wire)).encode())
    seen = []
    for conversation in trace.conversations:
        for call in conversation.calls:
            row = trace.calls[
                (trace.calls.call_id == call.id) & (trace.calls.occurrence == call.occurrence)
            ].iloc[0]
            assert row.executed == executions(call)
            seen.append(f"{call.id}#{call.occurrence} {call.tool} {row.result_class} × {row.executed}")
    found = sorted(f.rule for f in wb.check(trace) if f.severity != "info")
    assert ", ".join(seen) == occurrences, case
    assert ", ".join(found) == findings, case


def test_the_page_has_the_promised_cases() -> None:
    assert len(_rows()) >= 12


@pytest.mark.parametrize(
    ("events", "rules"),
    [
        ([("REASONING_START", "q"), ("REASONING_END", "q")], []),
        ([("REASONING_START", "q")], ["message-not-closed"]),
        ([("REASONING_END", "q")], ["message-not-open"]),
        (
            [("REASONING_START", "q"), ("REASONING_START", "q"), ("REASONING_END", "q")],
            ["message-start-duplicated"],
        ),
        ([("THINKING_START", None), ("THINKING_END", None)], []),
        ([("THINKING_END", None)], ["message-not-open"]),
    ],
)
def test_phases_of_thought_open_and_close(events: list[tuple[str, str | None]], rules: list[str]) -> None:
    inner = [{"type": kind} if name is None else {"type": kind, "messageId": name} for kind, name in events]
    run = {"threadId": "t", "runId": "r"}
    wire = [{"type": "RUN_STARTED", **run}, *inner, {"type": "RUN_FINISHED", **run}]
    found = wb.check(wb.load(json.dumps(wire).encode()))
    assert [f.rule for f in found if f.severity != "info"] == rules
