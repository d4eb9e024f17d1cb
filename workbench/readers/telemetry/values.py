"""Attribute values of all dialects as plain Python values in one flat dict."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from workbench.readers import tolerant

_ANY = (
    "stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue", "bytesValue",
    "string_value", "int_value", "double_value", "bool_value", "array_value", "kvlist_value", "bytes_value",
)  # fmt: skip
_ANY_SET = frozenset(_ANY)


def any_value(value: Any) -> Any:
    """An OTLP AnyValue as the value that it holds; what is none stays as it is."""
    if not isinstance(value, dict):
        return value
    if not value:
        return None
    for key in _ANY:
        if key not in value:
            continue
        held = value[key]
        kind = key[:4]
        if kind in ("intV", "int_"):
            try:
                return int(held)
            except (TypeError, ValueError):
                return held
        if kind == "arra":
            items = held.get("values") if isinstance(held, dict) else held
            return [any_value(item) for item in items] if isinstance(items, list) else []
        if kind == "kvli":
            return flat(held.get("values") if isinstance(held, dict) else held)
        return held
    return {key: any_value(item) for key, item in value.items()}


def flat(attributes: Any) -> dict[str, Any]:
    """Attributes by key: from a list of key and value, or from an object, nested or not."""
    if isinstance(attributes, list):
        return {
            str(item["key"]): any_value(item.get("value"))
            for item in attributes
            if isinstance(item, dict) and "key" in item
        }
    if not isinstance(attributes, dict):
        return {}
    result: dict[str, Any] = {}
    for key, value in attributes.items():
        _flatten(str(key), value, result)
    return result


def _flatten(key: str, value: Any, result: dict[str, Any]) -> None:
    """Nested objects as dotted keys; lists of objects get their index as a part of the key."""
    if isinstance(value, dict) and value:
        if _ANY_SET & value.keys():
            result[key] = any_value(value)
            return
        for inner, item in value.items():
            _flatten(f"{key}.{inner}", item, result)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for index, item in enumerate(value):
            _flatten(f"{key}.{index}", item, result)
    else:
        result[key] = value


def as_text(value: Any) -> str | None:
    """A value as text: text as it is, everything else as JSON; None for none."""
    if value is None or isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError):
        try:
            return tolerant.clean_text(json.dumps(value, ensure_ascii=False, default=str))
        except (ValueError, RecursionError):
            return None


def word(value: Any) -> str | None:
    """An id, name or word as text; None for empty ones, objects and lists."""
    text = tolerant.as_text(value)
    return text or None


def loads(text: Any) -> Any:
    """The value that some JSON text holds; None where it is no JSON."""
    if not isinstance(text, str | bytes):
        return text
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    decoded = tolerant.decode(data)
    return None if decoded.error else decoded.value
