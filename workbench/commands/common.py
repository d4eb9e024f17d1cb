"""What commands share: options, loading and asking, and leaving with a reason."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from workbench.findings import Findings
    from workbench.trace import Trace


class FailOn(StrEnum):
    """The least severity that makes the exit code 1."""

    error = "error"
    warning = "warning"
    info = "info"
    never = "never"


Paths = Annotated[
    list[str], typer.Argument(metavar="PATH", help="Captures, read together.", show_default=False)
]
Thread = Annotated[str, typer.Option("--thread", metavar="ID", help="Only this thread.", show_default=False)]
Call = Annotated[
    str, typer.Option("--call", metavar="ID", help="Only this tool call or approval.", show_default=False)
]
Words = list[str]


def load(paths: list[str], progress: object) -> Trace:
    """Load, and say on standard error what could not be read; leave with 2 if that is everything."""
    from workbench.report.unread import unread, unread_altogether
    from workbench.trace import load as load_all

    if "-" in paths and sys.stdin is None:
        refuse("standard input is closed")
    trace = load_all(*paths, progress=progress)  # type: ignore[arg-type]
    for line in unread(trace):
        print(line, file=sys.stderr)
    if unread_altogether(trace):
        refuse("nothing could be read")
    return trace


def ask(trace: Trace, select: list[str], ignore: list[str], provider: str = "") -> Findings:
    """The findings; leave with 2 for a rule or provider that there is not."""
    import warnings

    from workbench.rules import check

    known = _rule_words()
    for word in (*select, *ignore):
        if word not in known:
            refuse_rule(word)
    with warnings.catch_warnings():
        # a rule that fails is named below the findings
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            return check(trace, select=select, ignore=ignore, provider=provider)
        except ValueError as error:
            refuse(str(error))


def split(words: list[str] | None) -> list[str]:
    """Words of an option that takes several, also with commas between them."""
    return [word.strip() for item in words or () for word in item.split(",") if word.strip()]


def _rule_words() -> list[str]:
    """Every word that names rules: names, codes, families and their letters."""
    from workbench.rules import all_rules

    return sorted({word for r in all_rules().values() for word in (r.name, r.code, r.family, r.code[:3])})


def refuse_rule(word: str) -> NoReturn:
    """Leave with 2: no rule is called that, but others nearly are."""
    import difflib

    from workbench.report.plain import plain

    known = _rule_words()
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.5)
    near += [name for name in known if word in name and name not in near][:3]
    hint = f"nearest: {', '.join(near)}" if near else "`workbench rules` lists them"
    refuse(f"no rule, code or family is called {plain(word, 80)!r}; {hint}")


def why(error: Exception) -> str:
    """An error in words: the file and what is the matter, without the number of the system."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def refuse(reason: str) -> NoReturn:
    """Leave with 2 and a reason."""
    from workbench.report.plain import plain

    print(f"workbench: {plain(reason, 1000)}", file=sys.stderr)
    raise typer.Exit(2)


def leave(outcome: int | str) -> None:
    """Leave with the code of a command, or with 2 and the reason that it gives."""
    if isinstance(outcome, str):
        refuse(outcome)
    if outcome:
        raise typer.Exit(outcome)
