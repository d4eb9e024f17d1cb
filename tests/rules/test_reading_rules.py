"""The reading rules that keep false alarms away, and the precedence between rules, for runs, messages and snapshots.

Each test is named after the sentence of the catalogue that it holds. Those about calls,
results and approvals are in test_reading_rules_calls.py.
"""

from __future__ import annotations

import json

from workbench.rules import check
from workbench.trace import load

OURS = ("run", "runs", "event", "snapshot", "message", "messages", "step", "state", "time", "schema")


def started(run="r1", thread="t1", **more):
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run, **more}


def finished(run="r1", thread="t1", **more):
    return {"type": "RUN_FINISHED", "threadId": thread, "runId": run, **more}


def interrupted(*interrupts, run="r1"):
    return finished(run, outcome={"type": "interrupt", "interrupts": list(interrupts)})


def failed(code="RuntimeError", message="model host gone"):
    return {"type": "RUN_ERROR", "message": message, "code": code}


def text(message_id, content, **more):
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant", **more},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": content, **more},
        {"type": "TEXT_MESSAGE_END", "messageId": message_id, **more},
    ]


def call(call_id, tool, arguments="{}", parent=None):
    start = {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": tool}
    return [
        start if parent is None else {**start, "parentMessageId": parent},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": arguments},
        {"type": "TOOL_CALL_END", "toolCallId": call_id},
    ]


def result(call_id, content, message_id=None):
    message_id = f"res-{call_id}" if message_id is None else message_id
    return {"type": "TOOL_CALL_RESULT", "messageId": message_id, "toolCallId": call_id, "content": content}


def snapshot(*messages):
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def user(message_id, content):
    return {"id": message_id, "role": "user", "content": content}


def assistant(message_id, content="", calls=()):
    made = [
        {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, name, arguments in calls
    ]
    return {
        "id": message_id,
        "role": "assistant",
        "content": content,
        **({"toolCalls": made} if made else {}),
    }


def tool(message_id, call_id, content):
    return {"id": message_id, "role": "tool", "toolCallId": call_id, "content": content}


def request(*messages, run="r1", thread="t1", **more):
    return {"threadId": thread, "runId": run, "messages": list(messages), **more}


STOCK = call("c1", "stock", '{"sku":"x1"}', "a1")
STOCK_LISTED = assistant("a1", calls=[("c1", "stock", '{"sku":"x1"}')])
ASK = user("u1", "stock?")


# ------------------------------------------------------------------ scope and words


def test_chunks_open_and_close_implicitly_never_not_closed(names):
    chunk = {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "role": "assistant", "delta": "Hi"}
    thought = {"type": "REASONING_MESSAGE_CHUNK", "messageId": "m2", "delta": "Hm"}
    assert names(started(), thought, chunk, {**chunk, "delta": " you"}, finished(), families=OURS) == {}


def test_lane_is_the_subagent_else_the_run(names):
    lane = {"subagentRunId": "s1"}
    events = [
        {"type": "SUBAGENT_STARTED", "name": "helper", **lane},
        *text("m1", "Checking.", **lane),
        {"type": "SUBAGENT_FINISHED", **lane},
        *text("m2", "Done."),
        snapshot(assistant("m2", "Done.")),
    ]
    assert names(started(), *events, finished(), families=OURS) == {}


def test_after_the_end_of_a_run_only_event_after_run_end_is_reported(names):
    late = [
        text("m1", "late")[1],
        {"type": "STEP_FINISHED", "stepName": "plan"},
        snapshot(),
        {"type": "STATE_DELTA", "delta": [{"op": "frob"}]},
    ]
    found = names(started(), *text("m0", "Hello."), finished(), *late)
    assert found == {"event-after-run-end": "error"}


def test_a_snapshot_is_judged_inside_its_own_list(names):
    # the same message in two lists is no second message
    listed = [ASK, STOCK_LISTED, tool("t1", "c1", "7")]
    events = [started(), *STOCK, result("c1", "7"), snapshot(*listed), snapshot(*listed), finished()]
    assert names(*events, families=OURS) == {}


# ------------------------------------------------------------------ one fault, one name


def test_run_error_then_run_finished_as_a_success_is_run_error_hidden(names):
    found = names(started(), failed(), finished(outcome={"type": "success"}))
    assert found == {"run-error-hidden": "error", "run-error": "info"}


def test_run_error_then_run_finished_otherwise_is_run_ended_twice(names):
    found = names(started(), failed(), finished(outcome={"type": "cancelled"}))
    assert found == {"run-ended-twice": "error", "run-error": "info"}


def test_event_after_run_end_is_for_non_terminal_events_only(names):
    assert names(started(), finished(), failed()) == {"run-ended-twice": "error"}
    assert names(started(), finished(), {"type": "STATE_SNAPSHOT", "snapshot": {}}) == {
        "event-after-run-end": "error"
    }


def test_run_started_in_an_active_run_is_run_nested_alone_unless_events_alternate(names):
    nested = [started("r1"), started("r2"), *text("m1", "Hello."), finished("r2"), finished("r1")]
    assert names(*nested, families=OURS) == {"run-nested": "error"}
    one, two = call("c1", "weigh"), call("c2", "paint")
    mixed = [one[0], started("r2"), two[0], *one[1:], *two[1:], finished("r1"), finished("r2")]
    found = names(started("r1"), *mixed, families=OURS)
    assert found == {"run-nested": "error", "runs-interleaved": "warning"}


def test_same_run_id_equal_content_again_is_only_run_id_reused(names):
    run = [
        started(),
        *STOCK,
        result("c1", "7"),
        *text("m1", "Seven."),
        {"type": "STEP_STARTED", "stepName": "x"},
    ]
    run += [{"type": "STEP_FINISHED", "stepName": "x"}, finished()]
    assert names(*run, *run, families=(*OURS, "result")) == {"run-id-reused": "info"}
    found = names(*run, *run)
    assert {rule for rule, severity in found.items() if severity != "info"} == set()


def test_text_start_again_while_open_or_after_end_with_other_content(names):
    one, two = text("m1", "One."), text("m1", "Two.")
    assert names(started(), one[0], *two, finished()) == {"message-start-duplicated": "error"}
    assert names(started(), *one, *two, finished()) == {"message-id-reused": "warning"}
    assert names(started(), *one, *one, finished()) == {}


def test_two_ends_of_a_message_started_twice_are_no_second_fault(names):
    start, content, end = text("m1", "One.")
    assert names(started(), start, start, content, end, end, finished()) == {
        "message-start-duplicated": "error"
    }


def test_absent_key_is_schema_field_missing_and_nothing_else(names):
    for broken in (
        {"type": "TEXT_MESSAGE_CONTENT", "delta": "Hi"},
        {"type": "STEP_FINISHED"},
        {"type": "STATE_DELTA"},
        {"type": "TOOL_CALL_END"},
    ):
        assert names(started(), broken, finished()) == {"schema-field-missing": "error"}


def test_a_malformed_patch_is_state_delta_invalid_alone(names):
    base = {"type": "STATE_SNAPSHOT", "snapshot": {}}
    for patch in (
        {"a": 1},
        "a",
        None,
        [3],
        [{"op": "frob", "path": "/a"}],
        [{"path": "/a"}],
        [{"op": "add", "value": 1}],
        [{"op": "add", "path": "/a"}],
        [{"op": "move", "path": "/a"}],
        [{"op": "add", "path": "a", "value": 1}],
        [{"op": "add", "path": "/a~2", "value": 1}],
    ):
        found = names(started(), base, {"type": "STATE_DELTA", "delta": patch}, finished())
        assert found == {"state-delta-invalid": "error"}, patch


def test_a_message_that_is_rekeyed_is_not_missing(names):
    by_text = [
        started(),
        *text("m1", "Seven left."),
        snapshot(ASK, assistant("x9", "Seven left.")),
        finished(),
    ]
    assert names(*by_text) == {"snapshot-rekeyed": "warning"}
    by_call = [started(), *STOCK, snapshot(ASK, {**STOCK_LISTED, "id": "x9"}), finished()]
    assert names(*by_call, families=OURS) == {"snapshot-rekeyed": "warning"}


def test_text_that_moved_to_another_id_is_rekeyed_not_different(names):
    events = [*text("m1", "Looking."), *call("c1", "stock", '{"sku":"x1"}', "m1")]
    split = [assistant("n1", "Looking."), {**STOCK_LISTED, "id": "m1"}]
    assert names(started(), *events, snapshot(*split), finished(), families=OURS) == {
        "snapshot-rekeyed": "warning"
    }


# ------------------------------------------------------------------ reading rules


def test_rule_01_a_call_pending_at_an_interrupt_needs_no_result_in_the_snapshot(names):
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    assert names(started(), *STOCK, snapshot(ASK, STOCK_LISTED), interrupted(ask), families=OURS) == {}


def test_rule_02_a_resumed_run_that_only_gives_the_result_is_whole(names):
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    events = [
        request(ASK),
        started(),
        *STOCK,
        snapshot(ASK, STOCK_LISTED),
        interrupted(ask),
        request(
            ASK, run="r2", resume=[{"interruptId": "i1", "status": "resolved", "payload": {"approved": True}}]
        ),
        started("r2"),
        result("c1", "7"),
        snapshot(ASK, STOCK_LISTED, tool("approval-response-i1", "c1", "7")),
        finished("r2"),
    ]
    assert names(*events) == {}


CONFIRM = '{"function_name":"stock","function_call_id":"c1","function_arguments":{"sku":"x1"}}'


def test_rule_03_confirmation_calls_may_leave_the_snapshot(names):
    asked = [*STOCK, *call("k1", "confirm_changes", CONFIRM, "a1"), snapshot(ASK, STOCK_LISTED)]
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    assert names(started(), *asked, interrupted(ask), families=OURS) == {}


def test_rule_03_the_reply_to_a_confirmation_may_leave_the_snapshot(names):
    both = assistant("a1", calls=[("c1", "stock", '{"sku":"x1"}'), ("k1", "confirm_changes", CONFIRM)])
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    events = [
        request(ASK),
        started(),
        *STOCK,
        *call("k1", "confirm_changes", CONFIRM, "a1"),
        snapshot(ASK, both),
        interrupted(ask),
        request(ASK, both, tool("d1", "k1", '{"accepted": true}'), run="r2"),
        started("r2"),
        result("c1", "7"),
        snapshot(ASK, STOCK_LISTED, tool("t1", "c1", "7")),
        finished("r2"),
    ]
    assert {k: v for k, v in names(*events, families=OURS).items() if v != "info"} == {}


def test_rule_04_a_rejected_call_may_be_cleaned_from_the_snapshot(names):
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    no = [{"interruptId": "i1", "status": "resolved", "payload": {"approved": False}}]
    for after in (
        [
            STOCK_LISTED,
            tool("approval-response-i1", "c1", "Error: Tool call invocation was rejected by user."),
        ],
        [],
    ):
        events = [
            request(ASK),
            started(),
            *STOCK,
            snapshot(ASK, STOCK_LISTED),
            interrupted(ask),
            request(ASK, run="r2", resume=no),
            started("r2"),
            *text("m2", "As you wish."),
            snapshot(ASK, *after, assistant("m2", "As you wish.")),
            finished("r2"),
        ]
        assert names(*events, families=OURS) == {}


def test_rule_05_message_ids_of_results_never_count(names):
    for streamed, listed in (("fresh-1", "approval-response-9"), ("c1", "t1"), ("", "t1"), ("fresh-1", "")):
        listed_tool = {**tool(listed, "c1", "7")}
        events = [
            started(),
            *STOCK,
            result("c1", "7", streamed),
            snapshot(ASK, STOCK_LISTED, listed_tool),
            finished(),
        ]
        assert names(*events, families=OURS) == {}


def test_rule_05_missing_or_empty_ids_never_match_each_other(names):
    bare = {"id": "", "role": "assistant", "content": "One."}
    other = {"id": "", "role": "assistant", "content": "Two."}
    events = [started(), snapshot(ASK, bare, other), snapshot(ASK, bare, other), finished()]
    assert names(*events, families=OURS) == {}


def test_rule_05_a_message_without_id_is_found_by_its_text_without_a_finding(names):
    bare = {"role": "user", "content": "stock?"}
    events = [
        request(bare),
        started(),
        *text("m1", "Seven."),
        snapshot(ASK, assistant("m1", "Seven.")),
        finished(),
    ]
    assert names(*events, families=OURS) == {}


def test_rule_06_langgraph_run_ids_differ_as_information(names):
    raw = {"type": "RAW", "event": {"event": "on_chain_start", "metadata": {"langgraph_node": "a"}}}
    assert names(started(), raw, finished("other")) == {"run-id-changed": "info"}
    assert names(started(), finished("other")) == {"run-id-changed": "warning"}


def test_rule_07_a_stream_that_starts_with_run_error_belongs_to_its_request(names):
    found = names(request(ASK), failed("APPROVAL_RESUME_NOT_FOUND"), families=OURS)
    assert found == {"run-error": "info"}


def test_rule_08_call_ids_that_repeat_across_turns_are_paired_by_occurrence(names):
    first = [ASK, assistant("a1", calls=[("stock", "stock", '{"sku":"x1"}')]), tool("t1", "stock", "7")]
    second = [
        user("u2", "and x2?"),
        assistant("a2", calls=[("stock", "stock", '{"sku":"x2"}')]),
        tool("t2", "stock", "3"),
    ]
    events = [
        request(ASK),
        started(),
        *call("stock", "stock", '{"sku":"x1"}', "a1"),
        result("stock", "7"),
        snapshot(*first),
        finished(),
        request(*first, second[0], run="r2"),
        started("r2"),
        *call("stock", "stock", '{"sku":"x2"}', "a2"),
        result("stock", "3"),
        snapshot(*first, *second),
        finished("r2"),
    ]
    assert names(*events, families=OURS) == {}


def test_rule_09_the_same_answer_in_a_later_turn_is_another_message(names):
    first = [ASK, assistant("m1", "Seven.")]
    events = [
        request(ASK),
        started(),
        *text("m1", "Seven."),
        snapshot(*first),
        finished(),
        request(*first, user("u2", "stock?"), run="r2"),
        started("r2"),
        *text("m2", "Seven."),
        snapshot(*first, user("u2", "stock?"), assistant("m2", "Seven.")),
        finished("r2"),
    ]
    assert names(*events, families=OURS) == {}


def test_rule_10_results_in_completion_order_are_in_order(names):
    listed = assistant("a1", calls=[("c1", "stock", "{}"), ("c2", "price", "{}")])
    events = [
        *call("c1", "stock", "{}", "a1"),
        *call("c2", "price", "{}", "a1"),
        result("c2", "3"),
        result("c1", "7"),
    ]
    shown = snapshot(ASK, listed, tool("t1", "c1", "7"), tool("t2", "c2", "3"))
    assert names(started(), *events, shown, finished(), families=OURS) == {}


def test_rule_10_empty_arguments_mean_an_empty_object(names):
    events = [
        call("c1", "ping", parent="a1")[0],
        {"type": "TOOL_CALL_END", "toolCallId": "c1"},
        result("c1", "ok"),
    ]
    for written in ("{}", ""):
        shown = snapshot(ASK, assistant("a1", calls=[("c1", "ping", written)]), tool("t1", "c1", "ok"))
        assert names(started(), *events, shown, finished(), families=OURS) == {}


def test_rule_12_run_error_is_a_valid_end(names):
    start, content, _ = text("m1", "Half an ans")
    assert names(started(), start, content, {"type": "STEP_STARTED", "stepName": "x"}, failed()) == {
        "run-error": "info"
    }


def test_rule_13_arguments_streamed_twice_equal_the_snapshot(names):
    start, args, end = call("c1", "stock", '{"sku":"x1"}', "a1")
    events = [start, args, args, end, snapshot(ASK, STOCK_LISTED)]
    assert names(started(), *events, finished(), families=OURS) == {}


def test_rule_15_a_cut_capture_turns_missing_ends_into_information():
    lines = [started(), *text("m1", "Half an")[:2]]
    cut = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + 'data: {"type": "TEXT_MESSAGE_CON'
    found = {f.rule: f.severity for f in check(load(cut.encode()))}
    assert found["run-end-missing"] == "info"
    assert "error" not in found.values()


def test_rule_15_a_capture_that_begins_later_knows_only_what_it_shows(names):
    seen = snapshot(user("u8", "stock?"), assistant("m8", "Seven."))
    assert names(started("r9"), seen, finished("r9"), families=OURS) == {}


def test_rule_16_one_conversation_under_two_thread_ids(names):
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    yes = [{"interruptId": "i1", "status": "resolved", "payload": {"approved": True}}]
    events = [
        request(ASK, thread="thread-A"),
        started(thread="thread-A"),
        *STOCK,
        finished(thread="thread-A", outcome={"type": "interrupt", "interrupts": [ask]}),
        request(ASK, run="r2", thread="thread-B", resume=yes),
        started("r2", "thread-B"),
        result("c1", "7"),
        finished("r2", "thread-B"),
    ]
    assert names(*events, families=OURS) == {}


# ------------------------------------------------------------------ snapshots against what was known


def test_a_message_still_open_at_the_snapshot_is_not_compared(names):
    start, content, end = text("m1", "Seven left.")
    events = [start, content, snapshot(ASK), {**content, "delta": " Or eight."}, end]
    assert names(started(), *events, finished(), families=OURS) == {}


def test_an_empty_snapshot_loses_everything(found):
    findings = found(request(ASK), started(), *text("m1", "Seven."), snapshot(), finished())
    (lost,) = [f for f in findings if f.rule == "snapshot-message-missing"]
    assert (lost.severity, lost.place, set(lost.other_ids)) == ("warning", "snapshot", {"u1", "m1"})


def test_a_message_of_an_earlier_run_is_known_too(found):
    first = [request(ASK), started(), *text("m1", "Seven."), finished()]
    then = [started("r2"), *text("m2", "Bye."), snapshot(ASK, assistant("m2", "Bye.")), finished("r2")]
    (lost,) = [f for f in found(*first, *then) if f.rule == "snapshot-message-missing"]
    assert lost.other_ids == ("m1",)


def test_the_users_message_as_parent_of_a_call_is_no_other_id_of_it(names):
    events = [*call("c1", "stock", '{"sku":"x1"}', "u1"), result("c1", "7")]
    shown = snapshot(ASK, STOCK_LISTED, tool("t1", "c1", "7"))
    assert names(started(), *events, shown, finished(), families=OURS) == {}
    assert names(request(ASK), started(), *events, shown, finished(), families=OURS) == {}


def test_messages_that_were_merged_into_one_are_not_missing(names):
    events = [*text("m1", "I looked at the stock."), *text("m2", "There are seven left.")]
    shown = snapshot(ASK, assistant("m1", "I looked at the stock. There are seven left."))
    found = names(started(), *events, shown, finished(), families=OURS)
    assert found == {"snapshot-text-differs": "warning"}


def test_what_the_clients_own_history_dropped_is_not_missing(names):
    first = [
        request(ASK),
        started(),
        *text("m1", "Seven."),
        snapshot(ASK, assistant("m1", "Seven.")),
        finished(),
    ]
    again = [
        request(ASK, run="r2"),
        started("r2"),
        *text("m2", "Eight."),
        snapshot(ASK, assistant("m2", "Eight.")),
    ]
    assert names(*first, *again, finished("r2"), families=OURS) == {}


def test_a_client_that_sends_only_new_messages_drops_nothing(found):
    first = [
        request(ASK),
        started(),
        *text("m1", "Seven."),
        snapshot(ASK, assistant("m1", "Seven.")),
        finished(),
    ]
    new = user("u2", "and x2?")
    lossy = [
        request(new, run="r2"),
        started("r2"),
        *text("m2", "Eight."),
        snapshot(new, assistant("m2", "Eight.")),
    ]
    (lost,) = [f for f in found(*first, *lossy, finished("r2")) if f.rule == "snapshot-message-missing"]
    assert set(lost.other_ids) == {"u1", "m1"}


def test_the_same_loss_in_every_later_snapshot_is_one_finding(found):
    shown = snapshot(ASK)
    findings = found(request(ASK), started(), *text("m1", "Seven."), shown, shown, shown, finished())
    assert [f.rule for f in findings] == ["snapshot-message-missing"]


def test_a_stored_thread_shown_first_may_lack_the_new_question(names):
    old, new = [ASK, assistant("m1", "Seven.")], user("u2", "and x2?")
    events = [
        request(*old, new, run="r2"),
        started("r2"),
        snapshot(*old),
        *text("m2", "Eight."),
        snapshot(*old, new, assistant("m2", "Eight.")),
        finished("r2"),
    ]
    assert names(*events, families=OURS) == {}


def test_lost_reasoning_is_information(names):
    thought = [
        {"type": "REASONING_MESSAGE_START", "messageId": "q1", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "q1", "delta": "Let me see."},
        {"type": "REASONING_MESSAGE_END", "messageId": "q1"},
    ]
    events = [
        started(),
        *thought,
        *text("m1", "Seven."),
        snapshot(ASK, assistant("m1", "Seven.")),
        finished(),
    ]
    assert names(*events) == {"snapshot-message-missing": "info"}


def test_arguments_that_a_person_edited_may_differ(names):
    ask = {"id": "i1", "reason": "tool_call", "toolCallId": "c1"}
    edited = [
        {
            "interruptId": "i1",
            "status": "resolved",
            "payload": {"approved": True, "editedArgs": {"sku": "x2"}},
        }
    ]
    shown = [ASK, assistant("a1", calls=[("c1", "stock", '{"sku":"x2"}')]), tool("t1", "c1", "3")]
    events = [
        request(ASK),
        started(),
        *STOCK,
        interrupted(ask),
        request(ASK, run="r2", resume=edited),
        started("r2"),
        result("c1", "3"),
        snapshot(*shown),
        finished("r2"),
    ]
    assert names(*events, families=OURS) == {}


def test_an_empty_side_of_the_arguments_is_an_error(names):
    empty = assistant("a1", calls=[("c1", "stock", "")])
    assert names(started(), *STOCK, snapshot(ASK, empty), finished(), families=OURS) == {
        "snapshot-args-differ": "error"
    }


def test_a_placeholder_of_the_stream_is_no_result_to_compare(names):
    events = [
        *STOCK,
        result("c1", "Error: Tool call invocation failed."),
        snapshot(ASK, STOCK_LISTED, tool("t1", "c1", "7")),
    ]
    assert names(started(), *events, finished(), families=OURS) == {}


def test_texts_and_calls_open_at_the_same_time_have_no_order(names):
    one, two = text("m1", "First."), text("m2", "Second.")
    events = [one[0], two[0], one[1], two[1], two[2], one[2]]
    shown = snapshot(ASK, assistant("m2", "Second."), assistant("m1", "First."))
    found = names(started(), *events, shown, finished(), families=OURS)
    assert "snapshot-order-differs" not in found


# ------------------------------------------------------------------ the rest of the families


def test_an_error_that_the_framework_recovered_from_is_not_hidden(names):
    error = {"type": "RAW", "event": {"event": "RunError", "content": "first model busy"}}
    assert names(started(), error, *text("m1", "Hello."), finished()) == {}
    assert names(started(), *text("m1", "Hello."), error, finished()) == {"run-error-hidden": "error"}


def test_errors_of_one_tool_in_a_raw_event_do_not_fail_the_run(names):
    for event in (
        {"event": "ToolCallError", "content": "x"},
        {"type": "on_tool_error"},
        {"event": "RunCompleted", "errors": []},
    ):
        assert names(started(), {"type": "RAW", "event": event}, finished()) == {}


def test_framework_errors_under_other_names(names):
    for event in (
        {"event": "TeamRunError", "content": "x"},
        {"type": "response.failed", "response": {"error": {"message": "x"}}},
        {"type": "crew_kickoff_failed", "error": "x"},
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
        {"errorCode": "429", "errorMessage": "quota"},
    ):
        assert names(started(), {"type": "RAW", "event": event}, finished()) == {
            "run-error-hidden": "error"
        }, event


def test_two_threads_in_one_stream_do_not_nest(names):
    one, two = text("m1", "Hello."), text("m2", "Hello.")
    events = [started("r1", "t1"), one[0], started("r2", "t2"), two[0], one[1], two[1], one[2], two[2]]
    assert names(*events, finished("r1", "t1"), finished("r2", "t2"), families=OURS) == {}


def test_steps_may_be_taken_again(names):
    step = [
        {"type": "STEP_STARTED", "stepName": "superstep:1"},
        {"type": "STEP_FINISHED", "stepName": "superstep:1"},
    ]
    assert names(started(), *step, *step, finished()) == {}


def test_a_failed_patch_changes_nothing_for_the_next_one(names, found):
    base = {"type": "STATE_SNAPSHOT", "snapshot": {"a": {"x": 1}}}
    half = {
        "type": "STATE_DELTA",
        "delta": [{"op": "remove", "path": "/a/x"}, {"op": "remove", "path": "/b"}],
    }
    after = {"type": "STATE_DELTA", "delta": [{"op": "test", "path": "/a/x", "value": 1}]}
    findings = found(started(), base, half, after, finished())
    assert [f.rule for f in findings] == ["state-delta-failed"]


def test_a_patch_of_an_activity_known_from_a_list(names):
    shown = snapshot(
        ASK, {"id": "act-1", "role": "activity", "activityType": "plan", "content": {"steps": [1]}}
    )
    patch = {"type": "ACTIVITY_DELTA", "messageId": "act-1", "activityType": "plan"}
    good = {**patch, "patch": [{"op": "add", "path": "/steps/-", "value": 2}]}
    bad = {**patch, "patch": [{"op": "remove", "path": "/steps/7"}]}
    assert names(started(), shown, good, finished(), families=OURS) == {}
    assert names(started(), shown, bad, finished(), families=OURS) == {"state-delta-failed": "error"}


def test_a_patch_that_doubles_its_document_again_and_again_is_not_followed(names):
    base = {"type": "STATE_SNAPSHOT", "snapshot": {"a": "x" * 1000}}
    bomb = [{"op": "copy", "from": "", "path": f"/k{n}"} for n in range(60)]
    assert names(started(), base, {"type": "STATE_DELTA", "delta": bomb}, finished()) == {}


def test_time_may_start_anew_with_a_run(names):
    t = 1_790_000_000_000
    events = [{**started(), "timestamp": t + 9000}, {**finished(), "timestamp": t + 9500}]
    events += [{**started("r2"), "timestamp": t}, {**finished("r2"), "timestamp": t + 10}]
    assert names(*events) == {}


def test_seconds_are_one_finding_and_not_time_running_backwards(names):
    events = [{**started(), "timestamp": 1_790_000_000_000}, {**finished(), "timestamp": 1_790_000_002}]
    assert names(*events) == {"time-unit": "warning"}


def test_equal_departures_from_the_schema_are_one_finding(found):
    delta = [{"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1"} for _ in range(50)]
    start, _, end = text("m1", "")
    findings = found(started(), start, *delta, end, finished())
    assert [(f.rule, len(f.evidence)) for f in findings] == [("schema-field-missing", 20)]


def test_both_protocol_generations_are_accepted(names):
    new = [
        {**started(protocolVersion="1.0"), "timestamp": 1_790_000_000_000.0},
        {"type": "TEXT_MESSAGE_START", "messageId": "m1", "role": None},
        {"type": "TEXT_MESSAGE_END", "messageId": "m1", "metadata": None},
        finished(outcome={"type": "success", "pendingToolCallIds": []}, usage=None),
    ]
    assert names(*new) == {}
