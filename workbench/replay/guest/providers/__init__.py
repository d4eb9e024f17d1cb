"""Fake model providers: they refuse what the real service refuses, and let the script answer.

One module per wire format with `PATH`, `view(body)`, `refusal(body)` and `stream(answer, number)`.
The texts of the refusals are the services' own.
"""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

from ..script import Script
from . import anthropic, chat, responses

KINDS: dict[str, ModuleType] = {"chat": chat, "responses": responses, "anthropic": anthropic}


class Fake:
    """One fake endpoint: status and body for each request, and the number of requests."""

    def __init__(self, kind: str, script: Script) -> None:
        self.wire = KINDS[kind]
        self.script = script
        self.number = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, str, str]:
        """Status, media type and text of the response to a decoded request."""
        self.number += 1
        refused = self.wire.refusal(body)
        if refused is not None:
            return 400, "application/json", json.dumps(self.wire.error(refused))
        frames = self.wire.stream(self.script.answer(self.wire.view(body)), self.number)
        return 200, "text/event-stream", "".join(frames)
