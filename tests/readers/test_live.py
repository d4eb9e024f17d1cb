"""Live objects are read as the files that they would have become."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace

import pandas as pd
import pytest
from ag_ui import core
from agent_framework import AgentResponse, AgentSession, Content, Message

import workbench as wb

RUN = [
    {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1", "timestamp": 1_790_000_000_000},
    {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "look"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": '{"at": 1}'},
    {"type": "TOOL_CALL_END", "toolCallId": "c1"},
    {"type": "TOOL_CALL_RESULT", "messageId": "m1", "toolCallId": "c1", "content": '{"seen": true}'},
    {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1", "outcome": {"type": "success"}},
]


def objects():
    made = (
        core.RunStartedEvent(thread_id="t1", run_id="r1", timestamp=1_790_000_000_000),
        core.ToolCallStartEvent(tool_call_id="c1", tool_call_name="look"),
        core.ToolCallArgsEvent(tool_call_id="c1", delta='{"at": 1}'),
        core.ToolCallEndEvent(tool_call_id="c1"),
        core.ToolCallResultEvent(message_id="m1", tool_call_id="c1", content='{"seen": true}'),
        core.RunFinishedEvent(thread_id="t1", run_id="r1"),
    )
    return list(made)


def frame():
    return pd.DataFrame(RUN)


FORMS = {
    "dictionaries": lambda: list(RUN),
    "objects": objects,
    "tuple": lambda: tuple(objects()),
    "frame of fields": frame,
    "frame of dictionaries": lambda: pd.DataFrame({"event": RUN}),
    "frame of texts": lambda: pd.DataFrame({"raw": [json.dumps(e, indent=1) for e in RUN]}),
    "frame of events with ids": lambda: pd.DataFrame({"threadId": "t1", "data": RUN}),
}


@pytest.mark.parametrize("form", FORMS)
def test_events_in_any_form_give_the_same_tables(form):
    trace = wb.load(FORMS[form]())
    assert not len(trace.problems)
    assert trace.events.type.tolist() == [event["type"] for event in RUN]
    (call,) = trace.calls.to_dict("records")
    assert (call["call_id"], call["tool"], call["arguments"]) == ("c1", "look", '{"at":1}')
    assert (call["result"], call["result_class"]) == ('{"seen": true}', "ok")
    assert trace.runs.thread_id.tolist() == ["t1"]
    assert trace.events.time[0] == pd.Timestamp(1_790_000_000_000, unit="ms", tz="UTC")
    assert json.loads(trace.raw(1))["toolCallId"] == "c1"
    assert not len(wb.check(trace))


def test_requests_beside_events():
    request = core.RunAgentInput(
        thread_id="t1", run_id="r1", state={}, tools=[], context=[], forwarded_props={},
        messages=[core.UserMessage(id="u1", role="user", content="Hello")],
    )  # fmt: skip
    trace = wb.load([request, *objects()])
    assert (len(trace.requests), len(trace.events)) == (1, 6)


def test_a_frame_with_a_row_that_is_no_event_costs_that_row():
    damaged = pd.DataFrame({"event": [*map(json.dumps, RUN[:3]), "{oops", None, *map(json.dumps, RUN[3:])]})
    trace = wb.load(damaged)
    assert len(trace.events) == 6
    assert len(trace.problems) == 2
    assert trace.sources.records[0] == 8


def history():
    call = Content.from_function_call(call_id="c1", name="deploy", arguments={"to": "prod"})
    call.id = "af-1"
    asked = Content.from_function_approval_request(id="af-1", function_call=call)
    return [
        Message("user", ["Deploy"]),
        Message("assistant", [Content.from_text("Well."), call, asked], message_id="a1"),
        Message(
            "user", [Content.from_function_approval_response(approved=True, id="af-1", function_call=call)]
        ),
        Message("tool", [Content.from_function_result(call_id="c1", result="deployed")]),
        Message("assistant", ["Done."]),
    ]


def session():
    made = AgentSession(session_id="s-1")
    made.state["memory"] = {"messages": history()}
    return made


@pytest.mark.parametrize(
    ("source", "thread"),
    [
        (history, "messages"),
        (session, "s-1"),
        (lambda: AgentResponse(messages=history()), "messages"),
        (lambda: [m.to_dict() for m in history()], "messages"),
    ],
)
def test_messages_of_agent_framework(source, thread):
    trace = wb.load(source())
    (call,) = trace.calls.to_dict("records")
    assert (call["thread_id"], call["call_id"], call["tool"]) == (thread, "c1", "deploy")
    assert (call["arguments"], call["result"]) == ('{"to":"prod"}', "deployed")
    assert [p for p in trace.parts.kind if p in ("call", "result")] == ["call", "result"]
    assert trace.parts.role.tolist()[0] == "user"


def test_spans_and_logs_of_the_sdk():
    from opentelemetry import trace as api
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("scope-1", "2.0")
    with tracer.start_as_current_span("invoke_agent"):
        span = tracer.start_span("execute_tool deploy", kind=api.SpanKind.INTERNAL)
        span.set_attributes(
            {"gen_ai.tool.call.id": "c1", "gen_ai.tool.name": "deploy", "n": [1, 2], "f": 0.5}
        )
        span.record_exception(ValueError("no such target"))
        span.set_status(api.StatusCode.ERROR, "no such target")
        span.end()
    spans = kept.get_finished_spans()
    logs_kept = InMemoryLogRecordExporter()
    logging = LoggerProvider()
    logging.add_log_record_processor(SimpleLogRecordProcessor(logs_kept))
    logging.get_logger("log-scope").emit(
        timestamp=1_790_000_000_000_000_000,
        body={"role": "user", "parts": [1, None, True]},
        event_name="said",
    )
    for source in (list(spans), kept):
        trace = wb.load(source)
        tool, agent = trace.spans.to_dict("records")
        assert (tool["call_id"], tool["tool"], tool["status"]) == ("c1", "deploy", "error")
        assert tool["parent_span_id"] == agent["span_id"]
        assert tool["trace_id"] == f"{spans[0].context.trace_id:032x}"
        assert trace.attributes(0)["n"] == [1, 2]
        assert trace.attributes(0)["f"] == 0.5
    mixed = wb.load([*spans, *logs_kept.get_finished_logs()])
    assert (len(mixed.spans), len(mixed.logs)) == (2, 1)
    assert mixed.sources.path.tolist() == ["<spans>", "<logs>"]
    assert len(wb.load(logs_kept).logs) == 1


@pytest.mark.parametrize(
    "source",
    [[], [object()], [1, 2], object(), 7, [None], {"a": 1}, SimpleNamespace(state={}, session_id="x")],
)
def test_anything_else_is_a_problem_and_never_raises(source):
    trace = wb.load(source)
    assert len(trace.problems) >= 1
    assert trace.events.empty
    with pytest.raises(wb.LoadError):
        wb.load(source, strict=True)


def test_the_item_that_is_wrong_is_named():
    (reason,) = wb.load([*objects(), math]).problems.reason
    assert "item 6 of the list is of type builtins.module" in reason


def test_an_object_that_raises_is_a_problem():
    class Hostile:
        def model_dump(self, **_):
            raise RuntimeError("not today")

    (reason,) = wb.load([Hostile()]).problems.reason
    assert "RuntimeError: not today" in reason


def test_a_list_of_names_is_a_list_of_sources(root):
    paths = [root / "traces/approval.har", "sample:healthy"]
    assert len(wb.load(paths).sources) == 2
