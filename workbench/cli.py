"""The command `workbench`: it parses, calls the API and prints.

Exit codes: 0 nothing at or above `--fail-on`; 1 findings; 2 usage, nothing could be read, or a rule failed.
"""

from __future__ import annotations

import gc
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from workbench.commands import replay, sweep
from workbench.commands.check import check
from workbench.commands.common import (
    Call,
    FailOn,
    Paths,
    Thread,
    Words,
    leave,
    load,
    refuse,
    refuse_rule,
    split,
    why,
)
from workbench.commands.record import record

if TYPE_CHECKING:
    from workbench.trace import Trace

app = typer.Typer(
    name="workbench",
    help="Open an AG-UI capture and see what became of every tool call and approval.",
    epilog="PATH is a file, a folder, a glob, - for standard input, or sample:NAME for a bundled capture.",
    no_args_is_help=True,
    add_completion=False,
    # rich help costs a third of a second, and its tracebacks show the contents of captures
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


class ReportFormat(StrEnum):
    """What `report` writes."""

    html = "html"
    md = "md"
    junit = "junit"
    sarif = "sarif"


class Redaction(StrEnum):
    """What is taken out of a report."""

    secrets = "secrets"
    all = "all"
    off = "off"


class Severity(StrEnum):
    """The least severity that is shown."""

    error = "error"
    warning = "warning"
    info = "info"


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    """Open an AG-UI capture and see what became of every tool call and approval."""
    if version:
        import workbench

        print(f"workbench {workbench.__version__}")
        raise typer.Exit


app.command()(check)


@app.command()
def index(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Folders, globs, addresses.", show_default=False)
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write.")],
    release: Annotated[
        str,
        typer.Option(
            "--release", metavar="REGEX", help="Finds the release in a capture's path.", show_default=False
        ),
    ] = "",
    jobs: Annotated[int, typer.Option(metavar="N", help="Processes; 0: one per processor.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an index that is there.")] = False,
) -> None:
    """Write the tables of many captures as Parquet, to be asked in SQL."""
    from workbench.commands import fleet

    leave(fleet.index(paths, output, release=release, jobs=jobs, force=force))


@app.command()
def query(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An index.")],
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="One SELECT; views: calls, approvals, findings, ...")
    ],
) -> None:
    """Ask an index in SQL."""
    from workbench.commands import fleet

    leave(fleet.ask(folder, sql))


@app.command()
def show(
    paths: Paths,
    thread: Thread = "",
    call: Call = "",
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print the ladder as Mermaid text.")] = False,
    svg: Annotated[
        str,
        typer.Option(
            "--svg", metavar="FILE", help="Write the ladder as SVG; - prints it.", show_default=False
        ),
    ] = "",
) -> None:
    """Tell what became of every call and approval, or draw it as a ladder."""
    from workbench.report import narrow
    from workbench.report.progress import Progress

    if mermaid and svg:
        refuse("--mermaid and --svg are two forms of one picture: take one")
    with Progress() as progress:
        trace = load(paths, progress)
        progress.phase("working out the calls")
        try:
            chosen = narrow.conversations(trace, thread, call)
            ids = narrow.ids_of(trace, call, thread)
        except ValueError as error:
            refuse(str(error))
    if mermaid or svg:
        _draw(trace, thread, call, svg)
        return
    from workbench.report import text

    out = text.console()
    for conversation in chosen:
        text.fates(out, [conversation], call_ids=ids)
        text.conversation(out, trace, conversation, ids)
    if not chosen:
        out.print("Nothing to show: no AG-UI event and no request was found.")


@app.command()
def formats() -> None:
    """List the formats that are read, and those that are recognised with what to do about them."""
    from workbench.readers import formats as known_formats
    from workbench.report import text

    text.formats(text.console(), known_formats())


@app.command()
def rules(
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="A rule, code or family to explain.", show_default=False)
    ] = "",
) -> None:
    """List the rules, or explain one."""
    from workbench.report import text
    from workbench.rules import all_rules

    listed = list(all_rules().values())
    if name:
        chosen = [made for made in listed if name in (made.name, made.code)]
        if chosen:
            text.rule(text.console(), chosen[0])
            return
        listed = [made for made in listed if name in (made.family, made.code[:3])]
        if not listed:
            refuse_rule(name)
    text.rules(text.console(), listed)


@app.command()
def notebook(
    paths: Paths,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Notebook to write.")] = Path(
        "investigate.ipynb"
    ),
    thread: Thread = "",
    call: Call = "",
    severity: Annotated[Severity, typer.Option(help="Least severity that is shown.")] = Severity.info,
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there.")] = False,
) -> None:
    """Write the investigation notebook with its parameters filled in for these captures."""
    from workbench.report import notebook as notebooks

    try:
        notebooks.write(output, paths, thread=thread, call_id=call, severity=severity.value, force=force)
    except (OSError, ValueError) as error:
        refuse(why(error))
    from importlib.util import find_spec

    from workbench.report.plain import plain

    print(f"Wrote {plain(output)}. Open it with: jupyter lab {plain(output)}", file=sys.stderr)
    if find_spec("jupyterlab") is None:
        print("JupyterLab is not installed here; it comes with the extra `lab`.", file=sys.stderr)


@app.command()
def report(
    paths: Paths,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write; - prints it.", show_default=False
        ),
    ] = "-",
    form: Annotated[ReportFormat, typer.Option("--format", help="What to write.")] = ReportFormat.html,
    redact: Annotated[
        Redaction, typer.Option("--redact", help="What to take out of html and md.")
    ] = Redaction.secrets,
    pattern: Annotated[
        Words | None,
        typer.Option(metavar="REGEX", help="Something else that is secret here.", show_default=False),
    ] = None,
    select: Annotated[
        Words | None, typer.Option(metavar="RULES", help="Ask only these rules.", show_default=False)
    ] = None,
    ignore: Annotated[
        Words | None, typer.Option(metavar="RULES", help="Do not ask these rules.", show_default=False)
    ] = None,
    thread: Thread = "",
    call: Call = "",
    fail_on: Annotated[
        FailOn, typer.Option(help="Least severity that makes the exit code 1.")
    ] = FailOn.never,
) -> None:
    """Write what was found as a page, a text for an issue, or for a build server."""
    from workbench.commands import report as command

    leave(
        command.run(
            paths, output, form.value, redact=redact.value, patterns=pattern or [], select=split(select),
            ignore=split(ignore), thread=thread, call_id=call, fail_on=fail_on.value,
        )
    )  # fmt: skip


@app.command()
def redact(
    paths: Paths,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="OUT", help="File to write; a folder for several captures."),
    ],
    rename_tools: Annotated[
        bool, typer.Option("--rename-tools", help="Exchange the names of tools too.")
    ] = False,
    pattern: Annotated[
        Words | None,
        typer.Option(
            metavar="REGEX", help="Something else that is secret, even in names.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write captures that still show the fault, and nothing that is somebody's."""
    from workbench.commands import redact as command

    leave(command.run(paths, output, rename_tools=rename_tools, patterns=pattern or [], force=force))


app.command()(record)
app.command("replay")(replay.replay)
app.command("sweep")(sweep.sweep)
app.command("bisect")(sweep.bisect)


def _draw(trace: Trace, thread: str, call: str, svg: str) -> None:
    from workbench.views import sequence_diagram

    diagram = sequence_diagram(trace, thread=thread or None, call_id=call or None)
    if not svg:
        try:
            print(diagram.mermaid())
        except ValueError as error:
            refuse(str(error))
    elif svg == "-":
        print(diagram.svg)
    else:
        try:
            diagram.to_svg(svg)
        except OSError as error:
            refuse(why(error))


def main() -> None:
    """Run the command line; text that the terminal cannot encode is escaped, not a crash."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # closed by the caller; print would send what is for standard error to standard output
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as we run
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    # What is loaded is kept until the end: looking for cycles in it again and again is a fifth of the time.
    gc.disable()
    try:
        app()
    except OSError as error:
        # the disk that the output goes to is full, or the like
        print(f"workbench: {error.strerror or error}", file=sys.stderr)
        sys.exit(2)
    except Exception:  # noqa: BLE001 - 1 would say that the capture has findings
        import traceback

        traceback.print_exc()
        print("workbench: this is a fault of the workbench, not of the capture", file=sys.stderr)
        sys.exit(2)


def entry() -> NoReturn:
    """The command as it is installed: `main`, and out at once.

    Taking a large trace apart object by object at the end is a tenth of the time, for nothing.
    """
    code: object = 0
    try:
        main()
    except SystemExit as done:
        code = done.code
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            continue  # the reader is gone, which is its right
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


if __name__ == "__main__":
    entry()
