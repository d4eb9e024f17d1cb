"""What one capture may cost: work that grows with the square of its size shows here as minutes.

The limits are many times what the checks need, and a tenth of what they needed when they were
quadratic; processor time, because the machine may be busy.
"""

from __future__ import annotations

import json
import time

import pytest
from hostile_captures import (
    answered,
    approve,
    call,
    finished,
    interrupted,
    jsonl,
    listed,
    request,
    started,
    text,
)

import workbench as wb

SECONDS = 5


def calls_that_stay_open_around_texts(n):
    calls = [e for i in range(n) for e in call(f"c{i}", end=False)]
    return [started(), *calls, *(e for i in range(n) for e in text(f"m{i}")), finished()]


def late_ends(n):
    calls = [e for i in range(n) for e in call(f"c{i}", end=False)]
    return [
        started(),
        *calls,
        finished(),
        *({"type": "TOOL_CALL_END", "toolCallId": f"c{i}"} for i in range(n)),
    ]


def runs_inside_runs(n):
    return [*(started(f"r{i}") for i in range(n)), *(finished(f"r{i}") for i in range(n))]


def threads_in_one_stream(n):
    starts = [started(f"r{i}", f"t{i}") for i in range(n)]
    ends = [finished(f"r{i}", f"t{i}") for i in range(n)]
    return [*starts, *(e for i in range(n) for e in call(f"c{i}", result="ok")), *ends]


def runs_beside_an_outer_one(n):
    inner = [
        (started(f"i{i}", "u"), *call(f"c{i}"), finished(f"i{i}", "u"), *call(f"o{i}")) for i in range(n)
    ]
    return [started("outer"), *(e for group in inner for e in group), finished("outer")]


def one_id_for_all(n):
    return [
        started(),
        *(e for i in range(n) for e in call("c", json.dumps({"i": i}), result=f"{i}")),
        finished(),
    ]


def one_id_in_every_run(n):
    runs = [
        (request(f"r{i}"), started(f"r{i}"), *call("c", json.dumps({"i": i}), result=f"{i}"))
        for i in range(n // 2)
    ]
    return [e for i, run in enumerate(runs) for e in (*run, finished(f"r{i}"))]


def results_for_nobody(n):
    results = (
        {"type": "TOOL_CALL_RESULT", "toolCallId": f"c{i}", "messageId": f"m{i}", "content": "x"}
        for i in range(n)
    )
    return [started(), *results, finished()]


def many_interrupts_answered(n):
    calls = [e for i in range(n) for e in call(f"c{i}", json.dumps({"i": i}))]
    asked = interrupted(*({"id": f"i{i}", "toolCallId": f"c{i}"} for i in range(n)))
    return [
        started(),
        *calls,
        asked,
        request(resume=approve(*(f"i{i}" for i in range(n)))),
        started("r2"),
        finished("r2"),
    ]


def questions_by_event(n):
    asked = ({"type": "CUSTOM", "name": "on_interrupt", "value": f"really {i}?"} for i in range(n))
    return [started(), *asked, interrupted(*({"id": f"i{i}"} for i in range(n)))]


def answers_to_nothing(n):
    resumed = request(resume=approve(*(f"x{i}" for i in range(n * 4))))
    return [started(), interrupted({"id": "i"}), resumed, started("r2"), finished("r2")]


def answers_to_nothing_in_every_run(n):
    asked = interrupted(*({"id": f"i{i}", "toolCallId": f"c{i}"} for i in range(n // 4)))
    runs = [
        (request(f"s{i}", resume=approve(f"x{i}")), started(f"s{i}"), finished(f"s{i}"))
        for i in range(n // 4)
    ]
    return [started(), asked, *(e for run in runs for e in run)]


def a_snapshot(n):
    pairs = [m for i in range(n) for m in (listed(f"c{i}", f"a{i}"), answered(f"c{i}", f"x{i}"))]
    return [started(), {"type": "MESSAGES_SNAPSHOT", "messages": pairs}, finished()]


def a_snapshot_under_other_ids(n):
    streamed = [e for i in range(n) for e in call(f"c{i}", result="ok")]
    pairs = [m for i in range(n) for m in (listed(f"d{i}", f"a{i}"), answered(f"d{i}", f"x{i}"))]
    return [started(), *streamed, {"type": "MESSAGES_SNAPSHOT", "messages": pairs}, finished()]


def a_snapshot_of_equal_texts(n):
    messages = [{"id": f"y{i}", "role": "assistant", "content": "ok"} for i in range(n)]
    streamed = [e for i in range(n) for e in text(f"m{i}", "ok")]
    return [started(), *streamed, {"type": "MESSAGES_SNAPSHOT", "messages": messages}, finished()]


def a_list_with_results_first(n):
    results = [answered(f"c{n - 1 - i}", f"x{i}") for i in range(n)]
    messages = [*results, *(listed(f"c{i}", f"a{i}") for i in range(n))]
    return [started(), {"type": "MESSAGES_SNAPSHOT", "messages": messages}, finished()]


def one_call_again_and_again(n):
    messages = [listed("c", "a")] * (5 * n)
    return [started(), {"type": "MESSAGES_SNAPSHOT", "messages": messages}, finished()]


def one_turn_again_and_again(n):
    turn = [{"id": "u", "role": "user", "content": "go"}, listed("c", "a")]
    messages = [*turn * (3 * n), *[answered("c", "x")] * (3 * n)]
    return [started(), {"type": "MESSAGES_SNAPSHOT", "messages": messages}, finished()]


def state_that_copies_itself(n):
    copies = (
        {"type": "STATE_DELTA", "delta": [{"op": "copy", "from": "/l", "path": f"/k{i}"}]}
        for i in range(n // 4)
    )
    return [started(), {"type": "STATE_SNAPSHOT", "snapshot": {"l": list(range(400))}}, *copies, finished()]


SHAPES = [
    calls_that_stay_open_around_texts, late_ends, runs_inside_runs, threads_in_one_stream, runs_beside_an_outer_one,
    one_id_for_all, one_id_in_every_run, results_for_nobody, many_interrupts_answered, questions_by_event,
    answers_to_nothing, answers_to_nothing_in_every_run, a_snapshot, a_snapshot_under_other_ids,
    a_snapshot_of_equal_texts, a_list_with_results_first, one_call_again_and_again, one_turn_again_and_again,
    state_that_copies_itself,
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_a_long_capture_of_one_shape_is_checked_in_seconds(shape):
    trace = wb.load(jsonl(shape(2000)))
    begun = time.process_time()
    wb.check(trace)
    assert time.process_time() - begun < SECONDS
