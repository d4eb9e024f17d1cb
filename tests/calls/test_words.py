"""Arguments, decisions and result texts: the small judgements that everything rests on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.calls.arguments import canonical, documents, glued
from workbench.calls.decisions import decide, is_decision
from workbench.calls.results import classify, text_of

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
json_objects = st.dictionaries(st.text(max_size=5), json_values, max_size=4)


@given(json_objects)
def test_canonical_does_not_depend_on_order_or_spacing(value: dict[str, Any]) -> None:
    shuffled = dict(reversed(value.items()))
    assert canonical(json.dumps(value)) == canonical(json.dumps(shuffled, indent=2)) == canonical(value)


@given(st.text())
def test_canonical_takes_any_text(text: str) -> None:
    assert isinstance(canonical(text), str)


@given(st.lists(json_objects, min_size=2, max_size=4))
def test_glued_documents_are_told_apart(values: list[dict[str, Any]]) -> None:
    assert glued("".join(json.dumps(value) for value in values)) == values


@given(json_objects)
def test_one_document_is_not_glued(value: dict[str, Any]) -> None:
    assert documents(json.dumps(value)) == [value]
    assert glued(json.dumps(value)) is None


@pytest.mark.parametrize("text", ["", "  ", None])
def test_no_arguments_are_an_empty_object(text: str | None) -> None:
    assert canonical(text) == "{}"


@pytest.mark.parametrize(
    ("payload", "decision"),
    [
        ({"approved": True}, "approved"),
        ({"accepted": False}, "rejected"),
        ({"approved": "true"}, "approved"),
        ({"approved": True, "editedArgs": {"x": 2}}, "edited"),
        ({"approved": True, "editedArgs": {"x": 1}}, "approved"),
        ({"approved": True, "x": 2}, "edited"),
        ({"approved": True, "x": 1}, "approved"),
        ({"decisions": [{"type": "approve"}, {"type": "approve"}]}, "approved"),
        ({"type": "ignore"}, "rejected"),
        ([{"type": "edit", "args": {}}], "edited"),
        (True, "approved"),
        ("no", "rejected"),
        ("Approve!", "approved"),
        ('{"accepted": true}', "approved"),
        ("blue", None),
        ({"color": "teal"}, None),
        ({}, None),
        (7, None),
    ],
)
def test_decide(payload: Any, decision: str | None) -> None:
    assert decide(payload, {"x": 1}) == decision


@pytest.mark.parametrize(
    ("content", "decision"),
    [
        ('{"accepted": true}', "approved"),
        ('{"accepted": true, "steps": []}', "approved"),
        ('{"approved": false, "reason": "too dear"}', "rejected"),
        ('{"approved": true, "score": 0.7}', None),
        ("approved", None),
        ("{broken", None),
        ("[]", None),
    ],
)
def test_a_tool_message_is_a_decision_only_if_it_is_little_else(content: str, decision: str | None) -> None:
    assert is_decision(content) == decision


@pytest.mark.parametrize(
    ("content", "cls"),
    [
        ("Error: Tool call invocation failed.", "placeholder"),
        ('"Error: Tool call invocation failed."', "placeholder"),
        ("Error: Requested function 'save' not found.", "placeholder"),
        ("Tool execution skipped - user provided follow-up message", "placeholder"),
        ("Forwarded to client", "placeholder"),
        ("save_note executed successfully with no return value.", "placeholder"),
        ("error: confirmation needed", "placeholder"),
        ("Error: Tool call invocation was rejected by user.", "refusal"),
        ("Tool call invocation rejected.", "refusal"),
        ("Not approved by the user", "refusal"),
        ("Tool call was not approved by the user", "refusal"),
        ("Transfer was rejected by the user", "refusal"),
        ("Error: Function failed.", "error"),
        ("Error: Argument parsing failed.", "error"),
        ("ValueError: no such bay", "error"),
        ('{"error": "no such bay"}', "error"),
        ('{"errors": 0, "rows": 7}', "ok"),
        ("The error rate is 2 %", "ok"),
        ("Errors in the log: none", "ok"),
        ("7", "ok"),
        ("", "ok"),
    ],
)
def test_classify(content: str, cls: str) -> None:
    assert classify(content) == cls


def test_tool_message_error_is_an_error() -> None:
    assert classify("whatever", error="boom") == "error"


@given(json_values)
def test_text_of_takes_any_content(value: Any) -> None:
    assert isinstance(text_of(value), str)
    assert classify(text_of(value)) in ("ok", "error", "placeholder", "refusal")
