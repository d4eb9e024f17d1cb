"""Ten thousand captures: checked each here, on a local Dask cluster, and indexed.

    python benchmarks/fleet.py [--captures 10000] [--write]

Prints seconds, captures and events a second, the highest memory of a process, and whether both engines give the
same rows. `--write` puts the figures, and what follows from them for larger numbers, into docs/fleet.md.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import tempfile
import time
from pathlib import Path

from workbench.fleet import made
from workbench.fleet.engines import dask, local
from workbench.fleet.index import write_index
from workbench.fleet.one import Asked
from workbench.fleet.run import check_each

PAGE = Path(__file__).resolve().parent.parent / "docs" / "fleet.md"
BEGIN, END = "<!-- sizing: begin -->", "<!-- sizing: end -->"
ASKED = Asked(release=r"/(\d+\.\d+\.\d+)/")
BILLION = 1_000_000_000


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--captures", type=int, default=10_000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "captures"
        truth = made.write(folder, options.captures)
        began = time.monotonic()
        here = check_each(str(folder), asked=ASKED, engine=local())
        local_seconds = time.monotonic() - began
        began = time.monotonic()
        there = check_each(str(folder), asked=ASKED, engine=dask())
        dask_seconds = time.monotonic() - began
        began = time.monotonic()
        # a tenth: the last days
        some = sorted(str(path) for path in folder.glob("*/"))[-max(1, len(list(folder.glob("*/"))) // 10) :]
        made_index = write_index(*some, folder=Path(name) / "index", asked=ASKED)
        index_seconds = time.monotonic() - began
        indexed = len(made_index.captures)
        size = sum(path.stat().st_size for path in (Path(name) / "index").rglob("*.parquet")) / 1e6
    same = here.rows == there.rows
    lost = sum(told.fault == "lost" for told in truth)
    found = sum(f["rule"] == "approval-not-executed" for row in here.rows for f in row["findings"])
    events = sum(row["events"] for row in here.rows)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rate = events / local_seconds / cores
    hours = BILLION / rate / 3600
    text = f"""{options.captures:,} made captures with {events:,} events, two shared cores; `python benchmarks/fleet.py --write`.

| | seconds | captures a second |
|---|---|---|
| `check --each`, {cores} processes | {local_seconds:.0f} | {options.captures / local_seconds:.0f} |
| `check --each --engine dask`, {cores} workers | {dask_seconds:.0f} | {options.captures / dask_seconds:.0f} |
| `index`, of {indexed:,} of them | {index_seconds:.0f} | {indexed / index_seconds:.0f} |

The rows of both engines are {"equal" if same else "NOT equal"}; {found} of {lost} lost calls were found; the largest process took {memory:.0f} MiB; that
index has {size:.1f} MB. **To a billion events:** {rate:,.0f} events a second and core (conversations of {events / options.captures:.0f} events, each a
file of its own, so that opening it is most of the work) make {hours:,.0f} core hours: {hours / 100:.1f} hours on a hundred cores, as far as the
store keeps up. Large captures are checked at about a hundred times that rate, see [performance.md](performance.md).
"""
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(
            re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{text}{END}", page, flags=re.DOTALL),
            encoding="utf-8",
        )


if __name__ == "__main__":
    main()
