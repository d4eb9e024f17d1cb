"""Faults that a framework's list has and the payload has not, and what is none."""

from __future__ import annotations

import json
from typing import Any

import workbench as wb

CALL = {"type": "function_call", "call_id": "c1", "name": "dig", "arguments": "{}"}
ASK = {"type": "function_approval_request", "id": "c1", "function_call": CALL}
YES = {"type": "function_approval_response", "id": "c1", "approved": True, "function_call": CALL}


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "contents": [{"type": "text", "text": text}]}


def has(role: str, *contents: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "contents": list(contents)}


def done(call_id: str = "c1", text: str = "dug") -> dict[str, Any]:
    return has("tool", {"type": "function_result", "call_id": call_id, "result": text})


KEPT = [says("user", "dig bed 2"), has("assistant", CALL), done(), says("user", "and bed 3?")]
CALLED = {"role": "assistant", "content": None,
          "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "dig", "arguments": "{}"}}]}  # fmt: skip
TOLD = {"role": "tool", "tool_call_id": "c1", "content": "dug"}
WIRE = [{"role": "user", "content": "dig bed 2"}, CALLED, TOLD, {"role": "user", "content": "and bed 3?"}]


def leftovers(kept: list[dict[str, Any]], wire: list[dict[str, Any]], **more: Any) -> list[str]:
    lines = [{"messages": kept}, {"model": "m", "messages": wire, **more}]
    trace = wb.load("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert len(trace.records.payloads) == 2
    return [f.message for f in wb.check(trace, select=["payload-leftover-masked"])]


def test_each_kind_of_leftover_is_named() -> None:
    (text,) = leftovers([KEPT[0], has("assistant", CALL, ASK), done(), has("user", YES), KEPT[3]], WIRE)
    assert "settled approval c1 at messages[3].contents[0]" in text
    (text,) = leftovers([*KEPT[:3], done(), KEPT[3]], WIRE)
    assert "the result of dig (c1) twice at messages[3].contents[0]" in text
    (text,) = leftovers([KEPT[0], done("c0"), *KEPT[1:]], WIRE)
    assert "a result for c0 without its call at messages[1].contents[0]" in text
    (text,) = leftovers([KEPT[0], has("assistant", {**CALL, "call_id": "c0"}), *KEPT[1:]], WIRE)
    assert "dig (c0) without a result at messages[1].contents[0]" in text
    (text,) = leftovers([*KEPT[:2], has("assistant", CALL), *KEPT[2:]], WIRE)
    assert "dig (c1) twice at messages[2].contents[0]" in text


def test_what_the_wire_shows_as_well_is_not_masked() -> None:
    assert leftovers([*KEPT[:3], done(), KEPT[3]], [*WIRE[:3], TOLD, WIRE[3]]) == []
    lost = {**TOLD, "tool_call_id": "c0"}
    assert leftovers([KEPT[0], done("c0"), *KEPT[1:]], [WIRE[0], lost, *WIRE[1:]]) == []


def test_a_healthy_list_and_one_that_waits() -> None:
    assert leftovers(KEPT, WIRE) == []
    second = {**CALL, "call_id": "c2"}
    waits = has("assistant", second, {**ASK, "id": "c2", "function_call": second})
    assert leftovers([*KEPT, waits], WIRE) == []
    assert leftovers([*KEPT, has("assistant", second)], WIRE) == []


def test_a_payload_of_another_turn_or_another_kind_proves_nothing() -> None:
    faulty = [*KEPT[:3], done(), KEPT[3]]
    assert leftovers(faulty, WIRE[:3]) == []
    assert leftovers(faulty, [{"role": "user", "content": "find a title for: dig bed 2"}]) == []
    assert leftovers(faulty, [*WIRE[:3], {"role": "user", "content": "something else"}]) == []
