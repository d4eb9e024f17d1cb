"""Make ids the same in every run: `uuid.uuid4` and `random` from a seed, before a framework is imported."""

from __future__ import annotations

import random
import uuid

_IDS = random.Random()  # noqa: S311 - repeatable on purpose


def _uuid4() -> uuid.UUID:
    return uuid.UUID(int=_IDS.getrandbits(128), version=4)


def plant(seed: int = 0) -> None:
    """Start the sequence of ids again. Called once at the start, and at the beginning of an arm."""
    _IDS.seed(seed)
    random.seed(seed)
    uuid.uuid4 = _uuid4
