"""Events that the schema does not accept as they stand: repaired, read as far as possible, judged field by field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.readers import protocol
from workbench.readers.schema import OPTIONAL, REQUIRED

_SURROGATE = re.compile("[\ud800-\udfff]")
_PATH = re.compile(r" - at `\$\.?(.*)`$")
_MISSING = re.compile(r"^Object missing required field `(.*?)`")

_decode = msgspec.json.decode


@dataclass(frozen=True, slots=True)
class Decoded:
    """What could be made of some bytes that should be JSON.

    `error` says why nothing could. `repaired` is JSON text that any decoder takes, where
    the bytes themselves are not; `repair` says what was replaced in it.
    """

    value: Any = None
    error: str = ""
    repaired: bytes | None = None
    repair: str = ""


def decode(data: bytes) -> Decoded:
    """Decode JSON; lone surrogates, bytes that are not UTF-8 and NaN are replaced and said.

    Replaced text becomes U+FFFD, NaN and infinities become null. Never raises.
    """
    error = ""
    try:
        value = _decode(data)
        if data.isascii() or _is_utf8(data):  # skipped strings are not looked at by the decoder
            return Decoded(value)
    except RecursionError:
        return Decoded(error="nested too deeply")
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        error = _said(problem)
    repairs: list[str] = []
    text = data.decode("utf-8", "replace")
    if not _is_utf8(data):
        repairs.append("bytes that are not UTF-8 became U+FFFD")

    def number(word: str) -> float | None:
        value = float(word)
        if math.isfinite(value):
            return value
        repairs.append(f"{word[:20]} became null")
        return None

    def constant(word: str) -> None:
        repairs.append(f"{word} became null")

    try:
        value = json.loads(text, parse_float=number, parse_constant=constant)
        clean = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return Decoded(error="nested too deeply")
    except ValueError as problem:
        return Decoded(error=error or _said(problem))
    if _SURROGATE.search(clean):
        repairs.append("a lone surrogate became U+FFFD")
        clean = _SURROGATE.sub("\ufffd", clean)
    repaired = clean.encode()
    try:
        return Decoded(_decode(repaired), "", repaired, "; ".join(dict.fromkeys(repairs)))
    except (msgspec.DecodeError, RecursionError) as problem:
        return Decoded(error=_said(problem))


def clean_text(text: str) -> str:
    """Text that a table can hold: lone surrogates become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _said(problem: Exception) -> str:
    """Why it is no JSON, without the decoder's own preamble."""
    if isinstance(problem, UnicodeDecodeError):
        return "not UTF-8"
    return f"not JSON: {str(problem).removeprefix('JSON is malformed: ')}"


def repeated_keys(data: bytes) -> list[str]:
    """Keys that one object of the text has twice (the last one counts)."""
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in items:
            if key in seen:
                repeated.append(clean_text(key))
            seen.add(key)

    try:
        json.loads(data, object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return []
    return list(dict.fromkeys(repeated))


def normalise(event: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The event with snake_case keys under their wire names, and the keys that were renamed."""
    event_type = protocol.BY_NAME.get(event["type"])
    names = {*protocol.COLUMNS.values(), "rawEvent"}
    if event_type is not None:
        names |= {field.name for field in event_type.fields}
    renamed: list[str] = []
    result = dict(event)
    for name in sorted(names):
        written = protocol.snake(name)
        if written != name and written in event and name not in event:
            result[name] = result.pop(written)
            renamed.append(written)
    return result, renamed


def judge(event: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Departures of one (normalised) event from the schema: `(kind, field, detail)`."""
    event_type = protocol.BY_NAME.get(event["type"])
    if event_type is None:
        yield "unknown-type", "type", event["type"]
    fields = protocol.COMMON + (event_type.fields if event_type else ())
    for field in fields:
        if field.name not in event:
            if field.required:
                yield "field-missing", field.name, ""
            continue
        value = event[field.name]
        if field.kind == "any":
            continue
        if field.kind == "integer" and isinstance(value, float) and value.is_integer():
            continue  # 1790000000000.0 is a number to one generation and a whole one to the other
        wanted = (REQUIRED if field.required else OPTIONAL)[field.kind]
        try:
            msgspec.convert(value, wanted)
        except msgspec.ValidationError as problem:
            yield _departure(field.name, str(problem))
        except RecursionError:
            yield "field-invalid", field.name, "nested too deeply"


def _departure(field: str, said: str) -> tuple[str, str, str]:
    """A decoder's words as kind, path of the field, and detail."""
    path = field
    if place := _PATH.search(said):
        inner = place[1]
        path += inner if inner.startswith("[") else f".{inner}"
        said = said[: place.start()]
    if missing := _MISSING.match(said):
        return "field-missing", f"{path}.{missing[1]}", ""
    return "field-invalid", path, said


def as_text(value: Any) -> str | None:
    """An id of whatever type as text; None for null, objects and lists."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    return str(value)
