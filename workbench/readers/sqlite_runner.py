"""CopilotKit's SQLite runner: a table `agent_runs` with a row per run, its events and its input.

The file is foreign: it is read as data only. SQLite gets a private copy without write access, may
read that one table and call nothing, and is stopped after a bounded number of steps.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from workbench.readers import requests, times
from workbench.readers.content import Content, SpooledBytes, Window
from workbench.readers.json_events import read_elements
from workbench.readers.reading import Reading
from workbench.readers.registry import Format

TABLE = "agent_runs"
_COLUMNS = ("id", "thread_id", "run_id", "parent_run_id", "events", "input", "created_at")
#: Calls of the watcher, each after 10,000 steps of SQLite's machine
_MAX_TICKS = 20_000


def read(reading: Reading) -> None:
    """Read the runs in the order of their rows; each is a stream with its request."""
    limit = reading.limits.max_decompressed
    if reading.content.size > limit:
        reading.problem(f"a database of more than {limit:,} bytes")
        reading.cut("too large to be read")
        return
    handle, name = tempfile.mkstemp(suffix=".db")
    try:
        with os.fdopen(handle, "wb") as copy:
            for chunk in reading.content.chunks():
                copy.write(chunk)
        _read_copy(reading, Path(name))
    finally:
        Path(name).unlink(missing_ok=True)


def _read_copy(reading: Reading, path: Path) -> None:
    if reading.content.head(20)[18:20] == b"\2\2":
        reading.note("written with a write-ahead log: what stands only in the -wal file is not here")
    data = SpooledBytes()
    try:
        with closing(_connect(path, reading.limits.max_json_document)) as database:
            columns = _columns(database)
            database.set_authorizer(_allow)
            if not columns:
                reading.ignore("databases without a table agent_runs")
                reading.note(f"a SQLite database without CopilotKit's table {TABLE}")
                return
            numbers = _numbers(reading, database)
            for number in numbers:
                row = _row(reading, database, columns, number)
                room = reading.limits.max_decompressed - data.size
                if sum(len(value) for value in row.values() if isinstance(value, bytes)) > room:
                    reading.problem(f"more than {reading.limits.max_decompressed:,} bytes of events")
                    reading.cut("too large to be read to its end")
                    return
                before = reading.counts.records
                _read_run(reading, data, row)
                if reading.counts.records == before:
                    reading.ignore("runs without events")
            if not numbers:
                reading.note(f"no runs in the table {TABLE}")
    except (sqlite3.Error, OverflowError, ValueError) as problem:
        reading.problem(f"SQLite: {str(problem)[:120]}")
        reading.cut("the database could not be read to its end")


def _connect(path: Path, longest: int) -> sqlite3.Connection:
    database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    database.text_factory = bytes
    if hasattr(database, "setlimit"):
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(longest, 2**31 - 1))
        database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for pragma in (
        "trusted_schema=OFF",
        "query_only=ON",
        "cell_size_check=ON",
        "mmap_size=0",
        "temp_store=2",
    ):
        database.execute(f"PRAGMA {pragma}")
    ticks = iter(range(_MAX_TICKS))
    database.set_progress_handler(lambda: next(ticks, None) is None, 10_000)
    return database


def _allow(action: int, table: str | None, _column: str | None, _base: str | None, _by: str | None) -> int:
    """Reading two tables is allowed; functions, views of others, and whatever writes are not."""
    if action == sqlite3.SQLITE_SELECT or (
        action == sqlite3.SQLITE_READ and table in (TABLE, "sqlite_master", "sqlite_schema")
    ):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _columns(database: sqlite3.Connection) -> list[str]:
    """The known columns of the runs' table, which has to be a plain one."""
    rows = database.execute(
        "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (TABLE,)
    ).fetchmany(2)
    declared = rows[0][0] if rows else None
    if not isinstance(declared, bytes) or not declared[:14].upper().startswith(b"CREATE TABLE"):
        return []
    # Not those that are generated: their expression would have to be run.
    present = {bytes(name).decode() for _, name, _, _, _, _, hidden in _described(database) if not hidden}
    return [column for column in _COLUMNS if column in present] if {"events", "input"} & present else []


def _described(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return database.execute(f"PRAGMA table_xinfo({TABLE})").fetchall()


def _numbers(reading: Reading, database: sqlite3.Connection) -> list[int]:
    """The rows, as far as they can be listed."""
    numbers: list[int] = []
    try:
        for (number,) in database.execute(f"SELECT rowid FROM {TABLE}"):  # noqa: S608 - a constant
            numbers.append(number)
    except sqlite3.Error as problem:
        reading.problem(f"SQLite: {str(problem)[:120]}")
        reading.cut("the database could not be read to its end")
    return numbers


def _row(
    reading: Reading, database: sqlite3.Connection, columns: list[str], number: int
) -> dict[str, object]:
    """The values of one row; one that cannot be had is a problem and costs no other."""
    row: dict[str, object] = {}
    try:
        row.update(_values(database, columns, number))
    except sqlite3.Error:
        for column in columns:
            try:
                row.update(_values(database, [column], number))
            except sqlite3.Error as problem:
                reading.problem(f"{TABLE}[{number}].{column}: {str(problem)[:100]}")
                reading.cut("a value of the database could not be read")
    return row


def _values(database: sqlite3.Connection, columns: list[str], number: int) -> list[tuple[str, object]]:
    query = f"SELECT {', '.join(columns)} FROM {TABLE} WHERE rowid = ?"  # noqa: S608 - names from a constant list
    found = database.execute(query, (number,)).fetchone()
    return [] if found is None else list(zip(columns, found, strict=True))


def _read_run(reading: Reading, data: SpooledBytes, row: dict[str, object]) -> None:
    """One run: its input is a request, its events are the stream that answered."""
    name = f"{TABLE}[{_text(row.get('id')) or reading.counts.records}]"
    created = row.get("created_at")
    time = times.guess(created) if isinstance(created, int | float) else None
    request = None
    value = row.get("input")
    if isinstance(value, bytes) and value.strip():
        inner = _part(reading, data, f"{name}.input", value)
        body = requests.decode(value)
        if body is None:
            inner.problem("the input of a run is no RunAgentInput", line=1, offset=0, data=value)
        else:
            parent = _text(row.get("parent_run_id"))
            if parent:
                body.setdefault("parentRunId", parent)
            request = inner.request(body, line=1, offset=0, length=len(value), time=time)
    events = row.get("events")
    if not isinstance(events, bytes):
        if events is not None:
            reading.problem(f"{name}.events is no text")
        return
    inner = _part(reading, data, f"{name}.events", events)
    stream = inner.new_stream(request=request, time=time)
    if events.lstrip()[:1] != b"[":
        inner.problem("no list of events", line=1, offset=0, data=events)
        inner.records.streams[stream].complete = False
        return
    read_elements(inner, inner.writer(stream))


def _part(reading: Reading, data: SpooledBytes, name: str, value: bytes) -> Reading:
    """A value of the database as a member of its own."""
    content = Content(Window(data, data.size, len(value)))
    data.append(value)
    return reading.inside(content, reading.new_member(name, content), passes_on=False)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:200]
    return str(value) if isinstance(value, int) else ""


FORMAT = Format(
    name="copilotkit-sqlite",
    title="CopilotKit's SQLite runner",
    recognised_by="`SQLite format 3`; it has to have a table agent_runs with events",
    extensions=(".db", ".sqlite"),
    recognise=lambda sniff: sniff.head.startswith(b"SQLite format 3\0"),
    read=read,
)
