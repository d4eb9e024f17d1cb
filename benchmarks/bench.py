"""Us and the peers on the same data in one run, in one table: `make bench`.

    python benchmarks/bench.py [--events 1000000] [--megabytes 300] [--runs 3] [--write]

Two captures are made: AG-UI streams, and OTLP JSON lines. Every process runs alone, in turns, and is measured from its
start to its end. A ratio is our CPU to that of the peer in the same turn; Phoenix decodes the first spans only,
so that its turn is scaled to all of them. Phoenix gets an environment of its own in the user's cache. `--write` puts the table
into docs/performance.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

import check as streams  # noqa: E402
import telemetry  # noqa: E402

from workbench.replay.engine import places, uv  # noqa: E402
from workbench.replay.engine.errors import ReplayError  # noqa: E402

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
PHOENIX = "arize-phoenix"
Figures = dict[str, list[tuple[float, float]]]

#: what a peer does with a file of JSON lines: everything decoded, and one number asked
DUCKDB = """
import sys, duckdb
duckdb.execute("SET threads = 1")
print(duckdb.sql(f"SELECT count(*), max(length(CAST(j AS VARCHAR))) FROM read_json('{sys.argv[1]}', format='newline_delimited', "
                 f"maximum_object_size=67108864, sample_size=-1) j").fetchall())
"""
POLARS = """
import sys, os
os.environ["POLARS_MAX_THREADS"] = "1"
import polars
print(polars.read_ndjson(sys.argv[1], infer_schema_length=None).height)
"""
SPANS = "import sys, workbench as wb; print(len(wb.load(sys.argv[1]).spans))"
ORJSON = """
import sys, orjson
with open(sys.argv[1], "rb") as file:
    for line in file:
        orjson.loads(line)
"""


def turns(commands: dict[str, tuple[str, ...]], runs: int) -> Figures:
    """CPU seconds and peak MiB of every command, in turns. One that fails is left out, and said."""
    figures: Figures = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            if name in figures:
                figures[name].append(streams.measure(*command))
    return figures


def works(command: tuple[str, ...], small: Path) -> bool:
    """Whether a peer can do it at all, tried on the beginning of the data."""
    done = subprocess.run([*command[:-1], str(small)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.stderr.write(f"left out: {done.stderr.strip().splitlines()[-1:]}\n")
    return done.returncode in (0, 1)


def beginning(path: Path, lines: int = 400) -> Path:
    """The first lines of a file, in a file beside it."""
    small = path.with_name(f"small-{path.name}")
    with path.open("rb") as source, small.open("wb") as target:
        target.writelines(itertools.islice(source, lines))
    return small


def phoenix() -> Path | None:
    """The interpreter of an environment with Phoenix; None where it cannot be made."""
    folder = places.cache() / "peers" / PHOENIX
    python = folder / "bin" / "python"
    try:
        if not (folder / "whole").exists():
            uv.run("venv", "--quiet", "--clear", "--python", sys.executable, folder)
            uv.run("pip", "install", "--quiet", "--python", python, PHOENIX)
            (folder / "whole").touch()
    except (ReplayError, OSError) as problem:
        sys.stderr.write(f"no Phoenix: {problem}\n")
        return None
    return python


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    python = sys.executable
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        capture, twin, spans = folder / "big.sse", folder / "big.ndjson", folder / "otlp.jsonl"
        maker = [python, str(ROOT / "benchmarks" / "big_capture.py"), str(capture), str(options.events)]
        made = subprocess.run(maker, check=True, capture_output=True, text=True).stdout.split(" in ")[0]
        with capture.open("rb") as source, twin.open("wb") as target:
            target.writelines(line[6:] for line in source if line.startswith(b"data: "))
        with spans.open("wb") as file:
            file.writelines(telemetry.lines(options.megabytes * 1_000_000))
        with spans.open("rb") as file:
            number = sum(
                len(scope["spans"])
                for line in file
                for e in json.loads(line)["resourceSpans"]
                for scope in e["scopeSpans"]
            )
        decoding = streams.DECODE
        events = {
            "workbench check": (str(streams.BIN / "workbench"), "check", str(capture)),
            f"ag-ui-validate {version('ag-ui-validate')}": (
                str(streams.BIN / "ag-ui-validate"),
                str(capture),
            ),
            "msgspec, typed: decoding alone": (
                python,
                "-c",
                decoding.format(imports=streams.FLOORS["msgspec, typed"]),
                str(capture),
            ),
            "orjson: decoding alone": (
                python,
                "-c",
                decoding.format(imports=streams.FLOORS["orjson"]),
                str(capture),
            ),
            f"DuckDB {version('duckdb')} read_json, one thread": (python, "-c", DUCKDB, str(twin)),
            f"polars {version('polars')} read_ndjson, one thread": (python, "-c", POLARS, str(twin)),
        }
        tables = {
            "workbench `load(…).spans`": (python, "-c", SPANS, str(spans)),
            "orjson: decoding alone": (python, "-c", ORJSON, str(spans)),
            f"DuckDB {version('duckdb')} read_json, one thread": (python, "-c", DUCKDB, str(spans)),
            f"polars {version('polars')} read_ndjson, one thread": (python, "-c", POLARS, str(spans)),
        }
        rows = _rows(
            f"{made}",
            turns({n: c for n, c in events.items() if works(c, beginning(Path(c[-1])))}, options.runs),
        )
        measured = turns({n: c for n, c in tables.items() if works(c, beginning(Path(c[-1])))}, options.runs)
        peer = phoenix()
        if peer is not None:
            measured["Phoenix `decode_otlp_span` (scaled)"] = [
                _decoded(peer, spans, number) for _ in range(options.runs)
            ]
        rows += _rows(f"{options.megabytes} MB of OTLP, {number:,} spans", measured)
    text = "\n".join([
        f"{options.runs} turns of each, Python {sys.version.split()[0]}; the first row of each part is ours.", "",
        "| data | process | CPU s (median) | peak MiB | our CPU ÷ its CPU: min, median, max |", "|---|---|---|---|---|", *rows,
    ])  # fmt: skip
    print(text)
    if options.write:
        page = streams.PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        streams.PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def _decoded(peer: Path, spans: Path, number: int) -> tuple[float, float]:
    told = subprocess.run(
        [peer, "-c", telemetry.PHOENIX_CODE, spans, str(telemetry.PHOENIX_LINES)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return float(told[0]) * number / int(told[1]), float(told[2])


def _rows(data: str, figures: Figures) -> list[str]:
    ours = [cpu for cpu, _ in next(iter(figures.values()))]
    rows = []
    for number, (name, measured) in enumerate(figures.items()):
        ratios = sorted(o / c for o, (c, _) in zip(ours, measured, strict=True))
        said = f"{ratios[0]:.2f}, {statistics.median(ratios):.2f}, {ratios[-1]:.2f}" if number else ""
        cpu, peak = statistics.median(c for c, _ in measured), max(m for _, m in measured)
        rows.append(f"| {'' if number else data} | {name} | {cpu:.2f} | {peak:.0f} | {said} |")
    return rows


if __name__ == "__main__":
    main()
