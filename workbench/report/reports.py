"""One door to all reports: Markdown, HTML, JUnit and SARIF, with secrets taken out of what people read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from workbench.report.plain import count

if TYPE_CHECKING:
    from workbench.findings import Findings

FORMATS = ("md", "html", "junit", "sarif")
#: what a file of that ending is
_ENDINGS = {
    ".md": "md",
    ".markdown": "md",
    ".html": "html",
    ".htm": "html",
    ".xml": "junit",
    ".sarif": "sarif",
}


def report(
    shown: Any,
    file: str | Path | None = None,
    *,
    format: Literal["md", "html", "junit", "sarif"] | None = None,  # noqa: A002 - the word that people look for
    redact: bool = True,
    patterns: Iterable[str] = (),
    fail_on: str = "error",
) -> str:
    """The report of a trace, of findings, or of anything that has a `trace` (a replay), as text.

    `format` is md, html, junit or sarif; without it the ending of `file` tells, and html is the default.
    With `file` the text is written there as well. `redact` takes keys, tokens, cookies, e-mail
    addresses and the names in home folders out of md and html, and what `patterns` (regular
    expressions) find: equal secrets become equal texts of the same shape. `fail_on` is the least severity
    that is a failure in JUnit. Raises `ValueError` for an unknown format, `OSError` where `file` cannot be
    written.
    """
    form = format or (_ENDINGS.get(Path(file).suffix.lower(), "html") if file is not None else "html")
    if form not in FORMATS:
        raise ValueError(f"format {form!r} is none of {', '.join(FORMATS)}")
    found = _findings(shown)
    said = ""
    if redact and form in ("md", "html"):
        from workbench.report.redact.shown import findings_of, scrubbed

        clean, redactor = scrubbed(found.trace, patterns)
        found = findings_of(found, clean, redactor)
        number = redactor.report.counts.get("secrets", 0)
        said = "Keys, tokens, cookies, e-mail addresses and the names of home folders were looked for" + (
            f"; {count(number, 'place')} exchanged for others of the same shape."
            if number
            else "; none was found."
        )
    text = _written(found, form, said, fail_on)
    if file is not None:
        Path(file).write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    return text


def _written(found: Findings, form: str, said: str, fail_on: str) -> str:
    if form == "md":
        from workbench.report.markdown import markdown

        return markdown(found.trace, found, redaction=said)
    if form == "html":
        from workbench.report.html import html

        return html(found, redaction=said)
    if form == "junit":
        from workbench.report.junit import junit

        return junit(found, fail_on=fail_on)
    from workbench.report.sarif import sarif

    return sarif(found)


def _findings(shown: Any) -> Findings:
    """The findings that are shown; of a trace, those of all rules."""
    from workbench.findings import Findings
    from workbench.rules import check
    from workbench.trace import Trace

    if isinstance(shown, Findings):
        return shown
    if isinstance(shown, Trace):
        return check(shown)
    inner = getattr(shown, "findings", None)
    if isinstance(inner, Findings):
        return inner
    inner = getattr(shown, "trace", None)
    if isinstance(inner, Trace):
        return check(inner)
    raise ValueError(f"neither a trace nor findings, and without a trace: {type(shown).__name__}")
