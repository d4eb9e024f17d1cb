"""Which provider an address belongs to."""

from __future__ import annotations

import re

from workbench.readers.payloads.history import Dialect

#: dialects that are read as another provider's where the address says nothing
FAMILIES: dict[Dialect, str] = {
    "openai-chat": "openai-chat",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "bedrock": "bedrock",
    "mistral": "mistral",
    "ollama": "ollama",
}
_HOSTS = (
    (r"(^|\.)mistral\.ai$", {"openai-chat": "mistral", "mistral": "mistral"}),
    (
        r"(^|\.)openai\.com$|(^|\.)openai\.azure\.com$",
        {"openai-chat": "openai-chat", "openai-responses": "openai-responses"},
    ),
    (
        r"(^|\.)deepseek\.com$",
        {"openai-responses": "openai-responses", "openai-chat": "openai-chat", "anthropic": "anthropic"},
    ),
    (r"(^|\.)anthropic\.com$", {"anthropic": "anthropic"}),
    (r"(^|\.)googleapis\.com$", {"gemini": "gemini", "anthropic": "anthropic"}),
    (r"(^|\.)amazonaws\.com(\.cn)?$", {"bedrock": "bedrock", "anthropic": "anthropic"}),
)


def by_address(dialect: Dialect, url: str) -> str:
    """The provider that an address shows for a request of this dialect; "" where it shows none."""
    found = re.match(r"[a-z]+://(?:[^/@]*@)?([^/:?#]+)(?::(\d+))?(/[^?#]*)?", url, re.IGNORECASE)
    if found is None:
        return ""
    host, port, path = found[1].lower(), found[2], found[3] or ""
    for pattern, providers in _HOSTS:
        if re.search(pattern, host):
            return providers.get(dialect, "")
    if dialect == "ollama" or port == "11434":
        return "ollama" if dialect in ("ollama", "openai-chat") else ""
    if "/converse" in path and dialect == "bedrock":
        return "bedrock"
    return ""
