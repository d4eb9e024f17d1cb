"""Captures that a judge from outside wrote from the specification, where the rules were once wrong.

Each case is what happened, the lines, and all errors and warnings that may be reported.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

Line = dict[str, Any]
THREAD = {"threadId": "t1"}


def start(run: str = "r1") -> Line:
    return {"type": "RUN_STARTED", **THREAD, "runId": run}


def end(run: str = "r1", *interrupts: tuple[str, str]) -> Line:
    entries = [{"id": own, "reason": "tool_call", "toolCallId": call} for own, call in interrupts]
    outcome = {"outcome": {"type": "interrupt", "interrupts": entries}} if entries else {}
    return {"type": "RUN_FINISHED", **THREAD, "runId": run, **outcome}


def call(own: str, tool: str, arguments: Any, parent: str = "m1") -> list[Line]:
    return [
        {"type": "TOOL_CALL_START", "toolCallId": own, "toolCallName": tool, "parentMessageId": parent},
        {"type": "TOOL_CALL_ARGS", "toolCallId": own, "delta": json.dumps(arguments)},
        {"type": "TOOL_CALL_END", "toolCallId": own},
    ]


def result(own: str, content: str = "ok") -> Line:
    return {
        "type": "TOOL_CALL_RESULT",
        "messageId": f"of {own} {content}",
        "toolCallId": own,
        "content": content,
    }


def text(own: str, delta: str = "Done.") -> list[Line]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": own, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": own, "delta": delta},
        {"type": "TEXT_MESSAGE_END", "messageId": own},
    ]


def user(own: str) -> Line:
    return {"id": own, "role": "user", "content": own}


def owner(own: str, *calls: tuple[str, str, Any]) -> Line:
    made = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": a if raw else json.dumps(a)}}
        for i, n, a in calls
        for raw in [isinstance(a, Raw)]
    ]
    return {"id": own, "role": "assistant", "toolCalls": made}


class Raw(dict[str, Any]):
    """Arguments that are written as an object, not as a text."""


def tool(call_id: str, content: str = "ok") -> Line:
    return {"id": f"msg of {call_id} {content}", "role": "tool", "toolCallId": call_id, "content": content}


def snapshot(*messages: Line) -> Line:
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def ask(run: str, *messages: Line, resume: list[Line] | None = None) -> Line:
    return {**THREAD, "runId": run, "messages": list(messages), **({"resume": resume} if resume else {})}


def decide(own: str, approved: bool = True, status: str = "resolved") -> Line:
    return {"interruptId": own, "status": status, "payload": {"approved": approved}}


def opened(run: str, cut: int | None = None) -> list[Line]:
    return [start(run), *text("m1"), *call("c1", "look", {}), result("c1"), end(run)][:cut]


EDITED = [user("u1"), owner("m1", ("pay", "pay", {"e": 1}))]

CASES: list[tuple[str, list[Any], set[str]]] = [
    ("an end fills in the run id that the start lacks",
     [{"type": "RUN_STARTED", **THREAD}, text("m1"), end()], {"schema-field-missing"}),
    ("an unknown type does nothing to messages",
     [start(), {"type": "TEXT_MESSAGE_DELTA", "messageId": "m1", "delta": "x"}, text("m1"), end()],
     {"schema-unknown-type"}),
    ("arguments without any START in the whole capture",
     [start(), {"type": "TOOL_CALL_ARGS", "toolCallId": "c0", "delta": "{}"}, text("m1"), end()],
     {"call-not-open"}),
    ("a second owner of a call is no new id of the first",
     [start(), call("c1", "f", {"x": 1}), result("c1"), text("m2"),
      snapshot(user("u"), owner("m1", ("c1", "f", {"x": 1})), tool("c1"), owner("m9", ("c1", "f", {"x": 1})),
               {"id": "m2", "role": "assistant", "content": "Done."}), end()],
     {"call-duplicated"}),
    ("an id that equals the tool's name, known from a snapshot of earlier turns",
     [start(), snapshot(user("u1"), owner("a1", ("f", "f", {"x": 1})), tool("f", "1"), user("u2")),
      call("f", "f", {"x": 2}, "a3"), result("f", "2"),
      snapshot(user("u1"), owner("a1", ("f", "f", {"x": 1})), tool("f", "1"), user("u2"),
               owner("a3", ("f", "f", {"x": 2})), tool("f", "2")), end()],
     set()),
    ("a rejected call has no result, and its id comes again in the next turn",
     [ask("r1", user("u1")), start("r1"), call("pay", "pay", {"e": 1}), end("r1", ("i1", "pay")),
      ask("r2", *EDITED, resume=[decide("i1", approved=False)]), start("r2"), text("m2"), end("r2"),
      ask("r3", *EDITED, user("u2")), start("r3"), call("pay", "pay", {"e": 2}, "m3"), end("r3", ("i2", "pay")),
      ask("r4", *EDITED, user("u2"), owner("m3", ("pay", "pay", {"e": 2})), resume=[decide("i2")]),
      start("r4"), result("pay"), end("r4")],
     set()),
    ("two calls under one id in a request have two results",
     [ask("r1", user("u1"), owner("a1", ("c", "f", {"x": 1}), ("c", "f", {"x": 2})), tool("c", "1"), tool("c", "2"),
          user("u2"))],
     {"call-id-collision"}),
    ("two requests for information, answered in the other order",
     [ask("r1", user("u1")), start("r1"), call("q1", "request_info", {"request_id": "q1"}),
      call("q2", "request_info", {"request_id": "q2"}), end("r1", ("q1", "q1"), ("q2", "q2")),
      ask("r2", user("u1"), resume=[decide("q2"), decide("q1")]), start("r2"), text("m2"), end("r2")],
     set()),
    ("after a cancelled question the model calls again and asks again",
     [ask("r1", user("u1")), start("r1"), call("c1", "mail", {"to": "x"}), end("r1", ("i1", "c1")),
      ask("r2", user("u1"), owner("m1", ("c1", "mail", {"to": "x"})),
          resume=[{"interruptId": "i1", "status": "cancelled"}]),
      start("r2"), call("c2", "mail", {"to": "x"}, "m2"), end("r2", ("i2", "c2"))],
     {"call-repeated"}),
    ("a graph's own error ends as a success",
     [start(), {"type": "RAW", "event": {"event": "on_chain_error", "name": "LangGraph", "data": {"error": "x"}}}, end()],
     {"run-error-hidden"}),
    ("a reconnect whose request has a run id of its own replays two runs",
     [ask("r1", user("u1")), opened("r1"), ask("r2", user("u1"), user("u2")), start("r2"), text("m3"), end("r2"),
      ask("c9"), opened("r1"), start("r2"), text("m3"), end("r2")],
     set()),
    ("two streams break off, the third brings the whole run",
     [ask("r1", user("u1")), opened("r1", 5), ask("r1"), opened("r1", 7), ask("r1"), opened("r1")],
     set()),
    ("the resume names the call instead of the interrupt, and nothing runs",
     [ask("r1", user("u1")), start("r1"), call("c1", "pay", {}), end("r1", ("i1", "c1")),
      ask("r2", user("u1"), resume=[decide("c1")]), start("r2"), text("m2"), end("r2")],
     {"approval-unknown", "approval-unanswered"}),
    ("arguments of a request are an object",
     [ask("r1", user("u1"), owner("a1", ("c1", "f", Raw(x=1))), tool("c1"), user("u2"))],
     {"schema-field-invalid"}),
    ("a tool message of a snapshot does not say which call it answers",
     [start(), snapshot(user("u1"), {"id": "t", "role": "tool", "content": "1"}), text("m1"), end()],
     {"schema-field-missing"}),
    ("a resume entry has a status of its own",
     [ask("r1", user("u1")), start("r1"), call("c1", "pay", {}), end("r1", ("i1", "c1")),
      ask("r2", user("u1"), resume=[decide("i1", status="approved")]), start("r2"), result("c1"), text("m2"), end("r2")],
     {"schema-field-invalid"}),
]  # fmt: skip


def _flat(lines: list[Any]) -> list[Line]:
    return [line for part in lines for line in (part if isinstance(part, list) else [part])]


@pytest.mark.parametrize(("lines", "wanted"), [pytest.param(c[1], c[2], id=c[0]) for c in CASES])
def test_errors_and_warnings(names, lines: list[Any], wanted: set[str]) -> None:
    found = names(*_flat(lines))
    assert {rule for rule, severity in found.items() if severity != "info"} == wanted


def test_a_schema_finding_names_the_call(found) -> None:
    findings = found(start(), {"type": "TOOL_CALL_START", "toolCallId": "c1"}, {"type": "TOOL_CALL_END", "toolCallId": "c1"},
                     result("c1"), end(), select=("schema-field-missing",))  # fmt: skip
    assert [f.call_ids for f in findings] == [("c1",)]
