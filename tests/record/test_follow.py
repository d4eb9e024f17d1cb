"""A folder is followed while it is written."""

from __future__ import annotations

import threading
import time

import workbench as wb
from workbench.record.journal import Recording

EVENT = {
    "kind": "event",
    "connId": "c1",
    "tMs": 1,
    "event": {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
}


def test_the_tables_are_those_of_now(tmp_path):
    live = wb.follow(tmp_path / "rec")
    assert len(live.trace.events) == 0
    made = Recording(tmp_path / "rec")
    made.journal("agui").write(EVENT)
    first = live.trace
    assert len(first.events) == 1
    assert live.trace is first
    made.journal("agui").write(EVENT)
    assert len(live.trace.events) == 2
    assert "2 events" in repr(live)


def test_watch_gives_a_trace_for_each_change_and_ends(tmp_path):
    live = wb.follow(tmp_path / "rec")
    made = Recording(tmp_path / "rec")

    def write():
        for _ in range(3):
            time.sleep(0.4)
            made.journal("agui").write(EVENT)

    writing = threading.Thread(target=write)
    writing.start()
    counts = [len(trace.events) for trace in live.watch(2)]
    writing.join()
    assert counts == [0, 1, 2, 3]


def test_a_line_that_is_being_written_is_waited_for(tmp_path):
    path = tmp_path / "a.agui.jsonl"
    line = b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n'
    path.write_bytes(line + line[:20])

    def finish():
        time.sleep(0.1)
        with path.open("ab") as file:
            file.write(line[20:])

    writing = threading.Thread(target=finish)
    writing.start()
    trace = wb.follow(tmp_path).trace
    writing.join()
    assert len(trace.events) == 2
    assert not len(trace.problems)
