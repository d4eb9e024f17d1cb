"""Captures without what is somebody's: texts, ids and numbers are exchanged, the fault stays.

    from workbench.report.redact import redact

    for item in redact("capture.har"):
        print(item.name, item.note)          # item.data are the redacted bytes

All inputs of one call are exchanged in the same way, so that ids which tie them together still do.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.report.redact.document import Redactor
    from workbench.report.redact.files import Written
    from workbench.trace import Trace


def redactor(
    trace: Trace,
    *,
    everything: bool = True,
    rename_tools: bool = False,
    patterns: Iterable[str] = (),
    key: bytes | None = None,
) -> Redactor:
    """What redacts the inputs of a trace.

    `everything` exchanges all that is not a word of a protocol or framework; without it only secrets
    are: keys, tokens, cookies, addresses, home folders, and what `patterns` (regular expressions; a group
    `s` narrows what is taken) find. `key` makes the result repeatable; by default it is random and kept
    nowhere, so that nobody can undo the exchange by trying. Raises `re.error` for a pattern that is none.
    """
    from workbench.report.redact import files
    from workbench.report.redact.document import Redactor

    return Redactor(
        key or secrets.token_bytes(32),
        files.facts(trace),
        everything=everything,
        rename_tools=rename_tools,
        patterns=patterns,
    )


def redact(
    *sources: Any, rename_tools: bool = False, patterns: Iterable[str] = (), key: bytes | None = None
) -> Iterator[Written]:
    """Redact captures; sources as for `workbench.load`, except that none is read twice.

    Gives one `Written` per input: SSE, JSON, JSON lines, HAR, OTLP JSON and Aspire's zip in their own format,
    everything else as AG-UI DevTools lines or OTLP JSON lines, which its `note` says. Nothing is written
    to disk. See `redactor` for the arguments.
    """
    from workbench.report.redact import files
    from workbench.trace import load

    held = files.held(sources)
    trace = load(*held)
    made = redactor(trace, rename_tools=rename_tools, patterns=patterns, key=key)
    yield from files.redacted(made, held, trace)
