"""Telemetry without content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls.conversation import At
from workbench.findings import Finding
from workbench.readers.telemetry import detail, mapping
from workbench.readers.telemetry.columns import FORMS
from workbench.rules.registry import rule

if TYPE_CHECKING:
    from workbench.trace import Trace

_SHOWN = 5
#: Dialects that have no attributes at all
_BARE = frozenset({"aspire-text"})
_USUAL = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
_MEAI = f"EnableSensitiveData of UseOpenTelemetry, or {_USUAL}"
#: The switch of each instrumentation, by how its scope begins
_SWITCHES = (
    ("agent_framework", "ENABLE_SENSITIVE_DATA=true"),
    ("Experimental.Microsoft.", _MEAI),
    ("Microsoft.Agents", _MEAI),
    ("openinference", "OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS unset"),
    ("opentelemetry.instrumentation", f"TRACELOOP_TRACE_CONTENT=true, or {_USUAL}"),
    ("ai", "recordInputs and recordOutputs of experimental_telemetry"),
    ("pydantic-ai", "include_content of InstrumentationSettings"),
    ("gcp.vertex.agent", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"),
)


@rule("span-content-missing", code="TEL003", severity="info", needs=("spans",), scope="capture")
def span_content_missing(trace: Trace) -> Iterator[Finding]:
    """No tool span has arguments or a result, and no span has messages: content was not recorded.

    Why it hurts: approvals are only visible inside of messages, and results cannot be compared
        with what the client was shown. Call ids and errors are still there.
    No fault when: that is wanted. Messages and results may hold personal data.
    What to do: where it is allowed, turn content on and record the case again.
    Example:
        {"name": "execute_tool move", "attributes": [
            {"key": "gen_ai.tool.call.id", "value": {"stringValue": "c1"}}]}
    Sources: agent-framework, observability settings; GenAI conventions, "Recording content on attributes".
    """
    records = trace.records
    spans, text = records.spans, records.pool.text
    tool = records.pool.codes.get("execute_tool", -2)
    rows = [row for row, code in enumerate(spans.operation) if code == tool]
    if not rows or any(conversation.told for conversation in trace.conversations):
        return
    by_scope: dict[str, list[int]] = {}
    for row in rows:
        if FORMS[spans.form[row]] in _BARE:
            continue
        if mapping.CONTENT & detail.span(records, row).attributes.keys():
            return
        by_scope.setdefault(text(spans.scope[row]) or "", []).append(row)
    for scope, found in by_scope.items():
        switch = next((word for start, word in _SWITCHES if scope.lower().startswith(start.lower())), _USUAL)
        of = f" of {scope}" if scope else ""
        count = f"{len(found)} tool span{'' if len(found) == 1 else 's'}{of}"
        have = "has" if len(found) == 1 else "have"
        calls = dict.fromkeys(text(spans.call[row]) or "" for row in found[:_SHOWN])
        yield Finding(
            f"{count} {have} neither arguments nor result, and no messages were recorded. To record them: {switch}.",
            place="telemetry",
            call_ids=tuple(call for call in calls if call),
            evidence=trace.evidence(*(At("span", row) for row in found[:_SHOWN])),
        )
