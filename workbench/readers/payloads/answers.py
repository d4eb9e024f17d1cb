"""What a model provider answered: its status, its error in its own words, or what it gave."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from workbench.readers.payloads import responses
from workbench.readers.payloads.history import Turn, dict_of, objects, text

#: the most of a body that is looked through for the events of a stream
_LONGEST = 32 * 1024 * 1024


@dataclass(slots=True)
class Answer:
    """One answer. `error` is the provider's text; `id` and `turns` are those of a Responses answer."""

    status: int | None = None
    error: str = ""
    id: str = ""
    turns: list[Turn] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """The request was refused for what it holds: 400, 404 (an item that is not there) or 422."""
        return self.status in (400, 404, 422) or (self.status is None and bool(self.error))

    @property
    def taken(self) -> bool:
        """The request was accepted."""
        return self.status is not None and 200 <= self.status < 300 and not self.error


def read(status: Any, body: Any) -> Answer | None:
    """An answer from its status and its body (decoded, or as text); None where there is neither."""
    made = Answer(status if isinstance(status, int) and not isinstance(status, bool) and status > 0 else None)
    value = _decoded(body) if isinstance(body, str) else body
    if isinstance(value, list):
        value = value[0] if value else None  # Gemini's streams are arrays
    if isinstance(value, dict):
        made.error = error_of(value, failed=made.status is None or made.status >= 400)
        made.id = text(value.get("id")) if "output" in value else ""
        made.turns = list(responses.turns(value.get("output"), "output"))
    elif made.status is not None and made.status >= 400 and isinstance(body, str):
        made.error = body[:1000]
    return made if made.status is not None or made.error or made.turns else None


def error_of(value: dict[str, Any], *, failed: bool = True) -> str:
    """The text of an error as OpenAI, Anthropic, Google, AWS, Mistral and Ollama write it; "" for none."""
    error = value.get("error")
    if isinstance(error, dict):
        return text(error.get("message")) or text(error)
    if isinstance(error, str):
        return error
    if not failed:
        return ""
    return next((text(value[key]) for key in ("message", "Message", "detail") if value.get(key)), "")


def _decoded(body: str) -> Any:
    body = body.strip()
    if body[:1] in ("{", "["):
        try:
            return msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return None
    if "data:" in body[:4096] and len(body) < _LONGEST:
        return _of_stream(body)
    return None


def _of_stream(body: str) -> dict[str, Any] | None:
    """The last whole answer in an event stream of Responses."""
    for line in reversed(body.splitlines()):
        if line.startswith("data:") and ('"response.' in line or '"error"' in line):
            try:
                event = msgspec.json.decode(line[5:].strip())
            except (msgspec.DecodeError, RecursionError):
                continue
            found = dict_of(event).get("response")
            if isinstance(found, dict) and (objects(found.get("output")) or found.get("error")):
                return found
            if isinstance(dict_of(event).get("error"), dict):
                return dict_of(event)
    return None
