"""Would a provider refuse this history? One provider, one file; `verdicts` asks them about a trace."""

from __future__ import annotations

from workbench.providers import (  # noqa: F401 - each registers its rules
    anthropic,
    bedrock,
    gemini,
    mistral,
    ollama,
    openai_chat,
    openai_responses,
)
from workbench.providers.catalogue import PROVIDERS, RULES, Refusal, judge
from workbench.providers.request import Request
from workbench.providers.verdicts import Verdict, frame, verdicts

__all__ = ["PROVIDERS", "RULES", "Refusal", "Request", "Verdict", "frame", "judge", "verdicts"]
