"""What a result text is: an outcome, an error, a framework's placeholder, or a refusal.

The literals are those that released frameworks write (agent-framework, CopilotKit, ADK,
LangGraph); see the docs page of `result-placeholder`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

_PLACEHOLDERS = (
    re.compile(r"(?:error:\s*)?tool call invocation failed\.?$", re.IGNORECASE),
    re.compile(
        r"(?:error:\s*)?requested function ['\"`]?.*?['\"`]? not found\.?$", re.IGNORECASE | re.DOTALL
    ),
    re.compile(r"tool execution skipped\b", re.IGNORECASE),
    re.compile(r"forwarded to client\.?$", re.IGNORECASE),
    re.compile(r"\S+ executed successfully with no return value\.?$", re.IGNORECASE),
    re.compile(r"error: confirmation needed", re.IGNORECASE),
    re.compile(r"(?:error:\s*)?this tool call requires confirmation", re.IGNORECASE),
)
_REFUSALS = (
    re.compile(r"(?:error:\s*)?tool call invocation was rejected by (?:the )?user\.?", re.IGNORECASE),
    re.compile(r"(?:error:\s*)?tool call invocation rejected\b", re.IGNORECASE),
    re.compile(r"(?:tool call was )?not approved by (?:the )?user\b", re.IGNORECASE),
    re.compile(
        r"(?:error:\s*)?[^.\n]{0,80}\b(?:rejected|denied|declined|cancelled|canceled) by (?:the )?user\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"user (?:has )?(?:rejected|denied|declined|did not approve|cancelled|canceled)\b", re.IGNORECASE
    ),
    re.compile(r"(?:this )?tool call (?:was |has been )?(?:rejected|denied|declined)\b", re.IGNORECASE),
)
_ERROR = re.compile(
    r"(?:error\s*[:\-–]|error (?:calling|executing|invoking|running|processing|while|in|during|occurred)\b"
    r"|exception\s*:|traceback \(most recent call last\)|failed to \w+|failed\s*:|function failed\b"
    r"|argument parsing failed\b|[A-Za-z_.]+(?:Error|Exception)\b\s*[:(])",
    re.IGNORECASE,
)
_LIMIT = 4000


def text_of(content: Any) -> str:
    """Result content as text: a string as it is, a list of parts by their texts, else JSON."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if (
        isinstance(content, list)
        and content
        and all(isinstance(p, dict) and isinstance(p.get("text"), str) for p in content)
    ):
        return "".join(p["text"] for p in content)
    try:
        return msgspec.json.encode(content).decode()
    except (TypeError, ValueError, RecursionError):
        return str(content)


def _plain(content: str) -> str:
    text = content[:_LIMIT].strip()
    # Results are often JSON strings of a text: "\"Error: …\"".
    if len(text) >= 2 and text[0] == '"' and text[-1] == '"':
        try:
            inner = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
        return inner.strip() if isinstance(inner, str) else text
    return text


def is_placeholder(content: str) -> bool:
    """A framework's stand-in for a result that does not exist."""
    text = _plain(content)
    return any(pattern.match(text) for pattern in _PLACEHOLDERS)


def is_refusal(content: str) -> bool:
    """The text that stands for a rejected call."""
    text = _plain(content)
    return any(pattern.match(text) for pattern in _REFUSALS)


def is_error(content: str, error: str = "") -> bool:
    """A tool failure: ToolMessage.error, an error text, or a JSON object that says so."""
    if error:
        return True
    text = _plain(content)
    if text.startswith("{"):
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            return False
        if not isinstance(value, dict):
            return False
        flagged = value.get("isError") is True or value.get("is_error") is True
        named = isinstance(value.get("error"), str | dict) and bool(value["error"]) and len(value) <= 3
        return flagged or named or value.get("status") == "error"
    return bool(_ERROR.match(text))


def classify(content: str, error: str = "") -> str:
    """`placeholder`, `refusal`, `error` or `ok`."""
    return _classify_short(content, error) if len(content) < _SHORT else _classify(content, error)


def _classify(content: str, error: str) -> str:
    if is_placeholder(content):
        return "placeholder"
    if is_refusal(content):
        return "refusal"
    return "error" if is_error(content, error) else "ok"


#: Histories repeat results again and again; long ones are not held for that.
_SHORT = 500
_classify_short = lru_cache(maxsize=4096)(_classify)
