"""Approvals in what is sent to the Responses API: of tools that the service runs, and of the agent's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

import workbench as wb

USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look it up."}]}


def request(own: str, label: str | None) -> dict[str, Any]:
    return {
        "type": "mcp_approval_request",
        "id": own,
        "name": "look_up",
        "arguments": "{}",
        "server_label": label,
    }


def response(own: str) -> dict[str, Any]:
    return {"type": "mcp_approval_response", "approval_request_id": own, "approve": True}


def call(own: str) -> list[dict[str, Any]]:
    return [
        {"type": "function_call", "id": "fc_1", "call_id": own, "name": "look_up", "arguments": "{}"},
        {"type": "function_call_output", "call_id": own, "output": "three"},
    ]


def rules(tmp_path: Any, *items: dict[str, Any], **more: Any) -> set[str]:
    path = tmp_path / "payload.json"
    path.write_text(json.dumps({"model": "gpt-5", "input": [USER, *items], **more}), encoding="utf-8")
    return {finding.rule for finding in wb.check(wb.load(str(path)))}


@pytest.mark.parametrize("own", ["mcpr_68a1", "call_68a1"])
@pytest.mark.parametrize("more", [{}, {"store": False}])
def test_a_hosted_request_beside_its_answer_is_at_the_right_place(tmp_path, own, more):
    """Whatever the id looks like: the server's label says who runs the tool."""
    assert "approval-misrouted" not in rules(tmp_path, request(own, "stock"), response(own), **more)


def test_the_service_may_keep_the_request_itself(tmp_path):
    found = rules(tmp_path, response("mcpr_68a1"), previous_response_id="resp_1")
    assert "approval-misrouted" not in found


@pytest.mark.parametrize(
    "items",
    [
        [request("call_68a1", None), response("call_68a1")],
        [response("call_68a1")],
        [*call("call_68a1"), response("call_68a1")],
        # it is named as hosted, and carried out by the agent all the same
        [request("mcpr_68a1", "stock"), *call("mcpr_68a1"), response("mcpr_68a1")],
    ],
    ids=["request without a label", "alone", "behind its result", "hosted and carried out"],
)
def test_the_approval_of_a_tool_of_the_agent_is_not(tmp_path, items):
    assert "approval-misrouted" in rules(tmp_path, *items)
