"""Printed Python dictionaries: `{'type': 'RUN_STARTED', …}`, also with enum members as pydantic dumps them.

Nothing is run: a line is first taken apart into literals and brackets, and only what consists of
nothing else is given to `ast.literal_eval`.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from typing import Any

from workbench.readers import protocol
from workbench.readers.logs import log_lines
from workbench.readers.reading import Reading
from workbench.readers.registry import Format
from workbench.readers.sniff import Sniff

_TYPE = re.compile(rb"'type': (?:<\w+\.\w+: )?'([A-Z_]{3,60})'")
_START = re.compile(rb"\{(?=['\"]\w+['\"]: )")
#: `<EventType.RUN_STARTED: 'RUN_STARTED'>` is written for an enum member
_ENUM = re.compile(r"<\w+(?:\.\w+)+: ('[^'\\]*')>")
_TOKEN = re.compile(
    r"\s+|'(?:[^'\\\n]|\\.)*+'|\"(?:[^\"\\\n]|\\.)*+\"|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|None|True|False|[\[\](){},:]"
)
#: Nesting that Python's own parser takes
_DEEPEST = 90
#: A syntax tree is some hundred times as large as its text
_LONGEST = 4 * 1024 * 1024


def literal(text: str) -> Any:
    """The value of a text of Python literals; raises `ValueError` for anything else."""
    if len(text) > _LONGEST:
        raise ValueError(f"a literal of more than {_LONGEST:,} characters")
    text = _ENUM.sub(r"\1", text)
    at = depth = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"no literal at {text[at : at + 20]!r}")
        depth += (token[0] in "[({") - (token[0] in "])}")
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        at = token.end()
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise ValueError(f"not Python: {getattr(problem, 'msg', None) or problem}") from None


def read(reading: Reading) -> None:
    """Read a dictionary from each line that has one; what stands before it is passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Python about escapes that it does not know
        _read(reading)


def _read(reading: Reading) -> None:
    writer = reading.writer(reading.new_stream())
    records = reading.records
    number = cut = -1
    for number, offset, line in log_lines(reading):
        start = _START.search(line) if line is not None else None
        if line is None or (start is None and _TYPE.search(line) is None):
            if line is None:
                writer.lost()
            else:
                reading.ignore("other lines")
            continue
        begin = start.start() if start is not None else 0
        end = line.rfind(b"}") + 1
        data = line[begin : end if end > begin else len(line)]
        why = ""
        try:
            value = literal(data.decode("utf-8", "replace"))
            raw = json.dumps(value).encode()
        except (ValueError, TypeError, RecursionError) as problem:
            why = str(problem)[:120]
            cut = number if line.rstrip()[-1:] != b"}" else cut
        else:
            why = writer.add(raw, reading.counts.records, number, offset + begin, len(data))
            if not why:
                reading.row()
                records.overrides.setdefault(len(records.events) - 1, raw)
        if why:
            reading.problem(why, line=number, offset=offset + begin, data=data)
            writer.lost()
    if number >= 0 and cut == number:
        reading.cut("the last line ends inside its dictionary")


def _recognise(sniff: Sniff) -> bool:
    if sniff.has_types or sniff.has_data_lines:
        return False
    return any(found.decode() in protocol.BY_NAME for found in _TYPE.findall(sniff.head))


FORMAT = Format(
    name="python-repr",
    title="Printed Python dictionaries",
    recognised_by="lines with `'type': 'RUN_STARTED'`",
    extensions=(".log", ".txt"),
    recognise=_recognise,
    read=read,
)
