"""`workbench replay`: run a reported bug on released packages, patched or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer


def replay(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="The bug, or the file of a recorded scenario; without it, list what there is.",
            show_default=False,
        ),
    ] = "",
    arm: Annotated[str, typer.Option(help="Arm of the scenario.")] = "unpatched",
    patch: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATCH",
            help="Apply this patch (a name, or a Python file) instead of an arm's; repeatable.",
        ),
    ] = None,
    release: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION",
            help="Release of the leading package; the reported one by default. Repeatable for a recorded conversation.",
            show_default=False,
        ),
    ] = None,
    package: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PATH", help="Install a local checkout or wheel in place of a package; repeatable."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-O", metavar="AXIS=VALUE", help="Choose a variant of the scenario; repeatable."
        ),
    ] = None,
    python: Annotated[
        str, typer.Option(metavar="X.Y", help="Version of Python to run on.", show_default=False)
    ] = "",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FOLDER", help="Keep the recording here.", show_default=False),
    ] = None,
    recorded: Annotated[
        bool, typer.Option("--recorded", help="Look at the bundled recording instead of running.")
    ] = False,
    fail_on: Annotated[bool, typer.Option("--fail", help="Exit with 1 unless the outcome is clean.")] = False,
    captured: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="CAPTURE", help="Replay the conversation of this capture instead; repeatable."
        ),
    ] = None,
    recorded_on: Annotated[
        str,
        typer.Option(
            metavar="VERSION",
            help="Release that the capture was recorded on; `any` finds those that fit.",
            show_default=False,
        ),
    ] = "",
    thread: Annotated[
        str,
        typer.Option(metavar="ID", help="Thread of the capture, where it has several.", show_default=False),
    ] = "",
    override: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WHAT=VALUE",
            help="Say what the capture leaves open: tools.NAME.origin=provider, agent.kind=harness; repeatable.",
        ),
    ] = None,
    expect: Annotated[
        str,
        typer.Option(
            metavar="WORD", help="What the written scenario expects of its findings: `absent` or `present`."
        ),
    ] = "absent",
) -> None:
    """Replay a reported bug, or a recorded conversation, on the released packages, and say what became of it."""
    from workbench.commands import recorded as conversations
    from workbench.replay.engine.errors import ReplayError

    try:
        if captured:
            code = conversations.replay_capture(
                captured, recorded_on=recorded_on, thread=thread, override=override or [], releases=release or [],
                python=python, output=output, expect=expect, fails=fail_on,
            )  # fmt: skip
            raise typer.Exit(code)
        if name.endswith(".json"):
            raise typer.Exit(conversations.replay_file(Path(name), release or [], python=python))
        if not name:
            _list()
            return
        word = _run(name, arm, patch, _one(release), package, option, python, output, recorded=recorded)
    except ReplayError as problem:
        from workbench.report.plain import lines

        print(f"workbench: {lines(str(problem))}", file=sys.stderr)
        raise typer.Exit(2) from None
    if fail_on and word != "clean":
        raise typer.Exit(1)


def _list() -> None:
    from workbench.replay import patches
    from workbench.replay.engine import releases
    from workbench.replay.scenarios import names, scenario

    for name in names():
        declared = scenario(name)
        print(f"{name}: {declared['title']}\n  reported for {declared['release']}")
        print("  arms: " + ", ".join(declared["arms"]))
        for axis, values in declared["options"].items():
            print(f"  {axis}: {', '.join(values)}")
    for family in releases.families():
        print(f"releases of {family}: {', '.join(releases.pairs(family))}")
    print("patches:")
    for patch in patches.names():
        print(f"  {patch}: {patches.described(patch)['what']}")


def _run(
    name: str,
    arm: str,
    patch: list[str] | None,
    release: str,
    package: list[str] | None,
    option: list[str] | None,
    python: str,
    output: Path | None,
    *,
    recorded: bool,
) -> str:
    from workbench.replay.arms import replay as make
    from workbench.replay.outcome import outcome
    from workbench.report import text

    def say(words: str) -> None:
        if sys.stderr.isatty():
            print(words, file=sys.stderr)

    chosen: dict[str, Any] = dict(_pairs(option, "--option AXIS=VALUE"))
    made = make(
        name, arm=arm, patches=patch, release=release or None, packages=_pairs(package, "--package NAME=PATH"),
        python=python or None, mode="recorded" if recorded else "live", folder=output, progress=say,
        **chosen,
    )  # fmt: skip
    with made:
        while made.left:
            step = made.step()
            told = step.told
            form = f", answered as {told['form']}" if told["form"] else ""
            print(f"{told['number']}. {step.name}{form}")
            for ran in step.executions:
                print(f"   executed {ran['tool']} ({ran['call']}): {ran.get('result', ran.get('error'))}")
            for call in told.get("cards", ()):
                print(f"   asks a person about {call}")
    found = outcome(made)
    versions = ", ".join(f"{package} {version}" for package, version in made.versions.items())
    print(f"\n{name}, {made.arm.label}: {found.word}\n{versions}\n")
    text.findings(text.console(), made.findings, made.trace.conversations)
    return found.word


def _one(releases: list[str] | None) -> str:
    from workbench.replay.engine.errors import ReplayError

    if len(releases or ()) > 1:
        raise ReplayError("a bug is replayed on one --release at a time")
    return (releases or [""])[0]


def _pairs(items: list[str] | None, form: str) -> dict[str, str]:
    from workbench.replay.engine.errors import ReplayError

    told = {}
    for item in items or ():
        key, equals, value = item.partition("=")
        if not (key and equals and value):
            raise ReplayError(f"{item!r} is not of the form {form}")
        told[key.strip()] = value
    return told
