"""What a client is shown of a thread, and what the model was told, as the claims count it."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from workbench.replay.arms import Replay
from workbench.replay.recordings import Step

Message = dict[str, Any]


def step(arm: Replay, name: str) -> Step:
    """The last step of that name."""
    return next(one for one in reversed(arm.steps) if one.name == name)


def events(one: Step) -> list[dict[str, Any]]:
    """The AG-UI events of a step, in order."""
    lines = [line for _, _, text in one.runs for line in text.split("\n") if line.startswith("data:")]
    return [json.loads(line[5:]) for line in lines]


def shown(one: Step) -> list[Message]:
    """The messages that a client holds after a step: the last snapshot, if there is one."""
    lists = [event["messages"] for event in events(one) if event["type"] == "MESSAGES_SNAPSHOT"]
    return list(lists[-1]) if lists else []


def stored(arm: Replay) -> list[Message]:
    """What a page that is loaded anew at the end is given."""
    return shown(step(arm, "refresh"))


def calls(messages: list[Message]) -> Counter[str]:
    """How often each call stands in a list; confirmations, which the endpoint adds itself, are left out."""
    return Counter(
        call["id"]
        for message in messages
        for call in message.get("toolCalls") or message.get("tool_calls") or ()
        if call["function"]["name"] != "confirm_changes"
    )


def results(messages: list[Message]) -> Counter[str]:
    """How many results each call has in a list."""
    return Counter(
        message.get("toolCallId") or message["tool_call_id"]
        for message in messages
        if message["role"] == "tool"
    )


def repeated(messages: list[Message]) -> list[str]:
    """Ids of messages that stand more than once in a list."""
    counted = Counter(str(message["id"]) for message in messages if message.get("id"))
    return [name for name, count in counted.items() if count > 1]


def left_open(messages: list[Message]) -> list[str]:
    """Calls that stand more often than they have results: a client takes the last one for open."""
    answered = results(messages)
    return [call for call, count in calls(messages).items() if count > answered[call]]


def told(one: Step) -> list[list[Message]]:
    """The messages of each request to the model in a step."""
    return [body["messages"] for body, _, _ in one.payloads]


def asks(one: Step) -> list[dict[str, Any]]:
    """The interrupts that a step ends with."""
    ends = [event for event in events(one) if event["type"] == "RUN_FINISHED"]
    outcome = ends[-1].get("outcome") if ends else None
    return list(outcome.get("interrupts") or ()) if isinstance(outcome, dict) else []


def words(messages: list[Message]) -> str:
    """A list in a few words: `user, call, result, assistant`."""
    said = []
    for message in messages:
        made = message.get("toolCalls") or message.get("tool_calls")
        said.append("call" if made else "result" if message["role"] == "tool" else str(message["role"]))
    return ", ".join(said)
