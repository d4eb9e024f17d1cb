"""Payloads as people have them: the debug log of a client, a paste of it, a listing from a probe."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import workbench as wb
from workbench.readers import python_value

#: a settled approval of a local tool, sent as the provider's own, behind its result; shortened as people do
PASTE = """
Here is what the client sent (shortened):

```python
'json_data': {'include': ['reasoning.encrypted_content'], 'input': [
  {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': '…'}]},
  {'call_id': 'call_Gq71bed', 'type': 'function_call_output', 'output': "No bed 'north' here."},
  {'type': 'mcp_approval_response', 'approval_request_id': 'call_Gq71bed', 'approve': True},
  {'call_id': 'call_Zr08pump', 'type': 'function_call_output', 'output': "Pump started."},
  …
```

It was answered by Error code: 400.
"""
#: the same list as the chat client was given it
LISTING = """
[0/user] text
[1/tool] function_result call_id=call_Gq71bedNorthSide
[1/tool] function_approval_response id=call_Gq71b… server_label=None HOSTED=False
[1/tool] function_result call_id=call_Zr08pump
[2/user] text
[3/assistant] function_call call_id=call_Zr08pump
[3/assistant] function_call call_id=call_Gq71bedNorthSide
[4/system] text
"""
ITEMS = [
    {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "Wässere das „Nordbeet“."}],
    },
    {"type": "function_call", "call_id": "call_1", "name": "water", "arguments": '{"bed": "north"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": 'It\'s "wet"\n\u2026'},
]
REFUSED = {
    "error": {
        "message": "No tool output found for function call call_1.",
        "type": "invalid_request_error",
        "param": "input",
    }
}


def entry(body: dict[str, Any], url: str = "/responses", before: str = "") -> str:
    options = (
        f"{{'method': 'post', 'url': {url!r}, 'files': None, 'timeout': Timeout(connect=5.0, read='a)'), "
        f"'idempotency_key': 'k', 'headers': <openai.Omit object at 0x7f01>, 'json_data': {body!r}}}"
    )
    return f"{before}DEBUG:openai._base_client:Request options: {options}\n"


def answered(status: int, url: str = "https://api.openai.com/v1/responses", error: Any = None) -> str:
    phrase = {200: "OK", 400: "Bad Request"}[status]
    text = (
        f'INFO:httpx:HTTP Request: POST {url} "HTTP/1.1 {status} {phrase}"\n'
        f'DEBUG:openai._base_client:HTTP Response: POST {url} "{status} {phrase}" Headers({{"x-request-id": "r"}})\n'
    )
    return text + (f"openai.BadRequestError: Error code: {status} - {error!r}\n" if error else "")


def load(text: str) -> wb.Trace:
    return wb.load(text.encode())


def rules(trace: wb.Trace) -> set[str]:
    return {finding.rule for finding in wb.check(trace)}


def test_a_paste_names_the_misrouted_approval_and_the_words_of_the_provider() -> None:
    trace = load(PASTE)
    found = wb.check(trace)
    by_rule = {finding.rule: finding for finding in found}
    assert {"approval-misrouted", "approval-replayed", "provider-rejects"} <= by_rule.keys()
    refused = by_rule["provider-rejects"]
    assert "weren't passed as input: call_Gq71bed”" in refused.message
    assert "R3" in refused.message
    assert refused.call_ids == ("call_Gq71bed",)
    assert "input[2]" in refused.message
    assert refused.evidence[0].line == 5
    # what was left out may hold the calls of the results
    assert [f for f in found if f.rule == "provider-rejects"] == [refused]
    (source,) = trace.sources.to_dict("records")
    assert not source["complete"]
    assert list(trace.parts["place"].unique()) == ["payload"]


def test_a_listing_names_the_settled_approval() -> None:
    trace = load(LISTING)
    found = {finding.rule: finding for finding in wb.check(trace)}
    assert found["approval-replayed"].call_ids == ("call_Gq71bedNorthSide",)
    assert "messages[1].contents[1]" in found["approval-replayed"].message
    assert "call-name-empty" not in found
    refused = [f for f in wb.check(trace, provider="openai-responses") if f.rule == "provider-rejects"]
    assert any("weren't passed as input: call_Gq71bedNorthSide" in finding.message for finding in refused)
    # in a fence, behind prose, with a logger's prefix
    fenced = "So I printed it:\n\n```\n" + LISTING.strip() + "\n```\n"
    prefixed = "".join(
        f"2026-01-05 10:00:00,000 DEBUG [probe] {line}\n" for line in LISTING.strip().splitlines()
    )
    for text in (fenced, prefixed):
        assert "approval-replayed" in rules(load(text))


def test_a_hosted_approval_in_a_listing_is_none_of_ours() -> None:
    text = LISTING.replace("server_label=None HOSTED=False", "server_label='stock' HOSTED=True")
    assert "approval-replayed" not in rules(load(text))


def test_two_listings_are_two_histories() -> None:
    trace = load(LISTING + LISTING)
    assert trace.parts.groupby("record").ngroups == 2


def test_a_whole_log_has_places_answers_and_nothing_lost() -> None:
    body = {"model": "gpt-x", "store": False, "input": ITEMS[:2]}
    fine = {"model": "gpt-x", "store": False, "input": ITEMS}
    log = (
        "INFO:app:started\n"
        + entry(body, before="2026-01-05 10:00:00,000 ")
        + answered(400, error=REFUSED)
        + entry(fine)
        + answered(200)
    )
    trace = load(log)
    found = [f for f in wb.check(trace) if f.rule == "provider-rejects"]
    assert len(found) == 1
    assert found[0].call_ids == ("call_1",)
    assert "answered" in found[0].message or "400" in found[0].message
    parts = trace.parts
    assert parts["content"].tolist().count('It\'s "wet"\n…') == 1
    assert "Wässere das „Nordbeet“." in parts["content"].tolist()
    assert trace.problems.empty
    (source,) = trace.sources.to_dict("records")
    assert source["complete"]


def test_the_address_tells_the_dialect() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "water", "input": {}}]},
        {"role": "user", "content": "go on"},
    ]}  # fmt: skip
    text = entry(body, "/v1/messages").replace("openai._base_client", "anthropic._base_client")
    found = [f for f in wb.check(load(text)) if f.rule == "provider-rejects"]
    assert [f.call_ids for f in found] == [("t1",)]
    assert "Anthropic" in found[0].message


def test_answers_of_requests_under_way_together_are_not_guessed() -> None:
    body = {"model": "m", "input": ITEMS[:2]}
    trace = load(
        entry(body) + entry({"model": "m", "input": ITEMS}) + answered(200) + answered(400, error=REFUSED)
    )
    found = [f for f in wb.check(trace) if f.rule == "provider-rejects"]
    assert len(found) == 1, "a 200 that may be another's hides nothing"
    assert "same time" in str(trace.sources.to_dict("records")[0])


@pytest.mark.parametrize("width", [40, 80, 200])
def test_wrapping_between_values_changes_nothing(width: int) -> None:
    body = {"model": "m", "store": False, "input": ITEMS[:2]}
    text = entry(body)
    wrapped, column = [], 0
    for piece in text.replace(", ", ",\0").split("\0"):
        if column + len(piece) > width:
            wrapped.append("\n    ")
            column = 0
        wrapped.append(piece + " ")
        column += len(piece) + 1
    assert rules(load("".join(wrapped))) == rules(load(text)) == {"provider-rejects", "call-unanswered"}


def test_a_cut_request_is_said_and_what_follows_is_read() -> None:
    text = entry({"model": "m", "input": ITEMS})
    cut = text[: text.index("'output'")] + "\n"
    trace = load(cut + entry({"model": "m", "store": False, "input": ITEMS[:2]}))
    assert trace.parts.groupby("record").ngroups == 2
    assert "provider-rejects" in rules(trace)
    (source,) = trace.sources.to_dict("records")
    assert not source["complete"]


def test_a_request_without_messages_is_named_with_its_place() -> None:
    trace = load(entry({"model": "m", "input": ITEMS}) + entry({"model": "e"}, "/embeddings"))
    (problem,) = trace.problems.to_dict("records")
    assert problem["line"] == 2
    assert "without a list of messages" in str(problem)


def test_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "'json_data': {'input': [{'role': 'user', 'content': __import__('os').abort()}], 'model': 'm', 'store': False}"
    trace = load(text)
    assert len(trace.parts) <= 1


def test_other_formats_are_not_taken() -> None:
    event = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    said = {
        "type": "CUSTOM",
        "name": "log",
        "value": "'json_data': {'input': []} and [0/user] text\n[1/tool] text",
    }
    trace = load("".join(f"data: {json.dumps(one)}\n\n" for one in (event, said)))
    assert trace.sources["format"].tolist() == ["sse"]


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-10**12, 10**12) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=20,
))  # fmt: skip
def test_what_python_prints_is_read_as_it_was(value: Any) -> None:
    printed = repr(value)
    found = python_value.read(f"x={printed};", 2)
    assert found.value == value
    assert found.end == 2 + len(printed)
    assert not found.cut
    assert not found.elided


@given(st.text(alphabet="{}[]()'\"\\:,.…<>ab1 \n", max_size=200))
def test_any_text_ends(text: str) -> None:
    found = python_value.read(text, 0)
    assert 0 <= found.end <= len(text) + 1


def test_long_and_deep_texts_take_time_in_proportion() -> None:
    import time

    for piece in (
        "{'a':",
        "[",
        "(",
        "'",
        "\\",
        "x(",
        "'\\",
        "<",
        "…",
        "[0/user] text id=",
        "'json_data': {'input': [",
    ):
        text = "'json_data': {'input': [" + piece * 20_000
        begin = time.process_time()
        load(text)
        assert time.process_time() - begin < 3, piece


def test_damaged_logs_stop_nothing() -> None:
    log = entry({"model": "m", "input": ITEMS}) + answered(400, error=REFUSED) + PASTE + LISTING
    for seed in range(150):
        dice = random.Random(seed)
        data = bytearray(log.encode())
        for _ in range(dice.randint(1, 8)):
            at = dice.randrange(len(data))
            if dice.random() < 0.5:
                data[at : at + dice.randint(0, 30)] = bytes(
                    dice.randrange(256) for _ in range(dice.randint(0, 5))
                )
            else:
                del data[at : at + dice.randint(1, 60)]
        trace = wb.load(bytes(data))
        assert not [s for s in wb.check(trace).skipped if s.failed]
