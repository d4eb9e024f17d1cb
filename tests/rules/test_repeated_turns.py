"""A turn that stands twice in one list, and what only looks like it: ids that come again in a later turn."""

from __future__ import annotations

from typing import Any

import pytest

Line = dict[str, Any]


def user(own: str = "u1", content: str = "water it") -> Line:
    return {"id": own, "role": "user", "content": content}


def owner(own: str = "a1", call: str = "c1", arguments: str = '{"bed":1}') -> Line:
    function = {"name": "water", "arguments": arguments}
    return {
        "id": own,
        "role": "assistant",
        "toolCalls": [{"id": call, "type": "function", "function": function}],
    }


def tool(own: str = "t1", call: str = "c1") -> Line:
    return {"id": own, "role": "tool", "toolCallId": call, "content": "done"}


def nameless(message: Line) -> Line:
    return {key: value for key, value in message.items() if key != "id"}


SAID = {"id": "a2", "role": "assistant", "content": "It is watered."}
TURN = [user(), owner(), tool()]


def snapshot(*messages: Line) -> list[Line]:
    """A page that asks for the stored thread."""
    named = {"threadId": "t1", "runId": "r1"}
    return [
        {"type": "RUN_STARTED", **named},
        {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)},
        {"type": "RUN_FINISHED", **named},
    ]


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        pytest.param(
            [*TURN, user(), owner(), SAID],
            "stands 2 times in the snapshot of run 1 (message 2, 5); the whole message is repeated, and in message 5 "
            "the call has no result.",
            id="the first is answered",
        ),
        pytest.param(
            [user(), owner(), *TURN, SAID],
            "(message 2, 4); the whole message is repeated, and in message 2 the call has no result.",
            id="the second is answered",
        ),
        pytest.param(
            [*TURN, *TURN, SAID], "(message 2, 5); the whole message is repeated.", id="both are answered"
        ),
        pytest.param(
            [*TURN, user(), owner(), user(), owner(), SAID],
            "stands 3 times in the snapshot of run 1 (message 2, 5, 7); the whole message is repeated, and in message "
            "5, 7 the call has no result.",
            id="three times",
        ),
        pytest.param(
            [user("u0", "hello"), SAID, *TURN, user("u0", "hello"), SAID, user(), owner()],
            "(message 4, 9); the whole message is repeated, and in message 9 the call has no result.",
            id="the whole thread",
        ),
    ],
)
def test_a_turn_that_stands_twice(found, messages: list[Line], said: str) -> None:
    findings = found(*snapshot(*messages))
    assert [(f.rule, f.severity, f.call_ids) for f in findings] == [("call-duplicated", "error", ("c1",))]
    assert findings[0].message.endswith(said)


def test_a_turn_that_stands_twice_and_nobody_answered(names) -> None:
    assert names(*snapshot(user(), owner(), user(), owner(), SAID)) == {
        "call-duplicated": "error",
        "call-unanswered": "error",
    }


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([*TURN, user("u2"), owner("a3"), tool("t3")], id="the person wants it again"),
        pytest.param([*TURN, user("u2"), owner(), tool("t3")], id="an assistant that always has one id"),
        pytest.param([*TURN, user(content="and again"), owner(), tool("t3")], id="another text under one id"),
        pytest.param([*TURN, user(), owner("a3"), tool("t3")], id="a new message after a repeated one"),
        pytest.param([{**message, "id": "m"} for message in [*TURN, SAID, *TURN]], id="one id for all messages"),
        pytest.param([*TURN, nameless(user()), owner(), tool("t3")], id="a user message without an id"),
        pytest.param([user(), owner(), tool(), user("u2"), owner("a3"), SAID, user("u3", "well?"), SAID],
                     id="the second call is open"),
    ],
)  # fmt: skip
def test_ids_that_come_again_are_no_repetition(found, messages: list[Line]) -> None:
    assert "call-duplicated" not in {finding.rule for finding in found(*snapshot(*messages))}


def test_without_ids_nothing_is_said(found) -> None:
    messages = [nameless(message) for message in [*TURN, user(), owner(), tool()]]
    assert "call-duplicated" not in {finding.rule for finding in found(*snapshot(*messages))}


def test_other_arguments_are_another_fault(names) -> None:
    told = names(*snapshot(*TURN, user(), owner(arguments='{"bed":2}'), tool("t3")))
    assert "call-duplicated" not in told
