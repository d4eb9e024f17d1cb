"""Captures whose values are anything: loading, rules and views give their answer, none raises.

The bundled captures are taken apart into their JSON texts (lines, `data:` lines, bodies inside a
HAR file), a few values of them become junk of other types, and what comes out of every view has to
be what it says it is.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile_captures import everything, jsonl
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
CAPTURES = [
    *sorted(p for p in (ROOT / "traces").iterdir() if p.suffix not in (".md", ".zip")),
    *sorted((ROOT / "tests" / "data" / "cases").glob("*/input*"))[::3],
]
DEEP = "[" * 300 + "]" * 300
TEXTS = (
    "", " ", "\0", "\x1b[31mred", "\x1b]8;;http://x\x07y", "\r\n\r\n", "\u202eabc", "\ud800", "a\udfffb", "\u2028",
    "\ufffe", "]]>", "-->", "</svg>", "<script>alert(1)</script>", "%%{init:{}}%%", "end", "```", "| a | b |",
    "@user #1", "[red]x[/red]", "a" * 3000, "[[[[" * 100, DEEP, '"\\ud800"', '{"approved":true}', "Error: x",
    '{"a":1e999}', "9" * 3000, "NaN", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
)  # fmt: skip
OTHERS = (
    None, True, False, 0, -1, 1.5, 2**63, 10**40, float("nan"), float("inf"), -1e308, 253402300800000, [], {}, [[]],
    [{}], [None], {"": ""}, {"type": 5}, {"id": 5}, [1, "a", None, {}], {"function": {"name": 5, "arguments": []}},
    {"approved": "x"}, {"interrupts": 1}, {"interrupts": [{}, None, 1]}, {"type": "interrupt", "interrupts": "x"},
)  # fmt: skip
KEYS = (
    "type", "id", "toolCallId", "toolCallName", "messageId", "threadId", "runId", "parentRunId", "messages", "toolCalls",
    "function", "arguments", "content", "role", "outcome", "interrupts", "resume", "forwardedProps", "input", "value",
    "snapshot", "delta", "timestamp", "expiresAt", "interruptId", "payload", "status", "command", "function_approvals",
    "metadata", "error", "tools", "rawEvent", "patch", "parentMessageId", "subagentId", "interrupt", "code", "message",
)  # fmt: skip

Change = Callable[[Any], Any]


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, (*path, number))


def _spoil(choose: random.Random, value: Any) -> Any:
    """One value somewhere inside becomes another, goes away or gets a neighbour."""
    places = list(_places(value))[1:]
    if not places:
        return choose.choice(OTHERS)
    *way, last = choose.choice(places)
    inside = value
    for step in way:
        inside = inside[step]
    junk = choose.choice(TEXTS if choose.random() < 0.4 else OTHERS)
    if isinstance(inside[last], str) and inside[last][:1] in "{[" and choose.random() < 0.5:
        inside[last] = _spoiled_text(choose, inside[last])
    elif choose.random() < 0.15:
        del inside[last]
    elif choose.random() < 0.3 and isinstance(inside, dict):
        inside[choose.choice(KEYS)] = junk
    elif last != "type" or choose.random() < 0.2:
        inside[last] = junk
    return value


def _spoiled_text(choose: random.Random, text: str) -> str:
    try:
        return json.dumps(_spoil(choose, json.loads(text)))
    except ValueError:
        return text


def _spoiled_lines(choose: random.Random, text: str) -> str:
    """A few JSON lines (also of `data:`) of a text change; some lines change places."""
    lines = text.split("\n")
    whole = [n for n, line in enumerate(lines) if line.removeprefix("data:").lstrip().startswith("{")]
    for number in choose.choices(whole, k=choose.choice((1, 1, 2, 4))) if whole else ():
        head = "data: " if lines[number].startswith("data:") else ""
        lines[number] = head + _spoiled_text(choose, lines[number].removeprefix("data:"))
    if len(whole) > 1 and choose.random() < 0.3:
        one, two = choose.sample(whole, 2)
        lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def _spoiled(choose: random.Random, path: Path) -> bytes:
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".har":
        return _spoiled_lines(choose, text).encode()
    archive = json.loads(text)
    for _ in range(choose.choice((1, 2, 4))):
        entry = choose.choice(archive["log"]["entries"])
        asked, answer = entry["request"].get("postData"), entry["response"]["content"]
        if choose.random() < 0.4 and asked and asked.get("text"):
            asked["text"] = _spoiled_text(choose, asked["text"])
        elif answer.get("text"):
            answer["text"] = _spoiled_lines(choose, answer["text"])
    if choose.random() < 0.1:
        _spoil(choose, archive)
    return json.dumps(archive).encode()


@settings(max_examples=45)
@given(st.integers(0, 2**32))
def test_junk_in_a_bundled_capture_stops_nothing(seed):
    choose = random.Random(seed)
    everything(_spoiled(choose, choose.choice(CAPTURES)))


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_a_bundled_case_in_pieces_stops_nothing(seed):
    choose = random.Random(seed)
    path = choose.choice([p for p in CAPTURES if p.suffix != ".har"])
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line]
    for _ in range(choose.randint(1, 5)):
        kind, at = choose.randrange(3), choose.randrange(len(lines))
        if kind == 0 and len(lines) > 1:
            del lines[at]
        elif kind == 1:
            lines.insert(choose.randrange(len(lines) + 1), lines[at])
        else:
            lines[at] = _spoiled_lines(choose, lines[at])
    if choose.random() < 0.2:
        choose.shuffle(lines)
    everything("\n\n".join(lines).encode())


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: ascii(text[:12]))
def test_a_hostile_text_everywhere_at_once(text):
    call = {"toolCallId": text, "messageId": text, "parentMessageId": text}
    message = {"id": text, "role": "assistant", "content": text,
               "toolCalls": [{"id": text, "type": "function", "function": {"name": text, "arguments": text}}]}  # fmt: skip
    asked = {"id": text, "reason": text, "toolCallId": text, "message": text, "expiresAt": text}
    everything(jsonl([
        {"type": "CUSTOM", "name": "x", "value": 1},
        {"type": "RUN_STARTED", "threadId": text, "runId": text, "parentRunId": text},
        {"type": "STEP_STARTED", "stepName": text},
        {"type": "TOOL_CALL_START", "toolCallName": text, **call},
        {"type": "TOOL_CALL_ARGS", "delta": text, **call},
        {"type": "TOOL_CALL_END", **call},
        {"type": "TOOL_CALL_RESULT", "content": text, **call},
        {"type": "TOOL_CALL_RESULT", "content": text + "2", **call},
        {"type": "TOOL_CALL_RESULT", "content": text, "toolCallId": text + "2", "messageId": text},
        {"type": "CUSTOM", "name": text, "value": text},
        {"type": "CUSTOM", "name": "function_approval_request",
         "value": {"id": text, "function_call": {"call_id": text, "name": text, "arguments": text}}},
        {"type": "MESSAGES_SNAPSHOT", "messages": [message, {"id": text, "role": "tool", "content": text, **call}]},
        {"type": "RUN_FINISHED", "threadId": text, "runId": text,
         "outcome": {"type": "interrupt", "interrupts": [asked]}},
        {"type": "RUN_STARTED", "threadId": text, "runId": text + "2"},
        {"type": "RUN_ERROR", "message": text, "code": text},
    ]))  # fmt: skip


@pytest.mark.parametrize("depth", [300, 3000])
@pytest.mark.parametrize("as_text", [True, False])
def test_deep_values_in_every_payload(depth, as_text):
    deep = "[" * depth + "]" * depth
    value = json.dumps(deep) if as_text else deep
    answer = f'{{"interruptId":"i","status":"resolved","payload":{value}}}'
    lines = [
        '{"type":"RUN_STARTED","threadId":"t","runId":"r"}',
        '{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"x"}',
        f'{{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":{value}}}',
        '{"type":"TOOL_CALL_END","toolCallId":"c"}',
        f'{{"type":"TOOL_CALL_RESULT","toolCallId":"c","messageId":"m","content":{value}}}',
        f'{{"type":"CUSTOM","name":"on_interrupt","value":{value}}}',
        f'{{"type":"STATE_SNAPSHOT","snapshot":{{"a":{value}}}}}',
        f'{{"type":"STATE_DELTA","delta":[{{"op":"test","path":"/a","value":{value}}}]}}',
        '{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}',
        f'{{"threadId":"t","runId":"q","messages":[],"tools":[],"context":[],"resume":[{answer}]}}',
    ]
    everything("\n".join(lines).encode())
