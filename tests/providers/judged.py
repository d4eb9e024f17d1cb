"""What the tests of repairs share: a document judged by a provider, before and after."""

from __future__ import annotations

import json
from collections import Counter
from copy import deepcopy
from typing import Any

import workbench as wb
from workbench.providers import verdicts
from workbench.providers.repair import Repair, Suggestion, apply, repair_suggestions
from workbench.trace import Trace

#: addresses that make a request body's dialect plain, whatever is left in it
URLS = {
    "openai-chat": "https://api.openai.com/v1/chat/completions",
    "openai-responses": "https://api.openai.com/v1/responses",
    "anthropic": "https://api.anthropic.com/v1/messages",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent",
    "bedrock": "https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse",
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "ollama": "http://localhost:11434/api/chat",
}


def sent(body: dict[str, Any], url: str, *earlier: dict[str, Any]) -> Trace:
    """A request to a provider, behind earlier exchanges."""
    lines = [*earlier, {"url": url, "request": body}]
    return wb.load("".join(json.dumps(line) + "\n" for line in lines).encode())


def refused(trace: Trace, provider: str = "") -> list[str]:
    """The rules that refuse the last list of a trace."""
    last = list(verdicts(trace, provider))[-1:]
    return sorted(r.rule.id for v in last for r in v.refusals)


def repaired(trace: Trace, provider: str = "") -> Repair:
    """The repair of the last list of a trace, which it has to need."""
    made = repair_suggestions(trace, provider)
    assert made, "nothing is refused"
    return made[-1]


def words(value: Any) -> list[Any]:
    """What the user says in a document of any dialect, wherever it stands."""
    found: list[Any] = []
    for message in _messages(value):
        role = message.get("role") or message.get("type")
        role = role.get("value") if isinstance(role, dict) else role
        if role in ("user", "human") and "tool_call_id" not in message:
            for key in ("content", "parts", "contents"):
                content = message.get(key)
                parts = content if isinstance(content, list) else [content]
                found += [
                    p["text"] if isinstance(p, dict) else p
                    for p in parts
                    if isinstance(p, str) or (isinstance(p, dict) and "text" in p)
                ]
    return [text for text in found if text]


def _messages(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        value = next(
            (value[k] for k in ("messages", "input", "contents") if isinstance(value.get(k), list)), []
        )
    return [m for m in value if isinstance(m, dict)]


def without(repair: Repair, suggestion: Suggestion) -> Any:
    """The document with all suggestions but one."""
    return apply(repair.document, [s for s in repair.suggestions if s is not suggestion])


def checked(repair: Repair) -> Any:
    """The repaired document; the given one is left as it was, and so is every word of the user."""
    before = deepcopy(repair.document)
    after = repair.applied()
    assert repair.document == before
    assert words(after) == words(before)
    json.dumps(after)
    return after


def only(had: list[str], left: list[str]) -> bool:
    """Nothing is refused that was not refused before."""
    return not Counter(left) - Counter(had)
