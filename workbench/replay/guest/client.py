"""The AG-UI client of an arm: it keeps the conversation as a front end does, and answers approvals.

After a run its view of the history is the last MESSAGES_SNAPSHOT, as in the official clients. An
approval can be answered in every form that some release accepts (`FORMS`).
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from . import chunks


@dataclass
class Card:
    """An open question to the person: one gated call."""

    call: str
    tool: str
    arguments: Any
    approval: str = ""
    interrupt: str = ""
    confirm: str = ""


class Client:
    """One conversation."""

    def __init__(self, tools: list[dict[str, Any]]) -> None:
        self.thread = str(uuid.uuid4())
        self.history: list[dict[str, Any]] = []
        self.cards: list[Card] = []
        self.calls: dict[str, str] = {}
        self.canonical = False
        self._tools = tools
        self._last: dict[str, Any] = {}
        self._loaded_anew = False

    def say(self, text: str) -> dict[str, Any]:
        """The request that carries a user message."""
        return self.request([{"id": str(uuid.uuid4()), "role": "user", "content": text}])

    def results(self, results: dict[str, str]) -> dict[str, Any]:
        """The request that carries the results of the client's own tools, by tool name."""
        messages = [
            {"id": str(uuid.uuid4()), "role": "tool", "toolCallId": call, "content": results[tool]}
            for call, tool in self.calls.items()
            if tool in results
        ]
        return self.request(messages)

    def late(self, results: dict[str, str]) -> dict[str, Any]:
        """The request that carries results for earlier calls, after all that came since."""
        self.calls = chunks.asked(self.history)
        return self.results(results)

    def rename(self, *, drop: bool = False) -> None:
        """Give every message of the history a new id, as a client does that keeps none; or none at all."""
        self.history = [
            {key: value for key, value in message.items() if key != "id"}
            if drop
            else {**message, "id": str(uuid.uuid4())}
            for message in self.history
        ]

    def refresh(self) -> dict[str, Any]:
        """The request of a page that was loaded anew: it knows the thread alone, and asks for what is stored."""
        self.history, self.cards, self.calls = [], [], {}
        self._loaded_anew = True
        return self.request([])

    def retry(self) -> dict[str, Any]:
        """The last request once more, in a run of its own."""
        return {**self._last, "runId": str(uuid.uuid4())}

    def beside(self, request: dict[str, Any], what: str, text: str) -> dict[str, Any]:
        """An answer to approvals with the `transcript` beside it, with `nothing`, or with a new `word` alone."""
        self._last = request
        if what == "transcript":
            return request
        messages = [{"id": str(uuid.uuid4()), "role": "user", "content": text}] if what == "word" else []
        self.history = [*self.history, *messages]
        self._last = {**request, "messages": messages}
        return self._last

    def decide(self, decision: bool, form: str) -> tuple[str, dict[str, Any]]:  # noqa: FBT001 - it is the decision
        """The request that answers all open cards, and the form that was taken for `auto` or `resume-auto`."""
        if form == "auto":
            form = "resume" if self.canonical else "call-result"
        elif form == "resume-auto":
            form = "resume" if self.canonical else "resume-interrupts"
        return form, FORMS[form](self, decision)

    def take(self, events: list[dict[str, Any]]) -> None:
        """Follow the events of a response."""
        cards: dict[str, Card] = {}
        finished = any(event["type"] == "RUN_FINISHED" for event in events)
        args: dict[str, str] = {}
        self.calls = {}
        self.history = chunks.fold(self.history, events)
        for event in events:
            kind = event["type"]
            if kind == "MESSAGES_SNAPSHOT":
                self.history = event["messages"]
            elif kind == "TOOL_CALL_START" or (kind == "TOOL_CALL_CHUNK" and event.get("toolCallName")):
                self.calls[event["toolCallId"]] = event["toolCallName"]
            elif kind == "TOOL_CALL_ARGS":
                args[event["toolCallId"]] = args.get(event["toolCallId"], "") + event["delta"]
            elif kind == "TOOL_CALL_RESULT":
                self.calls.pop(event["toolCallId"], None)
            elif kind == "CUSTOM" and event["name"] == "function_approval_request":
                call = event["value"]["function_call"]
                made = Card(call["call_id"], call["name"], call["arguments"], approval=event["value"]["id"])
                cards[made.call] = made
            elif kind == "RUN_FINISHED":
                self._interrupts(event, cards)
        for call, tool in self.calls.items():
            if tool == "confirm_changes":
                target = json.loads(args[call])["function_call_id"]
                if target in cards:
                    cards[target].confirm = call
        if finished:
            self.cards = list(cards.values())

    def _interrupts(self, event: dict[str, Any], cards: dict[str, Card]) -> None:
        outcome = event.get("outcome")
        self.canonical = self.canonical or isinstance(outcome, dict)
        if isinstance(outcome, dict):
            for interrupt in outcome.get("interrupts") or ():
                if interrupt.get("toolCallId") in cards:
                    cards[interrupt["toolCallId"]].interrupt = interrupt["id"]
        for interrupt in event.get("interrupt") or ():
            call = interrupt["value"]["function_call"]["call_id"]
            if call in cards:
                cards[call].interrupt = interrupt["id"]
        if self._loaded_anew:
            self._cards_of(event, cards)

    def _cards_of(self, event: dict[str, Any], cards: dict[str, Card]) -> None:
        """Questions that a page knows from the end of a run alone, because it was loaded after they were asked."""
        self._loaded_anew = False
        asked = chunks.asked(self.history)
        outcome = event.get("outcome")
        listed = outcome.get("interrupts") if isinstance(outcome, dict) else event.get("interrupt")
        for interrupt in listed or ():
            call = interrupt.get("toolCallId") or interrupt["value"]["function_call"]["call_id"]
            if call in asked and call not in cards:
                cards[call] = Card(call, asked[call], None, interrupt=interrupt["id"])

    def request(self, messages: list[dict[str, Any]], **extra: Any) -> dict[str, Any]:
        """A request with messages added to the history; `extra` are further fields of it."""
        self.history = [*self.history, *messages]
        self._last = {
            "threadId": self.thread, "runId": str(uuid.uuid4()), "state": {}, "messages": self.history,
            "tools": self._tools, "context": [], "forwardedProps": {}, **extra,
        }  # fmt: skip
        return self._last


def _tool_message(call: str, content: dict[str, Any]) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "role": "tool", "toolCallId": call, "content": json.dumps(content)}


def _call_result(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return client.request([_tool_message(card.call, {"accepted": decision}) for card in client.cards])


def _confirm_changes(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    messages = []
    for card in client.cards:
        step = {"description": f"Execute {card.tool}", "status": "enabled" if decision else "disabled"}
        messages.append(_tool_message(card.confirm, {"accepted": decision, "steps": [step]}))
    return client.request(messages)


def _function_approvals(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    approvals = [
        {
            "id": card.approval,
            "call_id": card.call,
            "name": card.tool,
            "approved": decision,
            "arguments": card.arguments,
        }
        for card in client.cards
    ]
    return client.request(
        [{"id": str(uuid.uuid4()), "role": "user", "content": "", "function_approvals": approvals}]
    )


def _entries(client: Client, decision: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    return [
        {"interruptId": card.interrupt, "status": "resolved", "payload": {"accepted": decision}}
        for card in client.cards
    ]


def _resume(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return client.request([], resume=_entries(client, decision))


def _call_result_and_resume(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return {**_call_result(client, decision), "resume": _entries(client, decision)}


def _function_approvals_and_resume(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return {**_function_approvals(client, decision), "resume": _entries(client, decision)}


def _interrupts(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    values = [{"id": card.interrupt, "value": {"accepted": decision}} for card in client.cards]
    return {"interrupts": values}


def _resume_interrupts(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return client.request([], resume=_interrupts(client, decision))


def _command(client: Client, decision: bool) -> dict[str, Any]:  # noqa: FBT001
    return client.request([], forwardedProps={"command": {"resume": _interrupts(client, decision)}})


#: All forms in which a request can carry an approval; which are accepted depends on the release.
FORMS = {
    "call-result": _call_result,
    "confirm-changes": _confirm_changes,
    "function-approvals": _function_approvals,
    "resume": _resume,
    "resume-interrupts": _resume_interrupts,
    "command": _command,
    # one decision, sent in two forms at once
    "call-result+resume": _call_result_and_resume,
    "function-approvals+resume": _function_approvals_and_resume,
}
