"""Every rule that can refuse: the fewest parts touched, the finding gone, none new, the user's words as they were."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from workbench.providers import RULES
from workbench.providers.repair import apply

from .judged import URLS, checked, refused, repaired, sent

ASK = {"role": "user", "content": "paint the fence"}
NEXT = {"role": "user", "content": "and the gate?"}
DEEPSEEK = "https://api.deepseek.com/v1/responses"


def call(call_id: str, name: str = "paint", arguments: Any = '{"n":1}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asked(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def told(call_id: str, content: str = "done", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content, **more}


def chat(*messages: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages)}


def item(kind: str, call_id: str, **more: Any) -> dict[str, Any]:
    given = {"name": "paint", "arguments": "{}"} if kind == "function_call" else {"output": "done"}
    return {"type": kind, "call_id": call_id, **given, **more}


def items(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "input": list(given), **more}


def use(call_id: str, name: str = "paint") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}}


def gave(call_id: str, content: str = "done") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def says(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def turn(role: str, *content: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **more}


def parts(role: str, *given: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(given)}


def fn(name: str = "paint", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def answer(name: str = "paint") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "done"}}}


def bed(*messages: dict[str, Any], tools: bool = True) -> dict[str, Any]:
    spec = {"toolSpec": {"name": "paint", "inputSchema": {"json": {}}}}
    return {"messages": list(messages), **({"toolConfig": {"tools": [spec]}} if tools else {})}


def b_use(call_id: str, name: str = "paint") -> dict[str, Any]:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": {}}}


def b_gave(call_id: str, **more: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": call_id, "content": [{"text": "done"}], **more}}


def b_says(text: str) -> dict[str, Any]:
    return {"text": text}


RS = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
FC = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "paint", "arguments": "{}"}
HELD = {"url": URLS["openai-responses"], "status": 200, "request": items(ASK, store=False),
        "response": {"id": "resp_1", "output": [RS, FC]}}  # fmt: skip
LONG = "call_" + "x" * 70
THINK = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
BRUSH = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "paint", "arguments": "{}"}
GRANT = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}

# rule, address, body, what is suggested as "action position (?)" with ? for a placeholder
CASES: list[tuple[str, str, dict[str, Any], list[str]]] = [
    ("R1", "openai-responses", items(ASK, item("function_call_output", "call_1")), ["drop input[1]"]),
    ("R1", "openai-responses", items(ASK, item("function_call", "call_1"), item("function_call_output", "call_2")),
     ["rename input[2]"]),
    ("R2", "openai-responses", items(ASK, item("function_call", "call_1"), NEXT), ["insert behind input[1] ?"]),
    ("R2", "openai-responses", items(ASK, item("function_call", "a"), item("function_call", "b"),
                                     item("function_call_output", "a"), NEXT), ["insert behind input[3] ?"]),
    ("R3", "openai-responses", items(ASK, item("function_call", "call_1"), item("function_call_output", "call_1"),
                                     {**GRANT, "approval_request_id": "call_1"}), ["drop input[3]"]),
    ("R4", "openai-responses", items(ASK, {**FC}, item("function_call_output", "call_1"), {**FC}), ["drop input[3]"]),
    ("R4", "openai-responses", items({"type": "message", "id": "msg_1", **ASK}, {"type": "message", "id": "msg_1", **NEXT}),
     ["rename input[1]"]),
    ("R5", "openai-responses", items(ASK, item("function_call", "call_1"), item("function_call_output", "call_1"),
                                     item("function_call_output", "call_1")), ["drop input[3]"]),
    ("R5", "openai-responses", items(ASK, item("function_call", "call_1"),
                                     item("function_call_output", "call_1", output="Error: Tool call invocation failed."),
                                     item("function_call_output", "call_1", output="green")), ["drop input[2]"]),
    ("R6", "openai-responses", items(ASK, item("function_call", LONG), item("function_call_output", LONG)),
     ["rename input[1]", "rename input[2]"]),
    ("R8", "openai-responses", items(ASK, {"type": "item_reference", "id": "msg_1"}, NEXT, store=False), ["drop input[1]"]),
    ("R9", "openai-responses", items(ASK, {"type": "mcp_call", "id": "mcp_1", "server_label": "shed", "name": "paint"},
                                     BRUSH, GRANT), ["replace input[2]"]),
    ("R9", "openai-responses", items(ASK, BRUSH, GRANT), ["drop input[1]", "drop input[2]"]),
    ("R10", DEEPSEEK, items(ASK, item("function_call", "call_1"), NEXT, item("function_call_output", "call_1")),
     ["move input[3] to behind input[1]"]),
    ("R11", "openai-chat", chat(ASK, asked(call("c1")), NEXT), ["insert behind messages[1] ?"]),
    ("R11", "openai-chat", chat(ASK, asked(call("c1"), call("c2")), told("c1"), NEXT), ["insert behind messages[2] ?"]),
    ("R11", "openai-chat", chat(ASK, asked(call("c1")), NEXT, told("c1")), ["move messages[3] to behind messages[1]"]),
    ("R11", "openai-chat", chat(ASK, asked(call("c1")), asked(call("c1")), told("c1"), NEXT), ["drop messages[1].tool_calls[0]"]),
    ("R11", "openai-chat", chat(ASK, asked(call("c1")), {**told("c1"), "role": "user"}), ["replace messages[2]"]),
    ("R12", "openai-chat", chat(ASK, told("c1"), NEXT), ["drop messages[1]"]),
    ("R12", "openai-chat", chat(ASK, asked(call("c1")), told("c9"), NEXT), ["rename messages[2]"]),
    ("R13", "openai-chat", chat(ASK, asked(call("c1")), told("c1"), told("c1", "other")), ["drop messages[3]"]),
    ("R14", "openai-chat", chat(ASK, asked(call(LONG)), told(LONG)), ["rename messages[1].tool_calls[0]", "rename messages[2]"]),
    ("R15", "anthropic", claude(turn("user", says("go")), turn("assistant", says("well"), use("t1")), turn("user", says("and"))),
     ["insert before messages[2].content[0] ?"]),
    ("R15", "anthropic", claude(turn("user", says("go")), turn("assistant", use("t1")), NEXT), ["insert behind messages[1] ?"]),
    ("R16", "anthropic", claude(turn("user", says("go")), turn("assistant", says("well")), turn("user", gave("t1"), says("and"))),
     ["drop messages[2].content[0]"]),
    ("R17", "anthropic", claude(ASK, turn("assistant", use("t1")), turn("user", gave("t1"), gave("t1"))),
     ["drop messages[2].content[1]"]),
    ("R18", "anthropic", claude(ASK, turn("assistant", use("t1")), turn("user", gave("t1")), turn("assistant", use("t1", "dry")),
                                turn("user", gave("t1"))), ["rename messages[3].content[0]", "rename messages[4].content[0]"]),
    ("R19", "anthropic", claude(ASK, turn("assistant", use("a:1")), turn("user", gave("a:1"))),
     ["rename messages[1].content[0]", "rename messages[2].content[0]"]),
    ("R20", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/anthropic.m/invoke",
     claude(ASK, turn("assistant", use("t1")), turn("user", says("here"), gave("t1")), anthropic_version="bedrock-2023-05-31"),
     ["move messages[2].content[1] to before messages[2].content[0]"]),
    ("R21", "anthropic", claude(ASK, turn("assistant", use("t1")), turn("user", gave("t1")),
                                thinking={"type": "enabled", "budget_tokens": 9}), ["replace thinking"]),
    ("R21", "anthropic", claude(ASK, turn("assistant", use("t1"), THINK), turn("user", gave("t1")),
                                thinking={"type": "enabled", "budget_tokens": 9}),
     ["move messages[1].content[1] to before messages[1].content[0]"]),
    ("R21", "anthropic", claude(ASK, turn("assistant", {"type": "thinking", "thinking": "hm"}, says("so"))),
     ["drop messages[1].content[0]"]),
    ("R22", "gemini", {"contents": [parts("user", b_says("go")), parts("model", fn(), fn("dry")), parts("user", answer())]},
     ["insert behind contents[2].parts[0] ?"]),
    ("R22", "gemini", {"contents": [parts("user", b_says("go")), parts("model", fn()), parts("user", answer(), answer())]},
     ["drop contents[2].parts[1]"]),
    ("R23", "gemini", {"contents": [parts("user", b_says("go")), parts("model", b_says("well")), parts("model", fn()),
                                    parts("user", answer())]}, ["move contents[2].parts[0] to behind contents[1].parts[0]"]),
    ("R23", "gemini", {"contents": [parts("model", fn()), parts("user", answer()), parts("user", b_says("go"))]},
     ["drop contents[0].parts[0]", "drop contents[1].parts[0]"]),
    ("R24", "gemini", {"contents": [parts("user", b_says("go")), parts("model", fn()), parts("user", b_says("wait")),
                                    parts("user", answer())]}, ["move contents[3].parts[0] to behind contents[1]"]),
    ("R24", "gemini", {"contents": [parts("user", b_says("go")), parts("user", answer())]}, ["drop contents[1].parts[0]"]),
    ("R25", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:generateContent",
     {"contents": [parts("user", b_says("go")), parts("model", fn()), parts("user", answer())]},
     ["replace contents[1].parts[0] ?"]),
    ("R26", "gemini", {"contents": [parts("user", b_says("go")), parts("model", fn()), parts("user", answer(""))]},
     ["replace contents[2].parts[0]"]),
    ("R27", "gemini", {"contents": [parts("user", b_says("go")), parts("model"), parts("user", b_says("so"))]}, ["drop contents[1]"]),
    ("R28", "ollama", chat(ASK, asked(call("", arguments={})), {"role": "tool", "tool_name": "paint", "content": "done"},
                           {"role": "user", "content": ""}), ["drop messages[3]"]),
    ("R29", "ollama", chat(ASK, asked({"function": {"name": "paint", "arguments": '{"n":1}'}}),
                           {"role": "tool", "tool_name": "paint", "content": "done"}), ["replace messages[1].tool_calls[0]"]),
    ("R29", "ollama", chat(ASK, asked({"function": {"name": "paint", "arguments": '{"n":'}}), NEXT),
     ["drop messages[1].tool_calls[0]"]),
    ("R31", "mistral", chat(ASK, asked(call("Call00001")), NEXT), ["insert behind messages[1] ?"]),
    ("R31", "mistral", chat(ASK, asked(call("Call00001")), told("Call00001"), told("Call00001")), ["drop messages[3]"]),
    ("R32", "mistral", chat(ASK, asked(call("call_1")), told("call_1")), ["rename messages[1].tool_calls[0]", "rename messages[2]"]),
    ("R32", "mistral", chat(ASK, asked(call("")), told("")), ["rename messages[1].tool_calls[0]", "rename messages[2]"]),
    ("R33", "mistral", chat(ASK, asked(call("Call00001"), call("Call00001", "dry")), told("Call00001"), told("Call00001", "dry")),
     ["rename messages[1].tool_calls[1]", "rename messages[3]"]),
    ("R34", "mistral", chat(ASK, told("Call00001"), NEXT), ["drop messages[1]"]),
    ("R34", "mistral", chat(ASK, {"role": "assistant", "content": "well"}, {"role": "system", "content": "be brief"}, NEXT),
     ["move messages[2] to before messages[0]"]),
    ("R34", "mistral", chat(ASK, {"role": "assistant", "content": "well"}), ["replace messages[1]"]),
    ("R35", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a/1")), turn("user", b_gave("a/1"))),
     ["rename messages[1].content[0]", "rename messages[2].content[0]"]),
    ("R35", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1", "paint.it")), turn("user", b_gave("a1"))),
     ["rename messages[1].content[0]"]),
    ("R36", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1"), b_use("a2")), turn("user", b_gave("a2"), b_says("so"))),
     ["insert behind messages[2].content[0] ?"]),
    ("R36", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1"), b_use("a2"))),
     ["insert behind messages[1] ?", "insert behind messages[1] ?"]),
    ("R37", "bedrock", bed(turn("user", b_says("go"), b_gave("a1"))), ["drop messages[0].content[1]"]),
    ("R38", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1")), turn("user", b_gave("a1"), b_gave("a1"))),
     ["drop messages[2].content[1]"]),
    ("R39", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1")), turn("user", b_gave("a1")), tools=False),
     ["insert toolConfig ?"]),
    ("R40", "bedrock", bed(turn("user", b_says("go")), turn("assistant", b_use("a1")),
                           turn("user", {"toolResult": {"toolUseId": "a1", "content": [], "status": "error"}})),
     ["replace messages[2].content[0] ?"]),
]  # fmt: skip
TESTED_BELOW = {"R7"}


@pytest.mark.parametrize(
    ("rule", "to", "body", "expected"), CASES, ids=[f"{c[0]}-{n}" for n, c in enumerate(CASES)]
)
def test_rule(rule: str, to: str, body: dict[str, Any], expected: list[str]) -> None:
    url = URLS.get(to, to)
    trace = sent(body, url)
    assert rule in refused(trace)
    made = repaired(trace)
    assert [f"{s}{' ?' if s.placeholder else ''}" for s in made.suggestions] == expected
    assert not made.unmended
    assert refused(sent(checked(made), url)) == []
    assert all(s.why and s.rule and s.error for s in made.suggestions)


def test_every_rule_that_refuses_has_a_case() -> None:
    assert set(RULES) == {c[0] for c in CASES} | TESTED_BELOW


def test_reasoning_comes_back_from_the_answer_that_held_it() -> None:
    body = items(ASK, FC, item("function_call_output", "call_1"), store=False)
    trace = sent(body, URLS["openai-responses"], HELD)
    assert refused(trace) == ["R7"]
    made = repaired(trace)
    assert [str(s) for s in made.suggestions] == ["insert before input[1]"]
    assert made.suggestions[0].becomes == RS
    assert refused(sent(checked(made), URLS["openai-responses"], HELD)) == []


def test_a_bare_reference_becomes_the_item_where_the_capture_has_it() -> None:
    body = items(
        ASK, RS, {"type": "item_reference", "id": "fc_1"}, item("function_call_output", "call_1"), store=False
    )
    made = repaired(sent(body, URLS["openai-responses"], HELD))
    assert [str(s) for s in made.suggestions] == ["replace input[2]"]
    assert made.applied()["input"][2] == FC


def test_an_output_for_a_call_that_the_provider_keeps() -> None:
    earlier = {"url": URLS["openai-responses"], "status": 200, "request": items(ASK),
               "response": {"id": "resp_1", "output": [{**FC}]}}  # fmt: skip
    body = items(NEXT, previous_response_id="resp_1")
    trace = sent(body, URLS["openai-responses"], earlier)
    assert refused(trace) == ["R2"]
    made = repaired(trace)
    assert [str(s) for s in made.suggestions] == ["insert before input[0]"]
    assert refused(sent(checked(made), URLS["openai-responses"], earlier)) == []


def conversation(result_seen: bool) -> list[dict[str, Any]]:
    """A call whose result the stream shows, perhaps, and a next request whose list lacks it."""
    calls = [{"id": "c1", "type": "function", "function": {"name": "paint", "arguments": "{}"}}]
    given = {"tools": [], "context": [], "state": {}, "forwardedProps": {}}
    stream: list[dict[str, Any]] = [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r1"},
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "paint"},
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
    ]
    if result_seen:
        stream.append(
            {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "two coats"}
        )
    stream.append({"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"})
    later = [{"id": "u1", **ASK}, {"id": "a1", "role": "assistant", "toolCalls": calls}, {"id": "u2", **NEXT}]
    return [
        {"threadId": "t", "runId": "r1", "messages": [{"id": "u1", **ASK}], **given},
        *stream,
        {"threadId": "t", "runId": "r2", "messages": later, **given},
    ]


def load(lines: list[dict[str, Any]]) -> wb.Trace:
    return wb.load("".join(json.dumps(line) + "\n" for line in lines).encode())


def test_a_result_that_the_stream_shows_is_put_in_as_it_is() -> None:
    made = repaired(load(conversation(result_seen=True)), "openai-chat")
    (only,) = made.suggestions
    assert (only.becomes["content"], only.placeholder) == ("two coats", False)
    assert only.becomes["toolCallId"] == "c1"
    assert "stream" in only.why


def test_a_result_that_nobody_knows_is_a_placeholder_and_says_so() -> None:
    made = repaired(load(conversation(result_seen=False)), "openai-chat")
    assert made.placeholders == made.suggestions
    assert made.suggestions[0].becomes["content"] == "The result of this call is not known."
    assert "drop the call" in made.suggestions[0].why


def test_a_call_that_the_stream_shows_is_put_before_its_result() -> None:
    lines = conversation(result_seen=True)
    lines[-1]["messages"] = [lines[-1]["messages"][0], {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "two coats"},
                             lines[-1]["messages"][2]]  # fmt: skip
    made = repaired(load(lines), "openai-chat")
    assert [str(s) for s in made.suggestions] == ["insert before messages[1]"]
    assert made.suggestions[0].becomes["toolCalls"][0]["function"]["name"] == "paint"


def approvals(settled: bool) -> list[dict[str, Any]]:
    """agent-framework's list with an approval of a local tool, perhaps carried out."""
    function = {"type": "function_call", "call_id": "c1", "name": "paint", "arguments": "{}"}
    gate = {"id": "c1", "function_call": function}
    done = (
        [{"role": "tool", "contents": [{"type": "function_result", "call_id": "c1", "result": "done"}]}]
        if settled
        else []
    )
    return [
        {"role": "user", "contents": [{"type": "text", "text": "paint the fence"}]},
        {"role": "assistant", "contents": [function, {"type": "function_approval_request", **gate}]},
        *done,
        {"role": "user", "contents": [{"type": "function_approval_response", "approved": True, **gate}]},
    ]


def test_settled_approvals_go_with_their_question() -> None:
    trace = wb.load(json.dumps(approvals(settled=True)).encode())
    made = repaired(trace, "openai-responses")
    (only,) = made.suggestions
    assert (only.action, only.at) == ("drop", ("messages[3].contents[0]", "messages[1].contents[1]"))
    assert [m["role"] for m in checked(made)] == ["user", "assistant", "tool"]


def test_an_approval_that_is_not_carried_out_is_never_dropped() -> None:
    trace = wb.load(json.dumps(approvals(settled=False)).encode())
    made = repaired(trace, "ollama")
    assert not made.suggestions
    (left,) = made.unmended
    assert (left.rule, left.positions) == ("R28", ("messages[2]",))
    assert "would be lost" in left.why
    after = repaired(wb.load(json.dumps(approvals(settled=True)).encode()), "ollama")
    assert [str(s) for s in after.suggestions] == ["drop messages[3]"]


def test_a_signature_moves_back_beside_its_call() -> None:
    contents = [{"type": "text_reasoning", "text": "hm", "protected_data": "c2ln"},
                {"type": "function_approval_request", "id": "c1", "function_call": {"call_id": "c1", "name": "paint"}},
                {"type": "function_call", "call_id": "c1", "name": "paint", "arguments": "{}"}]  # fmt: skip
    listed = [
        {"role": "user", "contents": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "contents": contents},
        {"role": "tool", "contents": [{"type": "function_result", "call_id": "c1", "result": "done"}]},
    ]
    trace = wb.load(json.dumps(listed).encode())
    assert refused(trace, "gemini") == ["R25"]
    made = repaired(trace, "gemini")
    assert [str(s) for s in made.suggestions] == [
        "move messages[1].contents[0] to before messages[1].contents[2]"
    ]
    assert refused(wb.load(json.dumps(checked(made)).encode()), "gemini") == []


def test_nothing_is_left_to_send() -> None:
    made = repaired(sent(chat(told("c1")), URLS["openai-chat"]))
    assert not made.suggestions
    assert "nothing would be left" in made.unmended[0].why


def test_a_thought_goes_with_the_only_call_it_led_to() -> None:
    body = claude(
        ASK,
        turn("assistant", THINK, use("t1")),
        turn("user", gave("t1")),
        turn("assistant", THINK, use("t1")),
        NEXT,
    )
    made = repaired(sent(body, URLS["anthropic"]))
    (only,) = made.suggestions
    assert (only.action, only.at, only.parts) == (
        "drop",
        ("messages[3].content[1]", "messages[3].content[0]"),
        2,
    )
    assert [m["role"] for m in checked(made)["messages"]] == ["user", "assistant", "user", "user"]


def test_a_provider_that_took_it_is_not_contradicted() -> None:
    line = {
        "url": URLS["openai-chat"],
        "status": 200,
        "request": chat(ASK, told("c1")),
        "response": {"id": "x"},
    }
    assert not wb.repair_suggestions(wb.load(json.dumps(line).encode() + b"\n"))


def test_langchain_says_a_call_in_several_places() -> None:
    """Its ids and its calls change everywhere at once."""
    content = [
        {"type": "text", "text": "well"},
        {"type": "tool_use", "id": "a:1", "name": "paint", "input": {}},
    ]
    ai = {
        "type": "ai",
        "content": content,
        "tool_calls": [{"name": "paint", "args": {}, "id": "a:1", "type": "tool_call"}],
    }
    listed = [
        {"type": "human", "content": "go"},
        ai,
        {"type": "tool", "content": "done", "tool_call_id": "a:1"},
    ]
    made = repaired(wb.load(json.dumps({"messages": listed}).encode()), "anthropic")
    after = checked(made)
    assert (
        after[1]["tool_calls"][0]["id"] == after[1]["content"][1]["id"] == after[2]["tool_call_id"] == "a_1"
    )
    listed = [*listed[:2], {"type": "human", "content": "and"}]
    dressed = [{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", f"{n}Message"], "kwargs": m}
               for n, m in zip(("Human", "AI", "Human"), listed, strict=True)]  # fmt: skip
    made = repaired(wb.load(json.dumps({"messages": dressed}).encode()), "openai-chat")
    assert made.suggestions[0].becomes["kwargs"]["tool_call_id"] == "a:1"
    assert refused(wb.load(json.dumps({"messages": made.applied()}).encode()), "openai-chat") == []


def test_lists_deep_in_a_document_keep_their_names() -> None:
    state = {"state": {"channel": [{"messages": [
        {"type": "human", "content": "go"}, {"type": "tool", "content": "done", "tool_call_id": "c1"},
        {"type": "human", "content": "and"}]}]}}  # fmt: skip
    made = repaired(wb.load(json.dumps(state).encode()), "openai-chat")
    (only,) = made.suggestions
    assert only.position == "state.channel[0].messages[1]"
    after = apply(state, made.suggestions)
    assert [m["type"] for m in after["state"]["channel"][0]["messages"]] == ["human", "human"]
    assert len(state["state"]["channel"][0]["messages"]) == 3


def test_suggestions_belong_to_their_list() -> None:
    made = repaired(sent(chat(ASK, told("c1"), NEXT), URLS["openai-chat"]))
    with pytest.raises(ValueError, match="not the one that was judged"):
        apply([ASK], made.suggestions)
    with pytest.raises(ValueError, match="no list messages"):
        apply({"input": []}, made.suggestions)
    settings = repaired(sent(CASES[[c[0] for c in CASES].index("R39")][2], URLS["bedrock"])).suggestions
    with pytest.raises(ValueError, match="whole request body"):
        apply([], settings)
    with pytest.raises(ValueError, match="no provider is called"):
        wb.repair_suggestions(wb.load("sample:healthy"), "nobody")


def test_the_frame_has_a_row_for_each_suggestion_and_each_refusal_without_one() -> None:
    frame = wb.repair_suggestions(sent(chat(ASK, asked(call("c1")), NEXT), URLS["openai-chat"])).frame
    (row,) = frame.to_dict("records")
    assert (row["provider"], row["rule"], row["action"], row["where"]) == (
        "openai-chat",
        "R11",
        "insert",
        "behind messages[1]",
    )
    assert json.loads(row["becomes"])["tool_call_id"] == "c1"
    assert row["placeholder"] is True or row["placeholder"] == True  # noqa: E712 - numpy's
    left = wb.repair_suggestions(sent(chat(told("c1")), URLS["openai-chat"])).frame
    assert left["action"].tolist() == ["none"]
    assert wb.repair_suggestions(wb.load("sample:healthy")).frame.empty


def test_a_long_history_with_many_faults_takes_one_step_each() -> None:
    messages = [ASK]
    for n in range(40):
        messages += [
            asked(call(f"c{n}")),
            *([told(f"c{n}")] if n % 2 else []),
            {"role": "user", "content": f"go {n}"},
        ]
    made = repaired(sent(chat(*messages), URLS["openai-chat"]))
    assert len(made.suggestions) == made.parts == 20
    assert refused(sent(checked(made), URLS["openai-chat"])) == []
