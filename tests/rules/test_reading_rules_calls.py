"""The reading rules, "One fault, one name" and "Scope and words", as far as calls, results and approvals go.

Each test is named after the sentence that it holds. Captures are made of events and requests;
`judge` gives the worst severity by rule name of these three families.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

Line = dict[str, Any]
FAMILIES = ("call", "text", "result", "approval", "rejection")


@pytest.fixture
def judge(names):
    return lambda *lines: names(*flat(lines), families=FAMILIES)


@pytest.fixture
def loud(judge):
    """Errors and warnings only."""
    return lambda *lines: {rule: s for rule, s in judge(*lines).items() if s != "info"}


def flat(lines):
    for line in lines:
        if isinstance(line, dict):
            yield line
        else:
            yield from flat(line)


# -- what captures are made of ---------------------------------------------------------


def started(run: str, thread: str = "t1", **more: Any) -> Line:
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run, **more}


def finished(run: str, *interrupts: Line, thread: str = "t1", **more: Any) -> Line:
    outcome = {"outcome": {"type": "interrupt", "interrupts": list(interrupts)}} if interrupts else {}
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run, **outcome, **more}


def failed(code: str = "", message: str = "boom") -> Line:
    return {"type": "RUN_ERROR", "message": message, **({"code": code} if code else {})}


def interrupt(own: str, call_id: str | None = None, **more: Any) -> Line:
    return {
        "id": own,
        "reason": "tool_call",
        **({"toolCallId": call_id} if call_id is not None else {}),
        **more,
    }


def call(own: str, tool: str = "deploy", args: str | None = '{"x":1}', **more: Any) -> list[Line]:
    pieces = [{"type": "TOOL_CALL_ARGS", "toolCallId": own, "delta": args}] if args is not None else []
    return [
        {"type": "TOOL_CALL_START", "toolCallId": own, "toolCallName": tool, **more},
        *pieces,
        {"type": "TOOL_CALL_END", "toolCallId": own},
    ]


def result(own: str, content: str = "ok", message: str | None = None) -> Line:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": message or f"m-{own}-{content[:9]}",
        "toolCallId": own,
        "content": content,
    }


def text(own: str, words: str = "Done.") -> list[Line]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": own, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": own, "delta": words},
        {"type": "TEXT_MESSAGE_END", "messageId": own},
    ]


def custom(own: str, call_id: str, tool: str = "deploy", args: Line | None = None) -> Line:
    called = {"call_id": call_id, "name": tool, "arguments": args if args is not None else {"x": 1}}
    return {
        "type": "CUSTOM",
        "name": "function_approval_request",
        "value": {"id": own, "function_call": called},
    }


def snapshot(*messages: Line) -> Line:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def user(own: str, words: str = "go", **more: Any) -> Line:
    return {"id": own, "role": "user", "content": words, **more}


def says(own: str, *calls: tuple[str, ...], words: str | None = None) -> Line:
    """An assistant message; calls as (id, tool, arguments), the last two optional."""
    made = [
        {
            "id": c[0],
            "type": "function",
            "function": {
                "name": c[1] if len(c) > 1 else "deploy",
                "arguments": c[2] if len(c) > 2 else '{"x":1}',
            },
        }
        for c in calls
    ]
    return {
        "id": own,
        "role": "assistant",
        **({"content": words} if words else {}),
        **({"toolCalls": made} if made else {}),
    }


def tool(own: str, content: str = "ok", message: str | None = None, **more: Any) -> Line:
    return {"id": message or f"t-{own}", "role": "tool", "toolCallId": own, "content": content, **more}


def request(run: str, *messages: Line, thread: str = "t1", **more: Any) -> Line:
    return {"threadId": thread, "runId": run, "messages": list(messages), **more}


def resume(*answers: tuple[str, Any]) -> dict[str, Any]:
    """`resume=` of a request: (interrupt id, payload) each; payload None is a cancelled entry."""
    return {
        "resume": [
            {"interruptId": own, "status": "cancelled"} if payload is None
            else {"interruptId": own, "status": "resolved", "payload": payload}
            for own, payload in answers
        ]
    }  # fmt: skip


YES, NO = {"approved": True}, {"approved": False}


def asked(*pairs: tuple[str, str], run: str = "r1", tools: dict[str, str] | None = None) -> list[Any]:
    """A first run with its request that ends at interrupts: (interrupt id, call id) each."""
    calls = [call(c, args=json.dumps({"n": c}), tool=(tools or {}).get(c, "deploy")) for _, c in pairs]
    return [
        request(run, user("u1")),
        started(run),
        calls,
        finished(run, *(interrupt(i, c) for i, c in pairs)),
    ]


# -- reading rules ---------------------------------------------------------------------


def test_reading_rule_1_pending_at_an_interrupt_is_not_dangling(judge):
    found = judge(started("r1"), call("c1"), finished("r1", interrupt("i1", "c1")))
    assert found == {"approval-pending": "info"}


def test_reading_rule_1_pending_at_an_interrupt_that_names_no_call(loud):
    shown = [user("u1"), says("a1", ("c1",)), user("u2", "more")]
    ask = {"type": "CUSTOM", "name": "on_interrupt", "value": "Go on?"}
    assert "call-unanswered" not in loud(
        started("r1"), call("c1"), ask, finished("r1"), started("r2"), snapshot(*shown), finished("r2")
    )


def test_reading_rule_1_client_side_tool_may_end_a_run_without_a_result(judge):
    tools = [{"name": "pick", "description": "", "parameters": {}}]
    assert (
        judge(request("r1", user("u1"), tools=tools), started("r1"), call("c1", "pick"), finished("r1")) == {}
    )


def test_reading_rule_1_client_side_tool_in_a_stream_without_requests(judge):
    """The answer is a tool message of a request that the capture does not have."""
    lines = [started("r1"), call("c1", "pick"), finished("r1"), started("r2"), text("m1"), finished("r2")]
    assert judge(*lines) == {}


def test_reading_rule_2_the_resumed_run_emits_only_the_result(judge):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", YES))),
        started("r2"),
        result("c1"),
        text("m1"),
        finished("r2"),
    ]
    assert judge(*lines) == {}


def test_reading_rule_2_without_requests(judge):
    assert (
        judge(
            started("r1"),
            call("c1"),
            finished("r1", interrupt("i1", "c1")),
            started("r2"),
            result("c1"),
            finished("r2"),
        )
        == {}
    )


@pytest.mark.parametrize(
    ("confirm", "args"),
    [
        (
            "confirm_changes",
            '{"function_name":"deploy","function_call_id":"c1","function_arguments":{"x":1},"steps":[]}',
        ),
        ("adk_request_confirmation", '{"originalFunctionCall":{"id":"c1","name":"deploy","args":{"x":1}}}'),
        ("request_info", '{"request_id":"i1","function_call_id":"c1"}'),
    ],
)
def test_reading_rule_3_confirmation_calls_never_get_a_result(judge, confirm, args):
    first = [
        request("r1", user("u1")),
        started("r1"),
        call("c1"),
        call("k1", confirm, args),
        finished("r1", interrupt("i1", "c1")),
    ]
    history = [
        user("u1"),
        says("a1", ("c1",), ("k1", confirm, args)),
        tool("c1", "ok"),
        says("a2", words="Done."),
        user("u2"),
    ]
    second = [request("r2", user("u1"), **resume(("i1", YES))), started("r2"), result("c1"), finished("r2")]
    third = [request("r3", *history), started("r3"), text("m3"), finished("r3")]
    assert judge(first, second, third) == {}


def test_reading_rule_3_adk_interrupt_names_the_confirmation_call(judge):
    args = '{"originalFunctionCall":{"id":"c1","name":"deploy","args":{"x":1}}}'
    ask = interrupt("adk-9", "adk-9", metadata={"adk": {}})
    first = [
        request("r1", user("u1")),
        started("r1"),
        call("c1"),
        call("adk-9", "adk_request_confirmation", args),
        finished("r1", ask),
    ]
    second = [
        request("r2", user("u1"), **resume(("adk-9", {"confirmed": True}))),
        started("r2"),
        result("c1"),
        finished("r2"),
    ]
    assert judge(first, second) == {}


def test_reading_rule_4_a_rejection_without_result(judge):
    refusal = tool("c1", "Error: Tool call invocation was rejected by user.", "approval-response-i1")
    lines = [asked(("i1", "c1")), request("r2", user("u1"), **resume(("i1", NO))), started("r2"), text("m1"),
             snapshot(user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), refusal, says("m1", words="Done.")), finished("r2")]  # fmt: skip
    assert judge(*lines) == {}


def test_reading_rule_4_a_rejection_with_nothing_but_text(judge):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", NO))),
        started("r2"),
        text("m1"),
        finished("r2"),
    ]
    assert judge(*lines) == {}


def test_reading_rule_5_message_ids_of_results_are_free(judge):
    history = [user("u1"), says("a1", ("c1",)), tool("c1", "ok", "other-id")]
    lines = [
        started("r1"),
        call("c1", parentMessageId=""),
        result("c1", message="c1"),
        snapshot(*history),
        finished("r1"),
    ]
    assert judge(*lines) == {}


def test_reading_rule_6_dotnet_sends_the_call_again_on_resume(judge):
    again = [started("r2"), call("c1", args='{"n": "c1"}'), result("c1", message="c1"), finished("r2")]
    lines = [asked(("ficc_c1", "c1")), request("r2", user("u1"), **resume(("ficc_c1", YES))), again]
    assert judge(*lines) == {"call-start-duplicated": "info"}


def test_reading_rule_6_dotnet_without_requests(judge):
    lines = [
        started("r1"),
        call("c1"),
        finished("r1", interrupt("ficc_c1", "c1")),
        started("r2"),
        call("c1"),
        result("c1", message="c1"),
        finished("r2"),
    ]
    assert judge(*lines) == {"call-start-duplicated": "info"}


def test_reading_rule_6_another_framework_that_starts_again_is_warned(judge):
    lines = [asked(("af-call-1", "c1")), request("r2", user("u1"), **resume(("af-call-1", YES))), started("r2"),
             call("c1", args='{"n": "c1"}'), result("c1"), finished("r2")]  # fmt: skip
    assert judge(*lines) == {"call-start-duplicated": "warning"}


def test_reading_rule_6_edited_arguments_are_no_collision(judge):
    edit = {"approved": True, "editedArgs": {"n": "c2"}}
    lines = [asked(("ficc_c1", "c1")), request("r2", user("u1"), **resume(("ficc_c1", edit))), started("r2"),
             call("c1", args='{"n": "c2"}'), result("c1", message="c1"), finished("r2")]  # fmt: skip
    assert judge(*lines) == {"call-start-duplicated": "info"}


def test_reading_rule_7_a_refused_resume_is_not_an_answer(judge):
    lines = [asked(("i1", "c1")),
             request("r2", user("u1"), **resume(("i1", YES))), started("r2"), failed("APPROVAL_RESUME_INVALID"),
             request("r3", user("u1"), **resume(("i1", YES))), started("r3"), result("c1"), finished("r3")]  # fmt: skip
    assert judge(*lines) == {"approval-refused": "warning"}


def test_reading_rule_7_a_stream_that_starts_with_an_error_belongs_to_its_request(judge):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", YES))),
        failed("APPROVAL_RESUME_NOT_FOUND"),
    ]
    found = judge(*lines)
    assert found["approval-refused"] == "warning"
    assert "approval-not-executed" not in found


def test_reading_rule_8_ids_repeat_across_turns(judge):
    turn_1 = [
        request("r1", user("u1")),
        started("r1"),
        call("find", "find", '{"q":1}'),
        result("find", "one"),
        text("m1"),
        finished("r1"),
    ]
    history = [
        user("u1"),
        says("a1", ("find", "find", '{"q":1}')),
        tool("find", "one"),
        says("m1", words="Done."),
        user("u2", "again"),
    ]
    turn_2 = [
        request("r2", *history),
        started("r2"),
        call("find", "find", '{"q":2}'),
        result("find", "two"),
        finished("r2"),
    ]
    again = [
        *history,
        says("a3", ("find", "find", '{"q":2}')),
        tool("find", "two", "t2"),
        user("u3", "thanks"),
    ]
    assert judge(turn_1, turn_2, request("r3", *again), started("r3"), text("m3"), finished("r3")) == {}


def test_reading_rule_8_the_same_action_in_the_next_turn(judge):
    turn_1 = [
        request("r1", user("u1")),
        started("r1"),
        call("find", "find"),
        result("find", "one"),
        finished("r1"),
    ]
    turn_2 = [request("r2", user("u1"), says("a1", ("find", "find")), tool("find", "one"), user("u2", "again")), started("r2"),
              call("find", "find"), result("find", "two"), finished("r2")]  # fmt: skip
    assert judge(turn_1, turn_2) == {}


def test_reading_rule_9_the_user_may_ask_for_the_same_action_again(judge):
    turn_1 = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", YES))),
        started("r2"),
        result("c1"),
        finished("r2"),
    ]
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), tool("c1"), user("u2", "once more")]
    turn_2 = [
        request("r3", *history),
        started("r3"),
        call("c2", args='{"n": "c1"}'),
        finished("r3", interrupt("i2", "c2")),
    ]
    assert judge(turn_1, turn_2) == {"approval-pending": "info"}


def test_reading_rule_10_parallel_results_in_completion_order(judge):
    lines = [started("r1"), call("c1", "a"), call("c2", "b"), result("c2", "two"), result("c1", "one"),
             snapshot(user("u1"), says("a1", ("c1", "a"), ("c2", "b")), tool("c2", "two"), tool("c1", "one")), finished("r1")]  # fmt: skip
    assert judge(*lines) == {}


@pytest.mark.parametrize("args", [None, "", "{}"])
def test_reading_rule_10_a_tool_without_parameters(judge, args):
    history = [user("u1"), says("a1", ("c1", "now", "{}")), tool("c1")]
    assert (
        judge(started("r1"), call("c1", "now", args), result("c1"), snapshot(*history), finished("r1")) == {}
    )


def test_reading_rule_12_a_real_tool_error_is_no_placeholder(judge):
    assert judge(started("r1"), call("c1"), result("c1", "Error: Function failed."), finished("r1")) == {
        "result-error": "info"
    }


def test_reading_rule_12_a_run_error_leaves_its_open_call_alone(loud):
    assert loud(started("r1"), call("c1")[:2], failed()) == {}


def test_reading_rule_13_equal_documents_are_sent_again(judge):
    a, b = call("a", "x", '{"n":1}'), call("b", "y", '{"n":2}')
    lines = [started("r1"), a[:2], b[:2], a[:2], b[:2], a[2], b[2], a[2], b[2], finished("r1")]
    assert judge(*lines) == {"call-start-duplicated": "error", "call-args-concatenated": "error"}


def test_reading_rule_13_different_documents_are_two_calls(judge):
    one, two = call("f", "f", '{"q":1}'), call("f", "f", '{"q":2}')
    found = judge(started("r1"), one[:2], two[:2], one[2], finished("r1"))
    assert found == {"call-id-collision": "error", "call-args-concatenated": "error"}


def test_reading_rule_13_a_leading_empty_object_is_an_initial_value(judge):
    lines = [started("r1"), call("c1", args="{}")[:2], call("c1")[1:], result("c1"), finished("r1")]
    assert judge(*lines) == {"call-args-concatenated": "error"}


def test_reading_rule_14_a_result_without_its_request_is_an_unseen_answer(judge):
    lines = [
        started("r1"),
        call("c1"),
        finished("r1", interrupt("i1", "c1")),
        started("r2"),
        result("c1"),
        text("m1"),
        finished("r2"),
    ]
    assert judge(*lines) == {}


def test_reading_rule_15_first_turn_missing(judge):
    history = [user("u1"), says("a1", ("c0",)), tool("c0"), user("u2")]
    found = judge(request("r5", *history), started("r5"), result("c9"), finished("r5"))
    assert found == {"result-orphaned": "info"}


def test_reading_rule_15_a_capture_that_begins_with_a_resume(judge):
    found = judge(
        request("r2", user("u1"), **resume(("i1", YES))), started("r2"), result("c1"), finished("r2")
    )
    assert found == {"result-orphaned": "info"}


def test_reading_rule_16_scrubbed_thread_ids(judge):
    """The resume stands under another thread id: the interrupt's id joins them."""
    first = [
        request("r1", user("u1"), thread="tA"),
        started("r1", "tA"),
        call("c1"),
        finished("r1", interrupt("af-call-7f", "c1"), thread="tA"),
    ]
    second = [
        request("r2", user("u1"), thread="tB", **resume(("af-call-7f", YES))),
        started("r2", "tB"),
        result("c1"),
        finished("r2", thread="tB"),
    ]
    assert judge(first, second) == {}


# -- one fault, one name ---------------------------------------------------------------


def test_one_name_second_start_while_open_with_another_name(judge):
    lines = [started("r1"), call("c1")[:2], call("c1", "other")[0], call("c1")[2], finished("r1")]
    assert judge(*lines) == {"call-name-changed": "error"}


@pytest.mark.parametrize("second", [("other", '{"x":1}'), ("deploy", '{"x":2}')])
def test_one_name_second_start_after_end_with_other_name_or_arguments(judge, second):
    lines = [started("r1"), call("c1"), result("c1"), call("c1", *second), finished("r1")]
    assert judge(*lines) == {"call-id-collision": "error"}


def test_one_name_second_start_else(judge):
    assert judge(started("r1"), call("c1"), call("c1"), result("c1"), finished("r1")) == {
        "call-start-duplicated": "error"
    }


def test_one_name_second_start_in_a_replayed_run(judge):
    run = [started("r1"), call("c1"), result("c1"), finished("r1")]
    assert judge(run, run) == {}


def test_one_name_second_result_in_one_run(judge):
    first = [started("r1"), call("c1"), result("c1", "one")]
    assert judge(first, result("c1", "two"), finished("r1")) == {"result-conflicting": "error"}
    assert judge(first, result("c1", "one", "m9"), finished("r1")) == {"result-duplicated": "warning"}


def test_one_name_second_result_in_another_run(judge):
    first = [started("r1"), call("c1"), result("c1", "one"), finished("r1"), started("r2")]
    assert judge(first, result("c1", "two"), finished("r2")) == {"call-executed-twice": "error"}
    assert judge(first, result("c1", "one"), finished("r2")) == {"result-replayed": "warning"}


def test_one_name_second_result_as_equal_json(judge):
    lines = [
        started("r1"),
        call("c1"),
        result("c1", '{"a":1,"b":2}'),
        result("c1", '{"b": 2, "a": 1}', "m9"),
        finished("r1"),
    ]
    assert judge(*lines) == {"result-duplicated": "warning"}


def test_one_name_two_interrupts_equal_in_id_and_call(loud):
    assert loud(started("r1"), call("c1"), finished("r1", interrupt("i1", "c1"), interrupt("i1", "c1"))) == {
        "approval-duplicated": "warning"
    }


def test_one_name_two_interrupts_with_one_id_for_two_calls(loud):
    lines = [
        started("r1"),
        call("c1", "a"),
        call("c2", "b"),
        finished("r1", interrupt("i1", "c1"), interrupt("i1", "c2")),
    ]
    assert loud(*lines) == {"approval-id-collision": "error"}


def test_one_name_a_resume_that_names_one_of_two(judge):
    lines = [asked(("i1", "c1"), ("i2", "c2")), request("r2", user("u1"), **resume(("i1", YES)))]
    assert judge(*lines) == {"approval-partial": "error"}


def test_one_name_a_resume_that_names_none(judge):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("zz", YES))),
        started("r2"),
        finished("r2"),
    ]
    assert judge(*lines) == {"approval-unanswered": "error", "approval-unknown": "error"}


def test_one_name_empty_strings(judge):
    assert judge(started("r1"), call("", "deploy"), result("", message="m1"), finished("r1")) == {
        "call-id-empty": "error"
    }
    assert judge(started("r1"), call("c1", ""), result("c1"), finished("r1")) == {"call-name-empty": "error"}
    assert judge(started("r1"), finished("r1", interrupt("i1", ""))) == {
        "call-id-empty": "error",
        "approval-pending": "info",
    }


def test_one_name_absent_keys_are_left_to_the_schema(judge):
    bare = {"type": "TOOL_CALL_START", "toolCallId": "c1"}
    assert judge(started("r1"), bare, call("c1")[1:], finished("r1")) == {}
    assert judge(started("r1"), finished("r1", interrupt("i1"))) == {"approval-pending": "info"}


def test_one_name_late_arguments_are_not_glued(judge):
    lines = [started("r1"), call("c1"), call("c1")[1], result("c1"), finished("r1")]
    assert judge(*lines) == {"call-not-open": "error"}


def test_one_name_one_unanswered_call_and_one_uncalled_result(judge):
    lines = [started("r1"), call("c1"), result("c9"), text("m1"), finished("r1")]
    assert judge(*lines) == {"call-id-changed": "error"}


def test_one_name_in_a_list(judge):
    lines = [
        request("r1", user("u1"), says("a1", ("c1",)), tool("c9"), user("u2")),
        started("r1"),
        finished("r1"),
    ]
    assert judge(*lines) == {"call-id-changed": "error"}


def test_one_name_a_copy_under_another_id(judge):
    history = [user("u1"), says("a1", ("c9",)), tool("c9", "ok")]
    lines = [started("r1"), call("c1"), result("c1"), snapshot(*history), finished("r1")]
    assert judge(*lines) == {"call-id-changed": "error"}


def test_one_name_two_uncalled_results_are_orphaned(judge):
    lines = [
        request("r1", user("u1")),
        started("r1"),
        call("c1"),
        result("c8"),
        result("c9"),
        text("m1"),
        finished("r1"),
    ]
    assert judge(*lines) == {"result-orphaned": "error", "call-unanswered": "info"}


def test_one_name_result_before_its_only_call_is_orphaned(judge):
    lines = [request("r1", user("u1")), started("r1"), result("c9"), text("m1"), call("c1"), finished("r1")]
    assert judge(*lines) == {"result-orphaned": "error"}


def test_one_name_a_repeated_call_that_asks_again_is_reasked(judge):
    lines = [asked(("i1", "c1")), request("r2", user("u1"), **resume(("i1", NO))), started("r2"), result("c1", "Tool call invocation rejected."),
             call("c2", args='{"n": "c1"}'), finished("r2", interrupt("i2", "c2"))]  # fmt: skip
    assert judge(*lines) == {"approval-reasked": "error", "approval-pending": "info"}


def test_one_name_an_approved_call_without_result_is_not_unanswered(judge):
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), says("m1", words="Done."), user("u2")]
    lines = [asked(("i1", "c1")), request("r2", user("u1"), **resume(("i1", YES))), started("r2"), text("m1"), finished("r2"),
             request("r3", *history), started("r3"), text("m3"), finished("r3")]  # fmt: skip
    assert judge(*lines) == {"approval-not-executed": "error"}


def test_one_name_a_waiting_call_is_not_unanswered(judge):
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), user("u2", "well?")]
    lines = [asked(("i1", "c1")), request("r2", *history), started("r2"), text("m1"), finished("r2")]
    assert judge(*lines) == {"approval-unanswered": "error"}


def test_one_name_a_copy_with_other_arguments_is_a_collision(judge):
    lines = [
        started("r1"),
        snapshot(user("u1"), says("a1", ("c1", "f", '{"q":1}'), ("c1", "f", '{"q":2}'))),
        finished("r1"),
    ]
    assert judge(*lines) == {"call-id-collision": "error"}


# -- scope and words -------------------------------------------------------------------


def test_scope_a_list_is_judged_by_itself(judge):
    """The stream has the result; the history that the client sends has not."""
    first = [request("r1", user("u1")), started("r1"), call("c1"), result("c1"), finished("r1")]
    second = [
        request("r2", user("u1"), says("a1", ("c1",)), user("u2")),
        started("r2"),
        text("m2"),
        finished("r2"),
    ]
    assert judge(first, second) == {"call-unanswered": "error"}


def test_scope_a_request_that_does_not_repeat_the_history(judge):
    first = [request("r1", user("u1")), started("r1"), call("c1"), finished("r1")]
    assert judge(first, request("r2", user("u2", "next")), started("r2"), text("m2"), finished("r2")) == {
        "call-unanswered": "info"
    }


@pytest.mark.parametrize("beginning", [resume(("i1", YES)), None])
def test_scope_user_turn_goes_on_with_a_resume_or_a_result(loud, beginning):
    """Two equal calls in two runs of one turn, the second after an unseen or seen answer to something else."""
    first = [
        started("r1"),
        call("c0", "check"),
        result("c0", "Error: x"),
        call("c1"),
        finished("r1", interrupt("i1", "c1")),
    ]
    second = [started("r2"), result("c1"), call("c9", "check"), result("c9"), finished("r2")]
    lines = [first, request("r2", **beginning) if beginning else [], second]
    assert loud(*lines) == {"call-repeated": "warning"}


def test_scope_user_turn_else_a_run_without_request_is_a_new_turn(judge):
    run = lambda n: [started(f"r{n}"), call(f"c{n}"), result(f"c{n}", f"number {n}"), finished(f"r{n}")]  # noqa: E731
    assert judge(run(1), run(2)) == {}


def test_scope_a_placeholder_is_no_result(judge):
    lines = [asked(("i1", "c1")), request("r2", user("u1"), **resume(("i1", YES))), started("r2"),
             result("c1", "Error: Tool call invocation failed."), finished("r2")]  # fmt: skip
    assert judge(*lines) == {"result-placeholder": "error", "approval-not-executed": "error"}


@pytest.mark.parametrize(
    "words",
    [
        "Error: Tool call invocation was rejected by user.",
        "Tool call invocation rejected.",
        "Not approved by the user",
        "Tool call was not approved by the user",
        "The deployment was rejected by the user",
        "User said no.",
        "Skipped: no permission from the user.",
    ],
)
def test_scope_a_refusal_text_is_neither_an_execution_nor_an_error(judge, words):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", NO))),
        started("r2"),
        result("c1", words),
        text("m1"),
        finished("r2"),
    ]
    assert judge(*lines) == {}


def test_scope_a_result_in_the_wrong_role_is_a_result(judge):
    wrong = {"id": "x1", "role": "user", "toolCallId": "c1", "content": "9"}
    lines = [request("r1", user("u1"), says("a1", ("c1",)), wrong, user("u2")), started("r1"), finished("r1")]
    assert judge(*lines) == {"result-wrong-role": "error"}


def test_scope_a_tool_message_with_the_decision_is_an_answer(judge):
    answer = tool("c1", '{"accepted": true}')
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), answer]
    lines = [asked(("i1", "c1")), request("r2", *history), started("r2"), result("c1"), finished("r2")]
    assert judge(*lines) == {"result-is-decision": "info"}


def test_scope_the_decision_that_stays_in_the_history_is_warned(judge):
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), tool("c1", '{"accepted": true}')]
    lines = [asked(("i1", "c1")), request("r2", *history), started("r2"), result("c1"), finished("r2"),
             request("r3", *history, says("a2", words="Done."), user("u2")), started("r3"), text("m3"), finished("r3")]  # fmt: skip
    assert judge(*lines) == {"result-is-decision": "warning"}


def test_scope_an_error_text_for_a_call_that_waits_is_a_placeholder(judge):
    lines = [started("r1"), call("c1"), result("c1", "Error: not now"), finished("r1", interrupt("i1", "c1"))]
    assert judge(*lines) == {"result-placeholder": "error", "approval-pending": "info"}


def test_scope_one_approval_on_several_channels(judge):
    args = '{"function_name":"deploy","function_call_id":"c1","function_arguments":{"x":1},"steps":[]}'
    lines = [
        started("r1"),
        call("c1"),
        custom("i1", "c1"),
        call("k1", "confirm_changes", args),
        finished("r1", interrupt("i1", "c1")),
    ]
    assert judge(*lines) == {"approval-pending": "info"}


def test_scope_langgraph_event_and_outcome_are_one_approval(judge):
    ask = {"type": "CUSTOM", "name": "on_interrupt", "value": "Publish?"}
    first = [
        request("r1", user("u1")),
        started("r1"),
        ask,
        finished("r1", {"id": "lg1", "reason": "langgraph:interrupt"}),
    ]
    second = [request("r2", user("u1"), **resume(("lg1", "yes"))), started("r2"), text("m1"), finished("r2")]
    assert judge(first, second) == {}


def test_scope_chunks_open_and_close_by_themselves(judge):
    first = {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "toolCallName": "deploy", "delta": '{"x":'}
    more = {"type": "TOOL_CALL_CHUNK", "toolCallId": "c1", "delta": "1}"}
    assert judge(started("r1"), first, more, result("c1"), text("m1"), finished("r1")) == {}
    assert judge(started("r1"), first, more, finished("r1")) == {}


def test_scope_text_of_another_lane_is_not_inside_the_call(judge):
    inner = [{**line, "subagentRunId": "s1"} for line in text("m1")]
    assert judge(started("r1"), call("c1")[:2], inner, call("c1")[2], result("c1"), finished("r1")) == {}
    found = judge(started("r1"), call("c1")[:2], text("m1"), call("c1")[2], result("c1"), finished("r1"))
    assert found == {"text-inside-call": "warning"}


def test_scope_a_call_inside_an_open_text_message_is_allowed(judge):
    words = text("m1")
    assert judge(started("r1"), words[:2], call("c1"), words[2], result("c1"), finished("r1")) == {}


def test_scope_late_events_are_left_to_event_after_run_end(judge):
    lines = [
        started("r1"),
        call("c1"),
        result("c1"),
        finished("r1"),
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"},
    ]
    assert judge(*lines) == {}


# -- forms of asking and answering -----------------------------------------------------

ANSWERS = [
    resume(("i1", {"approved": True})),
    resume(("i1", {"accepted": True})),
    {"resume": {"interrupts": [{"id": "i1", "value": {"accepted": True}}]}},
    {
        "forwardedProps": {
            "command": {
                "resume": [{"interruptId": "i1", "status": "resolved", "payload": {"approved": True}}]
            }
        }
    },
    {"forwardedProps": {"resume": {"interrupts": [{"id": "i1", "value": {"accepted": True}}]}}},
    {"forwardedProps": {"command": {"resume": "approve"}}},
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_form_of_answer_is_an_answer(judge, answer):
    done = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **answer),
        started("r2"),
        result("c1"),
        finished("r2"),
    ]
    assert judge(*done) == {}
    lost = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **answer),
        started("r2"),
        text("m1"),
        finished("r2"),
    ]
    assert judge(*lost) == {"approval-not-executed": "error"}


def test_function_approvals_of_a_user_message_are_answers(judge):
    given = user("u9", "", function_approvals=[{"id": "i1", "approved": True}])
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), given]
    assert (
        judge(asked(("i1", "c1")), request("r2", *history), started("r2"), result("c1"), finished("r2")) == {}
    )


def test_confirm_changes_is_answered_by_its_tool_message(judge):
    args = '{"function_name":"deploy","function_call_id":"c1","function_arguments":{"x":1},"steps":[{"description":"d","status":"enabled"}]}'
    first = [
        request("r1", user("u1")),
        started("r1"),
        call("c1"),
        call("k1", "confirm_changes", args),
        finished("r1"),
    ]
    history = [
        user("u1"),
        says("a1", ("c1",), ("k1", "confirm_changes", args)),
        tool("k1", '{"accepted": true, "steps": []}'),
    ]
    found = judge(first, request("r2", *history), started("r2"), result("c1"), finished("r2"))
    assert found == {"result-is-decision": "info"}


@pytest.mark.parametrize("confirm", ["request_approval", "confirm_action"])
def test_a_client_side_question_is_answered_by_its_tool_message(judge, confirm):
    tools = [{"name": confirm, "description": "", "parameters": {}}]
    first = [request("r1", user("u1"), tools=tools), started("r1"), call("c1", confirm), finished("r1")]
    history = [user("u1"), says("a1", ("c1", confirm)), tool("c1", '{"approved": true}')]
    assert judge(first, request("r2", *history, tools=tools), started("r2"), text("m1"), finished("r2")) == {}


def test_legacy_interrupt_field_is_an_approval(judge):
    old = finished(
        "r1",
        interrupt=[
            {
                "id": "c1",
                "value": {
                    "type": "function_approval_request",
                    "function_call": {"call_id": "c1", "name": "deploy", "arguments": {"x": 1}},
                },
            }
        ],
    )
    first = [request("r1", user("u1")), started("r1"), call("c1"), custom("c1", "c1"), old]
    history = [user("u1"), says("a1", ("c1",)), tool("c1", '{"accepted": true}')]
    found = judge(first, request("r2", *history), started("r2"), result("c1"), finished("r2"))
    assert found == {"approval-legacy-field": "info", "result-is-decision": "info"}


def test_mastra_suppresses_the_call(judge):
    value = {
        "type": "mastra_suspend",
        "toolCallId": "c1",
        "toolName": "deploy",
        "runId": "r1",
        "args": {"x": 1},
    }
    ask = {"type": "CUSTOM", "name": "on_interrupt", "value": json.dumps(value)}
    first = [request("r1", user("u1")), started("r1"), ask, finished("r1", interrupt("r1::c1", "c1"))]
    event = {
        "forwardedProps": {"command": {"resume": {"approved": True}, "interruptEvent": json.dumps(value)}}
    }
    found = judge(first, request("r2", user("u1"), **event), started("r2"), result("c1"), finished("r2"))
    assert found == {"approval-call-unknown": "info"}


def test_several_approvals_at_once(judge):
    pairs = [(f"i{n}", f"c{n}") for n in range(4)]
    answers = resume(
        ("i0", YES), ("i1", NO), ("i2", None), ("i3", {"approved": True, "editedArgs": {"n": "z"}})
    )
    done = [started("r2"), result("c3", "edited"), result("c0", "done"), text("m1"), finished("r2")]
    assert judge(asked(*pairs), request("r2", user("u1"), **answers), done) == {}
    wrong = [started("r2"), result("c1", "deployed c1"), result("c0", "done"), finished("r2")]
    found = judge(asked(*pairs), request("r2", user("u1"), **answers), wrong)
    assert found == {"approval-rejected-but-executed": "error", "approval-not-executed": "error"}


def test_approved_call_carried_out_under_a_new_id(judge):
    lines = [
        asked(("i1", "c1")),
        request("r2", user("u1"), **resume(("i1", YES))),
        started("r2"),
        call("c7", args='{"n": "c1"}'),
        result("c7"),
        finished("r2"),
    ]
    assert judge(*lines) == {"call-id-changed": "error"}


def test_a_reconnect_while_an_approval_waits(judge):
    again = [
        request("r2"),
        started("r2"),
        snapshot(user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}'))),
        finished("r2", interrupt("i1", "c1")),
    ]
    assert judge(asked(("i1", "c1")), again) == {"approval-pending": "info"}


def test_two_threads_in_one_capture_do_not_mix(judge):
    one = [started("r1", "tA"), call("c1"), finished("r1", interrupt("i1", "c1"), thread="tA")]
    two = [
        started("r9", "tB"),
        call("c1", args='{"x":2}'),
        result("c1", "other"),
        finished("r9", thread="tB"),
    ]
    assert judge(one, two) == {"approval-pending": "info"}


def test_an_answer_held_back_by_an_open_approval(judge):
    """One of two is approved, the run ends with the other still open: nothing is lost yet, the resume was partial."""
    lines = [
        asked(("i1", "c1"), ("i2", "c2")),
        request("r2", user("u1"), **resume(("i1", YES))),
        started("r2"),
        finished("r2", interrupt("i2", "c2")),
    ]
    assert judge(*lines) == {"approval-partial": "error"}


def test_a_tool_message_that_names_the_approval_is_an_answer(judge):
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), tool("i1", '{"accepted": true}')]
    assert (
        judge(asked(("i1", "c1")), request("r2", *history), started("r2"), result("c1"), finished("r2")) == {}
    )


def test_a_new_message_while_the_approval_is_offered_again(judge):
    history = [user("u1"), says("a1", ("c1", "deploy", '{"n": "c1"}')), user("u2", "well?")]
    lines = [
        asked(("i1", "c1")),
        request("r2", *history),
        started("r2"),
        text("m2"),
        finished("r2", interrupt("i1", "c1")),
    ]
    assert judge(*lines) == {"approval-unanswered": "error"}


def test_a_history_in_which_only_text_follows_a_call(judge):
    lines = [
        request("r1", user("u1"), says("a1", ("c1",)), says("a2", words="Hm.")),
        started("r1"),
        text("m1"),
        finished("r1"),
    ]
    assert judge(*lines) == {"call-unanswered": "info"}


def test_none_as_the_result_of_a_waiting_call_in_a_snapshot(judge):
    shown = snapshot(user("u1"), says("a1", ("c1",)), tool("c1", "None"))
    found = judge(started("r1"), call("c1"), shown, finished("r1", interrupt("i1", "c1")))
    assert found == {"result-placeholder": "error", "approval-pending": "info"}
