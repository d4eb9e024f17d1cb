"""Captures with absurd content as conversations to be replayed: a scenario, or a `ReplayError` that says why not."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

import workbench as wb
from workbench.replay.capture import readings, told
from workbench.replay.engine.errors import ReplayError

BAD: list[Any] = [None, 7, "", "\ud800\x00\x1b[2J", [], [None, "x"], {}, {"id": [], "toolCallId": {}}, True]


def conversation() -> list[list[Any]]:
    """A call that a person agreed to, with every place in which something of it may stand."""
    user = {"id": "u", "role": "user", "content": "Open the gate."}
    call = {"id": "c", "type": "function", "function": {"name": "gate", "arguments": "{}"}}
    confirm = {"id": "k", "type": "function", "function": {"name": "confirm_changes", "arguments": "{}"}}
    asked = {"id": "a", "role": "assistant", "toolCalls": [call, confirm]}
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [user, asked]}
    function = {"call_id": "c", "name": "gate", "arguments": {}}
    first = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "gate", "parentMessageId": "a"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"},
        {"type": "CUSTOM", "name": "function_approval_request", "value": {"id": "i", "function_call": function}},
        {"type": "TOOL_CALL_START", "toolCallId": "k", "toolCallName": "confirm_changes"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "k", "delta": '{"function_call_id": "c"}'},
        {"type": "TOOL_CALL_END", "toolCallId": "c"},
        snapshot,
        {
            "type": "RUN_FINISHED", "threadId": "t", "runId": "r1",
            "interrupt": [{"id": "i", "value": {"function_call": function}}],
            "outcome": {"type": "interrupt", "interrupts": [{"id": "i", "toolCallId": "c"}]},
        },
    ]  # fmt: skip
    second = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r2"},
        {"type": "TOOL_CALL_RESULT", "messageId": "x", "toolCallId": "c", "content": "open"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "It is open."},
        {"type": "CUSTOM", "name": "usage", "value": {"n": 1}},
        {"type": "RUN_ERROR", "code": "X", "message": "y"},
    ]
    body = {"threadId": "t", "runId": "r1", "messages": [user], "tools": [{"name": "map"}], "state": {}}
    yes = {"accepted": True}
    resumed = [{"interruptId": "i", "status": "resolved", "payload": yes}]
    approvals = [{"id": "i", "call_id": "c", "approved": True}]
    answers = [
        {"id": "k2", "role": "tool", "toolCallId": "k", "content": '{"accepted": true}'},
        {"id": "u2", "role": "user", "content": "", "function_approvals": approvals},
    ]
    again = {
        **body, "runId": "r2", "messages": [user, asked, *answers], "resume": resumed,
        "forwardedProps": {"command": {"resume": {"interrupts": [{"id": "i", "value": yes}]}}},
    }  # fmt: skip
    return [[body, first], [again, second]]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside of a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def changed(path: tuple[Any, ...], value: Any) -> list[list[Any]]:
    """The conversation with another value at one place."""
    made: Any = json.loads(json.dumps(conversation()))
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return list(made)


def capture(tmp_path: Any, pairs: list[list[Any]]) -> wb.Trace:
    """A HAR with these requests and events."""
    entries = [
        {
            "request": {"method": "POST", "url": "http://a.invalid/run", "postData": {"text": json.dumps(body)}},
            "response": {
                "status": 200,
                "content": {
                    "mimeType": "text/event-stream",
                    "text": "".join(f"data: {json.dumps(event)}\n\n" for event in events),
                },
            },
        }
        for body, events in pairs
    ]  # fmt: skip
    path = tmp_path / "capture.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "t"}, "entries": entries}}))
    return wb.load(str(path))


def derived(tmp_path: Any, pairs: list[list[Any]]) -> str:
    """What comes of it: the lines that are told, or what the error says."""
    try:
        made = wb.scenario_from(capture(tmp_path, pairs))
        json.dumps(made.spec)
        return "\n".join(told.scenario(made))
    except ReplayError as problem:
        return f"refused: {problem}"


@pytest.mark.parametrize("value", BAD, ids=lambda value: json.dumps(value)[:20])
def test_any_value_at_any_place_gives_a_scenario_or_says_why_not(tmp_path, value):
    outcomes = [
        derived(tmp_path, changed(path, value))
        for path in places(conversation())
        if len(path) > 1 and path[1:] != (1,)
    ]
    assert all(outcomes)
    assert sum(not outcome.startswith("refused") for outcome in outcomes) > len(outcomes) / 2


@pytest.mark.parametrize("depth", [150, 450, 900, 5000])
@pytest.mark.parametrize(
    "place", [(0, 0, "state"), (0, 1, 3, "value"), (0, 1, 2, "delta"), (1, 0, "messages", 2, "content")]
)
def test_deep_json_is_told_or_refused(tmp_path, depth, place):
    text = "[" * depth + "]" * depth
    if place[-1] in ("delta", "content"):
        assert derived(tmp_path, changed(place, text)).startswith("thread t")
        return
    mark = "deep-is-put-here"
    trace = capture(tmp_path, changed(place, mark))
    path = tmp_path / "capture.har"
    raw = path.read_text()
    path.write_text(raw.replace(f'\\"{mark}\\"', text))
    trace = wb.load(str(path))
    try:
        made = "\n".join(told.scenario(wb.scenario_from(trace)))
    except ReplayError as problem:
        made = f"refused: {problem}"
    assert made.startswith("thread t" if depth < 200 else ("refused: ", "thread t"))


def test_a_conversation_with_many_open_tools_has_few_readings(tmp_path):
    body, events = conversation()[0]
    calls = [
        {"type": kind, "toolCallId": f"c{number}", "toolCallName": f"tool{number}", "delta": "{}"}
        for number in range(60)
        for kind in ("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END")
    ]
    made = wb.scenario_from(capture(tmp_path, [[body, [events[0], *calls]]]))
    begun = time.monotonic()
    assert len(readings.readings(made.spec, made.open)) == readings.MOST
    assert time.monotonic() - begun < 5
