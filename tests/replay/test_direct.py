"""Messages from data, handed to a connector: what arrives there, and what a history provider leaves out."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from workbench.replay.guest import direct


class Connector:
    """Keeps what it is given, and answers or raises."""

    def __init__(self, problem=None):
        self.given, self.options, self.problem = [], {}, problem

    def get_response(self, messages, *, stream, options):
        assert stream
        self.given, self.options = messages, options
        return self

    async def get_final_response(self):
        if self.problem is not None:
            raise self.problem
        return self

    text = "Done."


def send(messages, *, connector=None, kept=False, options=None):
    connector = connector or Connector()
    with ThreadPoolExecutor(1) as thread:  # a browser test may have left a loop in the main thread
        work = direct.send(connector, messages, options or {}, kept=kept)
        return connector, thread.submit(asyncio.run, work).result()


def part(kind, **more):
    return {"type": kind, "call": "c1", "tool": "save", **more}


USER = {"role": "user", "contents": [{"type": "text", "text": "Save it."}]}
CALL = {"role": "assistant", "contents": [part("function_call", arguments={"x": 1})]}
ASKED = {"role": "assistant", "contents": [part("function_approval_request")]}
ANSWERED = {"role": "user", "contents": [part("function_approval_response", approved=False)]}
RESULT = {"role": "tool", "contents": [{"type": "function_result", "call": "c1", "result": "saved"}]}


def test_every_kind_of_content_arrives_as_the_framework_has_it():
    thought = {"role": "assistant", "contents": [{"type": "text_reasoning", "data": "sealed"}]}
    connector, told = send([USER, thought, CALL, ASKED, ANSWERED, RESULT], options={"store": False})
    assert [message.role for message in connector.given] == [
        *("user", "assistant", "assistant", "assistant", "user", "tool")
    ]
    user, reasoning, call, asked, answered, result = (m.contents[0] for m in connector.given)
    assert user.text == "Save it."
    assert reasoning.protected_data == "sealed"
    assert (call.call_id, call.name, call.parse_arguments()) == ("c1", "save", {"x": 1})
    assert asked.function_call.call_id == "c1"
    assert (answered.id, answered.approved, answered.function_call.name) == ("c1", False, "save")
    assert (result.call_id, result.result) == ("c1", "saved")
    assert connector.options == {"store": False}
    assert (told["text"], told["settled"]) == ("Done.", ["c1"])
    assert told["sent"] == [[content.type for content in message.contents] for message in connector.given]


def test_a_call_of_a_hosted_server_has_its_label():
    hosted = {"role": "assistant", "contents": [part("function_approval_request", server="files")]}
    connector, _ = send([hosted, ASKED])
    labels = [m.contents[0].function_call.additional_properties for m in connector.given]
    assert [dict(label or {}).get("server_label") for label in labels] == ["files", None]


def test_what_the_connector_raises_is_told():
    _, told = send([USER], connector=Connector(ValueError("no such model")))
    assert told["error"] == "ValueError: no such model"
    assert "text" not in told


@pytest.mark.parametrize("kept", [False, True])
def test_a_history_provider_stands_between_only_if_it_is_asked_for(kept):
    """Settled decisions are controls of the framework: a history leaves them out, a plain list does not."""
    connector, told = send([USER, CALL, ASKED, ANSWERED, RESULT], kept=kept)
    kinds = [content.type for message in connector.given for content in message.contents]
    assert kinds == [kind for kinds in told["sent"] for kind in kinds]
    assert kinds.count("function_approval_response") == (0 if kept else 1)
    assert {"text", "function_call", "function_result"} <= set(kinds)
