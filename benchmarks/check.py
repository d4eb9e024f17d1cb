"""`workbench check` beside ag-ui-validate on the same capture, as whole processes in one run.

    python benchmarks/check.py [--events 1000000] [--runs 3] [--write]

Makes the capture of `big_capture.py` in a temporary folder, runs the commands in turn, and prints
CPU seconds, peak memory and the ratio of each pair. `--write` puts the table into docs/performance.md.
Decoding alone (msgspec with the schema, orjson where it is installed) is the floor.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- check: begin -->", "<!-- check: end -->"

DECODE = """
import sys
{imports}
with open(sys.argv[1], "rb") as file:
    for line in file:
        if line[:5] == b"data:":
            decode(line[5:])
"""
FLOORS = {
    "msgspec, typed": "import msgspec; from workbench.readers.schema import EVENT; "
    "decode = msgspec.json.Decoder(EVENT).decode",
    "orjson": "import orjson; decode = orjson.loads",
}
SECTIONS = """
import sys, time
now = time.process_time
start = now()
import gc
import workbench as wb
gc.set_threshold(500_000, 50, 1000)
wb.load
imported = now()
trace = wb.load(sys.argv[1])
loaded = now()
trace.conversations
built = now()
wb.check(trace)
print(f"{imported - start:.2f} {loaded - imported:.2f} {built - loaded:.2f} {now() - built:.2f}")
"""


def measure(*command: str) -> tuple[float, float]:
    """CPU seconds and peak MiB of one process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        capture = str(Path(folder) / "big.sse")
        maker = [sys.executable, str(ROOT / "benchmarks" / "big_capture.py"), capture, str(options.events)]
        made = subprocess.run(maker, check=True, capture_output=True, text=True).stdout.split(" in ")[0]
        commands = {
            "workbench check": (str(BIN / "workbench"), "check", capture),
            "ag-ui-validate": (str(BIN / "ag-ui-validate"), capture),
        }
        for name, imports in FLOORS.items():
            if find_spec(name.split(",", maxsplit=1)[0]):
                commands[name] = (sys.executable, "-c", DECODE.format(imports=imports), capture)
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(options.runs):
            for name, command in commands.items():
                figures[name].append(measure(*command))
        sections = subprocess.run(
            [sys.executable, "-c", SECTIONS, capture], check=True, capture_output=True, text=True
        ).stdout.split()
    text = table(made, figures, sections)
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def table(made: str, figures: dict[str, list[tuple[float, float]]], sections: list[str]) -> str:
    """The figures as Markdown: median of the runs, and the ratios pair by pair."""
    ours = [cpu for cpu, _ in figures["workbench check"]]
    rows = [f"{made}, {len(ours)} runs of each, in turn.", ""]
    rows += [
        "| process | CPU s (median) | peak MiB | CPU of `workbench check` ÷ its CPU: min, median, max |",
        "|---|---|---|---|",
    ]
    for name, measured in figures.items():
        cpu = statistics.median(c for c, _ in measured)
        peak = max(m for _, m in measured)
        ratios = sorted(o / c for o, (c, _) in zip(ours, measured, strict=True))
        middle = statistics.median(ratios)
        said = "" if name == "workbench check" else f"{ratios[0]:.2f}, {middle:.2f}, {ratios[-1]:.2f}"
        rows.append(f"| {name} | {cpu:.2f} | {peak:.0f} | {said} |")
    names = ("imports", "load (framing, decoding, columns)", "conversations", "rules")
    parts = ", ".join(f"{name} {value}" for name, value in zip(names, sections, strict=True))
    rows += ["", f"What the time of a check is made of, in CPU seconds: {parts}."]
    return "\n".join(rows)


if __name__ == "__main__":
    main()
