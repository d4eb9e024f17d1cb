"""The explorer with the redaction that reports have: what is copied out of it goes without secrets."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import explorer
from workbench.views.explorer import Explorer


def explore(
    trace: Trace,
    other: Trace | None = None,
    *,
    findings: Sequence[Finding] | None = None,
    other_findings: Sequence[Finding] | None = None,
    live: bool | None = None,
    redact: bool = True,
) -> Explorer:
    """Look through a trace in JupyterLab: threads, calls with their fate, ladder, raw records.

    `other` is a second trace to compare with. `findings` and `other_findings` are those of
    `check`, asked here where none are given. `live=False` gives the still form, `live=True` the
    widget wherever the notebook runs; by itself it is live where somebody is there to use it.
    `redact` takes keys, tokens, cookies, e-mail addresses and the names in home folders out of what
    "Copy as Markdown" gives; what the notebook shows stays as it is.
    """
    made = explorer.explore(trace, other, findings=findings, other_findings=other_findings, live=live)
    if redact:
        from workbench.report.redact.document import Facts, Redactor

        made.session.scrub = Redactor(secrets.token_bytes(32), Facts(), everything=False).scrub
    return made
