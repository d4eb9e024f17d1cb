"""The client of a replay: what it sends beside a decision, and what it knows after it was loaded anew."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.replay.guest.client import Client

CALL = {"id": "c1", "type": "function", "function": {"name": "water", "arguments": "{}"}}
THREAD = [
    {"id": "u1", "role": "user", "content": "go"},
    {"id": "a1", "role": "assistant", "toolCalls": [CALL]},
]
ASKED = {
    "type": "CUSTOM",
    "name": "function_approval_request",
    "value": {"id": "p1", "function_call": {"call_id": "c1", "name": "water", "arguments": {}}},
}
SNAPSHOT = {"type": "MESSAGES_SNAPSHOT", "messages": THREAD}
END = {
    "type": "RUN_FINISHED",
    "outcome": {"type": "interrupt", "interrupts": [{"id": "i1", "toolCallId": "c1"}]},
}
OLD_END = {"type": "RUN_FINISHED", "interrupt": [{"id": "c1", "value": ASKED["value"]}]}


def asked(*events: dict[str, Any]) -> Client:
    client = Client([])
    client.say("go")
    client.take(list(events))
    return client


@pytest.mark.parametrize(
    ("what", "sent"), [("transcript", ["go", None]), ("nothing", []), ("word", ["well?"])]
)
def test_what_goes_beside_a_decision(what, sent):
    client = asked(ASKED, SNAPSHOT, END)
    form, request = client.decide(decision=True, form="resume")
    made = client.beside(request, what, "well?")
    assert form == "resume"
    assert made["resume"] == [{"interruptId": "i1", "status": "resolved", "payload": {"accepted": True}}]
    assert [message.get("content") for message in made["messages"]] == sent
    again = client.retry()
    assert again["runId"] != made["runId"]
    assert {**again, "runId": ""} == {**made, "runId": ""}


def test_a_new_word_is_part_of_what_the_client_knows():
    client = asked(ASKED, SNAPSHOT, END)
    client.beside(client.decide(decision=True, form="resume")[1], "word", "well?")
    assert [message.get("content") for message in client.history] == ["go", None, "well?"]


@pytest.mark.parametrize(("end", "form"), [(END, "resume"), (OLD_END, "resume-interrupts")])
def test_the_shape_of_a_resume_is_that_of_the_release(end, form):
    client = asked(ASKED, SNAPSHOT, end)
    assert client.decide(decision=True, form="resume-auto")[0] == form


@pytest.mark.parametrize(("end", "interrupt"), [(END, "i1"), (OLD_END, "c1")])
def test_a_page_that_was_loaded_anew_knows_what_is_stored(end, interrupt):
    client = asked(ASKED, SNAPSHOT, end)
    request = client.refresh()
    assert request["messages"] == []
    assert "resume" not in request
    assert not client.cards
    client.take([SNAPSHOT, end])
    assert client.history == THREAD
    assert [(card.call, card.tool, card.interrupt) for card in client.cards] == [("c1", "water", interrupt)]


def test_a_page_that_was_not_loaded_anew_asks_only_what_it_was_asked():
    assert not asked(SNAPSHOT, END).cards


def test_message_ids_are_new_or_left_out():
    client = asked(ASKED, SNAPSHOT, END)
    client.rename()
    assert not {message["id"] for message in client.history} & {"u1", "a1"}
    client.rename(drop=True)
    assert not any("id" in message for message in client.history)
    assert [message["role"] for message in client.history] == ["user", "assistant"]
