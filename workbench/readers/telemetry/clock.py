"""Times of telemetry as UTC nanoseconds, as exactly as the file has them; None for none.

`OutOfRange` stands for a time that a table cannot hold (before 1678 or after 2262).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?\s*(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
).fullmatch
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LIMIT = 2**63


class OutOfRange(ValueError):  # noqa: N818 - says what the value is
    """A time that 64-bit nanoseconds cannot hold."""


def _held(value: int) -> int | None:
    if not -LIMIT < value < LIMIT:
        raise OutOfRange(f"the time {str(value)[:30]} ns is out of range")
    return value or None


def _decimal(value: Any) -> Decimal | None:
    if isinstance(value, bool) or value is None or value == "":
        return None
    try:
        number = Decimal(value if isinstance(value, int | str) else repr(value))
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def scaled(value: Any, unit: int) -> int | None:
    """A number (or its text) in units of `unit` nanoseconds. 0 counts as no time."""
    if isinstance(value, int) and not isinstance(value, bool):
        return _held(value * unit)
    number = _decimal(value)
    if number is None:
        return None
    if number and not -20 < number.adjusted() < 30:
        raise OutOfRange(f"the time {str(value)[:30]} is out of range")
    return _held(int(number * unit))


def nanos(value: Any) -> int | None:
    """Epoch nanoseconds: OTLP's `…UnixNano`."""
    return scaled(value, 1)


def iso(text: Any) -> int | None:
    """ISO 8601 with up to nine digits of a second; without an offset it counts as UTC."""
    found = _ISO(text.strip()) if isinstance(text, str) else None
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    zone = UTC
    if offset not in (None, "Z"):
        shift = timedelta(hours=int(offset[1:3]), minutes=int(offset[3:].lstrip(":") or 0))
        zone = timezone(-shift if offset[0] == "-" else shift) if shift < timedelta(hours=24) else UTC
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=zone
        )
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return _held(seconds * 1_000_000_000 + int((fraction or "").ljust(9, "0")[:9] or 0))


def pair(value: Any) -> int | None:
    """[seconds, nanoseconds], as OpenTelemetry's JavaScript writes them."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    seconds, rest = (scaled(part, unit) for part, unit in zip(value, (1_000_000_000, 1), strict=True))
    return None if seconds is None else _held(seconds + (rest or 0))


def guess(value: Any) -> int | None:
    """A time in an unknown form: ISO text, [s, ns], or a number whose unit its size tells."""
    if isinstance(value, str):
        found = iso(value)
        if found is not None:
            return found
    if isinstance(value, list):
        return pair(value)
    number = _decimal(value)
    if number is None or not number:
        return None
    size = abs(number)
    for limit, unit in ((10**11, 10**9), (10**14, 10**6), (10**17, 1000)):
        if size < limit:
            return scaled(value, unit)
    return scaled(value, 1)
