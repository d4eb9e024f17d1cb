"""Requests, exchanges and message lists in a decoded document, wherever it keeps them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from workbench.readers import times
from workbench.readers.payloads import agent_framework, answers, chat, dialects
from workbench.readers.payloads.answers import Answer
from workbench.readers.payloads.history import History, dict_of, text

#: keys of an exchange: what was sent, and what came back
_SENT = ("request", "body", "json_data", "json", "payload", "request_body", "requestBody", "input", "params")
_CAME = ("response", "answer", "response_body", "responseBody", "output", "error")
_TIMES = ("time", "timestamp", "ts", "startedDateTime", "created_at")
#: how deep session states and checkpoints keep their messages, and how many values are looked at
_DEEPEST, _MOST = 24, 200_000


@dataclass(slots=True)
class Found:
    """A request to a provider (`payload`) or a framework's own list (`history`), as a history."""

    place: Literal["payload", "history"]
    history: History
    body: dict[str, Any]
    answer: Answer | None = None
    url: str = ""
    #: UTC ns
    time: int | None = None


def find(value: Any) -> list[Found]:
    """All that a document holds; nothing for a document of another kind."""
    one = request(value) if isinstance(value, dict) else None
    if one is not None:
        one.history.whole = one.history.whole and value.get("left_out") is not True
        return [one]
    if isinstance(value, list) and value:
        requests = [request(item) if isinstance(item, dict) else None for item in value]
        if all(requests):
            return [made for made in requests if made is not None]
    return list(_lists(value))


def request(value: dict[str, Any]) -> Found | None:
    """A request body, bare or in an exchange with its answer; None for anything else."""
    history = None if _is_exchange(value) else dialects.read_body(value, text(value.get("url")))
    if history is not None and not _is_history(value):
        return Found("payload", history, value)
    for key in _SENT:
        inner = value.get(key)
        if isinstance(inner, str) and inner.lstrip()[:1] == "{":
            inner = dict_of(_json(inner))
        if not isinstance(inner, dict):
            continue
        url = text(value.get("url") or inner.get("url") or value.get("endpoint"))
        deeper = next(
            (inner[k] for k in ("body", "json", "json_data") if isinstance(inner.get(k), dict)), inner
        )
        history = dialects.read_body(deeper, url)
        if history is not None:
            return Found("payload", history, deeper, _answer(value), url, _time(value))
    return None


def _is_exchange(value: dict[str, Any]) -> bool:
    """Gemini's Code Assist has its request under the key that an exchange has it under."""
    beside = ("url", "endpoint", "status", "status_code", *_CAME)
    return isinstance(value.get("request"), dict) and any(key in value for key in beside)


def _is_history(value: dict[str, Any]) -> bool:
    """`{"messages": […]}` of a framework that looks like a request: LangGraph's state, a stored session."""
    items = value.get("messages")
    return isinstance(items, list) and dialects.of_list(items) in ("agent-framework", "langchain", "ag-ui")


def _json(value: str) -> Any:
    import msgspec

    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        return None


def _answer(value: dict[str, Any]) -> Answer | None:
    came = next((value[key] for key in _CAME if value.get(key) is not None and key in value), None)
    response = dict_of(came)
    status = next((v for v in (value.get("status"), value.get("status_code"), response.get("status"),
                               response.get("status_code")) if isinstance(v, int)), None)  # fmt: skip
    body = next(
        (response[k] for k in ("body", "json", "text") if k in response and "output" not in response), came
    )
    if came is not None and came is value.get("error") and isinstance(came, dict):
        body = {"error": came}
    return answers.read(status, body)


def _time(value: dict[str, Any]) -> int | None:
    return next((found for key in _TIMES if (found := times.guess(value.get(key))) is not None), None)


def _lists(value: Any) -> Iterator[Found]:
    """Message lists of frameworks, by walking through what holds them: sessions, states, checkpoints."""
    waiting: list[tuple[str, Any, int]] = [("", value, 0)]
    looked = 0
    while waiting and looked < _MOST:
        path, here, depth = waiting.pop()
        looked += 1
        if depth > _DEEPEST:
            continue
        if isinstance(here, list):
            history = dialects.read_list(here, path or "messages") if here else None
            if history is not None and history.turns:
                _named(history)
                if isinstance(value, dict) and value.get("left_out") is True:
                    history.whole, history.sent = False, True
                yield Found("history", history, {"messages": here})
                continue
            waiting.extend((f"{path}[{n}]", item, depth + 1) for n, item in reversed(list(enumerate(here))))
        elif isinstance(here, dict):
            unwrapped = agent_framework.unwrapped(here)
            if agent_framework.is_message(unwrapped):
                # a message on its own, as a checkpoint keeps those that are on their way
                yield Found(
                    "history",
                    agent_framework.history([unwrapped], path or "messages"),
                    {"messages": [unwrapped]},
                )
                continue
            items = [(f"{path}.{key}" if path else str(key), item, depth + 1) for key, item in here.items()]
            waiting.extend(reversed([item for item in items if isinstance(item[1], list | dict)]))


def _named(history: History) -> None:
    if history.dialect in ("gemini", "ollama"):
        chat.by_name(history.turns)
