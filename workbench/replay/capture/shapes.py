"""Values of a capture in the shapes that they ought to have: what has another says nothing, and is passed over."""

from __future__ import annotations

import json
from typing import Any

from workbench.replay.engine.errors import ReplayError

#: Deeper JSON could be read, and neither copied, compared nor sent again
DEEPEST = 200

Json = dict[str, Any]


def dicts(value: Any) -> list[Json]:
    """The objects in a list; nothing where it is none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def listed(value: Any) -> list[Any]:
    """A list, or nothing."""
    return value if isinstance(value, list) else []


def named(value: Any) -> str:
    """An id or name; "" where it is none, which nothing is called."""
    return value if isinstance(value, str) else ""


def decoded(text: str) -> Any:
    """JSON in a text; `ValueError` where it is none, or too deep to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def shallow(value: Any, what: str) -> None:
    """Raise `ReplayError` for JSON that is nested too deeply to be worked with."""
    level, depth = [value], 0
    while level:
        if depth > DEEPEST:
            raise ReplayError(f"{what} is nested more than {DEEPEST} levels deep, and cannot be sent again")
        inner = [i for item in level for i in (item.values() if isinstance(item, dict) else item)]
        level, depth = [item for item in inner if isinstance(item, dict | list)], depth + 1
