"""Real captures with pieces replaced by junk of other types: nothing raises, every finding has evidence."""

from __future__ import annotations

import copy
import json
import random
from functools import cache
from pathlib import Path

from hostile_captures import everything, jsonl
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parents[1]
DEEP = json.loads("[" * 480 + "]" * 480)
JUNK = [
    None, True, 0, -1, 1.5, 10**30, 2**63, 1e308, "", " ", "\x00", "\u202e", "__proto__", "nan", "call", "]]>",
    "<script>", "%%{init}%%", "[[[[" * 300, '{"a":' * 600, '{"approved":true}', "Error: x", "9" * 5000, '{"a":1e999}',
    [], {}, [[]], [{}], [None], {"a": 1}, {"id": 5}, [1, "a", None, {}], {"name": []}, {"function": 5}, DEEP,
    {"type": 5}, {"interrupts": {"a": 1}}, {"function": {"name": 5, "arguments": []}}, "2026-09-21", "9999-12-31",
]  # fmt: skip
KEYS = [
    "id", "toolCallId", "toolCallName", "messageId", "threadId", "runId", "messages", "toolCalls", "function", "name",
    "arguments", "content", "role", "outcome", "interrupts", "resume", "forwardedProps", "input", "value", "snapshot",
    "delta", "timestamp", "expiresAt", "interruptId", "payload", "status", "command", "interruptEvent", "type",
    "function_approvals", "function_call", "metadata", "error", "tools", "state", "event", "patch", "interrupt",
]  # fmt: skip


def places(value, found, depth=0):
    if depth > 7:
        return
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:20]) if isinstance(value, list) else ()
    )
    for key, inner in items:
        found.append((value, key))
        places(inner, found, depth + 1)


def mutated(events, chance):
    for _ in range(chance.choice([1, 2, 4, 8])):
        event = chance.choice(events)
        found = []
        places(event, found)
        if not found:
            continue  # an event that has nothing left
        holder, key = chance.choice(found)
        if key == "type" and holder is event:
            holder, key = event, chance.choice(KEYS)
        if isinstance(holder, dict) and chance.random() < 0.2:
            holder[chance.choice(KEYS)] = copy.deepcopy(chance.choice(JUNK))
        elif isinstance(holder, dict) and chance.random() < 0.2:
            holder.pop(key, None)
        else:
            holder[key] = copy.deepcopy(chance.choice(JUNK))
        if chance.random() < 0.2:
            events.insert(chance.randrange(len(events) + 1), json.loads(json.dumps(chance.choice(events))))
    return events


@cache
def captures():
    """Captures as lines of JSON."""
    files = [*sorted(TESTS.parent.glob("traces/*.jsonl")), *sorted(TESTS.glob("rules/fixtures/*/*.jsonl"))]
    return [file.read_text(encoding="utf-8").splitlines() for file in files if file.stat().st_size < 20_000]


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_junk_in_a_capture_breaks_nothing(seed):
    chance = random.Random(seed)
    events = [json.loads(line) for line in chance.choice(captures()) if line.strip()]
    everything(jsonl(mutated(events, chance)))
