"""Arguments of tool calls: canonical form, and documents glued in one text."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_decode = msgspec.json.decode
_raw_decode = json.JSONDecoder().raw_decode
_encode = msgspec.json.Encoder(order="deterministic").encode


def canonical(arguments: Any) -> str:
    """One text for equal arguments: sorted JSON; `{}` for none; as written where it is no JSON.

    Takes a JSON text (as AG-UI has it), or the decoded value (as CUSTOM events have it).
    """
    if arguments is None:
        return "{}"
    if isinstance(arguments, str):
        if not arguments.strip():
            return "{}"
        try:
            value = _decode(arguments)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return arguments
        # Some servers write the arguments as a JSON string of JSON.
        if isinstance(value, str):
            try:
                inner = _decode(value)
            except (msgspec.DecodeError, RecursionError):
                return arguments
            value = inner if isinstance(inner, dict) else value
    else:
        value = arguments
    try:
        return _encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        return str(arguments)


def is_document(text: str) -> bool:
    """The text is one whole JSON object, array or string; quicker than `documents`."""
    if text[:1] not in ("{", "[", '"'):
        return False
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    return True


def documents(text: str) -> list[Any] | None:
    """The JSON documents glued in `text`, in order; None where it is not a row of whole documents."""
    found: list[Any] = []
    position = 0
    length = len(text)
    while True:
        while position < length and text[position] in " \t\r\n":
            position += 1
        if position >= length:
            return found
        try:
            value, position = _raw_decode(text, position)
        except (ValueError, RecursionError):
            return None
        # `12` glued with `3` cannot be told from `123`: only documents with a closing mark count.
        if not isinstance(value, dict | list | str):
            return None if found or position < length else [value]
        found.append(value)


def glued(text: str) -> list[Any] | None:
    """Two or more JSON documents in one argument text, or None."""
    found = documents(text)
    return found if found is not None and len(found) > 1 else None


def differs(name: str, arguments: str, other_name: str, other_arguments: str) -> bool:
    """Two copies of an id are two calls: other name, or other arguments where both have some."""
    if name and other_name and name != other_name:
        return True
    one, two = canonical(arguments), canonical(other_arguments)
    return one != two and "{}" not in (one, two)
