"""`workbench sweep` and `workbench bisect`: on which releases a reported bug shows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The bug; `workbench replay` lists them.")]
_Python = Annotated[str, typer.Option(metavar="X.Y", help="Version of Python to run on.", show_default=False)]


def sweep(
    name: _Name,
    release: Annotated[
        list[str] | None,
        typer.Option(metavar="VERSION", help="Only this release; repeatable.", show_default=False),
    ] = None,
    python: _Python = "",
    jobs: Annotated[int, typer.Option(min=1, help="Releases at a time.")] = 2,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it: .html (with the heat map), .json or .csv.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a reported bug on every release that is known: affected since, until, and what is left."""
    from workbench.replay.engine.errors import ReplayError
    from workbench.replay.sweep import sweep as run

    if output is not None and output.suffix not in (".html", ".json", ".csv"):
        _refuse(f"{output}: what is written ends in .html, .json or .csv")
    try:
        swept = run(
            name, releases=release or (), python=python or None, jobs=jobs,
            progress=lambda done, of, words: _say(f"{done} of {of}  {words}"),
        )  # fmt: skip
    except ReplayError as problem:
        _refuse(str(problem))
    from workbench.replay import shown

    shown.printed(swept)
    if output is not None:
        output.write_text(shown.written(swept, output.suffix), encoding="utf-8", newline="\n")


def bisect(
    name: _Name,
    good: Annotated[
        str, typer.Option(metavar="VERSION", help="A release without it; the newest by default.")
    ] = "",
    bad: Annotated[
        str, typer.Option(metavar="VERSION", help="A release with it; the reported one by default.")
    ] = "",
    variant: Annotated[
        str, typer.Option(metavar="TITLE", help="A column of the sweep; the first by default.")
    ] = "",
    python: _Python = "",
) -> None:
    """Find the release on which a reported bug begins or ends, in few environments."""
    from workbench.replay.bisect import bisect as find
    from workbench.replay.engine.errors import ReplayError

    try:
        found = find(
            name,
            good=good or None,
            bad=bad or None,
            variant=variant or None,
            python=python or None,
            progress=_say,
        )
    except ReplayError as problem:
        _refuse(str(problem))
    print(found.words)


def _say(words: str) -> None:
    if sys.stderr.isatty():
        print(words, file=sys.stderr)


def _refuse(reason: str) -> NoReturn:
    from workbench.report.plain import lines

    print(f"workbench: {lines(reason)}", file=sys.stderr)
    raise typer.Exit(2)
