"""Rules never raise, whatever stands in the events: every value of every fixture may be anything."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.rules import check
from workbench.trace import load

FIXTURES = sorted((Path(__file__).parent / "fixtures").glob("*/*.jsonl"))
VALUES = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "/a",
    [],
    {},
    [None],
    [[1]],
    {"a": 1},
    [{}],
    {"id": 3},
    ["m1"],
    "{",
    "\ud800",
)


def _places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from _places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _places(item, (*path, number))


def _with(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _with(value[path[0]], path[1:], new)
    return copy


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_no_rule_raises_for_any_value_anywhere(seed):
    choose = random.Random(seed)
    lines = [json.loads(line) for line in choose.choice(FIXTURES).read_text(encoding="utf-8").splitlines()]
    for _ in range(choose.randint(1, 4)):
        number = choose.randrange(len(lines))
        path = choose.choice(list(_places(lines[number]))[1:] or [()])
        if path:
            lines[number] = _with(lines[number], path, choose.choice(VALUES))
    if choose.random() < 0.3:
        choose.shuffle(lines)
    check(load("".join(json.dumps(line) + "\n" for line in lines).encode()))


@pytest.mark.parametrize("depth", [200, 5000])
def test_a_deeply_nested_state_is_no_crash(depth):
    deep = "[" * depth + "]" * depth
    lines = [
        '{"type":"RUN_STARTED","threadId":"t1","runId":"r1"}',
        f'{{"type":"STATE_SNAPSHOT","snapshot":{{"a":{deep}}}}}',
        '{"type":"STATE_DELTA","delta":[{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/c"}]}',
        '{"type":"STATE_DELTA","delta":[{"op":"test","path":"/a","value":1}]}',
        '{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}',
    ]
    check(load("\n".join(lines).encode()))
