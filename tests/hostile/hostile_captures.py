"""Small builders of captures, and the whole way of a capture through everything that shows it."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from contextlib import suppress

import workbench as wb


def jsonl(events):
    return "\n".join(map(json.dumps, events)).encode() + b"\n"


def started(run="r", thread="t", **more):
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run, **more}


def finished(run="r", thread="t", **more):
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run, **more}


def interrupted(*interrupts, run="r"):
    return finished(run, outcome={"type": "interrupt", "interrupts": list(interrupts)})


def request(run="r2", messages=(), **more):
    return {"threadId": "t", "runId": run, "messages": list(messages), "tools": [], "context": [], **more}


def approve(*ids):
    return [{"interruptId": i, "status": "resolved", "payload": {"approved": True}} for i in ids]


def call(call_id, arguments="{}", tool="tool", *, end=True, result=None):
    yield {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": tool}
    yield {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": arguments}
    if end:
        yield {"type": "TOOL_CALL_END", "toolCallId": call_id}
    if result is not None:
        yield {
            "type": "TOOL_CALL_RESULT",
            "toolCallId": call_id,
            "messageId": f"m{call_id}",
            "content": result,
        }


def text(message_id, said="hello"):
    yield {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"}
    yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": said}
    yield {"type": "TEXT_MESSAGE_END", "messageId": message_id}


def listed(call_id, message_id, arguments="{}", tool="tool"):
    function = {"name": tool, "arguments": arguments}
    return {
        "id": message_id,
        "role": "assistant",
        "toolCalls": [{"id": call_id, "type": "function", "function": function}],
    }


def answered(call_id, message_id, content="ok"):
    return {"id": message_id, "role": "tool", "toolCallId": call_id, "content": content}


def terminal(trace, found, width=100):
    """What `check` and `show` print."""
    from rich.console import Console

    from workbench.report import text as printed

    out = Console(file=io.StringIO(), markup=False, emoji=False, highlight=False, width=width)
    printed.findings(out, found)
    for conversation in trace.conversations:
        printed.fates(out, [conversation])
        printed.conversation(out, trace, conversation)
    return out.file.getvalue()


def everything(data):
    """Load, check and show in every form; returns the trace and its findings."""
    from workbench import views

    trace = wb.load(data)
    found = wb.check(trace)
    assert not [s for s in found.skipped if s.failed]
    assert all(f.evidence for f in found)
    json.dumps(found.to_dict(), allow_nan=False)
    diagram = wb.sequence_diagram(trace, findings=found)
    for picture in (diagram.svg, wb.timeline(trace, findings=found).svg):
        ET.fromstring(picture.encode())
    with suppress(ValueError):  # too long, and it says so
        diagram.mermaid().encode()
    for grid in (
        views.calls_table(trace),
        views.approvals_table(trace),
        views.findings_table(found),
        views.sources_table(trace),
    ):
        for form in (grid.html, grid.text, grid.to_markdown()):
            form.encode()
    wb.markdown(trace, found).encode()
    terminal(trace, found).encode()
    for name in ("sources", "problems", "events", "requests", "runs", "parts", "calls", "approvals"):
        getattr(trace, name)
    assert len(found.frame) == len(found)
    return trace, found
