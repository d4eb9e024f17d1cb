"""A fleet to try things on: conversations with seeded faults, of several producers, releases, days and tools.

The same number and seed give the same files, byte by byte. One release loses approved calls now and then,
which is what there is to be found.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TOOLS = ("book_berth", "open_sluice", "send_invoice", "move_crane", "read_tide", "print_label")
#: what is asked before it is done
GATED = frozenset(TOOLS[:4])
RELEASES = ("2.3.0", "2.4.0", "2.4.1", "2.5.0")
#: how the questions of each producer are known: the beginning of their ids, and their reason
PRODUCERS = {
    "agent-framework-py": ("af-call-", "tool_call"),
    "dotnet": ("ficc_", "tool_call"),
    "langgraph": ("lg-", "langgraph:interrupt"),
}
#: the release that loses approved calls, and how often
BROKEN, LOST = "2.4.1", 0.12
_DAYS = 28
_FIRST = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Told:
    """What was put into one capture: for tests, and for whoever wants to know whether all was found."""

    name: str
    thread: str
    release: str
    day: str
    tool: str
    #: lost, doubled, cut, or "" for none
    fault: str


def write(folder: str | Path, number: int = 10_000, *, seed: int = 1) -> list[Told]:
    """Write so many captures below a folder, as `2026-03-02/2.4.1/conversation-000007.jsonl`; what is in them."""
    home = Path(folder)
    told = []
    for one in range(number):
        fact, lines = conversation(one, number, seed)
        path = home / fact.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        told.append(fact)
    return told


def conversation(one: int, number: int, seed: int) -> tuple[Told, list[dict[str, Any]]]:
    """The capture of that number: what is in it, and its lines in the format of AG-UI DevTools."""
    dice = random.Random(f"{seed}/{one}")  # noqa: S311 - nothing secret
    day = one * _DAYS // number
    release = RELEASES[min(day // (_DAYS // len(RELEASES)), len(RELEASES) - 1)]
    start = _FIRST + timedelta(days=day, seconds=dice.randrange(36_000))
    tool = dice.choice(TOOLS)
    fault = ""
    if release == BROKEN and tool in GATED and dice.random() < LOST:
        fault = "lost"
    elif dice.random() < 0.01:
        fault = "doubled"
    elif dice.random() < 0.005:
        fault = "cut"
    thread = f"thread-{one:06}"
    name = f"{start:%Y-%m-%d}/{release}/conversation-{one:06}.jsonl"
    lines = list(_lines(_events(thread, tool, fault, dice), start))
    if fault == "cut":
        lines = lines[:-1]
    return Told(name, thread, release, f"{start:%Y-%m-%d}", tool, fault), lines


def _lines(
    connections: list[tuple[dict[str, Any], list[dict[str, Any]]]], start: datetime
) -> Iterator[dict[str, Any]]:
    yield {"kind": "header", "schemaVersion": 1, "tool": "workbench fleet", "transport": "fetch"}
    clock = start
    for connection, (request, events) in enumerate(connections):
        clock += timedelta(seconds=3)
        yield {"kind": "request", "connId": f"conn{connection}", "time": _iso(clock), "input": request}
        for number, event in enumerate(events):
            clock += timedelta(milliseconds=120)
            yield {
                "kind": "event",
                "connId": f"conn{connection}",
                "seq": number,
                "time": _iso(clock),
                "event": event,
            }


def _iso(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%S}.{time.microsecond // 1000:03}Z"


def _events(
    thread: str, tool: str, fault: str, dice: random.Random
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    call, berth = f"call_{dice.randrange(16**8):08x}", dice.randrange(1, 40)
    user = {"id": f"u-{thread}", "role": "user", "content": f"Please see to berth {berth}."}
    function = {"name": tool, "arguments": json.dumps({"berth": berth})}
    asked = {
        "id": f"a-{thread}",
        "role": "assistant",
        "content": "",
        "toolCalls": [{"id": call, "type": "function", "function": function}],
    }
    done = {"id": f"r-{thread}", "role": "tool", "toolCallId": call, "content": f"Berth {berth} is done."}
    ids = {"threadId": thread, "runId": f"{thread}-1"}
    starts: list[dict[str, Any]] = [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": function["arguments"]},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]
    if fault == "doubled":
        starts = starts + starts
    result = {
        "type": "TOOL_CALL_RESULT",
        "toolCallId": call,
        "messageId": done["id"],
        "content": done["content"],
    }
    request: dict[str, Any] = {
        **ids,
        "state": {},
        "messages": [user],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
    if tool not in GATED:
        return [
            (
                request,
                [
                    {"type": "RUN_STARTED", **ids},
                    *starts,
                    result,
                    *_said(thread, "Done."),
                    {"type": "RUN_FINISHED", **ids},
                ],
            )
        ]
    own, reason = PRODUCERS[dice.choice(sorted(PRODUCERS))]
    interrupt = {
        "id": f"{own}{dice.randrange(16**8):08x}", "reason": reason, "toolCallId": call, "message": f"May I {tool}?",
    }  # fmt: skip
    first = [
        {"type": "RUN_STARTED", **ids}, *starts,
        {"type": "RUN_FINISHED", **ids, "outcome": {"type": "interrupt", "interrupts": [interrupt]}},
    ]  # fmt: skip
    more = {"threadId": thread, "runId": f"{thread}-2"}
    resumed = {
        **request, **more, "messages": [user, asked],
        "resume": [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}],
    }  # fmt: skip
    answer = [] if fault == "lost" else [result]
    second = [
        {"type": "RUN_STARTED", **more},
        *answer,
        *_said(thread, "Done."),
        {"type": "RUN_FINISHED", **more},
    ]
    return [(request, first), (resumed, second)]


def _said(thread: str, text: str) -> list[dict[str, Any]]:
    message = f"m-{thread}"
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": message},
    ]
