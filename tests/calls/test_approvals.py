"""Approvals over every channel and answer form of the AG-UI world: decision and state."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb
from workbench.calls.conversation import Approval
from workbench.trace import Trace

ARGUMENTS = {"bay": 4}
USER = {"id": "u1", "role": "user", "content": "rent bay 4"}
ASKED = {
    "id": "a1",
    "role": "assistant",
    "toolCalls": [
        {"id": "call-7", "type": "function", "function": {"name": "rent", "arguments": '{"bay":4}'}}
    ],
}


def request(run: str, messages: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    body = {
        "threadId": "t",
        "runId": run,
        "state": {},
        "messages": messages or [],
        "tools": [],
        "context": [],
    }
    return {"kind": "request", "input": {**body, "forwardedProps": {}, **more}}


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "event", "event": {"type": kind, **fields}}


def start(run: str) -> dict[str, Any]:
    return event("RUN_STARTED", threadId="t", runId=run)


def finish(run: str, **outcome: Any) -> dict[str, Any]:
    return event("RUN_FINISHED", threadId="t", runId=run, **outcome)


def called(call: str = "call-7", tool: str = "rent", arguments: str = '{"bay": 4}') -> list[dict[str, Any]]:
    return [
        event("TOOL_CALL_START", toolCallId=call, toolCallName=tool),
        event("TOOL_CALL_ARGS", toolCallId=call, delta=arguments),
        event("TOOL_CALL_END", toolCallId=call),
    ]


def interrupt(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"outcome": {"type": "interrupt", "interrupts": list(entries)}}


RESULT = event("TOOL_CALL_RESULT", messageId="r", toolCallId="call-7", content="rented")
ENTRY = {"id": "i9", "reason": "tool_call", "message": "Rent?", "toolCallId": "call-7"}
FUNCTION = {"call_id": "call-7", "name": "rent", "arguments": ARGUMENTS}

#: Channel → the events after the call that ask, and the id that an answer names.
CHANNELS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "outcome": ([finish("r1", **interrupt(ENTRY))], "i9"),
    "custom": (
        [event("CUSTOM", name="function_approval_request", value={"id": "i9", "function_call": FUNCTION}), finish("r1")],
        "i9",
    ),
    "legacy-field": (
        [finish("r1", interrupt=[{"id": "i9", "value": {"type": "x", "function_call": FUNCTION}}])],
        "i9",
    ),
    "confirm-call": (
        [
            *called(
                "k1",
                "confirm_changes",
                json.dumps({"function_name": "rent", "function_call_id": "call-7", "function_arguments": ARGUMENTS}),
            ),
            finish("r1"),
        ],
        "k1",
    ),
    "adk": (
        [
            *called(
                "adk-1",
                "adk_request_confirmation",
                json.dumps({"originalFunctionCall": {"id": "call-7", "name": "rent", "args": ARGUMENTS}}),
            ),
            finish("r1", **interrupt({"id": "adk-1", "reason": "confirmation", "toolCallId": "adk-1"})),
        ],
        "adk-1",
    ),
    "mastra": (
        [
            event(
                "CUSTOM",
                name="on_interrupt",
                value={"type": "mastra_suspend", "toolCallId": "call-7", "toolName": "rent", "args": ARGUMENTS,
                       "runId": "r1"},
            ),
            finish("r1", **interrupt({"id": "r1::call-7", "reason": "tool_approval", "toolCallId": "call-7"})),
        ],
        "r1::call-7",
    ),
    "dotnet": ([finish("r1", **interrupt({**ENTRY, "id": "ficc_call-7"}))], "ficc_call-7"),
}  # fmt: skip


def load(*lines: dict[str, Any]) -> Trace:
    return wb.load("\n".join(json.dumps(line) for line in lines).encode())


def only(trace: Trace) -> Approval:
    (approval,) = [a for c in trace.conversations for a in c.approvals]
    return approval


def resume(approval_id: str, payload: Any = None, status: str = "resolved") -> dict[str, Any]:
    entry = {"interruptId": approval_id, "status": status}
    return {"resume": [entry if payload is None else {**entry, "payload": payload}]}


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_channel_is_one_approval_of_the_call(channel: str) -> None:
    asks, approval_id = CHANNELS[channel]
    trace = load(
        request("r1", [USER]), start("r1"), *called(), *asks,
        request("r2", [USER, ASKED], **resume(approval_id, {"approved": True})), start("r2"), RESULT, finish("r2"),
    )  # fmt: skip
    approval = only(trace)
    assert approval.id == approval_id
    assert (approval.decision, approval.state) == ("approved", "executed")
    assert approval.call is not None
    assert approval.call.id == "call-7"
    assert approval.tool == "rent"
    assert approval.arguments == '{"bay":4}'
    assert not [f for f in wb.check(trace) if f.severity == "error"]


FORMS: dict[str, tuple[dict[str, Any], str]] = {
    "resume": (request("r2", [USER, ASKED], **resume("i9", {"approved": True})), "approved"),
    "resume accepted": (request("r2", [USER, ASKED], **resume("i9", {"accepted": True})), "approved"),
    "resume true": (request("r2", [USER, ASKED], **resume("i9", True)), "approved"),
    "resume edited": (request("r2", [USER], **resume("i9", {"approved": True, "editedArgs": {"bay": 5}})), "edited"),
    "resume edited in place": (request("r2", [USER], **resume("i9", {"approved": True, "bay": 5})), "edited"),
    "resume with the same arguments": (request("r2", [USER], **resume("i9", {"approved": True, "bay": 4})), "approved"),
    "resume rejected": (request("r2", [USER, ASKED], **resume("i9", {"approved": False})), "rejected"),
    "resume cancelled": (request("r2", [USER, ASKED], **resume("i9", status="cancelled")), "cancelled"),
    "interrupts object": (request("r2", [USER], resume={"interrupts": [{"id": "i9", "value": {"accepted": True}}]}),
                          "approved"),
    "command": (request("r2", [USER], forwardedProps={"command": {"resume": {"approved": True}}}), "approved"),
    "command entries": (request("r2", forwardedProps={"command": {"resume": [{"interruptId": "i9", "payload":
                                                                              {"approved": False}}]}}), "rejected"),
    "forwarded resume": (request("r2", [USER], forwardedProps={"resume": {"decisions": [{"type": "approve"}]}}),
                         "approved"),
    "tool message": (request("r2", [USER, ASKED, {"id": "t1", "role": "tool", "toolCallId": "call-7",
                                                  "content": '{"accepted": true}'}]), "approved"),
    "tool message no": (request("r2", [USER, ASKED, {"id": "t1", "role": "tool", "toolCallId": "call-7",
                                                     "content": '{"accepted": false}'}]), "rejected"),
    "function approvals": (request("r2", [USER, ASKED, {"id": "u2", "role": "user", "content": "",
                                                        "function_approvals": [{"id": "i9", "approved": True}]}]),
                           "approved"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_every_answer_form_is_read(form: str) -> None:
    answer, decision = FORMS[form]
    said_yes = decision in ("approved", "edited")
    trace = load(
        request("r1", [USER]), start("r1"), *called(), finish("r1", **interrupt(ENTRY)),
        answer, start("r2"), *([RESULT] if said_yes else []), finish("r2"),
    )  # fmt: skip
    approval = only(trace)
    assert approval.decision == decision
    assert approval.state == ("executed" if said_yes else "answered")
    assert not [f for f in wb.check(trace) if f.severity == "error"]


def states(*lines: dict[str, Any]) -> list[tuple[str, str, str]]:
    trace = load(*lines)
    return [(a.id, a.decision, a.state) for c in trace.conversations for a in c.approvals]


FIRST = [request("r1", [USER]), start("r1"), *called(), finish("r1", **interrupt(ENTRY))]
YES = request("r2", [USER, ASKED], **resume("i9", {"approved": True}))


def test_open() -> None:
    assert states(*FIRST) == [("i9", "none", "open")]


def test_refused() -> None:
    error = event("RUN_ERROR", message="no such interrupt", code="APPROVAL_RESUME_NOT_FOUND")
    assert states(*FIRST, YES, start("r2"), error) == [("i9", "approved", "refused")]


def test_refused_then_accepted() -> None:
    error = event("RUN_ERROR", message="incomplete", code="APPROVAL_RESUME_MISSING_INTERRUPT")
    again = request("r3", [USER, ASKED], **resume("i9", {"approved": True}))
    lines = [*FIRST, YES, start("r2"), error, again, start("r3"), RESULT, finish("r3")]
    assert states(*lines) == [("i9", "approved", "executed")]


def test_answered_while_the_capture_ends() -> None:
    assert states(*FIRST, YES, start("r2")) == [("i9", "approved", "answered")]


def test_lost() -> None:
    assert states(*FIRST, YES, start("r2"), finish("r2")) == [("i9", "approved", "lost")]


def test_lost_to_a_placeholder() -> None:
    failed = event(
        "TOOL_CALL_RESULT", messageId="r", toolCallId="call-7", content="Error: Tool call invocation failed."
    )
    assert states(*FIRST, YES, start("r2"), failed, finish("r2")) == [("i9", "approved", "lost")]


def test_executed_with_a_real_error() -> None:
    failed = event("TOOL_CALL_RESULT", messageId="r", toolCallId="call-7", content="Error: Function failed.")
    assert states(*FIRST, YES, start("r2"), failed, finish("r2")) == [("i9", "approved", "executed")]


def test_replayed() -> None:
    again = request("r3", [USER, ASKED], **resume("i9", {"approved": True}))
    lines = [*FIRST, YES, start("r2"), RESULT, finish("r2"), again, start("r3"), RESULT, finish("r3")]
    assert states(*lines) == [("i9", "approved", "replayed")]


def test_reasked() -> None:
    second = {**ENTRY, "id": "i10", "toolCallId": "call-8"}
    lines = [*FIRST, YES, start("r2"), *called("call-8"), finish("r2", **interrupt(second))]
    assert states(*lines) == [("i9", "approved", "reasked"), ("i10", "none", "open")]


def test_unseen_where_the_request_is_not_in_the_capture() -> None:
    lines = [start("r1"), *called(), finish("r1", **interrupt(ENTRY)), start("r2"), RESULT, finish("r2")]
    assert states(*lines) == [("i9", "unseen", "executed")]


def test_a_result_in_the_asking_run_is_no_answer() -> None:
    lines = [start("r1"), *called(), RESULT, finish("r1", **interrupt(ENTRY))]
    assert states(*lines) == [("i9", "none", "open")]


def test_a_decision_left_in_the_history_is_not_a_second_answer() -> None:
    history = [USER, ASKED, {"id": "t1", "role": "tool", "toolCallId": "call-7", "content": '{"accepted": true}'},
               {"id": "a2", "role": "assistant", "content": "done"}, {"id": "u2", "role": "user", "content": "thanks"}]  # fmt: skip
    trace = load(
        *FIRST, YES, start("r2"), RESULT, finish("r2"), request("r3", history), start("r3"), finish("r3")
    )
    assert len(only(trace).answers) == 1


def test_one_answer_per_approval_where_two_share_an_id() -> None:
    twin = {**ENTRY, "toolCallId": "call-8"}
    lines = [request("r1", [USER]), start("r1"), *called(), *called("call-8"), finish("r1", **interrupt(ENTRY, twin)),
             YES, start("r2"), RESULT, finish("r2")]  # fmt: skip
    assert states(*lines) == [("i9", "approved", "executed"), ("i9", "none", "open")]


def test_a_client_tool_is_an_approval_only_by_its_answer() -> None:
    asked = [request("r1", [USER]), start("r1"), *called(), finish("r1")]
    teal = {"id": "t1", "role": "tool", "toolCallId": "call-7", "content": "teal"}
    yes = {**teal, "content": '{"approved": true}'}
    assert states(*asked, request("r2", [USER, ASKED, teal]), start("r2"), finish("r2")) == []
    assert states(*asked, request("r2", [USER, ASKED, yes]), start("r2"), finish("r2")) == [
        ("call-7", "approved", "answered")
    ]


def test_a_known_confirm_tool_is_an_approval() -> None:
    lines = [start("r1"), *called("c1", "request_approval"), finish("r1")]
    assert states(*lines) == [("c1", "none", "open")]


def test_scrubbed_thread_ids_are_joined_by_the_interrupt() -> None:
    second = request("r2", [USER, ASKED], **resume("i9", {"approved": True}))
    second["input"]["threadId"] = "other"
    begun = event("RUN_STARTED", threadId="other", runId="r2")
    trace = load(*FIRST, second, begun, RESULT, event("RUN_FINISHED", threadId="other", runId="r2"))
    assert only(trace).state == "executed"
    (conversation,) = trace.conversations
    assert conversation.thread_ids == ["t", "other"]
    assert "scrubbed" in conversation.notes[0]


def test_a_capture_may_begin_at_an_answer_that_is_refused(tmp_path):
    confirm = {"id": "confirm-1", "type": "function", "function": {
        "name": "confirm_changes", "arguments": json.dumps({"function_call_id": "call-7", "function_name": "rent"})}}  # fmt: skip
    asked = {**ASKED, "toolCalls": [*ASKED["toolCalls"], confirm]}
    answer = {"interruptId": "int-1", "status": "resolved", "payload": {"accepted": True}}
    refused = event("RUN_ERROR", message="no", code="APPROVAL_NOT_FOUND")
    lines = [
        request("r1", [USER, asked], resume=[answer]), start("r1"), refused,
        request("r2", [USER, asked], resume=[answer]), start("r2"), finish("r2"),
    ]  # fmt: skip
    path = tmp_path / "capture.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    trace = wb.load(str(path))
    (approval,) = trace.conversations[0].approvals
    assert approval.id == "int-1"
    assert [(answer.run.run_id, answer.refused) for answer in approval.answers] == [
        ("r1", True),
        ("r2", False),
    ]
    assert not trace.conversations[0].strays
