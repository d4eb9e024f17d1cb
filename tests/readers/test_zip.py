"""Zip archives: bodies beside a HAR, packed captures, bombs."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest

from workbench.readers import Limits, load

DATA = Path(__file__).resolve().parent.parent / "data" / "formats"
HAR_ZIP = DATA / "04g_playwright_attach.har.zip"
SSE = (DATA / "01_raw.sse").read_bytes()


def pack(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def unpack() -> dict[str, bytes]:
    with zipfile.ZipFile(HAR_ZIP) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def counts(records):
    (source,) = records.sources
    assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    return source


def test_bodies_are_found_by_the_names_in_the_har_and_read_once():
    members = unpack()
    har = members.pop("har.har").replace(b"res0.txt", b"x/0.dat").replace(b"res1.txt", b"x/1.dat")
    records = load([pack({"x/0.dat": members["res0.txt"], "har.har": har, "x/1.dat": members["res1.txt"]})])
    assert len(records.events) == 12
    assert counts(records).records == 14
    assert records.members[records.events.member[0]].name == "log.entries[0].response"
    assert records.raw(0).startswith(b'{"type":"RUN_STARTED"')


def test_posted_data_may_stand_in_a_file_too():
    members = unpack()
    har = json.loads(members["har.har"])
    posted = har["log"]["entries"][0]["request"]["postData"]
    members["post.json"] = posted.pop("text").encode()
    posted["_file"] = "post.json"
    records = load([pack({**members, "har.har": json.dumps(har).encode()})])
    assert [request.stream for request in records.requests] == [0, 1]


def test_a_missing_body_is_said_and_the_rest_read():
    members = unpack()
    del members["res0.txt"]
    records = load([pack(members)])
    assert len(records.events) == 6
    assert any("not in the archive" in problem.reason for problem in records.problems)
    assert not counts(records).complete


def test_packed_captures_of_any_format():
    records = load([pack({"a/run1.sse": SSE, "a/run2.jsonl.gz": gzip.compress((DATA / "02_events.jsonl").read_bytes()),
                          "notes.txt": b"hello", "inner.zip": pack({"x.sse": SSE})})])  # fmt: skip
    assert len(records.events) == 36
    assert {records.members[member].name for member in records.events.member} >= {"a/run1.sse", "x.sse"}
    assert counts(records).ignored == {"files that are no capture": 1}


def test_nothing_is_written_under_the_archives_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(load([pack({"../../evil.sse": SSE, "/abs.sse": SSE})]).events) == 24
    assert not list(tmp_path.iterdir())


def test_other_bodies_of_a_har_are_part_of_their_entries():
    members = unpack()
    har = json.loads(members["har.har"])
    picture = json.loads(json.dumps(har["log"]["entries"][0]))
    picture["request"] = {"method": "GET", "url": "http://localhost/a.png"}
    picture["response"]["content"] = {"mimeType": "image/png", "_file": "a.png"}
    har["log"]["entries"].append(picture)
    records = load([pack({**members, "a.png": b"\x89PNG", "har.har": json.dumps(har).encode()})])
    assert counts(records).ignored == {"other HTTP entries": 1}
    assert records.sources[0].complete


def test_a_name_that_comes_twice_counts():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.sse", SSE)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.sse", SSE)
    records = load([out.getvalue()])
    assert len(records.events) == 12
    assert counts(records).ignored == {"members whose name comes again": 1}


def test_an_archive_without_captures_says_so():
    assert "no capture" in load([pack({"a.png": b"\x89PNG"})]).sources[0].note


def test_bombs_are_bounded_over_all_members():
    bomb = pack({f"{n}.sse": SSE + b": keepalive\n\n" * 500_000 for n in range(4)})
    records = load([bomb], limits=Limits(max_decompressed=8_000_000))
    assert any("unpacks to more than 8,000,000 bytes" in problem.reason for problem in records.problems)
    assert not counts(records).complete
    assert len(records.events) >= 12


def test_archives_in_archives_end():
    data = SSE
    for number in range(12):
        data = pack({f"{number}.zip": data})
    records = load([data])
    assert "inside each other" in records.problems[0].reason


def test_too_many_members():
    records = load([pack({f"{n}.sse": b"" for n in range(30)})], limits=Limits(max_members=20))
    assert records.problems[0].reason == "a zip archive of more than 20 members"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packing_methods_are_said(method):
    records = load([pack({"a.sse": SSE}, method)])
    assert "not unpacked" in records.problems[0].reason
    assert not counts(records).complete


def test_a_cut_archive_is_one_problem_with_the_reason():
    records = load([HAR_ZIP.read_bytes()[:-100]])
    assert "it is cut" in records.problems[0].reason
    assert not counts(records).complete


def test_a_damaged_member_leaves_the_other():
    data = bytearray(pack(unpack()))
    data[60] ^= 0xFF
    records = load([bytes(data)])
    assert counts(records).complete is False
    assert len(records.events) >= 6


def test_encrypted_members_are_said():
    data = pack({"a.sse": SSE}).replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0")
    data = data.replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0")
    assert "encrypted" in load([data]).problems[0].reason
