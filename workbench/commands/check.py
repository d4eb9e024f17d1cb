"""`workbench check`: what is wrong in captures, read together or each by itself."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.common import Call, FailOn, Paths, Thread, Words, ask, leave, load, refuse, split


class Format(StrEnum):
    """What `check` prints."""

    text = "text"
    json = "json"
    md = "md"


class Engine(StrEnum):
    """Where many captures are checked."""

    local = "local"
    dask = "dask"


def check(
    paths: Paths,
    output: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.text,
    select: Annotated[
        Words | None,
        typer.Option(
            metavar="RULES", help="Ask only these rules: names, codes or families, comma separated."
        ),
    ] = None,
    ignore: Annotated[
        Words | None, typer.Option(metavar="RULES", help="Do not ask these rules.", show_default=False)
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="Least severity that makes the exit code 1.")
    ] = FailOn.error,
    thread: Thread = "",
    call: Call = "",
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 2 if any input could not be used.")
    ] = False,
    provider: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Judge every message list as if it were sent there: openai-responses, anthropic, ...",
            show_default=False,
        ),
    ] = "",
    repair: Annotated[
        bool, typer.Option("--repair", help="Say what would make the providers accept what they refuse.")
    ] = False,
    each: Annotated[
        bool, typer.Option("--each", help="Check every capture of folders, globs and addresses by itself.")
    ] = False,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --each: keep what is done here, and go on from it."),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="With --each: processes; 0: one per processor.")] = 0,
    engine: Annotated[
        Engine, typer.Option(help="With --each: processes here, or a Dask cluster.")
    ] = Engine.local,
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="With --engine dask: the scheduler.", show_default=False)
    ] = "",
    release: Annotated[
        str,
        typer.Option(
            "--release",
            metavar="REGEX",
            help="With --each: finds the release in a capture's path.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Say what is wrong in captures, with the place of every piece of evidence."""
    if each:
        from workbench.commands import fleet

        leave(
            fleet.each(
                paths, form=output.value, select=split(select), ignore=split(ignore), fail_on=fail_on.value,
                provider=provider, resume=resume, jobs=jobs, engine=engine.value, scheduler=scheduler, release=release,
                strict=strict, odd=[name for name, given in (("--thread", thread), ("--call", call), ("--repair", repair)) if given],
            )
        )  # fmt: skip
        return
    from workbench.commands import repair as repairs
    from workbench.report import narrow
    from workbench.report.progress import Progress

    with Progress() as progress:
        trace = load(paths, progress)
        progress.phase("checking")
        found = ask(trace, split(select), split(ignore), provider)
        try:
            found = narrow.narrowed(found, thread=thread, call_id=call)
            suggested = repairs.wanted(found, provider, thread=thread, call=call) if repair else None
        except ValueError as error:
            refuse(str(error))
    if output is Format.json:
        import json

        # ASCII only: the direction marks and C1 controls of a capture do not reach a terminal
        print(json.dumps(found.to_dict() | repairs.data(suggested), indent=2).replace("\x7f", "\\u007f"))
    elif output is Format.md:
        from workbench.report.markdown import markdown

        print(markdown(trace, found) + repairs.markdown(suggested), end="")
    else:
        from workbench.report import text

        out = text.console()
        text.findings(out, found, narrow.conversations(trace, thread, call))
        repairs.show(out, found, suggested)
    failed = [s for s in found.skipped if s.failed]
    for skipped in failed:
        print(f"workbench: rule {skipped.rule}: {skipped.reason}", file=sys.stderr)
    if failed or (strict and trace.records.problems):
        raise typer.Exit(2)
    if fail_on is not FailOn.never and found.at_least(fail_on.value):
        raise typer.Exit(1)
