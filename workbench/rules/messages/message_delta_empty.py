"""message-delta-empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.rows import at_rows

if TYPE_CHECKING:
    from workbench.trace import Trace

_TYPES = frozenset({"TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT", "THINKING_TEXT_MESSAGE_CONTENT"})


@rule("message-delta-empty", code="MSG005", severity="warning", scope="run")
def message_delta_empty(trace: Trace) -> Iterator[Finding]:
    """A content event of a message carries an empty delta.

    Why it hurts: clients and servers before protocol 1.0 refuse it: their schema asks for at
        least one character, and the whole run fails in the browser.
    No fault when: the empty text stands in a CHUNK event or in TOOL_CALL_ARGS.
    What to do: skip empty pieces where the model's stream is translated; providers send them
        for role-only and usage-only pieces.
    Example:
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": "assistant"}
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": ""}
        {"type": "TEXT_MESSAGE_END", "messageId": "m1"}
    Sources: ag-ui-protocol before 1.0.0, TextMessageContentEvent; @ag-ui/client up to 0.0.47.
    """
    records = trace.records
    events, values = records.events, records.pool.values
    rows: dict[tuple[int, int], list[int]] = {}
    for deviation in records.deviations:
        if deviation.kind == "empty" and deviation.field == "delta":
            row = deviation.event
            if values[events.type[row]] in _TYPES:
                rows.setdefault((events.stream[row], events.message[row]), []).append(row)
    for (_, code), group in rows.items():
        message_id = values[code] if code >= 0 else ""
        times = f", {len(group)} times" if len(group) > 1 else ""
        about = f" of message {message_id}" if message_id else ""
        yield at_rows(
            trace, group, f"Empty delta{about}{times}.", other_ids=(message_id,) if message_id else ()
        )
