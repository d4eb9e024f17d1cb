"""Damage to one record of telemetry leaves the rows of all others unchanged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.readers import load

DATA = Path(__file__).resolve().parents[2] / "data" / "telemetry"


def compact(value) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


EXPORT = json.loads((DATA / "af/all.otlp.jsonl").read_bytes().splitlines()[1])
SPANS = EXPORT["resourceSpans"][0]["scopeSpans"][0]["spans"] if "resourceSpans" in EXPORT else []
if not SPANS:
    for text in (DATA / "af/all.otlp.jsonl").read_bytes().splitlines():
        value = json.loads(text)
        if "resourceSpans" in value:
            EXPORT = value
            SPANS += value["resourceSpans"][0]["scopeSpans"][0]["spans"]
RESOURCE = compact(EXPORT["resourceSpans"][0]["resource"])
TEXTS = [compact(span) for span in SPANS[:5]]
DTOS = [compact(item) for item in json.loads((DATA / "aspire/cli_otel_logs.json").read_bytes())[:6]]
ZIPKIN = [
    compact(item) for item in json.loads((DATA / "af/spans.zipkin.jsonl").read_bytes().splitlines()[0])[:5]
]
CONSOLE = [
    b"{" + part for part in (DATA / "af/console.logs.txt").read_bytes().split(b"\n{")[1:6]
]  # fmt: skip
HEAD = (
    b'{"resourceSpans":[{"resource":'
    + RESOURCE
    + b',"scopeSpans":[{"scope":{"name":"agent_framework"},"spans":['
)
ASPIRE_HEAD = b'{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"agent_framework"},"spans":['
LAYOUTS = {
    "otlp": (HEAD, b",", b"]}]}]}\n", TEXTS),
    "aspire-otlp": (ASPIRE_HEAD, b",", b']}],"resource":' + RESOURCE + b"}]}", TEXTS),
    "aspire-pretty": (ASPIRE_HEAD + b"\n", b",\n", b'\n]}],"resource":' + RESOURCE + b"}]}", TEXTS),
    "otlp-lines": (b"", b"\n", b"\n", [HEAD + text + b"]}]}]}" for text in TEXTS]),
    "aspire-array": (b"[", b",", b"]", DTOS),
    "aspire-follow": (b"", b"\n", b"\n", [b"[" + text + b"]" for text in DTOS]),
    "zipkin": (b"[", b", ", b"]", ZIPKIN),
    "console": (b"starting\n", b"\n", b"\ndone\n", CONSOLE),
}


def document(name: str, number: int = -1, damaged: bytes = b"") -> bytes:
    before, between, after, records = LAYOUTS[name]
    return (
        before
        + between.join([*records[:number], damaged, *records[number + 1 :]] if number >= 0 else records)
        + after
    )


def rows(data: bytes) -> list[tuple]:
    records = load([data])
    for source in records.sources:
        assert source.records == source.rows + source.duplicates + source.ignored.total() + source.problems
    spans, logs = records.spans, records.logs
    text = records.pool.text
    found = []
    for row in range(len(spans)):
        names = [
            text(column[row])
            for column in (
                spans.trace,
                spans.name,
                spans.operation,
                spans.call,
                spans.tool,
                spans.thread,
                spans.scope,
                spans.service,
            )
        ]
        found.append(
            ("span", spans.span[row], *names, spans.start[row], spans.end[row], repr(records.span(row)))
        )
    for row in range(len(logs)):
        names = [text(column[row]) for column in (logs.trace, logs.event, logs.logger, logs.service)]
        found.append(("log", logs.span[row], *names, logs.time[row], logs.order[row], repr(records.log(row))))
    return found


WHOLE = {name: rows(document(name)) for name in LAYOUTS}


def check(name: str, number: int, damaged: bytes) -> None:
    whole = WHOLE[name]
    assert len(whole) == len(LAYOUTS[name][3])
    found = iter(rows(document(name, number, damaged)))
    for other in whole[:number] + whole[number + 1 :]:
        assert other in found, f"lost {other[:4]} in {document(name, number, damaged)[:3000]!r}"


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_record_cut_anywhere(name):
    records = LAYOUTS[name][3]
    for number, record in enumerate(records):
        for part in (0.2, 0.5, 0.9):
            check(name, number, record[: int(len(record) * part)])


@pytest.mark.parametrize("name", LAYOUTS)
def test_any_damage(name):
    records = LAYOUTS[name][3]

    @settings(max_examples=60, deadline=None)
    @given(
        st.integers(0, len(records) - 1),
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(["flip", "delete", "insert"]),
        st.sampled_from([b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"\0", b'"}', b"x"]),
    )
    def run(number, where, kind, new):
        record = records[number]
        at = int(where * len(record))
        damaged = {
            "flip": record[:at] + bytes([record[at] ^ 1]) + record[at + 1 :],
            "delete": record[:at] + record[at + 1 :],
            "insert": record[:at] + new + record[at:],
        }[kind]
        if damaged.strip():
            check(name, number, damaged)

    run()


@pytest.mark.parametrize(
    "path",
    sorted(p for p in DATA.rglob("*") if p.is_file() and p.name not in ("README.md", "expect.tsv")),
    ids=lambda p: p.name,
)
@settings(max_examples=12, deadline=None)
@given(st.data())
def test_nothing_raises_and_counts_add_up(path, data):
    whole = path.read_bytes()
    start = data.draw(st.integers(0, min(len(whole), 3000)))
    end = data.draw(st.integers(start, min(len(whole), start + 12_000)))
    junk = data.draw(st.binary(max_size=6))
    at = data.draw(st.integers(start, end))
    rows(whole[start:at] + junk + whole[at:end])
    rows(whole[:at] + junk + whole[at + len(junk) :])
