"""The client of a recorded conversation: it sends again what was sent, with the ids of this run.

A step has a `request`: the recorded RunAgentInput, whose `messages` are `{"view": n, "then": [...]}`, which
is what the client knows after step n and what it adds, or a list as it was sent. `{"$id": [kind, call]}`
stands for an id that the framework gave to a question about a call: `approval`, `interrupt` or `confirm`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import view
from .client import FORMS, Card, Client


class NobodyAskedError(Exception):
    """The recorded answer is to a question that was not asked in this run."""


class Conversation(Client):
    """One recorded conversation, told again."""

    def __init__(self) -> None:
        super().__init__([])
        self._views: list[list[dict[str, Any]]] = []
        self._asked: dict[str, Card] = {}

    def again(self, step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The form of the answer and the request of a step; `NobodyAskedError` where it cannot be made."""
        missing = [answer["call"] for answer in step.get("answers", ()) if answer["call"] not in self._asked]
        if missing:
            raise NobodyAskedError(f"nobody was asked about {', '.join(missing)}")
        body = {key: value for key, value in step["request"].items() if key != "messages"}
        messages = step["request"]["messages"]
        if isinstance(messages, list):
            self.history = self._live(messages)
        else:
            known = self._views[messages["view"]] if messages["view"] is not None else []
            self.history = [*known, *self._live(messages["then"])]
        form = step.get("form", "")
        if "other_form" in step:
            return step["other_form"], self._otherwise(step, body)
        return form, {**self._live(body), "messages": self.history}

    def _otherwise(self, step: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        """The same answers in another form; all of them say the same, which the host has seen to."""
        self.history = list(self._views[-1])
        asked = [self._asked[answer["call"]] for answer in step["answers"]]
        self.cards = [replace(card, interrupt=card.interrupt or card.approval) for card in asked]
        made = FORMS[step["other_form"]](self, step["answers"][0]["accepted"])
        kept = {key: body[key] for key in ("threadId", "runId", "state", "tools", "context") if key in body}
        return {**made, **self._live(kept)}

    def follow(self, request: dict[str, Any], events: list[dict[str, Any]]) -> None:
        """Follow the events of a response."""
        self.take(events)
        self._asked |= {card.call: card for card in self.cards}
        self._views.append(view.after(request["messages"], events))

    def _live(self, value: Any) -> Any:
        """A recorded value with the ids of this run."""
        if isinstance(value, list):
            return [self._live(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"$id"} and _is_reference(value["$id"]):
            kind, call = value["$id"]
            card = self._asked.get(call)
            if card is None:
                raise NobodyAskedError(f"nobody was asked about {call}")
            return getattr(card, kind) or card.approval or call
        return {key: self._live(item) for key, item in value.items()}


def _is_reference(value: Any) -> bool:
    """Recorded data may have an `$id` of its own, as schemas do."""
    return (
        isinstance(value, list)
        and len(value) == 2
        and value[0] in ("approval", "interrupt", "confirm")
        and isinstance(value[1], str)
    )
