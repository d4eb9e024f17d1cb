"""Findings about one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.calls.conversation import At, MessageList
from workbench.findings import Finding

if TYPE_CHECKING:
    from workbench.trace import Trace


def finding(trace: Trace, items: MessageList, message: str, *others: At | int | None, severity: str = "",
            call_ids: tuple[str, ...] = (), other_ids: tuple[str, ...] = ()) -> Finding:  # fmt: skip
    """A finding in place `snapshot`: the snapshot first, then where the message was seen before."""
    return Finding(
        message,
        place="snapshot",
        thread_id=items.run.thread_id,
        run_id=items.run.run_id,
        call_ids=tuple(dict.fromkeys(i for i in call_ids if i)),
        other_ids=tuple(dict.fromkeys(i for i in other_ids if i)),
        evidence=trace.evidence(items.at, *others),
        severity=severity,
    )
