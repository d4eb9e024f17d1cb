"""The derived tables as DataFrames: records and conversations written out row by row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench import model
from workbench.calls import decisions, results
from workbench.calls.conversation import Approval, At, Call, Run
from workbench.calls.story import Story
from workbench.calls.when import time_of
from workbench.readers.records import NO_TIME, Records

if TYPE_CHECKING:
    import pandas as pd


def _frame(table: model.Table, rows: Iterable[dict[str, Any]]) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {column.name: [] for column in table.columns}
    for row in rows:
        for name, values in columns.items():
            values.append(row.get(name))
    return table.frame(columns)


def _none(value: int) -> int | None:
    return None if value < 0 else value


def sources(records: Records) -> pd.DataFrame:
    """Files, members and streams, with their counts."""
    return _frame(model.SOURCES, (
        {
            "path": s.path, "member": s.member, "format": s.format, "bytes": s.bytes, "records": s.records,
            "rows": s.rows, "duplicates": s.duplicates, "ignored": s.ignored.total(), "problems": s.problems,
            "complete": s.complete, "note": s.note,
        }
        for s in records.sources
    ))  # fmt: skip


def problems(records: Records) -> pd.DataFrame:
    """Input that could not be used."""
    return _frame(model.PROBLEMS, (
        {
            "source": p.source, "path": records.sources[p.source].path, "member": p.member, "record": p.record,
            "line": p.line, "offset": p.offset, "reason": p.reason, "excerpt": p.excerpt,
        }
        for p in records.problems
    ))  # fmt: skip


def events(records: Records, story: Story) -> pd.DataFrame:
    """Column by column: this is the one table that may be long."""
    e = records.events
    rows = range(len(e))
    runs = [story.runs[number] for number in story.run_of]
    columns: dict[str, list[Any]] = {
        "source": list(e.source), "record": list(e.record), "line": [_none(v) for v in e.line],
        "offset": [_none(v) for v in e.offset], "length": list(e.length), "stream": list(e.stream),
        "thread_id": [run.thread_id for run in runs], "run_id": [run.run_id for run in runs],
        "run": [run.row for run in runs], "sequence": list(story.sequence),
        "time": [None if v == NO_TIME else v for v in e.time],
        "time_source": [model.TIME_SOURCES[v] for v in e.time_source],
        "type": list(records.texts(e.type)), "message_id": list(records.texts(e.message)),
        "parent_message_id": list(records.texts(e.parent)), "call_id": list(records.texts(e.call)),
        "name": list(records.texts(e.name)), "role": list(records.texts(e.role)),
        "subagent_run_id": list(records.texts(e.subagent)), "text": [_event_text(records, row) for row in rows],
    }  # fmt: skip
    return model.EVENTS.frame(columns)


def _event_text(records: Records, row: int) -> str | None:
    event = records.json(row)
    for key in ("delta", "content", "message"):
        value = event.get(key)
        if value is not None:
            return value if isinstance(value, str) else results.text_of(value)
    return None


def runs(records: Records, story: Story) -> pd.DataFrame:
    """Runs with a start or an end, in order of appearance."""

    def row(run: Run) -> dict[str, Any]:
        started, source = time_of(records, run.start)
        ended, end_source = time_of(records, run.end)
        return {
            "thread_id": run.thread_id, "run_id": run.run_id, "turn": run.turn, "started": started, "ended": ended,
            "time_source": source if started is not None else end_source, "outcome": run.outcome,
            "error_code": run.error_code or None, "error": run.error or None, "events": run.events,
            "start_event": run.start, "end_event": run.end, "request": run.request,
            "parent_run_id": run.parent_run_id or None, "stream": run.stream, "producer": run.producer,
            "producer_evidence": run.producer_evidence, "complete": run.complete,
        }  # fmt: skip

    kept = sorted((run for run in story.runs if run.row is not None), key=lambda run: run.row or 0)
    return _frame(model.RUNS, map(row, kept))


def requests(records: Records, story: Story) -> pd.DataFrame:
    """Requests to an agent, with the answers they carry."""
    by_request = {run.request: run for run in story.runs if run.request is not None}

    def row(number: int) -> dict[str, Any]:
        r = records.requests[number]
        run = by_request.get(number)
        time, source = time_of(records, At("request", number))
        tools = r.body.get("tools")
        names = [str(t.get("name")) for t in tools if isinstance(t, dict)] if isinstance(tools, list) else []
        answers = [given.payload for given in decisions.resume_entries(r.body)]
        messages = r.body.get("messages")
        return {
            "source": r.source, "record": r.record, "line": r.line, "offset": r.offset, "length": r.length,
            "thread_id": _id(r.body, "threadId", "thread_id"), "run_id": _id(r.body, "runId", "run_id"),
            "run": run.row if run else None, "time": time, "time_source": source, "status": r.status,
            "url": r.url or None, "messages": len(messages) if isinstance(messages, list) else 0,
            "tools": ", ".join(names), "resume": results.text_of(_resume(r.body)) if answers else None,
            "carrier": "body" if r.event is None else "event",
        }  # fmt: skip

    return _frame(model.REQUESTS, map(row, range(len(records.requests))))


def _id(body: dict[str, Any], *keys: str) -> str | None:
    return next((v for k in keys if isinstance(v := body.get(k), str)), None)


def _resume(body: dict[str, Any]) -> Any:
    if body.get("resume") is not None:
        return body["resume"]
    props = body.get("forwardedProps", body.get("forwarded_props"))
    props = props if isinstance(props, dict) else {}
    return props.get("command", props.get("resume"))


def parts(records: Records, story: Story) -> pd.DataFrame:
    """Content parts of all message lists, list by list."""

    def rows() -> Iterable[dict[str, Any]]:
        for conversation in story.conversations:
            for items in (*conversation.lists, *conversation.told):
                place = _place(records, items.at)
                shared = {**place, "place": items.place, "thread_id": items.run.thread_id,
                          "run_id": items.run.run_id, "list": items.number}  # fmt: skip
                for part in items.parts:
                    call = part.kind == "call"
                    asks = part.kind.startswith("approval-")
                    yield {
                        **shared, "position": part.position, "message_id": part.message_id or None,
                        "role": part.role or None, "kind": part.kind,
                        "call_id": part.call_id if call or asks or part.kind == "result" else None,
                        "name": part.name if call or asks else None,
                        "arguments": part.arguments if call or asks else None,
                        "content": None if call else part.content, "approval_id": part.approval_id or None,
                        "hosted": part.hosted, "path": part.path or None,
                    }  # fmt: skip

    return _frame(model.PARTS, rows())


def _place(records: Records, at: At) -> dict[str, Any]:
    if at.kind in ("span", "log"):
        rows = records.spans if at.kind == "span" else records.logs
        return {"source": rows.source[at.row], "record": rows.record[at.row], "line": _none(rows.line[at.row]),
                "offset": _none(rows.offset[at.row]), "length": rows.length[at.row]}  # fmt: skip
    if at.kind != "event":
        r = (records.requests if at.kind == "request" else records.payloads)[at.row]
        if r.event is None:
            return {
                "source": r.source,
                "record": r.record,
                "line": r.line,
                "offset": r.offset,
                "length": r.length,
            }
        at = At("event", r.event)
    e = records.events
    return {"source": e.source[at.row], "record": e.record[at.row], "line": _none(e.line[at.row]),
            "offset": _none(e.offset[at.row]), "length": e.length[at.row]}  # fmt: skip


def calls(records: Records, story: Story) -> pd.DataFrame:
    """Call occurrences, conversation by conversation."""

    def row(call: Call) -> dict[str, Any]:
        asked, source = time_of(records, call.at)
        ended = next((s.end for s in call.starts if s.end is not None), None)
        first = next((r for r in call.results if not r.decision), None)
        streamed = next((r.at.row for r in call.streamed if not r.decision), None)
        shown = _counting_result(call)
        return {
            "thread_id": call.thread_id, "call_id": call.id, "occurrence": call.occurrence, "tool": call.tool,
            "arguments": call.arguments, "turn": call.turn, "asked_run": call.run.run_id, "asked": asked,
            "ended": time_of(records, ended)[0], "answered": time_of(records, first.at)[0] if first else None,
            "time_source": source, "asked_event": call.at.row if call.at.kind == "event" else None,
            "ended_event": ended, "answered_event": streamed, "answered_run": first.run.run_id if first else None,
            "executed": executions(call), "result": shown.content if shown else None,
            "result_class": shown.cls if shown else "none",
            "approval_id": call.approvals[0].id if call.approvals else None, "client_side": call.client_side,
            "synthetic_for": call.synthetic_for, "message_id": call.parent or None, "signals": signals(call),
            "joined": call.executions[0].joined if call.executions else None,
        }  # fmt: skip

    return _frame(model.CALLS, (row(call) for c in story.conversations for call in c.calls))


def _counting_result(call: Call) -> Any:
    """The result that counts: a real one before a placeholder, the stream before the lists."""
    real = [r for r in call.results if not r.decision]
    rank = {"ok": 0, "error": 1, "refusal": 2, "placeholder": 3}
    return min(real, key=lambda r: (rank[r.cls], r.place != "stream"), default=None)


def executions(call: Call) -> int:
    """Executions that can be told apart: a first real result, and each later run with a different one."""
    seen: list[tuple[Run, str]] = []
    for result in call.real_results:
        if result.place != "stream" and seen:
            continue
        if all(result.content != content and result.run is not run for run, content in seen):
            seen.append((result.run, result.content))
    return max(len(seen), sum(e.ran for e in call.executions))


def signals(call: Call) -> str:
    """What saw the call, comma separated."""
    places = {items.place for items, _ in (*call.listed, *call.told)}
    if call.starts or call.streamed:
        places.add("stream")
    if call.executions:
        places.add("telemetry")
    return ", ".join(place for place in model.PLACES if place in places)


def approvals(records: Records, story: Story) -> pd.DataFrame:
    """Approvals, conversation by conversation."""

    def row(approval: Approval) -> dict[str, Any]:
        asked, source = time_of(records, approval.at)
        answer = next(iter(approval.accepted or approval.answers), None)
        first = approval.asks[0]
        return {
            "thread_id": approval.run.thread_id, "approval_id": approval.id, "call_id": approval.call_id or None,
            "occurrence": approval.call.occurrence if approval.call else None, "tool": approval.tool or None,
            "arguments": approval.arguments, "channel": ", ".join(approval.channels),
            "reason": next((a.reason for a in approval.asks if a.reason and a.channel != "confirm-call"), first.reason),
            "question": next((a.question for a in approval.asks if a.question), None),
            "asked_run": approval.run.run_id, "asked": asked,
            "asked_event": approval.at.row if approval.at.kind == "event" else None,
            "expires": next((a.expires for a in approval.asks if a.expires is not None), None),
            "decision": approval.decision, "answered_run": answer.run.run_id if answer else None,
            "answered": time_of(records, answer.at)[0] if answer else None,
            "form": answer.form or None if answer else None, "time_source": source, "state": approval.state,
        }  # fmt: skip

    return _frame(model.APPROVALS, (row(a) for c in story.conversations for a in c.approvals))
