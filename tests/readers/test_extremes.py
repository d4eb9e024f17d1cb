"""Generated captures that are extreme in one way; the largest only with WORKBENCH_EXTREMES=1."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.readers import Limits, load

START = b'{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
END = b'{"type":"RUN_FINISHED","threadId":"t","runId":"r"}'
MIB = 1 << 20
#: Loads a file and prints events, problems and the memory above that of the imports
MEASURE = """
import resource, sys
from workbench.readers import load
import workbench.readers.catalogue
from pathlib import Path
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
records = load([Path(sys.argv[1])])
grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) // 1024
print(len(records.events), len(records.problems), grown, records.sources[0].complete)
"""


def types(records):
    return [records.pool.text(code) for code in records.events.type]


def measure(path: Path) -> tuple[int, int, int, bool]:
    done = subprocess.run([sys.executable, "-c", MEASURE, path], capture_output=True, text=True, check=True)
    events, problems, grown, complete = done.stdout.split()
    return int(events), int(problems), int(grown), complete == "True"


def write(path: Path, before: bytes, size: int, after: bytes) -> Path:
    with path.open("wb") as file:
        file.write(before)
        block = b"x" * MIB
        for _ in range(size // MIB):
            file.write(block)
        file.write(after)
    return path


OPEN = b'{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"'
LONG = {
    "sse": (b"data: " + START + b"\n\ndata: " + OPEN, b'"}\n\ndata: ' + END + b"\n\n", 2),
    "jsonl": (START + b"\n" + OPEN, b'"}\n' + END + b"\n", 2),
    "log": (b"[VERIFY]: " + START + b"\n[VERIFY]: " + OPEN, b'"}\n[VERIFY]: ' + END + b"\n", 2),
    "markdown": (b"```\ndata: " + START + b"\n\ndata: " + OPEN, b'"}\n\ndata: ' + END + b"\n\n```\n", None),
    "array": (b"[" + START + b"," + OPEN, b'"},' + END + b"]", 0),
    "har": (b'{"log":{"entries":[{"x":"', b'"}]}}', 0),
}


@pytest.mark.parametrize("name", LONG)
def test_a_line_beyond_the_limits_is_never_held(name, tmp_path, extremes):
    """1 GB with WORKBENCH_EXTREMES=1, else 150 MB with the limits in proportion."""
    before, after, events = LONG[name]
    size = 1024 * MIB if extremes else 150 * MIB
    path = write(tmp_path / "x", before, size, after)
    if extremes:
        found, problems, grown, complete = measure(path)
        assert grown < 150, f"{grown} MiB"
    else:
        records = load([path], limits=Limits(max_line=4 * MIB, max_json_document=16 * MIB))
        found, problems, complete = len(records.events), len(records.problems), records.sources[0].complete
    assert problems
    if events is not None:
        assert found == events
        assert events or not complete
    path.unlink()


@pytest.mark.slow
def test_many_runs(extremes):
    """200,000 runs of two events; a million with WORKBENCH_EXTREMES=1."""
    count = 1_000_000 if extremes else 200_000
    data = b"".join(
        b'data: {"type":"RUN_STARTED","threadId":"t%d","runId":"r%d"}\n\n'
        b'data: {"type":"RUN_FINISHED","threadId":"t%d","runId":"r%d"}\n\n' % (n % 1000, n, n % 1000, n)
        for n in range(count)
    )
    trace = wb.load(data)
    assert len(trace.records.events) == 2 * count
    assert trace.summary()["runs"] == count


def test_ids_of_a_megabyte():
    ident = "i" * MIB
    events = [
        {"type": "RUN_STARTED", "threadId": ident, "runId": ident},
        {"type": "TOOL_CALL_START", "toolCallId": ident, "toolCallName": ident},
        {"type": "TOOL_CALL_END", "toolCallId": ident},
        {"type": "RUN_FINISHED", "threadId": ident, "runId": ident},
    ]
    trace = wb.load(b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events))
    assert trace.calls.call_id[0] == ident
    assert len(wb.check(trace).frame) < 10
    assert len(trace.records.pool.values) < 10


@pytest.mark.parametrize("before", [b"", b'"x":{"type":"y"},'])
def test_the_last_of_two_types_counts_and_is_said(before):
    twice = b'{"type":"STEP_STARTED",%s"type":"STEP_FINISHED","stepName":"s"}' % before
    records = load([b"data: " + START + b"\n\ndata: " + twice + b"\n\n"])
    assert types(records) == ["RUN_STARTED", "STEP_FINISHED"]
    assert [(d.event, d.kind, d.field) for d in records.deviations] == [(1, "duplicate-key", "type")]


@pytest.mark.parametrize("inner", [b'"value":{"a":1,"b":2}', b'"value":{"type":"x","inner":{"type":"y"}}'])
def test_keys_of_different_objects_are_no_duplicates(inner):
    records = load([b'data: {"type":"CUSTOM","name":"n",%s}\n\n' % inner])
    assert not records.deviations


@pytest.mark.parametrize("layout", ["aimock", "inspector", "copy", "debug", "route", "log", "session-field"])
def test_json_100_000_deep_in_every_envelope(layout):
    deep = b"[" * 100_000 + b"]" * 100_000
    bomb = b'{"type":"CUSTOM","name":"n","value":%s}' % deep
    data = {
        "aimock": b'{"fixtures":[{"match":{},"events":[%s,%s,%s]}]}' % (START, bomb, END),
        "inspector": b'{"version":0,"session":{"exchanges":[],"frames":[{"exchangeId":"x","classification":"data","data":%s}]}}'
        % json.dumps(bomb.decode()).encode(),
        "copy": b'[{"id":"e","agentId":"a","type":"CUSTOM","payload":%s}]' % bomb,
        "debug": b'data: {"timestamp":1,"agentId":"a","threadId":"t","runId":"r","event":%s}\n\n' % bomb,
        "route": b'{"method":"agent/run","body":{"threadId":"t","runId":"r","messages":%s}}' % deep,
        "log": b"[VERIFY]: " + START + b"\n[VERIFY]: " + bomb + b"\n[VERIFY]: " + END + b"\n",
        "session-field": b'{"version":0,"session":{"exchanges":[{"id":"x","requestBody":%s}]}}' % deep,
    }[layout]
    records = load([data])
    assert records.problems
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
