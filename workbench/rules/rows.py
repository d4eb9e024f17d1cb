"""Findings about rows of `events`, for rules that read the tables column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.findings import Finding

if TYPE_CHECKING:
    from workbench.trace import Trace

_SHOWN = 20


def at_rows(trace: Trace, rows: Sequence[int], message: str, *, severity: str = "",
            call_ids: tuple[str, ...] = (), other_ids: tuple[str, ...] = ()) -> Finding:  # fmt: skip
    """One finding for events of one kind; thread and run are those of the first, twenty are shown."""
    run = trace.run_of(rows[0])
    return Finding(
        message,
        thread_id=run.thread_id,
        run_id=run.run_id,
        call_ids=call_ids,
        other_ids=other_ids,
        evidence=trace.evidence(*rows[:_SHOWN]),
        severity=severity,
    )
