"""Every unit of a source is accounted for, counted independently by splitters that know nothing of events."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from workbench.readers import load

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    [p for p in (ROOT / "data" / "formats").rglob("*") if p.is_file() and p.name != "expect.tsv"]
    + [p for p in (ROOT.parent / "traces").iterdir() if p.suffix not in (".md", "")]
)


def sse_units(data: bytes) -> int:
    """Comment lines, and blocks between blank lines that have other lines; one per line where each is JSON."""
    text = re.sub(rb"\r\n?", b"\n", data.removeprefix(b"\xef\xbb\xbf"))
    units = len(re.findall(rb"(?m)^:", text))
    for block in text.split(b"\n\n"):
        rows = [row for row in block.split(b"\n") if row and not row.startswith(b":")]
        whole = [row for row in rows if row.startswith(b"data:") and row.endswith(b"}") and b'{"' in row]
        units += len(whole) if len(whole) > 1 else bool(rows)
    return units


def har_units(data: bytes) -> int:
    archive = json.loads(data)
    units = 0
    for entry in archive.get("log", archive)["entries"]:
        post = entry["request"].get("postData", {}).get("text", "")
        if "threadId" not in post and "event-stream" not in entry["response"]["content"].get("mimeType", ""):
            units += len(entry.get("_webSocketMessages", [])) or 1
            continue
        units += bool(post)
        content = entry["response"]["content"]
        if "text" in content:
            import base64

            text = content["text"].encode()
            units += sse_units(base64.b64decode(text) if content.get("encoding") == "base64" else text)
        else:
            units += len(entry.get("_eventSourceMessages", [])) or 1
    return units


def json_units(data: bytes) -> int:
    value = json.loads(data.decode("utf-8-sig"))
    if isinstance(value, dict) and "messages" in value:
        return 1
    return (
        len(value) if isinstance(value, list) else sum(len(v) for v in value.values() if isinstance(v, list))
    )


def sqlite_units(path: Path) -> int:
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        (count,) = database.execute("SELECT sum(json_array_length(events) + 1) FROM agent_runs").fetchone()
    return count


def aspire_units(path: Path) -> int:
    """Spans and log records by a key that each has once; a member that holds neither is one."""
    with zipfile.ZipFile(path) as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    return sum(text.count(b'"startTimeUnixNano"') + text.count(b'"severityNumber"') or 1 for text in texts)


def zip_units(path: Path) -> int:
    with zipfile.ZipFile(path) as archive:
        return sum(
            sse_units(archive.read(name))
            if name.endswith(".txt")
            else archive.read(name).count(b'"postData"')
            for name in archive.namelist()
        )


def session_units(data: bytes) -> int:
    session = json.loads(data)["session"]
    bodies = sum("requestBody" in exchange for exchange in session["exchanges"])
    return bodies + len(session["runs"]) + len(session["frames"])


def frame_units(data: bytes) -> int:
    count = 0
    while data:
        data = data[4 + int.from_bytes(data[:4], "big") :]
        count += 1
    return count


def units(path: Path) -> int:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return sse_units(gzip.decompress(data))
    if path.name.startswith("01b"):
        return sse_units(data.partition(b"\r\n\r\n")[2])
    if path.suffix == ".har":
        return har_units(data)
    if path.suffix == ".db":
        return sqlite_units(path)
    if "aspire" in path.name:
        return aspire_units(path)
    if path.suffix == ".zip":
        return zip_units(path)
    if path.suffix == ".aguiproto":
        return frame_units(data)
    if path.suffix == ".flow":
        return 7 if "ws" in path.name else 14  # what mitmproxy was made to record: see test_mitmproxy.py
    if path.suffix == ".log":
        return data.count(b"\n")
    if path.name.startswith("08"):
        return session_units(data)
    if path.name.startswith("03e"):
        return sum(len(fixture["events"]) for fixture in json.loads(data)["fixtures"])
    if path.name.startswith("06c"):
        return 1
    if path.suffix == ".jsonl":
        return sum(bool(line.strip()) for line in data.split(b"\n"))
    if path.suffix == ".json":
        return json_units(data)
    if path.suffix == ".md":
        text = data.replace(b"\n```\n", b"\n\n```\n\n").replace(b"```json\n", b"```\n\n")
        # marks, prose and frames are blocks of their own; the pretty-printed event is one too
        return sum(bool(block.strip()) for block in text.split(b"\n\n"))
    return sse_units(data)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_records_are_what_a_dumb_splitter_counts(path):
    records = load([path])
    (source,) = records.sources
    if "not read" in "".join(problem.reason for problem in records.problems):
        pytest.skip("named, and not taken apart")
    assert source.records == units(path)
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
