"""Four times the input costs about four times as much, not sixteen.

Processor time of loading, the story and all rules, the best of a few; the bound is half-way to
what quadratic work would cost, so that a busy machine does not fail it. A measurement above the bound
is repeated before it counts.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from workbench.rules import check
from workbench.trace import load

Event = dict[str, Any]
RATIO = 10
#: below this the clock and the caches are measured, not the growth
FLOOR = 0.01


def _started(run: str = "r", **more: Any) -> Event:
    return {"type": "RUN_STARTED", "threadId": "t", "runId": run, **more}


def _finished(run: str = "r", **more: Any) -> Event:
    return {"type": "RUN_FINISHED", "threadId": "t", "runId": run, **more}


def _call(name: str, content: str | None = "ok", number: int = 0) -> list[Event]:
    args = json.dumps({"i": number})
    events = [
        {"type": "TOOL_CALL_START", "toolCallId": name, "toolCallName": "x"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": name, "delta": args},
        {"type": "TOOL_CALL_END", "toolCallId": name},
    ]
    if content is not None:
        said = {"type": "TOOL_CALL_RESULT", "toolCallId": name, "messageId": f"m-{name}", "content": content}
        events.append(said)
    return events


def _request(run: str, **more: Any) -> Event:
    return {"threadId": "t", "runId": run, "messages": [], "tools": [], "context": [], **more}


def _waiting(n: int) -> Event:
    asked = [{"id": f"i{k}", "reason": "tool_call", "toolCallId": f"c{k}"} for k in range(n)]
    return {"type": "interrupt", "interrupts": asked}


def _answers(n: int, of: str = "i") -> list[Event]:
    yes = {"approved": True}
    return [{"interruptId": f"{of}{k}", "status": "resolved", "payload": yes} for k in range(n)]


def _calls(n: int) -> list[Event]:
    return [_started(), *(e for k in range(n) for e in _call(f"c{k}", number=k)), _finished()]


def _open_calls(n: int) -> list[Event]:
    return [_started(), *(e for k in range(n) for e in _call(f"c{k}", None, k)), _finished()]


def _runs(n: int) -> list[Event]:
    return [e for k in range(n) for e in (_started(f"r{k}"), *_call(f"c{k}"), _finished(f"r{k}"))]


def _nested(n: int) -> list[Event]:
    return [*(e for k in range(n) for e in (_started(f"r{k}"), *_call(f"c{k}"))), _finished()]


def _nested_and_ended(n: int) -> list[Event]:
    return [*(_started(f"r{k}") for k in range(n)), *(_finished(f"r{k}") for k in reversed(range(n)))]


def _one_id(n: int) -> list[Event]:
    return [_started(), *(e for k in range(n) for e in _call("c", f"ok {k}", k)), _finished()]


def _one_id_in_runs(n: int) -> list[Event]:
    runs = ((_started(f"r{k}"), *_call("c", f"ok {k}", k), _finished(f"r{k}")) for k in range(n))
    return [event for run in runs for event in run]


def _interrupts(n: int) -> list[Event]:
    calls = (e for k in range(n) for e in _call(f"c{k}", None, k))
    return [_started(), *calls, _finished(outcome=_waiting(n)), _started("q"), _finished("q")]


def _answered(n: int) -> list[Event]:
    calls = [e for k in range(n) for e in _call(f"c{k}", None, k)]
    results = (_call(f"c{k}", "ok")[-1] for k in range(n))
    return [_started(), *calls, _finished(outcome=_waiting(n)),
            _request("q", resume=_answers(n)), _started("q"), *results, _finished("q")]  # fmt: skip


def _strays(n: int) -> list[Event]:
    return [_started(), *_call("c0", None), _finished(outcome=_waiting(1)), _request("q", resume=_answers(n, "x")),
            _started("q"), _finished("q")]  # fmt: skip


def _strays_in_runs(n: int) -> list[Event]:
    runs = (
        (_request(f"s{k}", resume=[*_answers(1, f"x{k}-")]), _started(f"s{k}"), _finished(f"s{k}"))
        for k in range(n)
    )
    return [*_interrupts(n)[:-2], *(event for run in runs for event in run)]


def _snapshots(n: int) -> list[Event]:
    items = [{"id": f"u{k}", "role": "user", "content": "hi"} for k in range(10)]
    runs = (
        (_started(f"r{k}"), {"type": "MESSAGES_SNAPSHOT", "messages": items}, _finished(f"r{k}"))
        for k in range(n)
    )
    return [event for run in runs for event in run]


def _snapshot(n: int) -> list[Event]:
    function = {"name": "x", "arguments": "{}"}
    items: list[Event] = []
    for k in range(n):
        calls = [{"id": f"c{k}", "type": "function", "function": function}]
        items.append({"id": f"a{k}", "role": "assistant", "toolCalls": calls})
        items.append({"id": f"b{k}", "role": "tool", "toolCallId": f"c{k}", "content": "ok"})
    return [*_calls(n)[:-1], {"type": "MESSAGES_SNAPSHOT", "messages": items}, _finished()]


def _orphans(n: int) -> list[Event]:
    return [_started(), *(_call(f"c{k}", "ok")[-1] for k in range(n)), _finished()]


SHAPES: dict[str, tuple[Callable[[int], list[Event]], int]] = {
    "calls in a run": (_calls, 300),
    "calls without results": (_open_calls, 300),
    "runs of a thread": (_runs, 200),
    "runs inside each other": (_nested, 200),
    "runs inside each other, all ended": (_nested_and_ended, 500),
    "one id for all calls": (_one_id, 200),
    "one id in all runs": (_one_id_in_runs, 200),
    "interrupts in an outcome": (_interrupts, 200),
    "answers to interrupts": (_answered, 160),
    "answers to nothing": (_strays, 400),
    "runs with answers to nothing": (_strays_in_runs, 60),
    "snapshots": (_snapshots, 120),
    "messages of a snapshot": (_snapshot, 160),
    "results without calls": (_orphans, 400),
}


def _cost(data: bytes) -> float:
    gc.collect()
    gc.disable()
    try:
        begin = time.process_time()
        check(load(data))
        return time.process_time() - begin
    finally:
        gc.enable()


@pytest.mark.parametrize("shape", SHAPES)
def test_four_times_as_much_does_not_cost_ten_times(shape):
    make, n = SHAPES[shape]
    small, large = ("".join(json.dumps(event) + "\n" for event in make(size)).encode() for size in (n, 4 * n))
    _cost(small[:200])  # what is imported at first use
    ratios = []
    for _ in range(4):
        one, four = min(_cost(small), _cost(small)), _cost(large)
        ratios.append(four / max(one, FLOOR))
        if ratios[-1] < RATIO:
            return
    pytest.fail(f"{shape}: 4 × {n} costs {min(ratios):.1f} × as much at best")
