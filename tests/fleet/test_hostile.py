"""Names, journals and indexes that were made or changed by somebody else."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.exceptions import WorkbenchError
from workbench.fleet.journal import Journal
from workbench.fleet.one import Asked

EVENTS = [
    {"type": "RUN_STARTED", "threadId": "t'\"\x1b[2J", "runId": "r"},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "x\x1b[31m"},
    {"type": "RUN_FINISHED", "threadId": "t'\"\x1b[2J", "runId": "r"},
]


def capture(folder: Path, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    return path


def check(*arguments: object):
    return CliRunner().invoke(app, ["check", "--each", *map(str, arguments)])


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are texts here")
def test_names_of_files_are_no_danger(tmp_path):
    home = tmp_path / "captures"
    home.mkdir()
    names = [
        b"\xff\xfe.jsonl",
        b"new\nline.jsonl",
        b"\x1b[2J.jsonl",
        b"q'uo\"te.jsonl",
        b"[a]*?.jsonl",
        b"s3::x.jsonl",
    ]
    for name in names:
        capture(home, os.fsdecode(name))
    os.mkfifo(home / "pipe.jsonl")
    (home / "loop").symlink_to(home)
    begun = time.monotonic()
    done = check(home, "--resume", tmp_path / "journal")
    assert time.monotonic() - begun < 60
    assert done.exit_code == 1, done.output
    assert done.stdout.startswith(f"{len(names)} captures")
    assert "not checked" not in done.stdout
    assert "\x1b" not in done.output
    assert check(home, "--resume", tmp_path / "journal").stdout == done.stdout
    made = CliRunner().invoke(app, ["index", str(home), "-o", str(tmp_path / "index")])
    assert made.exit_code == 0, made.output
    assert len(wb.open_index(tmp_path / "index").captures) == len(names)


@pytest.mark.parametrize("text", [b"my notes\n", b"my notes", b'{"kind": "x"}\n', b"[" * 5000, b"\xff\x00\n"])
def test_a_file_that_is_no_journal_is_left_as_it_is(tmp_path, text):
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    done = check(capture(tmp_path), "--resume", path)
    assert done.exit_code == 2
    assert "is no journal" in done.stderr
    assert path.read_bytes() == text


def test_rows_of_a_journal_that_were_changed_are_made_again(tmp_path):
    path, journal = capture(tmp_path), tmp_path / "journal"
    whole = wb.check_each(str(path), journal=journal).rows
    head, line = journal.read_text().splitlines()
    row = json.loads(line)
    assert row["findings"]
    broken: list[object] = [
        {**row, field: value} for field in row for value in (None, [None], {"a": 1}, 1.5) if field != "key"
    ]
    broken += [
        {**row, "findings": [{**row["findings"][0], field: value}]}
        for field in row["findings"][0]
        for value in (None, [None], 7)
    ]
    broken += [{key: value for key, value in row.items() if key != gone} for gone in row]
    for one in broken:
        journal.write_text(f"{head}\n{json.dumps(one)}\n")
        with Journal(journal, Asked()) as kept:
            assert not kept.rows, one
    assert wb.check_each(str(path), journal=journal).rows == whole
    for bad in ("no json", "[" * 5000, "7", "[]", '{"key": []}'):
        journal.write_text(f"{head}\n{bad}\n{line}\n")
        with Journal(journal, Asked()) as kept:
            assert list(kept.rows.values()) == whole


def test_two_runs_do_not_write_one_journal(tmp_path):
    with Journal(tmp_path / "journal", Asked()), pytest.raises(WorkbenchError, match="another run"):  # noqa: SIM117
        with Journal(tmp_path / "journal", Asked()):
            pass
    with Journal(tmp_path / "journal", Asked()) as again:
        assert not again.rows


def test_only_an_index_is_replaced(tmp_path):
    home = tmp_path / "site"
    home.mkdir()
    (home / "index.json").write_text("{}")
    (home / "mine.txt").write_text("x")
    done = CliRunner().invoke(app, ["index", str(capture(tmp_path)), "-o", str(home), "--force"])
    assert done.exit_code == 2
    assert (home / "mine.txt").read_text() == "x"


@pytest.mark.parametrize(
    "mark",
    ["", "[" * 5000, "7", "{}", '{"shards": 0, "captures": 1}', '{"shards": "16", "captures": 1}',
     '{"shards": 1e9, "captures": 1}', '{"shards": 16, "captures": -1}'],
)  # fmt: skip
def test_a_damaged_index_is_said(tmp_path, mark):
    (tmp_path / "index.json").write_text(mark)
    done = CliRunner().invoke(app, ["query", str(tmp_path), "SELECT 1"])
    assert done.exit_code == 2
    assert "is damaged" in done.stderr


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    home = tmp_path_factory.mktemp("index")
    (home / "secret.txt").write_text("very-secret")
    CliRunner().invoke(app, ["index", str(capture(home)), "-o", str(home / "index")])
    return home / "index"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('{home}/secret.txt')",
        "SELECT * FROM read_text('{home}/index/../secret.txt')",
        "SELECT * FROM read_text('{home}/index/./../secret.txt')",
        "SELECT * FROM read_text('{home}/index//../secret.txt')",
        "SELECT * FROM read_text('{home}/index/*/../../secret.txt')",
        "SELECT * FROM '{home}/secret.txt'",
        "SELECT * FROM read_csv('{home}/index/../secret.txt')",
        "SELECT * FROM read_blob('{home}/secret.txt')",
        "SELECT * FROM glob('{home}/*.txt')",
        "SELECT * FROM glob('/etc/pass*')",
        "SELECT * FROM query('SELECT * FROM read_text(''{home}/secret.txt'')')",
        "SELECT * FROM read_parquet('http://127.0.0.1:9/x.parquet')",
        "SELECT getenv('HOME')",
        "COPY (SELECT 1) TO '{home}/written.csv'",
        "ATTACH '{home}/written.db'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT 1; SELECT * FROM read_text('{home}/secret.txt')",
        "WITH x AS (SELECT * FROM read_text('{home}/secret.txt')) SELECT * FROM x",
        "EXPLAIN ANALYZE SELECT * FROM read_text('{home}/secret.txt')",
        "PRAGMA database_list",
        "CREATE TABLE x AS SELECT 1",
        "",
        "\x00",
    ],
)
def test_a_question_reads_the_index_alone(index, sql):
    done = CliRunner().invoke(app, ["query", str(index), sql.replace("{home}", str(index.parent))])
    assert done.exit_code == 2, done.output
    assert "very-secret" not in done.output
    assert not list(index.parent.glob("written*"))


def test_broken_tables_are_said(index, tmp_path):
    import shutil

    shutil.copytree(index, tmp_path / "index")
    for path in (tmp_path / "index").rglob("*.parquet"):
        path.write_bytes(b"PAR1 no table PAR1")
    done = CliRunner().invoke(app, ["query", str(tmp_path / "index"), "SELECT * FROM findings"])
    assert done.exit_code == 2
    assert done.stderr.startswith("workbench: ")
