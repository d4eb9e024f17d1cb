"""Mutated telemetry of every dialect, alone and beside its AG-UI side: loaded, joined, checked and shown.

    python -m tests.hostile.telemetry_fuzz [--seconds 120] [--seed 0] [--inputs 0] [--keep FOLDER]

Files of `tests/data/telemetry` and of the cases `otel-*` and `joint-*` lose, gain and change bytes, or values of
their JSON become others. Every input goes through `load`, all tables, `check` and both diagrams. It fails
if anything raises or a unit is not accounted for. An input that fails is written to FOLDER, if one is given, and
ends the run with 1.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import workbench as wb
from workbench.readers import Limits

DATA = Path(__file__).resolve().parent.parent / "data"
LIMITS = Limits(max_line=1 << 20, max_decompressed=8 << 20, max_json_document=8 << 20, max_members=100)
TABLES = ("sources", "problems", "events", "requests", "runs", "parts", "spans", "logs", "calls", "approvals")
STRUCTURE = (
    b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\n", b"\r\n", b"\0", b"\xff", b"\xed\xa0\x80", b"},{", b"]}",
    b'{"resourceSpans":[', b'"scopeSpans":[', b'"attributes":[', b"1e999", b"NaN", b"-Infinity", b"\\ud800", b"-", b"null",
    b"9223372036854775808", b"99999999999999999999", b"[" * 1500, b"\x0a\x7f", b"\x12\xff\xff\xff\xff\x0f", b"PK\3\4",
    b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"data: ", b"2026-13-45T99:99:99Z", b"execute_tool ", b"invoke_agent ",
)  # fmt: skip
JUNK = (
    None, True, False, 0, -1, 1.5, 2**63, -(2**63), 10**40, 1e308, float("nan"), float("inf"), "", " ", "\0", "\ud800",
    "\x1b[31m", "a" * 3000, "[" * 1200, "9" * 400, "-5", "0", "18446744073709551615", "9223372036854775807", "{}", "[]",
    '[{"role":5,"parts":[{"type":"tool_call","id":[],"name":{}}]}]', '[{"role":"user","parts":"x"}]', '{"approved":1}',
    [], {}, [[]], [None], [{}], {"stringValue": 5}, {"arrayValue": {"values": [{}]}}, {"kvlistValue": {}},
    {"intValue": "x"}, {"bytesValue": "!"}, "2026-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "0000", "1e999",
    "execute_tool", "invoke_agent", "chat",
)  # fmt: skip


@cache
def seeds() -> tuple[tuple[bytes, ...], ...]:
    """Captures: each telemetry file alone, each case with all its files."""
    alone = [
        (path.read_bytes(),)
        for path in sorted((DATA / "telemetry").rglob("*"))
        if path.is_file() and path.name not in ("README.md", "expect.tsv")
    ]
    cases = [
        tuple(path.read_bytes() for path in sorted(folder.glob("input*")))
        for kind in ("otel-*", "joint-*")
        for folder in sorted((DATA / "cases").glob(kind))
    ]
    return (*alone, *cases)


def bytes_changed(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """One to eight small changes of bytes: flip, delete, insert, splice, cut, repeat."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + int(rng.expovariate(1 / 20)) + 1)
        kind = rng.randrange(9)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind in (2, 3):
            data = data[:at] + rng.choice(STRUCTURE) + data[at:]
        elif kind == 4:
            low = rng.randrange(len(other) + 1)
            data = data[:at] + other[low : low + rng.randrange(1, 4000)] + data[at:]
        elif kind == 5 and rng.random() < 0.3:
            data = data[:at]
        elif kind == 6:
            data = data[:end] + data[at:end] * rng.choice((1, 2, 50)) + data[end:]
        elif kind == 7:
            data = data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
        else:
            digit = bytes(str(rng.randrange(10)), "ascii")
            data = data[:at] + digit + data[at + 1 :]
    return data[: 1 << 20]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every member of every object and list inside, as (container, key)."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        inside = waiting.pop()
        if isinstance(inside, dict | list):
            keys = inside if isinstance(inside, dict) else range(len(inside))
            found += [(inside, key) for key in keys]
            waiting += inside.values() if isinstance(inside, dict) else inside
    return found


def _spoil(rng: random.Random, value: Any) -> Any:
    places = _places(value)
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not places:
            return rng.choice(JUNK)
        inside, key = rng.choice(places)
        donor, taken = rng.choice(places)
        kind = rng.random()
        try:
            old = inside[key]
            if isinstance(old, str) and old[:1] in "{[" and rng.random() < 0.7:
                inside[key] = json.dumps(_spoil(rng, json.loads(old)))
            elif kind < 0.15:
                del inside[key]
            elif kind < 0.4:
                inside[key] = donor[taken]
                json.dumps(value)  # a value inside itself is no JSON
            elif kind < 0.5 and isinstance(inside, list):
                inside.insert(rng.randrange(len(inside) + 1), old)
            else:
                inside[key] = rng.choice(JUNK)
        except (KeyError, IndexError):
            continue  # an earlier change took it away
        except ValueError:
            inside[key] = rng.choice(JUNK)
    return value


def values_changed(rng: random.Random, data: bytes) -> bytes | None:
    """A few values of one JSON text inside (the document, a line, an SSE line) are others; None without JSON."""
    try:
        return json.dumps(_spoil(rng, json.loads(data)), ensure_ascii=rng.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
    except ValueError:
        pass
    lines = data.split(b"\n")
    whole = [n for n, line in enumerate(lines) if line.removeprefix(b"data:").lstrip()[:1] in (b"{", b"[")]
    changed = False
    for number in rng.choices(whole, k=rng.choice((1, 1, 2))) if whole else ():
        head = b"data: " if lines[number].startswith(b"data:") else b""
        try:
            value = _spoil(rng, json.loads(lines[number].removeprefix(b"data:")))
        except ValueError:
            continue
        lines[number] = head + json.dumps(value, ensure_ascii=True).encode()
        changed = True
    if len(whole) > 1 and rng.random() < 0.2:
        one, two = rng.sample(whole, 2)
        lines[one], lines[two] = lines[two], lines[one]
        changed = True
    return b"\n".join(lines) if changed else None


def mutate(rng: random.Random) -> list[bytes]:
    """A capture with damage in one of its files."""
    files = list(rng.choice(seeds()))
    number = rng.randrange(len(files))
    spoiled = None
    if rng.random() < 0.55:
        try:
            spoiled = values_changed(rng, files[number])
        except RecursionError:
            spoiled = None
    if spoiled is None:
        spoiled = bytes_changed(rng, files[number], rng.choice(rng.choice(seeds())))
    files[number] = spoiled
    if rng.random() < 0.1:
        files += rng.choice(seeds())
    return files


def check(files: list[bytes]) -> wb.Trace:
    """Take a capture all the way and hold what has to be true of any; raises for anything else."""
    trace = wb.load(*files, limits=LIMITS)
    records = trace.records
    for data, source in zip(files, records.sources, strict=False):
        total = source.rows + source.duplicates + source.ignored.total() + source.problems
        assert source.records == total, f"{source.records} records, {total} accounted for"
        seen = source.records or records.problems or source.notes or source.points
        assert seen or not re.search(rb'"(span_?Id|traceId|logId)"', data), "passed over in silence"
    for name in TABLES:
        getattr(trace, name)
    assert len(trace.spans) == len(records.spans)
    assert len(trace.logs) == len(records.logs)
    for row in range(len(records.spans)):
        trace.attributes(row)
    for number in range(len(records.spans)):
        assert records.signal_raw("span", number)
    found = wb.check(trace)
    failed = [s for s in found.skipped if s.failed]
    assert not failed, failed
    json.dumps(found.to_dict(), allow_nan=False)
    ET.fromstring(wb.sequence_diagram(trace, findings=found).svg.encode())
    ET.fromstring(wb.timeline(trace, findings=found).svg.encode())
    wb.markdown(trace, found).encode()
    return trace


def run(seconds: float, seed: int, inputs: int = 0, keep: Path | None = None) -> tuple[Counter[str], float]:
    """Try inputs until the time or the number is used up: formats that were recognised, slowest input."""
    rng = random.Random(seed)
    formats: Counter[str] = Counter()
    slowest = 0.0
    number = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until and (not inputs or number < inputs):
        files = mutate(rng)
        begin = time.process_time()
        try:
            trace = check(files)
            formats.update({source.format for source in trace.records.sources})
        except BaseException:
            if keep is not None:
                for part, data in enumerate(files):
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"failed-{seed}-{number}-{part}.bin").write_bytes(data)
            print(f"input {number} of seed {seed} fails", file=sys.stderr)
            raise
        slowest = max(slowest, time.process_time() - begin)
        number += 1
    formats["inputs"] = number
    return formats, slowest


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--inputs", type=int, default=0, help="at most so many; 0 for as many as there is time"
    )
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    formats, slowest = run(options.seconds, options.seed, options.inputs, options.keep)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    inputs = formats.pop("inputs")
    for name, count in formats.most_common():
        print(f"{count:9,}  {name}")
    print(f"{inputs:9,}  inputs, none failed; slowest {slowest:.2f} CPU s; highest memory {memory} MiB")


if __name__ == "__main__":
    main()
