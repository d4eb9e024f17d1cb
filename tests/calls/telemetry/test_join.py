"""Telemetry finds its conversation and its run, and counts what was carried out."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb

NS = 1_790_000_000_000_000_000
SECOND = 1_000_000_000


def text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class Otlp:
    """Spans as one OTLP JSON document, times in seconds after the first."""

    def __init__(self) -> None:
        self.spans: list[dict[str, Any]] = []

    def span(self, trace: int, name: str, at: float, length: float = 0.1, *, parent: str = "", error: str = "",
             scope: str = "af", **attributes: Any) -> str:  # fmt: skip
        span = f"{len(self.spans) + 1:016x}"
        self.spans.append({
            "scope": scope,
            "traceId": f"{trace:032x}", "spanId": span, "parentSpanId": parent, "name": name,
            "startTimeUnixNano": str(NS + int(at * SECOND)), "endTimeUnixNano": str(NS + int((at + length) * SECOND)),
            "attributes": [{"key": k, "value": {"stringValue": text(v)}} for k, v in attributes.items()],
            "status": {"code": 2, "message": error} if error else {},
        })  # fmt: skip
        return span

    def tool(self, trace: int, call: str | None, tool: str, at: float, **more: Any) -> str:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if call is not None:
            attributes["gen_ai.tool.call.id"] = call
        return self.span(trace, f"execute_tool {tool}", at, **{**attributes, **more})

    def agent(self, trace: int, at: float, length: float = 1, *, thread: str = "", given: Any = None, gave: Any = None,
              **more: Any) -> str:  # fmt: skip
        attributes: dict[str, Any] = {"gen_ai.operation.name": "invoke_agent"}
        attributes |= {"gen_ai.conversation.id": thread} if thread else {}
        attributes |= {"gen_ai.input.messages": given} if given else {}
        attributes |= {"gen_ai.output.messages": gave} if gave else {}
        return self.span(trace, "invoke_agent a", at, length, **{**attributes, **more})

    def bytes(self) -> bytes:
        scopes: dict[str, list[Any]] = {}
        for span in self.spans:
            scopes.setdefault(span["scope"], []).append({k: v for k, v in span.items() if k != "scope"})
        made = [{"scope": {"name": name}, "spans": spans} for name, spans in scopes.items()]
        return json.dumps({"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": made}]}).encode()


def stream(
    *runs: list[dict[str, Any]], thread: str = "t1", start: float | None = 0, apart: float = 10
) -> bytes:
    """Runs r1, r2, … of a thread as SSE, a tenth of a second between the events, `apart` seconds between runs."""
    lines = []
    for number, events in enumerate(runs):
        ids = {"threadId": thread, "runId": f"r{number + 1}"}
        for position, event in enumerate(
            [{"type": "RUN_STARTED", **ids}, *events, {"type": "RUN_FINISHED", **ids}]
        ):
            if start is not None:
                millis = int((start + number * apart) * 1000) + position * 100
                event = {**event, "timestamp": NS // 1_000_000 + millis}  # noqa: PLW2901
            lines.append(f"data: {json.dumps(event)}\n\n")
    return "".join(lines).encode()


def called(call: str, tool: str = "move", result: str | None = "ok") -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": "{}"},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]
    if result is not None:
        told = {"type": "TOOL_CALL_RESULT", "messageId": f"m-{call}", "toolCallId": call, "content": result}
        events.append(told)
    return events


def runs_of(trace: wb.Trace) -> list[list[int]]:
    return [run.spans for run in trace.conversations[0].runs]


def test_by_call_id_where_nothing_names_the_conversation():
    otlp = Otlp()
    otlp.tool(1, "c1", "move", 0.2)
    trace = wb.load(stream(called("c1")), otlp.bytes())
    assert trace.spans[["thread_id", "joined"]].to_numpy().tolist() == [["t1", "call id"]]
    assert trace.calls[["executed", "joined", "signals"]].to_numpy().tolist() == [
        [1, "call id", "stream, telemetry"]
    ]


def test_by_conversation_id_where_it_is_the_thread():
    otlp = Otlp()
    otlp.agent(1, 0, thread="t1")
    trace = wb.load(stream(called("c1")), otlp.bytes())
    assert trace.spans.joined.tolist() == ["conversation id"]


def test_a_conversation_id_of_another_kind_follows_the_calls():
    otlp = Otlp()
    root = otlp.agent(1, 0, thread="service-side-17")
    otlp.tool(1, "c1", "move", 0.2, parent=root)
    otlp.agent(2, 10, thread="service-side-17")
    trace = wb.load(stream(called("c1"), []), otlp.bytes())
    assert trace.spans.thread_id.tolist() == ["t1"] * 3
    assert trace.spans.joined.tolist() == ["call id", "call id", "conversation id"]
    assert runs_of(trace) == [[0, 1], [2]]


def test_by_time_only_where_one_thread_had_a_run_then():
    otlp = Otlp()
    otlp.agent(1, 0.1, 0.2)
    assert wb.load(stream(called("c1")), otlp.bytes()).spans.joined.tolist() == ["time"]
    both = wb.load(stream(called("c1")), stream(called("c2"), thread="t2"), otlp.bytes())
    assert both.spans.joined.isna().all()


def test_telemetry_of_another_thread_stays_apart():
    otlp = Otlp()
    otlp.agent(1, 0, thread="t9")
    trace = wb.load(stream(called("c1")), otlp.bytes())
    assert [c.thread_id for c in trace.conversations] == ["t1", "t9"]


@pytest.mark.parametrize("hours", [-1, 1])
def test_clocks_that_differ_are_compared(hours):
    otlp = Otlp()
    for number in (1, 2):
        otlp.tool(number, f"c{number}", "move", (number - 1) * 10 + 0.2 + hours * 3600)
    otlp.agent(3, 20 + hours * 3600, 0.1, thread="t1")
    trace = wb.load(stream(called("c1"), called("c2"), []), otlp.bytes())
    assert runs_of(trace) == [[0], [1], [2]]
    (note,) = trace.conversations[0].notes
    assert ("behind" if hours < 0 else "ahead of") in note
    assert "3,600" in note or "3600" in note or "3599" in note


def test_without_times_ids_and_order_tell_the_run():
    otlp = Otlp()
    otlp.tool(1, "c1", "move", 0)
    otlp.agent(2, 30, thread="t1")
    otlp.tool(3, "c3", "move", 60)
    trace = wb.load(stream(called("c1"), [], called("c3"), start=None), otlp.bytes())
    assert runs_of(trace) == [[0], [1], [2]]


def test_a_run_that_the_stream_lacks_is_a_run_of_its_own():
    otlp = Otlp()
    otlp.tool(1, "c1", "move", 0.2)
    otlp.tool(2, "c1", "move", 500)
    trace = wb.load(stream(called("c1")), otlp.bytes())
    assert runs_of(trace) == [[0], [1]]
    assert trace.calls.executed.tolist() == [2]


def test_two_views_of_one_execution_are_one():
    otlp = Otlp()
    outer = otlp.tool(1, "c1", "move", 0.2, length=0.2)
    otlp.tool(1, "c1", "move", 0.25, parent=outer, scope="openinference")
    otlp.tool(1, "c1", "move", 0.22, scope="other")
    trace = wb.load(otlp.bytes())
    assert trace.calls.executed.tolist() == [1]


def test_a_pause_is_no_execution():
    otlp = Otlp()
    otlp.tool(1, "c1", "ask", 0, error="GraphInterrupt()")
    otlp.tool(2, "c1", "ask", 9)
    trace = wb.load(otlp.bytes())
    assert trace.calls.executed.tolist() == [1]
    assert [e.pause for e in trace.conversations[0].calls[0].executions] == ["GraphInterrupt", ""]


def test_a_span_without_id_is_inferred_where_one_call_fits():
    otlp = Otlp()
    otlp.agent(1, 0, thread="t1")
    otlp.tool(1, None, "move", 0.2, parent="0000000000000001")
    one = wb.load(stream(called("c1")), otlp.bytes())
    assert one.calls[["executed", "joined"]].to_numpy().tolist() == [[1, "inferred"]]
    two = wb.load(stream([*called("c1"), *called("c2")]), otlp.bytes())
    assert two.calls.joined.isna().all()
    assert len(two.conversations[0].loose) == 1


def test_an_id_that_is_the_tools_name_is_a_new_call_in_a_new_turn():
    otlp = Otlp()
    for number, said in enumerate(["up", "down"]):
        given = [{"role": "user", "parts": [{"type": "text", "content": said}]}]
        root = otlp.agent(number + 1, number * 10, thread="t1", given=given)
        otlp.tool(number + 1, "move", "move", number * 10 + 0.1, parent=root)
    trace = wb.load(otlp.bytes())
    assert trace.calls[["call_id", "occurrence", "executed"]].to_numpy().tolist() == [
        ["move", 0, 1],
        ["move", 1, 1],
    ]
    assert not [f for f in wb.check(trace) if f.severity != "info"]


def asks(call: str, approval: str) -> list[dict[str, Any]]:
    function = {"call_id": call, "name": "move", "arguments": '{"bay":1}'}
    request = {"type": "function_approval_request", "id": approval, "function_call": function}
    asked = {"type": "tool_call", "id": call, "name": "move", "arguments": '{"bay":1}'}
    return [{"role": "assistant", "parts": [asked, request]}]


def answers(call: str, approval: str, *, approved: bool, bay: int = 1) -> list[dict[str, Any]]:
    function = {"call_id": call, "name": "move", "arguments": {"bay": bay}}
    part = {
        "type": "function_approval_response",
        "id": approval,
        "approved": approved,
        "function_call": function,
    }
    return [
        {"role": "user", "parts": [{"type": "text", "content": "move it"}]},
        {"role": "user", "parts": [part]},
    ]


@pytest.mark.parametrize(
    ("approved", "bay", "ran", "decision", "state"),
    [
        (True, 1, True, "approved", "executed"),
        (True, 2, True, "edited", "executed"),
        (True, 1, False, "approved", "lost"),
        (False, 1, False, "rejected", "answered"),
    ],
)
def test_approvals_of_telemetry_alone(approved, bay, ran, decision, state):
    otlp = Otlp()
    given = [{"role": "user", "parts": [{"type": "text", "content": "move it"}]}]
    otlp.agent(1, 0, thread="t1", given=given, gave=asks("c1", "a1"))
    root = otlp.agent(2, 9, thread="t1", given=answers("c1", "a1", approved=approved, bay=bay))
    if ran:
        otlp.tool(2, "c1", "move", 9.1, parent=root)
    trace = wb.load(otlp.bytes())
    assert trace.approvals[["approval_id", "decision", "state"]].to_numpy().tolist() == [
        ["a1", decision, state]
    ]


def test_the_decision_that_no_request_shows_is_told_by_the_messages():
    interrupt = {"type": "interrupt", "interrupts": [{"id": "a1", "reason": "tool_call", "toolCallId": "c1"}]}
    body = stream(called("c1", result=None), []).replace(
        b'{"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"',
        b'{"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": '
        + json.dumps(interrupt).encode(),
    )
    otlp = Otlp()
    otlp.agent(1, 0, 0.3, thread="t1", gave=asks("c1", "a1"))
    otlp.agent(2, 10, 0.3, thread="t1", given=answers("c1", "a1", approved=False))
    assert wb.load(body).approvals.decision.tolist() == ["none"]
    assert wb.load(body, otlp.bytes()).approvals.decision.tolist() == ["rejected"]


def log(number: int, message: str) -> dict[str, Any]:
    return {
        "logId": number,
        "message": message,
        "severity": "Debug",
        "source": "agent_framework",
        "resourceName": "web",
    }


def test_a_log_line_that_names_a_tool_is_put_to_its_only_call():
    asked = json.dumps({"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "move"}]})
    logs = [log(7, asked), log(8, "Approval needed for function: move"), log(9, "Function move succeeded.")]
    trace = wb.load(json.dumps(logs).encode())
    assert trace.logs[["call_id", "call_from"]].to_numpy().tolist() == [
        ["c1", "call id"],
        ["c1", "inferred"],
        ["c1", "inferred"],
    ]
    assert trace.calls[["executed", "joined"]].to_numpy().tolist() == [[1, "inferred"]]


def test_several_turns_inside_one_trace_are_several_runs():
    otlp = Otlp()
    script = otlp.span(1, "script", 0, 30)
    for number in range(3):
        otlp.agent(1, number * 10, thread="t1", parent=script)
    trace = wb.load(otlp.bytes())
    assert [len(run.roots) for run in trace.conversations[0].runs] == [1, 1, 1]


def test_selecting_a_thread_keeps_its_telemetry_only():
    otlp = Otlp()
    otlp.agent(1, 0, thread="t1")
    otlp.agent(2, 0, thread="t2")
    trace = wb.load(stream(called("c1")), otlp.bytes())
    assert [c.thread_id for c in trace.select(thread="t1").conversations] == ["t1"]
    assert trace.select(thread="t2").spans.thread_id.tolist() == ["t2"]
