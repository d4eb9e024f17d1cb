"""Fake model providers: they refuse what the real service refuses, and let the script answer.

One module per wire format with `PATH`, `view(body)`, `refusal(body)` and `stream(answer, number)`.
The texts of the refusals are the services' own.
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from ..script import Script
from . import anthropic, chat, gemini, ollama, responses

KINDS: dict[str, ModuleType] = {
    "chat": chat,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "ollama": ollama,
}


class Fake:
    """One fake endpoint: status and body for each request, and the number of requests."""

    def __init__(self, kind: str, script: Script) -> None:
        self.wire = KINDS[kind]
        self.script = script
        self.number = 0
        #: items of stored conversations, by the id of the response they end with
        self._stored: dict[str, list[Any]] = {}

    def answer(self, body: dict[str, Any]) -> tuple[int, str, str]:
        """Status, media type and text of the response to a decoded request."""
        self.number += 1
        if self.wire is responses:
            return self._answer_stored(body)
        refused = self.wire.refusal(body)
        if refused is not None:
            return 400, "application/json", json.dumps(self.wire.error(refused))
        frames = self.wire.stream(self.script.answer(self.wire.view(body)), self.number)
        return 200, getattr(self.wire, "MIME", "text/event-stream"), "".join(frames)

    def _answer_stored(self, body: dict[str, Any]) -> tuple[int, str, str]:
        """Responses: what is sent continues what the service has stored, and is judged together with it."""
        whole = responses.continued(body, self._stored)
        refused = whole if isinstance(whole, str) else responses.refusal(whole)
        if refused is not None or isinstance(whole, str):
            return 400, "application/json", json.dumps(responses.error(str(refused)))
        answer = self.script.answer(responses.view(whole))
        if body.get("store") is not False:
            self._stored[responses.name(self.number)] = [*whole["input"], *responses.items(answer)]
        return 200, "text/event-stream", "".join(responses.stream(answer, self.number))
