"""Mutated captures of every format: no crash, and every unit of every source is counted.

    python -m tests.readers.fuzz [--seconds 120] [--seed 0] [--inputs 0] [--keep FOLDER]

prints how many inputs were tried, for each format that they were recognised as, and the highest
memory. An input that fails is written to FOLDER, if one is given, and ends the run with 1.
"""

from __future__ import annotations

import argparse
import gzip
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

from workbench.readers import Limits, load
from workbench.readers.records import Records

DATA = Path(__file__).resolve().parent.parent / "data" / "formats"
#: Small enough that a mutation cannot make a run slow, large enough for every seed
LIMITS = Limits(max_line=1 << 20, max_decompressed=4 << 20, max_json_document=4 << 20, max_members=100)
STRUCTURE = (
    b"{", b"}", b"[", b"]", b'"', b"\\", b",", b":", b"\n", b"\r\n", b"\r", b"\n\n", b"data:", b"data: {", b"},{",
    b"]}", b'"type"', b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"PK\3\4", b"\x1f\x8b\x08", b"SQLite format 3\0",
    b"```", b"HTTP/1.1 200 OK\r\n\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"1e999", b"NaN", b"\\ud800", b"-",
    b"99999999999999999999", b"{" * 2000, b"[" * 2000, b"\x0a\x7f", b"'", b"<E.A: 'A'>", b"4294967295:",
)  # fmt: skip


def seeds() -> list[bytes]:
    """All files of `tests/data/formats`."""
    return [p.read_bytes() for p in sorted(DATA.rglob("*")) if p.is_file() and p.name != "expect.tsv"]


def mutate(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """One to eight small changes: flip, delete, insert, splice, truncate, repeat, wrap or encode anew."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + int(rng.expovariate(1 / 20)) + 1)
        kind = rng.randrange(11)
        if kind == 0 and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]
        elif kind == 1 and at < len(data):
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + data[end:]
        elif kind in (3, 4):
            data = data[:at] + rng.choice(STRUCTURE) + data[at:]
        elif kind == 5:
            other = rng.choice(others)
            low = rng.randrange(len(other) + 1)
            data = data[:at] + other[low : low + rng.randrange(1, 2000)] + data[at:]
        elif kind == 6:
            data = data[:at]
        elif kind == 7:
            data = data[:end] + data[at:end] * rng.choice((1, 1, 2, 50)) + data[end:]
        elif kind == 8:
            data = data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
        elif kind == 9 and rng.random() < 0.2:
            data = rng.choice((_wide, gzip.compress, _twice))(data)
        elif kind == 10:
            size = rng.choice((1, 2, 4, 8))
            data = data[:at] + rng.choice((b"\0", b"\xff", b"\x7f")) * size + data[at + size :]
        data = data[: 1 << 18]
    return data


def _wide(data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(random.choice(("utf-16", "utf-16-le", "utf-32")))


def _twice(data: bytes) -> bytes:
    return data + data


def check(data: bytes) -> Records:
    """Load the bytes and hold what has to be true of any input; raises for anything else."""
    records = load([data], limits=LIMITS)
    (source,) = records.sources
    total = source.rows + source.duplicates + source.ignored.total() + source.problems
    assert source.records == total, f"{source.records} records, {total} accounted for"
    counted = [problem for problem in records.problems if problem.record is not None]
    assert len(counted) >= source.problems
    assert len(records.events) + len(records.requests) + len(records.payloads) >= source.rows
    assert data == b"" or source.records or records.problems or source.notes, "passed over in silence"
    events = records.events
    columns = {name: len(getattr(events, name)) for name in type(events).__slots__}
    assert len(set(columns.values())) <= 1, columns
    for row in range(len(events)):
        assert isinstance(records.json(row), dict)
        assert records.json(row).get("type") is not None, f"row {row} lost its event"
        assert isinstance(records.raw(row), bytes)
        for column in (events.type, events.call, events.message, events.name):
            text = records.pool.text(column[row])
            assert text is None or text.encode() is not None
    for number in range(len(records.requests)):
        assert isinstance(records.request_raw(number), bytes)
    return records


def run(seconds: float, seed: int, inputs: int = 0, keep: Path | None = None) -> tuple[Counter[str], float]:
    """Try inputs until the time or the number is used up: formats that were recognised, slowest input."""
    rng = random.Random(seed)
    random.seed(seed)
    originals = seeds()
    formats: Counter[str] = Counter()
    slowest = 0.0
    until = time.monotonic() + seconds
    while time.monotonic() < until and (not inputs or formats.total() < inputs):
        data = mutate(rng, rng.choice(originals), originals)
        begin = time.process_time()
        try:
            formats[check(data).sources[0].format] += 1
        except BaseException:
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"failed-{seed}-{formats.total()}.bin").write_bytes(data)
            print(f"input {formats.total()} of seed {seed} fails: {data[:200]!r}", file=sys.stderr)
            raise
        slowest = max(slowest, time.process_time() - begin)
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
    for name, count in formats.most_common():
        print(f"{count:9,}  {name}")
    print(
        f"{formats.total():9,}  inputs, none failed; slowest {slowest:.2f} CPU s; highest memory {memory} MiB"
    )


if __name__ == "__main__":
    main()
