"""`workbench check --each`, `workbench index` and `workbench query`: many captures."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.exceptions import WorkbenchError
from workbench.model import SEVERITIES

if TYPE_CHECKING:
    from workbench.fleet.summary import Fleet

_SHOWN = 12


def each(
    paths: list[str],
    *,
    form: str,
    select: list[str],
    ignore: list[str],
    fail_on: str,
    provider: str,
    resume: Path | None,
    jobs: int,
    engine: str,
    scheduler: str,
    release: str,
    strict: bool,
    odd: list[str],
) -> int | str:
    """Check every capture by itself; the exit code, or why nothing was done."""
    from workbench.fleet import engines, run
    from workbench.fleet.one import Asked
    from workbench.rules import check
    from workbench.trace import load

    if odd:
        return f"{odd[0]} is about one investigation, and --each about many captures: take one"
    if form == "md":
        return "--each prints text or json"
    if scheduler and engine != "dask":
        return "--scheduler goes with --engine dask"
    try:
        re.compile(release)
        check(load(b"data: {}\n\n"), select=select, ignore=ignore, provider=provider)  # refuses unknown rules
        asked = Asked(tuple(select), tuple(ignore), provider, release)
        how = engines.dask(scheduler, jobs=jobs) if engine == "dask" else engines.local(jobs)
        progress = _Progress()
        fleet = run.check_each(*paths, asked=asked, engine=how, journal=resume, progress=progress.told)
        progress.end()
    except re.error as error:
        return f"--release is no regular expression: {error}"
    except (WorkbenchError, ValueError, OSError) as error:
        return str(error)
    if not fleet.rows:
        return "no capture was found"
    if form == "json":
        print(json.dumps(fleet.to_dict(), indent=2).replace("\x7f", "\\u007f"))
    else:
        show(fleet)
    if (strict and fleet.failed) or len(fleet.failed) == len(fleet.rows):
        return 2
    if fail_on == "never":
        return 0
    counted = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return int(any(fleet.severity[severity] for severity in counted))


def show(fleet: Fleet) -> None:
    """Print the summary."""
    from workbench.fleet.summary import BY
    from workbench.report import text
    from workbench.report.plain import count, plain

    out = text.console()
    total = fleet.to_dict()
    out.print(
        f"{count(total['captures'], 'capture')}, {total['events']:,} events, {total['calls']:,} calls: "
        f"{count(total['findings']['error'], 'error')}, {count(total['findings']['warning'], 'warning')}, "
        f"{total['findings']['info']:,} info."
    )
    for what in BY:
        told = fleet.by(what)
        if not told:
            continue
        out.print(f"\nby {what}")
        for value, captures, findings in told[:_SHOWN]:
            out.print(
                f"  {captures:>7,} {'capture ' if captures == 1 else 'captures'}  {findings:>7,} findings  {plain(value, 100)}"
            )
        if len(told) > _SHOWN:
            out.print(f"  … and {len(told) - _SHOWN:,} more")
    if fleet.failed:
        out.print(f"\nnot checked: {count(len(fleet.failed), 'capture')}")
        for row in fleet.failed[:_SHOWN]:
            out.print(f"  {plain(row['name'], 200)}: {plain(row['problem'], 200)}")
        if len(fleet.failed) > _SHOWN:
            out.print(f"  … and {len(fleet.failed) - _SHOWN:,} more")


def index(paths: list[str], output: Path, *, release: str, jobs: int, force: bool) -> int | str:
    """Write an index; the exit code, or why nothing was done."""
    from workbench.fleet.index import write_index
    from workbench.fleet.one import Asked
    from workbench.report.plain import plain

    progress = _Progress()
    try:
        re.compile(release)
        made = write_index(
            *paths, folder=output, asked=Asked(release=release), jobs=jobs, force=force,
            progress=lambda done, total: progress.told(done, total, progress.seconds, 0),
        )  # fmt: skip
    except re.error as error:
        return f"--release is no regular expression: {error}"
    except (WorkbenchError, OSError) as error:
        return str(error)
    progress.end()
    print(f"Wrote {plain(made.folder)}: {made!r}", file=sys.stderr)
    return 0


def ask(folder: Path, sql: str) -> int | str:
    """Print the answer of an index to a question."""
    from workbench.fleet.index import query
    from workbench.fleet.views import nothing
    from workbench.report import text
    from workbench.report.plain import plain

    try:
        told = query(sql, folder)
    except (WorkbenchError, OSError) as error:
        return str(error)
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in told.columns:
        table.add_column(plain(column, 60), overflow="fold")
    for row in told.itertuples(index=False):
        table.add_row(*("" if nothing(value) else plain(value, 500) for value in row))
    text.console().print(table)
    return 0


class _Progress:
    """Done, rate and what is left, on one line of a terminal; nothing elsewhere."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = 0.0
        self._terminal = sys.stderr.isatty()

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self._began

    def told(self, done: int, total: int, seconds: float, before: int) -> None:
        """Show it, four times a second at most."""
        if not self._terminal or (time.monotonic() - self._last < 0.25 and done < total):
            return
        self._last = time.monotonic()
        rate = (done - before) / seconds if seconds > 0 else 0.0
        left = f", {(total - done) / rate:,.0f} s to go" if rate > 0 else ""
        sys.stderr.write(f"\r\x1b[K{done:,} of {total:,} captures, {rate:,.0f} a second{left}")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the line as it was."""
        if self._terminal:
            sys.stderr.write("\r\x1b[K")
