"""What attributes, messages and log lines say about tool calls, in every convention."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.readers.telemetry import cut_json, log_lines, mapping, messages
from workbench.readers.telemetry.rows import LogRow, SpanRow

CONVENTIONS = {
    "gen-ai": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "c1",
               "gen_ai.tool.call.arguments": '{"bay":1}', "gen_ai.tool.call.result": "ok", "gen_ai.conversation.id": "t"},
    "adk": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "c1",
            "gcp.vertex.agent.tool_call_args": '{"bay":1}', "gcp.vertex.agent.tool_response": "ok", "session.id": "t"},
    "pydantic-ai": {"gen_ai.tool.name": "move", "gen_ai.tool.call.id": "c1", "tool_arguments": '{"bay":1}',
                    "tool_response": "ok", "gen_ai.conversation.id": "t"},
    "vercel": {"ai.operationId": "ai.toolCall", "ai.toolCall.id": "c1", "ai.toolCall.name": "move",
               "ai.toolCall.args": '{"bay":1}', "ai.toolCall.result": "ok", "ai.telemetry.metadata.threadId": "t"},
    "openinference": {"openinference.span.kind": "TOOL", "tool_call.id": "c1", "tool.name": "move",
                      "input.value": '{"bay":1}', "output.value": "ok", "session.id": "t"},
    "openllmetry": {"traceloop.span.kind": "tool", "gen_ai.tool.call.id": "c1", "traceloop.entity.name": "move",
                    "traceloop.entity.input": '{"bay":1}', "traceloop.entity.output": "ok",
                    "traceloop.association.properties.thread_id": "t"},
    "mcp": {"mcp.method.name": "tools/call", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": {"bay": 1}, "gen_ai.tool.call.result": "ok", "session.id": "t",
            "mcp.session.id": "no-thread"},
}  # fmt: skip


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_tool_span(name):
    attributes = CONVENTIONS[name]
    facts = mapping.facts(SpanRow(name="a tool", attributes=attributes))
    said = (facts.operation, facts.call_id, facts.tool, facts.arguments, facts.result, facts.thread)
    assert said == ("execute_tool", "c1", "move", '{"bay":1}', "ok", "t")
    texts = {key: value for key, value in attributes.items() if key in mapping.LIFTED}
    lifted = mapping.lift(texts, "a tool")
    assert (lifted.operation, lifted.call_id, lifted.tool, lifted.thread) == (
        "execute_tool",
        "c1",
        "move",
        "t",
    )


def test_every_key_stands_once_in_the_table():
    keys = [
        key
        for convention in mapping.CONVENTIONS
        for field in mapping.FIELDS
        for key in getattr(convention, field)
    ]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("attributes", "call_id", "doubt"),
    [
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "unknown"}, None, "unknown"),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move", "gen_ai.tool.call.id": "move"}, "move", "tool-name"),
        ({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "move"}, None, ""),
        ({"gen_ai.operation.name": "chat", "gen_ai.tool.call.id": "c1"}, None, ""),
    ],
)  # fmt: skip
def test_call_ids_that_are_none(attributes, call_id, doubt):
    facts = mapping.facts(SpanRow(name="x", attributes=attributes))
    assert (facts.call_id, facts.doubt) == (call_id, doubt)


def test_a_pause_is_no_failure_of_the_tool():
    event = {
        "name": "exception",
        "attributes": {"exception.type": "langgraph.errors.GraphInterrupt", "exception.message": "x"},
    }
    row = SpanRow(name="execute_tool move", status="error", events=[event])
    assert mapping.facts(row).paused == "GraphInterrupt"
    assert mapping.facts(row).error == "langgraph.errors.GraphInterrupt: x"
    assert mapping.facts(SpanRow(name="execute_tool move", status="error", message="disk full")).paused == ""
    pending = SpanRow(
        name="execute_tool move", attributes={"gen_ai.tool.call.result": '{"status": "pending"}'}
    )
    assert mapping.facts(pending).paused == "pending"


CALL = {"type": "tool_call", "id": "c1", "name": "move", "arguments": '{"bay":1}'}
RESULT = {"type": "tool_call_response", "id": "c1", "response": "done"}
ASKED = [{"role": "assistant", "direction": "output", "parts": [CALL]}]
TOLD = [{"role": "tool", "direction": "input", "parts": [RESULT]}]
OUTPUTS = {
    "gen-ai": {"gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [{**CALL, "arguments": {"bay": 1}}]}])},
    "structured": {"gen_ai.output.messages": [{"role": "assistant", "parts": [CALL]}]},
    "openinference": {"llm.output_messages.0.message.role": "assistant",
                      "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
                      "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "move",
                      "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"bay":1}'},
    "openinference-ordered": {"llm.output_messages.0.message.role": "assistant",
                              "llm.output_messages.0.message.contents.0.tool_call.id": "c1",
                              "llm.output_messages.0.message.contents.0.tool_call.function.name": "move",
                              "llm.output_messages.0.message.contents.0.tool_call.function.arguments": '{"bay":1}'},
    "openllmetry": {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.tool_calls.0.id": "c1",
                    "gen_ai.completion.0.tool_calls.0.name": "move",
                    "gen_ai.completion.0.tool_calls.0.arguments": '{"bay":1}'},
    "vercel": {"ai.response.toolCalls": json.dumps([{"toolCallId": "c1", "toolName": "move", "input": {"bay": 1}}])},
    "adk": {"gcp.vertex.agent.llm_response": json.dumps(
        {"content": {"role": "assistant", "parts": [{"function_call": {"id": "c1", "name": "move", "args": {"bay": 1}}}]}})},
    "anthropic": {"gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "move", "input": {"bay": 1}}]}])},
    "openai": {"langfuse.observation.output": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "move", "arguments": '{"bay":1}'}}]}},
}  # fmt: skip
INPUTS = {
    "gen-ai": {"gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [RESULT]}])},
    "registry-example": {"gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [
        {"type": "tool_call_response", "id": "c1", "result": "done"}]}])},
    "openinference": {"llm.input_messages.0.message.role": "tool", "llm.input_messages.0.message.tool_call_id": "c1",
                      "llm.input_messages.0.message.content": "done"},
    "openllmetry": {"gen_ai.prompt.0.role": "tool", "gen_ai.prompt.0.tool_call_id": "c1", "gen_ai.prompt.0.content": "done"},
    "vercel": {"ai.prompt.messages": json.dumps([{"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "c1", "output": {"type": "text", "value": "done"}}]}])},
}  # fmt: skip


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_call_in_what_a_model_gave(name):
    assert messages.of_span(SpanRow(attributes=OUTPUTS[name])) == ASKED


@pytest.mark.parametrize("name", INPUTS)
def test_a_result_in_what_a_model_was_given(name):
    assert messages.of_span(SpanRow(attributes=INPUTS[name])) == TOLD


@pytest.mark.parametrize(
    "row",
    [
        LogRow(event="gen_ai.tool.message", body={"id": "c1", "content": "done"}),
        LogRow(body='{"id":"c1","content":"done"}'),
        LogRow(event="gen_ai.tool.message", body={"role": "tool", "parts": [RESULT]}),
        LogRow(
            event="gen_ai.client.inference.operation.details",
            attributes={"gen_ai.input.messages": [{"role": "tool", "parts": [RESULT]}]},
        ),
    ],
    ids=["event", "aspire", "agent-framework-1.10", "details"],
)
def test_a_result_in_a_log_record(row):
    assert messages.of_log(row) == TOLD
    assert log_lines.fact_of(row).call_id in ("c1", None)


def test_approvals():
    call = {"call_id": "c1", "name": "move", "arguments": '{"bay":1}'}
    framework = [
        {"type": "function_approval_request", "id": "a1", "function_call": call, "user_input_request": True},
        {"type": "function_approval_response", "id": "a1", "approved": False, "function_call": call},
    ]
    dotnet = [
        {"type": "Microsoft.Extensions.AI.ToolApprovalRequestContent",
         "content": json.dumps({"RequestId": "a1", "ToolCall": {"CallId": "c1", "Name": "move", "Arguments": {"bay": 1}}})},
        {"type": "Microsoft.Extensions.AI.ToolApprovalResponseContent",
         "content": json.dumps({"RequestId": "a1", "Approved": False, "ToolCall": {"CallId": "c1", "Name": "move", "Arguments": {"bay": 1}}})},
    ]  # fmt: skip
    for parts in (framework, dotnet):
        row = SpanRow(
            attributes={"gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": parts}])}
        )
        asked, answered = messages.of_span(row)[0]["parts"]
        function = {"id": "c1", "name": "move", "arguments": '{"bay":1}'}
        assert asked == {"type": "function_approval_request", "id": "a1", "function_call": function}
        assert answered == {
            "type": "function_approval_response",
            "id": "a1",
            "function_call": function,
            "approved": False,
        }


def test_an_id_that_was_cut_is_not_there():
    text = json.dumps(
        [{"role": "assistant", "parts": [CALL, {**CALL, "id": "file_access_write::0::7e9f7b66"}]}]
    )
    cut = text[: text.index("7e9f7b66")]
    (message,) = messages.of_span(SpanRow(attributes={"gen_ai.output.messages": cut}))
    assert message["parts"] == [CALL, {"type": "tool_call"}]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9),
                    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)),
       st.floats(0, 1))  # fmt: skip
def test_cut_json_never_invents(value, where):
    text = json.dumps([value])
    assert cut_json.loads(text) == [value]
    found = cut_json.loads(text[: int(len(text) * where)])
    assert found is None or within(found, [value])


def within(part, whole) -> bool:
    """Whether a value is the beginning of another one."""
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) <= len(whole) and all(map(within, part, whole))
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and within(part[key], whole[key]) for key in part)
    return type(part) is type(whole) and part == whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_try_execute_function_calls: tool_map keys=['a', 'b'], approval_tools={'b'}", {"kind": "tool-map", "tools": ("a", "b"), "approval_tools": ("b",)}),
        ("_try_execute_function_calls: tool_map keys=[], approval_tools=set()", {"kind": "tool-map", "tools": (), "approval_tools": ()}),
        ("Checking function call: type=function_call, name=move, in approval_tools=True", {"kind": "checking", "tool": "move", "gated": True}),
        ("Approval needed for function: move", {"kind": "approval-needed", "tool": "move"}),
        ("Function name: move", {"kind": "invoking", "tool": "move"}),
        ("Function arguments: {'bay': 1}", {"kind": "arguments", "text": "{'bay': 1}"}),
        ("Function move succeeded.", {"kind": "succeeded", "tool": "move"}),
        ("Function result: done\nand more", {"kind": "result", "text": "done\nand more"}),
        ("Function failed. Error: disk full", {"kind": "failed", "text": "disk full"}),
        ("Function 'move' raised an exception; returning an error result. Exception: OSError()", {"kind": "failed", "tool": "move", "text": "OSError()"}),
        ("Rejected approval response id=a1: no matching approval occurrence", {"kind": "approval-refused", "approval_id": "a1"}),
        ("Skipping local approval without lifecycle authority for call_id=c1.", {"kind": "approval-skipped", "call_id": "c1"}),
        ("Injecting synthetic tool result for pending call_id=c1", {"kind": "synthetic-result", "call_id": "c1"}),
        ("Invoking move.", {"kind": "invoking", "tool": "move"}),
        ("move invocation completed. Duration: 00:00:00.0012. Result: done", {"kind": "succeeded", "tool": "move", "text": "done"}),
    ],
)  # fmt: skip
def test_log_lines(text, expected):
    fact = log_lines.line_fact(text)
    assert {key: getattr(fact, key) for key in expected} == expected


def test_lifecycle_transitions_say_what_their_attributes_say():
    attributes = {
        "approval_event": "claimed",
        "approval_occurrence_id": "o1",
        "approval_status": "executing",
        "approval_owner": "local",
    }
    fact = log_lines.line_fact("AG-UI approval lifecycle transition", attributes)
    assert (fact.kind, fact.event, fact.approval_id, fact.status, fact.owner) == (
        "lifecycle",
        "claimed",
        "o1",
        "executing",
        "local",
    )


def test_other_lines_say_nothing():
    assert log_lines.line_fact("Function keys are on the left") is None
    assert log_lines.line_fact("the tool invocation was long") is None
