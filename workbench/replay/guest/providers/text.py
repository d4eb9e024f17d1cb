"""Contents that are a string in one place and a list of parts in the next."""

from __future__ import annotations

from typing import Any


def text_of(content: Any) -> str:
    """The text of a content that is a string or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""
