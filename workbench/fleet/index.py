"""The tables of many captures as Parquet, sharded by thread, and questions to them in SQL.

    folder/calls/shard=07/part-00003.parquet

A thread's rows are in one shard of each table, so that a question about a thread reads a fraction of the files.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.exceptions import WorkbenchError
from workbench.fleet.captures import Capture, captures, opened
from workbench.fleet.one import Asked, day_of, release_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.trace import Trace

#: the tables of a trace that are kept, as `Trace` calls them, and the findings of its check
TABLES = ("runs", "requests", "parts", "calls", "approvals", "spans")
ALL = (*TABLES, "findings", "captures")
_MARK = "index.json"
_FORMAT = 1
_KIND = "agui-workbench index"
#: rows of a table that are held before they are written
_HELD = 50_000
_MOST_SHARDS = 100_000

Frames = dict[str, "pd.DataFrame"]


def tables_of(capture: Capture, asked: Asked) -> Frames:
    """The tables of one capture; every row has `capture`, `release` and `day`. Never raises for its content."""
    import pandas as pd

    import workbench as wb

    made: Frames = {}
    row: dict[str, Any] = {
        "capture": capture.name,
        "release": "",
        "day": "",
        "paths": list(capture.paths),
        "problem": "",
    }
    try:
        trace = wb.load(*opened(capture))
        row |= {"release": release_of(trace, capture.name, asked.release), "day": day_of(trace)}
        found = wb.check(trace, select=asked.select, ignore=asked.ignore, provider=asked.provider)
        made = {name: getattr(trace, name) for name in TABLES} | {"findings": found.frame}
        row |= {"events": len(trace.records.events), "threads": len(trace.conversations)}
    except Exception as problem:  # noqa: BLE001 - one capture never stops the rest
        row["problem"] = f"{type(problem).__name__}: {problem}"[:500]
        made = {}
    for name, frame in made.items():
        made[name] = frame.assign(capture=row["capture"], release=row["release"], day=row["day"])
    return made | {"captures": pd.DataFrame([row])}


def write_index(
    *sources: str,
    folder: str | Path,
    asked: Asked | None = None,
    shards: int = 16,
    jobs: int = 0,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Index:
    """Write the tables of all captures of the sources below a folder, and open them.

    Raises `WorkbenchError` where the folder is there and `force` is not given, or pyarrow is missing.
    """
    home = Path(folder).absolute()
    if home.exists() and any(home.iterdir()):
        if not force:
            raise WorkbenchError(f"{home} is there already; --force replaces an index")
        if not _is_index(home):
            raise WorkbenchError(f"{home} is there already and is no index; nothing in it is removed")
        shutil.rmtree(home)
    some = captures(sources)
    unfinished = home.with_name(f".{home.name}.part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    written = _Writer(unfinished, shards)
    for number, frames in enumerate(_frames(some, asked or Asked(), jobs), 1):
        written.add(frames)
        if progress:
            progress(number, len(some))
    written.close()
    mark = {"kind": _KIND, "format": _FORMAT, "shards": shards, "captures": len(some)}
    (unfinished / _MARK).write_text(json.dumps(mark) + "\n", encoding="utf-8")
    if home.exists():
        home.rmdir()
    unfinished.replace(home)
    return open_index(home)


def _frames(some: Sequence[Capture], asked: Asked, jobs: int) -> Iterable[Frames]:
    import multiprocessing
    import os
    from concurrent.futures import ProcessPoolExecutor

    workers = jobs or os.cpu_count() or 1
    if workers == 1 or len(some) < 4:
        for capture in some:
            yield tables_of(capture, asked)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        chunk = max(1, min(32, len(some) // (4 * workers)))
        yield from pool.map(tables_of, some, [asked] * len(some), chunksize=chunk)


def shard_of(thread: str, shards: int) -> int:
    """The shard of a thread: the same everywhere and always."""
    return (
        int.from_bytes(hashlib.blake2b(thread.encode("utf-8", "replace"), digest_size=4).digest(), "big")
        % shards
    )


@dataclass
class _Writer:
    folder: Path
    shards: int
    _held: dict[str, list[pd.DataFrame]] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)
    _parts: dict[str, int] = field(default_factory=dict)

    def add(self, frames: Frames) -> None:
        for name, frame in frames.items():
            self._held.setdefault(name, []).append(frame)
            self._rows[name] = self._rows.get(name, 0) + len(frame)
            if self._rows[name] >= _HELD:
                self._write(name)

    def close(self) -> None:
        for name in list(self._held):
            self._write(name)

    def _write(self, name: str) -> None:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise WorkbenchError('an index needs pyarrow: pip install "agui-workbench[fleet]"') from None
        import pandas as pd

        held, self._held[name], self._rows[name] = self._held[name], [], 0
        number = self._parts.get(name, 0)
        self._parts[name] = number + 1
        # an empty table has its columns all the same: keep one
        full = [frame for frame in held if len(frame)] or held[:1]
        if not full or (number and not len(full[0])):
            return
        frame = pd.concat(full, ignore_index=True)
        for column in frame.columns:
            if frame[column].dtype == object or str(frame[column].dtype) in ("string", "str"):
                frame[column] = [_plain(value) for value in frame[column]]
        thread = frame["thread_id"] if "thread_id" in frame else frame["capture"]
        shard = thread.map(lambda value: shard_of(str(value), self.shards)) if len(frame) else thread
        for value, rows in frame.groupby(shard, sort=True) if len(frame) else ((0, frame),):
            home = self.folder / name / f"shard={int(value):02}"
            home.mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pandas(rows, preserve_index=False)
            for at, column in enumerate(table.schema):
                if pa.types.is_null(column.type):
                    table = table.set_column(at, column.name, table.column(at).cast(pa.string()))
            pq.write_table(table, home / f"part-{number:05}.parquet", compression="zstd")


def _plain(value: Any) -> str | None:
    """A value as text: lists and objects as JSON."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - a number that is none
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    try:
        return json.dumps(list(value) if isinstance(value, tuple | set) else value, default=str)
    except (TypeError, ValueError):
        return str(value)


class Index:
    """The tables of many captures, read when they are asked for. `trace(thread)` opens what a thread is of.

    `runs`, `requests`, `parts`, `calls`, `approvals`, `spans` have the columns of those of a `Trace`, and
    `capture`, `release` and `day`; `findings` and `captures` have a row each for what they are called after.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shards, self._count = _mark(folder)

    def __repr__(self) -> str:
        return f"<Index of {self._count:,} captures in {self.folder}>"

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in ALL:
            raise AttributeError(name)
        return self.query(f'SELECT * EXCLUDE (shard) FROM "{name}"')  # noqa: S608 - one of ours

    @property
    def threads(self) -> list[str]:
        """The ids of all threads."""
        told = self.query(
            "SELECT DISTINCT thread_id FROM runs UNION SELECT DISTINCT thread_id FROM calls ORDER BY 1"
        )
        return [str(thread) for thread in told["thread_id"] if thread]

    def table(self, name: str, thread: str) -> pd.DataFrame:
        """The rows of one thread; reads one shard."""
        if name not in ALL:
            raise WorkbenchError(f"no table is called {name!r}; there are: {', '.join(ALL)}")
        return self.query(
            f'SELECT * EXCLUDE (shard) FROM "{name}" WHERE shard = ? AND thread_id = ?',  # noqa: S608 - one of ours
            [shard_of(thread, self.shards), thread],
        )

    def trace(self, thread: str) -> Trace:
        """The captures that a thread is in, as a trace. Raises `WorkbenchError` where there is none, or they are gone."""
        import workbench as wb

        found = self.query(
            "SELECT DISTINCT c.capture, c.paths FROM captures c SEMI JOIN runs r ON r.capture = c.capture AND "
            "r.shard = ? AND r.thread_id = ? ORDER BY 1",
            [shard_of(thread, self.shards), thread],
        )
        if not len(found):
            raise WorkbenchError(f"no run of thread {thread} is in {self.folder}")
        paths = [path for told in found["paths"] for path in json.loads(told)]
        return wb.load(*opened(Capture("", tuple(paths))))

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> pd.DataFrame:
        """Ask all tables; each is a view of its name. One SELECT, which reads nothing but this index.

        Raises `WorkbenchError` with DuckDB's words for anything that is no such question.
        """
        import duckdb

        try:
            statements = duckdb.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise WorkbenchError("one SELECT can be asked, and nothing else")
            told: pd.DataFrame = self._connection.cursor().execute(sql, list(parameters)).df()
        except duckdb.Error as problem:
            raise WorkbenchError(str(problem)) from None
        for column, kind in told.dtypes.items():
            if str(kind).startswith("datetime64") and getattr(kind, "tz", None) is None:
                # nanoseconds lose their zone in DuckDB; every time in the index is UTC
                told[column] = told[column].dt.tz_localize("UTC")
        return told

    @cached_property
    def _connection(self) -> Any:
        try:
            import duckdb
        except ImportError:
            raise WorkbenchError('questions need DuckDB: pip install "agui-workbench[fleet]"') from None
        made = duckdb.connect(":memory:")
        home = str(self.folder.resolve()).replace("'", "''")
        for name in ALL:
            if any((self.folder / name).glob("*/*.parquet")):
                made.execute(
                    f"CREATE VIEW \"{name}\" AS SELECT * FROM read_parquet('{home}/{name}/*/*.parquet', "  # noqa: S608
                    "hive_partitioning = true, union_by_name = true)"
                )
        made.execute(f"SET allowed_directories = ['{home}/']")
        made.execute("SET enable_external_access = false")
        made.execute("SET lock_configuration = true")
        return made


def _is_index(folder: Path) -> bool:
    """Whether we wrote what is in a folder: many have an `index.json`."""
    try:
        told = json.loads((folder / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(told, dict) and told.get("kind") == _KIND


def _mark(folder: Path) -> tuple[int, int]:
    """Shards and captures of an index; `WorkbenchError` where its mark says nothing of the kind."""
    try:
        told = json.loads((folder / _MARK).read_text(encoding="utf-8"))
        shards, count = told["shards"], told["captures"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        shards = count = None
    if (
        not isinstance(shards, int)
        or not isinstance(count, int)
        or not (0 < shards <= _MOST_SHARDS and count >= 0)
    ):
        raise WorkbenchError(f"{folder / _MARK} is damaged: remove the folder, and write the index anew")
    return shards, count


def open_index(folder: str | Path) -> Index:
    """The index in a folder. Raises `WorkbenchError` where there is none."""
    home = Path(folder)
    if not (home / _MARK).is_file():
        raise WorkbenchError(f"{home} is no index: `workbench index SOURCES -o DIR` writes one")
    return Index(home)


def query(sql: str, index: str | Path | Index, parameters: Sequence[Any] = ()) -> pd.DataFrame:
    """Ask an index in SQL: `wb.query("SELECT tool, count(*) FROM calls GROUP BY 1", "index")`."""
    return (index if isinstance(index, Index) else open_index(index)).query(sql, parameters)
