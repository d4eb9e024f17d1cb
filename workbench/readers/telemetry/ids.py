"""Trace and span ids of all dialects in one form: lower-case hex.

Ids come as hex (either case, with or without 0x), base64, decimal text, JSON integers and bytes.
What is none of these stays as it is, so that a join by equality still works.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

_HEX32 = re.compile(r"[0-9a-f]{32}").fullmatch
_HEX16 = re.compile(r"[0-9a-f]{16}").fullmatch
_HEX = re.compile(r"[0-9a-fA-F]+").fullmatch
_ZEROS = re.compile(r"0+").fullmatch


def trace_id(value: Any) -> str | None:
    """A trace id as 32 hex digits; None for none, or for one that is all zeros."""
    if isinstance(value, str) and _HEX32(value):
        return None if value == "0" * 32 else value
    return _normal(value, 32)


def span_id(value: Any) -> str | None:
    """A span id as 16 hex digits; None for none, or for one that is all zeros."""
    if isinstance(value, str) and _HEX16(value):
        return None if value == "0" * 16 else value
    return _normal(value, 16)


def _normal(value: Any, width: int) -> str | None:
    if isinstance(value, bytes):
        return value.hex() if value.strip(b"\0") else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return f"{value:0{width}x}" if value > 0 else None
    if not isinstance(value, str):
        # a float has lost the digits that tell ids apart; it is shown as it is
        return str(value) if isinstance(value, float) and value else None
    text = value.strip()
    if text[:2] in ("0x", "0X") and _HEX(text[2:]):
        text = text[2:].rjust(width, "0") if len(text) - 2 < width else text[2:]
    if not text or _ZEROS(text):
        return None
    if len(text) in (16, 32) and _HEX(text):
        return text.lower()
    if len(text) in (12, 24) and text.endswith("="):
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            return text
        return data.hex() if data.strip(b"\0") else None
    if text.isascii() and text.isdigit() and len(text) < 40 and int(text) < 1 << (4 * width):
        return f"{int(text):0{width}x}"
    return text
