"""Many captures: the same answer whatever the engine, whatever dies, and however often it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import workbench as wb
from workbench.exceptions import WorkbenchError
from workbench.fleet import made
from workbench.fleet.captures import captures
from workbench.fleet.engines import dask, local
from workbench.fleet.index import shard_of, write_index
from workbench.fleet.one import Asked, check_one

RELEASE = r"/(\d+\.\d+\.\d+)/"
ASKED = Asked(release=RELEASE)
NUMBER = 80


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[made.Told]]:
    folder = tmp_path_factory.mktemp("fleet")
    told = made.write(folder, NUMBER, seed=5)
    return folder, told


@pytest.fixture(scope="module")
def answer(fleet: tuple[Path, list[made.Told]]) -> object:
    return wb.check_each(str(fleet[0]), asked=ASKED, engine=local(2))


def test_what_was_put_in_is_found_and_nothing_else(
    fleet: tuple[Path, list[made.Told]], answer: object
) -> None:
    folder, told = fleet
    rules = {"lost": "approval-not-executed", "doubled": "call-start-duplicated", "cut": "run-end-missing"}
    wanted = {str(folder / t.name.removesuffix(".jsonl")): rules.get(t.fault) for t in told}
    assert {t.fault for t in told} >= {"lost", ""}
    for row in answer.rows:
        found = {f["rule"] for f in row["findings"] if f["severity"] != "info"}
        assert found == ({wanted[row["name"]]} - {None}), row["name"]
    release = {t.name.split("/")[1] for t in told if t.fault == "lost"}
    assert release == {made.BROKEN}
    assert [value for value, _, _ in answer.by("release") if value not in made.RELEASES] == []
    lost = answer.findings.query("rule == 'approval-not-executed'")
    assert set(lost["release"]) == {made.BROKEN}
    assert set(lost["producer"]) <= set(made.PRODUCERS)
    assert {tool for tools in lost["tools"] for tool in tools} <= made.GATED


def test_the_same_number_and_seed_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert made.write(one, 9) == made.write(two, 9)
    assert {p.relative_to(one): p.read_bytes() for p in one.rglob("*.jsonl")} == {
        p.relative_to(two): p.read_bytes() for p in two.rglob("*.jsonl")
    }


def test_a_bad_file_stops_nothing_and_is_named(fleet: tuple[Path, list[made.Told]], tmp_path: Path) -> None:
    (tmp_path / "bad.sse").write_bytes(b"\x00\xff nothing of a capture")
    (tmp_path / "empty.sse").write_bytes(b"")
    (tmp_path / "fine.jsonl").write_bytes((fleet[0] / fleet[1][0].name).read_bytes())
    found = wb.check_each(str(tmp_path), engine=local(2))
    assert [bool(row["problem"]) for row in found.rows] == [True, True, False]
    assert all(row["problem"].startswith("nothing could be read") for row in found.failed)


def test_files_of_one_name_and_recordings_are_one_capture(tmp_path: Path) -> None:
    (tmp_path / "a.sse").write_text("data: {}\n\n")
    (tmp_path / "a.telemetry.jsonl").write_text("{}\n")
    (tmp_path / "b.sse").write_text("data: {}\n\n")
    (tmp_path / "notes.md").write_text("no capture")
    rec = tmp_path / "rec"
    rec.mkdir()
    (rec / "agui-1.agui.jsonl").write_text("{}\n")
    (rec / "otlp-1.jsonl").write_text("{}\n")
    assert [len(one.paths) for one in captures([str(tmp_path)])] == [2, 1, 2]


def test_addresses_are_opened_by_fsspec(fleet: tuple[Path, list[made.Told]]) -> None:
    import fsspec

    folder, told = fleet
    memory = fsspec.filesystem("memory")
    for one in told[:3]:
        memory.pipe(f"/store/{one.name}", (folder / one.name).read_bytes())
    found = wb.check_each("memory://store", asked=ASKED, engine=local(1))
    # a process of its own would not see this memory
    rows = [check_one(capture, ASKED) for capture in captures(["memory://store"])]
    assert [row["release"] for row in rows] == [one.release for one in told[:3]]
    assert len(found.rows) == 3


def test_a_capture_that_takes_too_long_is_given_up(fleet: tuple[Path, list[made.Told]]) -> None:
    (capture, *_) = captures([str(fleet[0])])
    row = check_one(capture, Asked(timeout=0.000_001))
    assert row["problem"].startswith("given up after")


def test_a_process_that_dies_takes_one_capture_along(
    fleet: tuple[Path, list[made.Told]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule from outside ends the process at one capture; all others have their rows."""
    for one in fleet[1][:40]:
        (tmp_path / Path(one.name).name).write_bytes((fleet[0] / one.name).read_bytes())
    code = (
        "import os, sys\nfrom workbench.fleet import one\nplain = one._fill\n"
        "def _fill(row, capture, asked):\n    if '000013' in capture.name and capture.paths: os._exit(9)\n    plain(row, capture, asked)\n"
        "one._fill = _fill\n"
    )
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(code)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    found = wb.check_each(str(tmp_path / "*.jsonl"), engine=local(2))
    assert len(found.rows) == 40
    assert [Path(row["name"]).name for row in found.failed] == ["conversation-000013"]
    assert "process" in found.failed[0]["problem"]


def test_a_killed_run_goes_on_to_the_same_answer(
    fleet: tuple[Path, list[made.Told]], tmp_path: Path, answer: object
) -> None:
    journal = tmp_path / "journal.jsonl"
    command = [sys.executable, "-m", "workbench", "check", "--each", str(fleet[0]), "--resume", str(journal), "--release", RELEASE,
               "--jobs", "2", "--format", "json"]  # fmt: skip
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    until = time.monotonic() + 60
    while time.monotonic() < until and (not journal.exists() or journal.read_bytes().count(b"\n") < 5):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    data = journal.read_bytes()
    assert 5 <= data.count(b"\n") <= NUMBER
    journal.write_bytes(data + b'{"key": "cut in the mid')
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout) == answer.to_dict()
    again = wb.check_each(str(fleet[0]), asked=ASKED, journal=journal, engine=lambda some, asked: iter(()))
    assert again.rows == answer.rows
    with pytest.raises(WorkbenchError, match="another question"):
        wb.check_each(str(fleet[0]), asked=Asked(select=("call",)), journal=journal)


@pytest.mark.slow
def test_a_cluster_that_loses_workers_gives_the_same_answer(
    fleet: tuple[Path, list[made.Told]], answer: object
) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        killed = []

        def progress(done: int, total: int, seconds: float, before: int) -> None:
            if not killed and done > 10:
                worker = next(iter(cluster.workers.values()))
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        found = wb.check_each(
            str(fleet[0]), asked=ASKED, engine=dask(cluster.scheduler_address), progress=progress
        )
    assert killed
    assert found.rows == answer.rows


def test_no_scheduler_is_said() -> None:
    with pytest.raises(WorkbenchError, match="no scheduler"):
        list(dask("tcp://127.0.0.1:9", patience=1)(captures(["sample:healthy"]), Asked()))


@pytest.fixture(scope="module")
def index(fleet: tuple[Path, list[made.Told]], tmp_path_factory: pytest.TempPathFactory) -> object:
    return write_index(
        str(fleet[0]), folder=tmp_path_factory.mktemp("index") / "index", asked=ASKED, jobs=2, shards=4
    )


def test_an_index_has_the_rows_of_the_traces(fleet: tuple[Path, list[made.Told]], index: object) -> None:
    folder, told = fleet
    assert len(index.calls) == sum(len(wb.load(folder / one.name).calls) for one in told[:10]) / 10 * NUMBER
    one = next(t for t in told if t.fault == "lost")
    trace = wb.load(folder / one.name)
    for table in ("calls", "approvals", "runs", "parts", "requests"):
        ours, theirs = index.table(table, one.thread), getattr(trace, table)
        assert len(ours) == len(theirs)
        assert set(theirs.columns) <= set(ours.columns)
    calls = index.table("calls", one.thread)
    assert calls["tool"].tolist() == trace.calls["tool"].tolist()
    assert calls["asked"].tolist() == trace.calls["asked"].tolist()
    assert index.trace(one.thread).calls["call_id"].tolist() == trace.calls["call_id"].tolist()
    assert set(index.threads) == {t.thread for t in told}
    shards = {p.parent.name for p in index.folder.glob("calls/*/*.parquet")}
    assert shards == {f"shard={shard_of(t.thread, 4):02}" for t in told}


def test_questions_in_sql(fleet: tuple[Path, list[made.Told]], index: object) -> None:
    told = wb.query(
        "SELECT release, count(*) AS lost FROM findings WHERE rule = 'approval-not-executed' GROUP BY ALL",
        index,
    )
    assert dict(zip(told["release"], told["lost"], strict=True)) == dict(
        Counter(t.release for t in fleet[1] if t.fault == "lost")
    )


@pytest.mark.parametrize("sql", [
    "DROP VIEW calls", "SELECT 1; SELECT 2", "COPY calls TO '/tmp/x.csv'", "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/hostname')", "SET enable_external_access = true", "ATTACH '/tmp/x.db'", "no sql", "INSTALL httpfs",
    "SELECT * FROM 'https://attacker.invalid/x.parquet'",
])  # fmt: skip
def test_a_question_reads_the_index_and_nothing_else(index: object, sql: str) -> None:
    with pytest.raises(WorkbenchError):
        wb.query(sql, index)


def test_an_index_is_not_written_over(
    index: object, fleet: tuple[Path, list[made.Told]], tmp_path: Path
) -> None:
    with pytest.raises(WorkbenchError, match="--force"):
        write_index(str(fleet[0]), folder=index.folder)
    (tmp_path / "mine.txt").write_text("no index")
    with pytest.raises(WorkbenchError, match="there already"):
        write_index(str(fleet[0]), folder=tmp_path, force=True)
    assert (tmp_path / "mine.txt").exists()
    with pytest.raises(WorkbenchError, match="no index"):
        wb.open_index(tmp_path)


def test_the_command_prints_and_exits_as_for_one_capture(
    fleet: tuple[Path, list[made.Told]], tmp_path: Path
) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "workbench", *arguments], capture_output=True, text=True)

    fine = next(t for t in fleet[1] if not t.fault)
    done = run("check", "--each", str(fleet[0] / fine.name))
    assert (done.returncode, done.stderr) == (0, "")
    assert run("check", "--each", str(tmp_path)).returncode == 2
    assert run("check", "--each", str(tmp_path / "missing")).returncode == 2
    assert "--each about many" in run("check", "--each", "--thread", "t", str(fleet[0])).stderr
    assert run("query", str(tmp_path), "SELECT 1").returncode == 2
