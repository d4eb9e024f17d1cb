"""Write a large AG-UI capture: `python benchmarks/big_capture.py OUT.sse [EVENTS]`.

1,000,000 events make about 220 MB of SSE: 64 threads in turn, runs of about 525 events with
streamed text and three calls, an approval in every fourth run, and a snapshot of the whole
thread in every sixth. Nothing is wrong in it. The same number of events always gives the same
bytes.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

THREADS = 64
TALE = "the bay is free until nine and the crane moves on to the next ship while the tide is low"
WORDS = TALE.split()


def events(total: int, seed: int = 7) -> Iterator[dict[str, Any]]:
    """The events of all threads, run by run."""
    rng = random.Random(seed)
    histories: list[list[dict[str, Any]]] = [[] for _ in range(THREADS)]
    waiting: dict[int, tuple[str, str]] = {}
    made = run = 0
    clock = 1_790_000_000_000
    while made < total:
        thread = run % THREADS
        for event in _run(
            rng, f"thread-{thread:02}", f"run-{run:06}", histories[thread], waiting, thread, run
        ):
            clock += rng.randrange(1, 12)
            yield {**event, "timestamp": clock}
            made += 1
        run += 1


def _run(
    rng: random.Random,
    thread_id: str,
    run_id: str,
    history: list[dict[str, Any]],
    waiting: dict[int, tuple[str, str]],
    thread: int,
    run: int,
) -> Iterator[dict[str, Any]]:
    started: dict[str, Any] = {"type": "RUN_STARTED", "threadId": thread_id, "runId": run_id}
    if thread in waiting:
        interrupt, call = waiting.pop(thread)
        answer = {"interruptId": interrupt, "status": "resolved", "payload": {"approved": True}}
        started["input"] = {
            "threadId": thread_id,
            "runId": run_id,
            "messages": [],
            "tools": [],
            "resume": [answer],
        }
        yield started
        result = f"bay reserved under {call}"
        yield {"type": "TOOL_CALL_RESULT", "messageId": f"res-{call}", "toolCallId": call, "content": result}
        history.append({"id": f"res-{call}", "role": "tool", "toolCallId": call, "content": result})
    else:
        user = {"id": f"user-{run_id}", "role": "user", "content": f"what about berth {run}?"}
        history.append(user)
        started["input"] = {"threadId": thread_id, "runId": run_id, "messages": [user], "tools": []}
        yield started
    gated = run % 4 == 3
    for number in range(3):
        yield from _text(rng, f"msg-{run_id}-{number}", history)
        call = f"call-{run_id}-{number}"
        arguments = json.dumps({"berth": run, "part": number, "note": " ".join(rng.choices(WORDS, k=18))})
        yield {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": f"tool_{number}"}
        for at in range(0, len(arguments), 12):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": arguments[at : at + 12]}
        yield {"type": "TOOL_CALL_END", "toolCallId": call}
        function = {"name": f"tool_{number}", "arguments": arguments}
        calls = [{"id": call, "type": "function", "function": function}]
        history.append({"id": f"owner-{call}", "role": "assistant", "toolCalls": calls})
        if gated and number == 2:
            waiting[thread] = (f"int-{call}", call)
            break
        result = f"berth {run} is free for part {number}"
        yield {"type": "TOOL_CALL_RESULT", "messageId": f"res-{call}", "toolCallId": call, "content": result}
        history.append({"id": f"res-{call}", "role": "tool", "toolCallId": call, "content": result})
    if run // THREADS % 6 == 5:
        yield {"type": "MESSAGES_SNAPSHOT", "messages": list(history)}
    finished: dict[str, Any] = {"type": "RUN_FINISHED", "threadId": thread_id, "runId": run_id}
    if gated:
        entry = {"id": f"int-{call}", "reason": "tool_call", "message": "Reserve?", "toolCallId": call}
        finished["outcome"] = {"type": "interrupt", "interrupts": [entry]}
    yield finished


def _text(rng: random.Random, message_id: str, history: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    yield {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
    pieces = []
    for _ in range(rng.randrange(140, 170)):
        delta = " ".join(rng.choices(WORDS, k=rng.randrange(5, 12))) + " "
        pieces.append(delta)
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": delta}
    yield {"type": "TEXT_MESSAGE_END", "messageId": message_id}
    history.append({"id": message_id, "role": "assistant", "content": "".join(pieces)})


def main() -> None:
    """Write the capture and say how large it is."""
    out, total = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    count = 0
    with out.open("w", encoding="utf-8") as file:
        for event in events(total):
            file.write(f"data: {json.dumps(event, separators=(',', ':'))}\n\n")
            count += 1
    print(f"{count:,} events, {out.stat().st_size / 1e6:.0f} MB in {out}")


if __name__ == "__main__":
    main()
