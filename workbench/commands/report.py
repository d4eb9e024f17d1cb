"""`workbench report`: the check as a page, as a text for an issue, or for a build server."""

from __future__ import annotations

import re
import sys


def run(
    paths: list[str],
    output: str,
    form: str,
    *,
    redact: str,
    patterns: list[str],
    select: list[str],
    ignore: list[str],
    thread: str,
    call_id: str,
    fail_on: str,
) -> int | str:
    """Write the report to `output` (`-` prints it); the exit code, or why nothing was done."""
    import warnings

    from workbench.report import narrow
    from workbench.report.plain import plain
    from workbench.report.redact import files
    from workbench.report.redact import redact as redacted
    from workbench.report.reports import report
    from workbench.report.unread import unread, unread_altogether
    from workbench.rules import all_rules, check
    from workbench.trace import load

    known = {word for r in all_rules().values() for word in (r.name, r.code, r.family, r.code[:3])}
    for word in (*select, *ignore):
        if word not in known:
            return f"no rule, code or family is called {plain(word, 80)!r}; `workbench rules` lists them"
    try:
        everything = redact == "all"
        trace = files.reloaded(redacted(*paths, patterns=patterns)) if everything else load(*paths)
    except re.error as error:
        return f"--pattern is no regular expression: {error}"
    for line in unread(trace):
        print(line, file=sys.stderr)
    if unread_altogether(trace):
        return "nothing could be read"
    with warnings.catch_warnings():
        # a rule that fails stands in the report
        warnings.simplefilter("ignore", RuntimeWarning)
        found = check(trace, select=select, ignore=ignore)
    try:
        found = narrow.narrowed(found, thread=thread, call_id=call_id)
        text = report(
            found,
            None if output == "-" else output,
            format=form,  # type: ignore[arg-type]  # checked by the command line
            redact=redact == "secrets",
            patterns=patterns,
            fail_on="error" if fail_on == "never" else fail_on,
        )
    except re.error as error:
        return f"--pattern is no regular expression: {error}"
    except OSError as error:
        return f"{output}: {error.strerror or error}"
    except ValueError as error:
        return str(error)
    if output == "-":
        print(text, end="")
    else:
        print(f"Wrote {plain(output)}", file=sys.stderr)
    if any(skipped.failed for skipped in found.skipped):
        return 2
    return 1 if fail_on != "never" and found.at_least(fail_on) else 0
