"""Make ids the same in every run: `uuid.uuid4` and `random` from a seed, before a framework is imported."""

from __future__ import annotations

import random
import uuid


class _Ids:
    """Where ids come from: a seeded generator, and for those that have to rise, a count."""

    def __init__(self) -> None:
        self.chance = random.Random()  # noqa: S311 - repeatable on purpose
        self.count = 0

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(int=self.chance.getrandbits(128), version=4)

    def uuid6(self, *_: object, **__: object) -> uuid.UUID:
        self.count += 1
        return uuid.UUID(int=self.count << 80 | 0x6 << 76 | 0x8 << 60)


_IDS = _Ids()
#: An id that is greater than all before it, in place of one that is made with a clock
uuid6 = _IDS.uuid6


def plant(seed: int = 0) -> None:
    """Start the sequence of ids again. Called once at the start, and at the beginning of an arm."""
    _IDS.chance.seed(seed)
    _IDS.count = 0
    random.seed(seed)
    uuid.uuid4 = _IDS.uuid4
