"""How long the command line takes to start, against its budgets: `python benchmarks/startup.py`.

Prints CPU seconds (user and system, best of some runs, interpreter included) and the ratio of
`workbench check` on a small capture to `python -c 'import pandas'`, measured in turns so that
a busy machine slows all of them alike. Ends with 1 where a budget is exceeded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CAPTURE = Path(__file__).resolve().parent.parent / "traces" / "approval.har"
COMMANDS = {
    "import pandas": ["-c", "import pandas"],
    "workbench --help": ["-m", "workbench", "--help"],
    "workbench check": ["-m", "workbench", "check", str(CAPTURE)],
    "workbench check --format md": ["-m", "workbench", "check", str(CAPTURE), "--format", "md"],
    "import workbench": ["-c", "import workbench"],
}
#: CPU seconds of --help, and the ratio of check to pandas
HELP, RATIO = 0.35, 1.35


def cpu_seconds(arguments: list[str]) -> float:
    """CPU time of one child process."""
    before = os.times()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def main(rounds: int = 5) -> int:
    """Measure, print, and judge by the budgets."""
    best = dict.fromkeys(COMMANDS, float("inf"))
    for _ in range(rounds):
        for name, arguments in COMMANDS.items():
            best[name] = min(best[name], cpu_seconds(arguments))
    pandas = best["import pandas"]
    for name, seconds in best.items():
        print(f"{name:30} {seconds:6.2f} CPU-s  {seconds / pandas:5.2f} × pandas")
    ratio = best["workbench check"] / pandas
    print(
        f"budgets: --help {best['workbench --help']:.2f} of {HELP} CPU-s, check {ratio:.2f} of {RATIO} × pandas"
    )
    return int(best["workbench --help"] > HELP or ratio > RATIO)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
