"""Requests to the model provider as steps, put where they belong between the events of their run."""

from __future__ import annotations

from workbench.calls.conversation import Conversation, MessageList
from workbench.trace import Trace
from workbench.views import labels
from workbench.views.steps import AGENT, MODEL, Step


def insert(trace: Trace, conversation: Conversation, steps: list[Step]) -> None:
    """Add one step per payload to the steps of a conversation, in place.

    A payload stands before the first event of its run that is later; where times are
    missing, before the first event of all.
    """
    for items in conversation.lists:
        if items.at.kind == "payload":
            step = _step(trace, conversation, items)
            place = _place(steps, step)
            if place < len(steps) and steps[place].run is step.run:
                step.band, steps[place].band = steps[place].band, ""
            steps.insert(place, step)


def _step(trace: Trace, conversation: Conversation, items: MessageList) -> Step:
    payload = trace.records.payloads[items.at.row]
    failed = payload.status is not None and payload.status >= 400
    words = labels.joined(
        payload.body.get("model"), labels.messages(items.messages), f"HTTP {payload.status}" if failed else ""
    )
    return Step(
        "payload", "payload", AGENT, MODEL, items.run, conversation, words,
        payload=items.at.row, time=payload.time, bad=failed,
    )  # fmt: skip


def _place(steps: list[Step], new: Step) -> int:
    mine = [number for number, step in enumerate(steps) if step.run is new.run]
    for number in mine:
        step = steps[number]
        if step.rows and (new.time is None or step.time is None or step.time > new.time):
            return number
    return mine[-1] + 1 if mine else len(steps)
