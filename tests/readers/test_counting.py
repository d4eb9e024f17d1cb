"""Every unit of a source is accounted for, counted independently by splitters that know nothing of events."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from workbench.readers import load

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted(
    [p for p in (ROOT / "data" / "formats").iterdir() if p.name != "expect.tsv"]
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


def units(path: Path) -> int:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return sse_units(gzip.decompress(data))
    if path.name.startswith("01b"):
        return sse_units(data.partition(b"\r\n\r\n")[2])
    if path.suffix == ".har":
        return har_units(data)
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
    (source,) = load([path]).sources
    assert source.records == units(path)
