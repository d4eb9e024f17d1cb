"""The fake providers refuse what the services refuse, and the script says what fits what it was sent."""

from __future__ import annotations

import json

import pytest

from workbench.replay.guest.providers import Fake, anthropic, chat, gemini, ollama, responses
from workbench.replay.guest.script import FILLER, Script, View


def assistant(*calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": c, "type": "function", "function": {"name": "t", "arguments": "{}"}} for c in calls
        ],
    }


def tool(call):
    return {"role": "tool", "tool_call_id": call, "content": "done"}


USER = {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("messages", "refused"),
    [
        ([USER, assistant("a", "b"), tool("b"), tool("a"), USER], None),
        ([USER, assistant("a"), tool("a"), assistant("b"), tool("b")], None),
        ([USER, assistant("a")], "did not have response messages: a"),
        ([USER, assistant("a"), USER], "did not have response messages: a"),
        ([USER, tool("a")], "must be a response to a preceeding message"),
        ([USER, assistant("a"), tool("a"), tool("a")], "Duplicate value for 'tool_call_id'"),
        ([USER, assistant("a", "a"), tool("a")], "Duplicate value for 'tool_call_id'"),
    ],
)
def test_chat_completions(messages, refused):
    said = chat.refusal({"messages": messages})
    assert said is None if refused is None else refused in said


def call(name, item="fc_1"):
    return {"type": "function_call", "id": item, "call_id": name, "name": "t", "arguments": "{}"}


def output(name):
    return {"type": "function_call_output", "call_id": name, "output": "done"}


def approval(name):
    return {"type": "mcp_approval_response", "approval_request_id": name, "approve": True}


@pytest.mark.parametrize(
    ("items", "refused"),
    [
        ([call("a"), output("a")], None),
        ([output("a"), call("a")], None),  # paired by id, wherever they stand
        ([call("a")], "No tool output found for function call a"),
        ([output("a")], "No tool call found for function call output with call_id a"),
        ([call("a"), output("a"), output("a")], "Duplicate function_call_output"),
        ([call("a"), call("b"), output("a"), output("b")], "Duplicate item found with id fc_1"),
        ([approval("r")], "weren't passed as input: r"),
        ([{"type": "mcp_approval_request", "id": "r"}, approval("r")], None),
    ],
)
def test_responses(items, refused):
    said = responses.refusal({"input": items})
    assert said is None if refused is None else refused in said


def use(*names):
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": n, "name": "t", "input": {}} for n in names],
    }


def result(*names):
    return {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": n, "content": "done"} for n in names],
    }


@pytest.mark.parametrize(
    ("messages", "refused"),
    [
        ([USER, use("a", "b"), result("a", "b")], None),
        ([USER, use("a", "b"), result("a"), result("b")], None),  # one message for the service
        ([USER, use("a", "a"), result("a")], "ids must be unique"),
        ([USER, use("a"), result("a"), use("a"), result("a")], "ids must be unique"),
        ([USER, use("a"), USER], "without `tool_result` blocks immediately after: a"),
        ([USER, use("a")], "without `tool_result` blocks immediately after: a"),
        ([USER, result("a")], "unexpected `tool_use_id`"),
        ([USER, use("a"), result("a", "a")], "must have a single result"),
    ],
)
def test_anthropic(messages, refused):
    said = anthropic.refusal({"messages": messages})
    assert said is None if refused is None else refused in said


def function(name, **more):
    return {"functionCall": {"id": name, "name": "t", "args": {}}, **more}


SIGNED = {"thoughtSignature": "c2lnbmVk"}


@pytest.mark.parametrize(
    ("parts", "refused"),
    [
        ([function("a", **SIGNED)], False),
        ([function("a", **SIGNED), function("b")], False),  # of parallel calls the first one is signed
        ([{"text": "Let me look."}, function("a", **SIGNED)], False),
        ([function("a")], True),
        ([function("a"), function("b", **SIGNED)], True),
        ([{"text": "Nothing to call."}], False),
    ],
)
def test_gemini(parts, refused):
    said = gemini.refusal(
        {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}, {"role": "model", "parts": parts}]}
    )
    assert (said is not None and "thought_signature" in said) == refused  # fmt: skip


def test_gemini_signs_what_it_calls_and_takes_it_back():
    fake = Fake("gemini", Script([{"calls": [{"tool": "t"}, {"tool": "t"}]}]))
    status, _, text = fake.answer({"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]})
    content = json.loads(text.removeprefix("data:"))["candidates"][0]["content"]
    assert status == 200
    assert ["thoughtSignature" in part for part in content["parts"]] == [True, False]
    assert gemini.refusal({"contents": [content]}) is None


def test_gemini_sees_calls_results_and_users():
    seen = gemini.view(
        {
            "contents": [
                {"role": "user", "parts": [{"text": "Hello"}]},
                {"role": "model", "parts": [{"text": "not a user"}, function("a", **SIGNED)]},
                {"role": "user", "parts": [{"functionResponse": {"id": "a", "response": {"result": "3 m"}}}]},
            ]
        }
    )
    assert (seen.users, seen.calls) == (["Hello"], ["a"])
    assert json.loads(seen.results["a"]) == {"result": "3 m"}


def test_ollama_takes_any_list_and_knows_no_ids():
    messages = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "tool_calls": [{"function": {"name": "t", "arguments": {}}}]},
        {"role": "tool", "content": "nobody asked"},
        {"role": "tool", "content": "twice"},
    ]
    fake = Fake("ollama", Script([{"text": "Done."}]))
    status, mime, text = fake.answer({"messages": messages})
    seen = ollama.view({"messages": messages})
    assert (status, mime) == (200, "application/x-ndjson")
    assert json.loads(text.splitlines()[0])["model"] == "scripted"
    assert [json.loads(line)["done"] for line in text.splitlines()] == [False, True]
    assert json.loads(text.splitlines()[0])["message"]["content"] == "Done."
    assert (seen.users, seen.calls, seen.results) == (["Hello"], ["t"], {})


@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_a_stream_has_text_and_call(kind):
    fake = Fake(kind, Script([{"text": "Well.", "calls": [{"tool": "save", "arguments": {"x": 1}}]}]))
    status, mime, text = fake.answer({"messages": [USER], "input": "Hello"})
    assert (status, mime) == (200, "text/event-stream")
    frames = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
    assert frames
    assert "Well." in text
    assert "call_save_1" in text
    assert json.dumps('{"x": 1}')[1:-1] in text


@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_a_refusal_is_an_answer_400_in_the_form_of_the_service(kind):
    bodies = {
        "chat": {"messages": [USER, tool("a")]},
        "responses": {"input": [output("a")]},
        "anthropic": {"messages": [USER, result("a")]},
    }
    status, _, text = Fake(kind, Script([])).answer(bodies[kind])
    assert status == 400
    assert json.loads(text)["error"]["message"]


def test_the_script_answers_what_fits():
    script = Script(
        [
            {"when": {"calls": 0}, "calls": [{"tool": "save"}]},
            {"when": {"missing": True}, "text": "no result"},
            {"when": {"result": "^Error"}, "repeat": True, "calls": [{"tool": "save"}]},
            {"when": {"result": "fine"}, "text": "saved"},
        ]
    )
    assert [made.id for made in script.answer(View(users=["go"])).calls] == ["call_save_1"]
    assert script.answer(View(users=["go"])).text == "no result"
    assert script.answer(View(results={"call_save_1": "Error: x"})).calls[0].id == "call_save_2"
    # an old result is not the latest one
    told = script.answer(View(results={"call_save_1": "Error: x", "call_save_2": "fine"}))
    assert (told.text, told.filler) == ("saved", False)


def test_another_course_of_events_gets_a_marked_filler():
    script = Script([{"when": {"users": 1}, "text": "hello"}])
    told = script.answer(View(users=["a", "b"]))
    assert (told.text, told.filler) == (FILLER, True)
    assert script.log[-1]["answer"] is None
