"""Plain SSE frames are taken by the stretch; the rows are those of taking them one by one."""

import json
import random

import pytest

import workbench as wb
from workbench.readers.records import Events

COLUMNS = [name for name in Events.__slots__ if name not in ("offset", "length", "line")]


def some_events(rng, count, *, timed, lanes):
    made = [
        {
            "type": "RUN_STARTED",
            "threadId": "t",
            "runId": "r",
            "input": {"threadId": "t", "runId": "r", "messages": []},
        }
    ]
    for number in range(count):
        part, call = f"m{number // 7}", f"c{number // 5}"
        made.append(
            rng.choice(
                [
                    {"type": "TEXT_MESSAGE_START", "messageId": part, "role": "assistant"},
                    *[
                        {"type": "TEXT_MESSAGE_CONTENT", "messageId": part, "delta": d}
                        for d in ("é", "x", "")
                    ],
                    {
                        "type": "TOOL_CALL_START",
                        "toolCallId": call,
                        "toolCallName": "look",
                        "parentMessageId": part,
                    },
                    *[{"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": d} for d in ("{", "")],
                    {"type": "RAW", "event": {"name": "on_tool"}, "source": "s"},
                    {"type": "CUSTOM", "name": "n", "value": 1},
                    {"type": "STEP_STARTED", "stepName": "s"},
                ]
            )
        )
        if rng.random() < 0.2:
            made[-1]["subagentRunId"] = rng.choice(lanes)
    if timed:
        made = [{**event, "timestamp": 1_790_000_000_000 + 3 * n} for n, event in enumerate(made)]
    return made


def columns(data):
    records = wb.load(data).records
    texts = records.pool.text
    ids = ("type", "own_thread", "own_run", "message", "parent", "call", "name", "role", "subagent")
    table = {
        name: [texts(v) for v in getattr(records.events, name)]
        if name in ids
        else list(getattr(records.events, name))
        for name in COLUMNS
    }
    return table, records.deviations, [request.event for request in records.requests]


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("lanes", [[""], ["", "sub"], [None]])
def test_by_the_stretch_and_one_by_one_give_the_same_rows(timed, lanes):
    made = some_events(random.Random(len(lanes)), 300, timed=timed, lanes=lanes)
    lines = [json.dumps(event, ensure_ascii=False) for event in made]
    at_once = "".join(f"data: {line}\n\n" for line in lines).encode()
    # a carriage return makes the reader look at each line
    one_by_one = "".join(f"data: {line}\r\n\r\n" for line in lines).encode()
    assert columns(at_once) == columns(one_by_one)
    assert len(columns(at_once)[0]["type"]) == len(made)
