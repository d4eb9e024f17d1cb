"""Times of the formats, as UTC nanoseconds; None for what is no time or beyond what a table can hold."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

#: Epoch milliseconds that fit into 64-bit nanoseconds (years 1677 to 2262).
MAX_MS = (2**63 - 1) // 1_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def from_ms(value: float) -> int | None:
    """Epoch milliseconds, exactly for whole numbers, else to the microsecond."""
    if isinstance(value, int):
        return value * 1_000_000 if -MAX_MS <= value <= MAX_MS else None
    if not math.isfinite(value) or abs(value) > MAX_MS:
        return None
    # A float has no nanoseconds left at this size; digits below a microsecond would be invented.
    return round(value * 1000) * 1000


def from_seconds(value: float) -> int | None:
    """Epoch seconds."""
    if isinstance(value, int):
        return from_ms(value * 1000)
    return from_ms(value * 1000.0) if math.isfinite(value) else None


def from_iso(text: str) -> int | None:
    """An ISO 8601 date and time; without an offset it counts as UTC."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        nanoseconds = (moment - _EPOCH) // _MICROSECOND * 1000
    except OverflowError:
        return None
    return nanoseconds if abs(nanoseconds) < 2**63 else None


def guess(value: Any) -> int | None:
    """A time in an unknown unit: ISO text, or epoch seconds, ms, µs or ns told by size."""
    if isinstance(value, str):
        return from_iso(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    size = abs(value)
    if not size < 2**63:  # also what is no number
        return None
    if size < 1e11:
        return from_seconds(value)
    if size < 1e14:
        return from_ms(value)
    if size < 1e17:
        return round(value) * 1000 if size < MAX_MS * 1000 else None
    return round(value)


def after(start: int | None, passed: Any) -> int | None:
    """So many milliseconds after a time; None where either is missing or it is beyond the range."""
    if start is None or isinstance(passed, bool) or not isinstance(passed, int | float):
        return None
    later = from_ms(passed)
    if later is None or abs(start + later) >= 2**63:
        return None
    return start + later


def nanoseconds(value: Any) -> int | None:
    """UTC nanoseconds as a format has them."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 else None
