"""Input that could not be used, in words for standard error; never silence."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.report.plain import count, plain
from workbench.trace import Trace


def unread(trace: Trace) -> Iterator[str]:
    """One line per source that has problems or is visibly cut."""
    records = trace.records
    for number, source in enumerate(records.sources):
        problems = [p for p in records.problems if p.source == number]
        path = plain(source.path) + (f" [{plain(source.member)}]" if source.member else "")
        if problems:
            first = problems[0]
            where = f"line {first.line}: " if first.line is not None else ""
            also = (
                f" (and {count(len(problems) - 1, 'more problem', 'more problems')})"
                if len(problems) > 1
                else ""
            )
            yield f"workbench: {path}: not read: {where}{plain(first.reason, 300)}{also}"
        # a file that is not there is one fact, not two
        if not source.complete and source.note not in {p.reason for p in problems}:
            yield f"workbench: {path}: incomplete: {plain(source.note, 300) or 'it ends too early'}"


def unread_altogether(trace: Trace) -> bool:
    """True where no source gave a row: there is nothing that a check could be about.

    A source that was understood and is empty (`[]`) counts as read.
    """
    records = trace.records
    troubled = {problem.source for problem in records.problems}
    return all(
        number in troubled and not source.rows and not source.duplicates
        for number, source in enumerate(records.sources)
    )
