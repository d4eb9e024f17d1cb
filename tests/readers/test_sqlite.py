"""CopilotKit's SQLite file: read as data, whatever the file wants."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from workbench.readers import Limits, load

DATA = Path(__file__).resolve().parent.parent / "data" / "formats" / "06d_cpk_sqlite.db"
EVENTS = (
    '[{"type":"RUN_STARTED","threadId":"t","runId":"r"},{"type":"RUN_FINISHED","threadId":"t","runId":"r"}]'
)
INPUT = '{"threadId":"t","runId":"r","messages":[]}'
PLAIN = "CREATE TABLE agent_runs(id integer primary key, thread_id, run_id, parent_run_id, events, input, created_at)"


def make(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def insert(events: str = EVENTS, asked: str = INPUT) -> str:
    return f"INSERT INTO agent_runs(thread_id, events, input, created_at) VALUES ('t', '{events}', '{asked}', 1790000000000)"


def counts(records):
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    return source


def test_members_streams_and_the_parent_run():
    records = load([DATA])
    assert [member.name for member in records.members[1:]] == [
        "agent_runs[1].input", "agent_runs[1].events", "agent_runs[2].input", "agent_runs[2].events",
    ]  # fmt: skip
    assert records.requests[1].body["parentRunId"] == "r1"
    assert [stream.time for stream in records.streams] == [1790000000_000_000_000, 1790000005_000_000_000]
    assert records.raw(6).startswith(b'{"type":"RUN_STARTED"')


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_journal_modes_and_a_file_that_stays_untouched(tmp_path, mode):
    path = make(tmp_path / "x.db", f"PRAGMA journal_mode={mode}", PLAIN, insert())
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    records = load([path])
    assert len(records.events) == 2
    assert ("write-ahead" in records.sources[0].note) == (mode == "wal")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.db"]


def test_one_bad_run_leaves_the_others(tmp_path):
    bad = (insert("no list"), insert('[{"type":"RUN_STARTED",'), insert(EVENTS, "{"), insert("NULL", ""))
    records = load([make(tmp_path / "x.db", PLAIN, insert(), *bad, insert())])
    assert len(records.events) == 6
    assert counts(records).problems == 4


@pytest.mark.parametrize(
    "statements",
    [
        (PLAIN.replace("agent_runs", "other"),),
        ("CREATE VIEW agent_runs AS SELECT 1 AS events, 2 AS input",),
        ("CREATE TABLE agent_runs(id integer)",),
        ("CREATE VIRTUAL TABLE agent_runs USING fts5(events, input)",),
    ],
)
def test_other_databases_are_said_to_be_others(tmp_path, statements):
    try:
        path = make(tmp_path / "x.db", *statements)
    except sqlite3.OperationalError:
        pytest.skip("this SQLite is built without it")
    records = load([path])
    assert len(records.events) == 0
    assert "without CopilotKit's table" in counts(records).note


def test_generated_columns_may_not_call_functions(tmp_path):
    declared = PLAIN.replace("events,", "events AS (replace(hex(zeroblob(1000000)), '0', 'xxxx')),")
    path = make(tmp_path / "x.db", declared, "INSERT INTO agent_runs(input) VALUES ('{}')")
    records = load([path])
    assert len(records.events) == 0
    assert records.sources[0].problems == 1  # the input; nothing was generated


def test_a_value_beyond_the_limit_is_not_held(tmp_path):
    path = make(tmp_path / "x.db", PLAIN, insert(), insert(f"[{' ' * 5_000_000}]"))
    records = load([path], limits=Limits(max_json_document=1_000_000))
    assert len(records.events) == 2
    assert counts(records).problems == 1
    assert not records.sources[0].complete


@pytest.mark.parametrize("size", [100, 5000, 12_000, 16_000])
def test_a_cut_file_does_not_crash(size):
    records = load([DATA.read_bytes()[:size]])
    assert counts(records).problems or records.sources[0].rows


def test_a_database_that_never_ends_is_stopped(tmp_path, monkeypatch):
    from workbench.readers import sqlite_runner

    monkeypatch.setattr(sqlite_runner, "_MAX_TICKS", 2)
    path = make(tmp_path / "x.db", PLAIN, *[insert()] * 3)
    with closing(sqlite3.connect(path)) as database:
        database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) INSERT INTO agent_runs(thread_id) SELECT i FROM n")  # fmt: skip
        database.commit()
    begin = time.process_time()
    records = load([path])
    assert time.process_time() - begin < 5
    assert "interrupted" in records.problems[0].reason
    assert not records.sources[0].complete
    assert len(records.events) == 6


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        ((), "no runs in the table"),
        (("INSERT INTO agent_runs(thread_id) VALUES ('t')",), "1 runs without events ignored"),
    ],
)
def test_nothing_is_passed_over_in_silence(tmp_path, statements, said):
    records = load([make(tmp_path / "x.db", PLAIN, *statements)])
    assert said in counts(records).note
