"""What `workbench record` adds to a stream that passes through it: `python benchmarks/proxy.py`.

A server, the recorder and a client, each a process on this machine. Everything is measured twice in turns, straight
at the server and through the recorder: the time to the first byte of an agent-framework endpoint (connection
included), the age of each event when it arrives (the server writes into it when it was sent, every 2 ms), and
how long 5,000 events take that are sent as fast as they go. Ends with 1 where the first byte is later by 50 ms.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
BUDGET = 50.0


def run_input(name: str) -> dict[str, object]:
    """A request of its own thread."""
    message = {"id": "u1", "role": "user", "content": "Deploy to prod"}
    return {"threadId": name, "runId": name, "state": {}, "messages": [message], "tools": [], "context": [],
            "forwardedProps": {}}  # fmt: skip


def first_byte(url: str, name: str) -> float:
    """Milliseconds until the first byte of an agent's answer."""
    with httpx.Client(trust_env=False, timeout=30) as client:
        client.get(f"{url}/health")
        start = time.perf_counter()
        with client.stream("POST", f"{url}/agent", json=run_input(name)) as answer:
            arriving = answer.iter_raw()
            next(arriving)
            passed = time.perf_counter() - start
            for _ in arriving:
                pass
    return passed * 1000


def events(url: str, name: str, count: int, pause: float) -> tuple[list[float], float]:
    """The age of each event when it arrived, ms, and the seconds that all took."""
    start = time.perf_counter()
    with httpx.Client(trust_env=False, timeout=120) as client:
        address = f"{url}/many?n={count}&pause={pause}"
        with client.stream("POST", address, json=run_input(name)) as answer:
            ages = [
                (time.time_ns() - json.loads(line[6:])["sent"]) / 1e6
                for line in answer.iter_lines()
                if '"sent"' in line
            ]
    return ages, time.perf_counter() - start


def main() -> int:
    """Measure, print, and judge by the budget."""
    server = subprocess.Popen(
        [sys.executable, str(ROOT / "tests/record/upstream.py")], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    direct = f"http://127.0.0.1:{int(server.stdout.readline())}"
    with tempfile.TemporaryDirectory() as folder:
        recorder = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "workbench",
                "record",
                "--upstream",
                direct,
                "--port",
                "0",
                "--folder",
                folder,
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert recorder.stderr is not None
            through = recorder.stderr.readline().split()[-1]
            recorder.stderr.readline()
            firsts: list[list[float]] = [[], []]
            for number in range(24):
                for which, url in enumerate((direct, through)):
                    firsts[which].append(first_byte(url, f"first-{number}-{which}"))
            paced = [events(url, f"paced-{url}", 1000, 0.002)[0] for url in (direct, through)]
            rounds = [
                [events(url, f"fast-{n}-{url}", 5000, 0)[1] for n in range(3)] for url in (direct, through)
            ]
        finally:
            recorder.terminate()
            recorder.wait(15)
            server.kill()
            server.wait()
    medians = [statistics.median(values[4:]) for values in firsts]  # the first ones import things
    ages = [statistics.median(values) for values in paced]
    totals = [min(values) for values in rounds]
    print("| | straight | through the recorder | ratio |\n|---|---|---|---|")
    for name, (without, with_it), unit in (
        ("first byte of an agent's answer, median", medians, "ms"),
        ("age of an event on arrival, median", ages, "ms"),
        ("5,000 events at once, best of 3", totals, "s"),
    ):
        print(f"| {name} | {without:.2f} {unit} | {with_it:.2f} {unit} | {with_it / without:.1f} |")
    print(f"\nThe first byte comes {medians[1] - medians[0]:.1f} ms later.")
    return medians[1] - medians[0] > BUDGET


if __name__ == "__main__":
    sys.exit(main())
