"""A data frame of raw events as JSON lines.

Either one column holds the events (as dictionaries, AG-UI objects or JSON text) and others their ids and times,
or every field of an event has a column of its own. Missing values are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

#: Columns that may hold whole events, in the order in which they are asked
EVENT_COLUMNS = ("event", "raw", "json", "data", "payload", "body")
#: Fields that are objects or lists inside of an event; as JSON text in a column they are decoded. Not `delta`
#: and `content`, which are mostly text.
_NESTED = frozenset(
    [
        "outcome",
        "result",
        "snapshot",
        "messages",
        "value",
        "event",
        "input",
        "patch",
        "interrupts",
        "usage",
        "metadata",
        "rawEvent",
    ]
)


def is_frame(source: Any) -> bool:
    """Whether an object is a pandas or polars frame."""
    return hasattr(source, "columns") and (hasattr(source, "iterrows") or hasattr(source, "iter_rows"))


def lines(frame: Any) -> bytes:
    """A line for each row of the frame, in its order."""
    columns = [str(name) for name in frame.columns]
    if hasattr(frame, "iter_rows"):
        rows = list(frame.iter_rows())
    else:
        rows = list(frame.itertuples(index=False, name=None))
    holder = next((name for name in EVENT_COLUMNS if name in columns and "type" not in columns), "")
    made = []
    for row in rows:
        fields = {
            name: _value(value) for name, value in zip(columns, row, strict=True) if not _missing(value)
        }
        if holder:
            made.append(_wrapped(fields, holder))
        elif fields:
            if "type" in fields and not isinstance(fields["type"], str):
                fields["type"] = str(fields["type"])
            made.append(msgspec.json.encode({name: _nested(name, value) for name, value in fields.items()}))
    return b"".join(line + b"\n" for line in made)


def _wrapped(fields: dict[str, Any], holder: str) -> bytes:
    """A row whose event stands in one column; text that is no JSON goes through as it is."""
    event = fields.pop(holder, None)
    text = event.encode("utf-8", "replace") if isinstance(event, str) else msgspec.json.encode(event)
    text = text.replace(b"\r", b" ").replace(b"\n", b" ").strip()
    if not fields or text[:1] != b"{":
        return text
    return msgspec.json.encode(fields)[:-1] + b',"event":' + text + b"}"


def _missing(value: Any) -> bool:
    """None, NaN, NaT and pandas' NA. Lists and dictionaries are there."""
    if value is None:
        return True
    if isinstance(value, str | bytes | list | dict | tuple):
        return False
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value  # noqa: PLR0124 - what NaN is


def _value(value: Any) -> Any:
    """A value of a cell as JSON has it."""
    if isinstance(value, str | bool | int | float | dict | list):
        return value
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, Mapping):
        return dict(value)
    if callable(getattr(value, "isoformat", None)):
        return value.isoformat()
    if callable(getattr(value, "tolist", None)):  # numpy's numbers and arrays
        return value.tolist()
    return str(value)


def _nested(name: str, value: Any) -> Any:
    if name == "timestamp":
        return _milliseconds(value)
    if name not in _NESTED or not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


def _milliseconds(value: Any) -> Any:
    """Epoch milliseconds, which `timestamp` of an event is: frames have floats and dates there."""
    from workbench.readers import times

    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        found = times.from_iso(value)
        return value if found is None else found // 1_000_000
    return value
