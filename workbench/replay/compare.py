"""Two traces beside each other: their events aligned, ids normalised, what differs in sight."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.replay.arms import Replay
from workbench.trace import Trace
from workbench.views.display import chosen
from workbench.views.grid import Cell, Grid, cell
from workbench.views.sequence import sequence_diagram

_KINDS = ("thread_id", "run_id", "message_id", "parent_message_id", "call_id")
_SHORT = {
    "thread_id": "thread",
    "run_id": "run",
    "message_id": "message",
    "parent_message_id": "message",
    "call_id": "call",
}
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:af-call-|chatcmpl-|resp_)[0-9a-zA-Z]+"
)


@dataclass(frozen=True)
class Line:
    """One event with normalised ids, as text: run, type, what it is about, what it says."""

    run: str
    kind: str
    about: str
    text: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.run, self.kind, self.about, self.text) if part)


def compare(a: Trace | Replay, b: Trace | Replay, *, names: tuple[str, str] | None = None) -> Comparison:
    """Align two traces, or the arms of a replay, and show what differs.

    Ids are numbered in the order in which they appear, so that those of two runs can be equal.
    """
    labels = names or (_name(a, "first"), _name(b, "second"))
    return Comparison(_trace(a), _trace(b), labels)


@dataclass(eq=False, repr=False)
class Comparison:
    """Two aligned traces; shows itself as table and ladders, and is told by `text`."""

    first: Trace
    second: Trace
    names: tuple[str, str]

    @cached_property
    def rows(self) -> list[tuple[str, Line | None, Line | None]]:
        """Aligned events: `same`, `changed`, `removed` (only in the first) or `added` (only in the second)."""
        a, b = lines(self.first), lines(self.second)
        rows: list[tuple[str, Line | None, Line | None]] = []
        keys = [[(line.run, line.kind, line.about) for line in side] for side in (a, b)]
        for tag, i, j, k, m in difflib.SequenceMatcher(None, keys[0], keys[1], autojunk=False).get_opcodes():
            if tag == "equal":
                for left, right in zip(a[i:j], b[k:m], strict=True):
                    rows.append(("same" if left == right else "changed", left, right))
            else:
                rows += [("removed", left, None) for left in a[i:j]]
                rows += [("added", None, right) for right in b[k:m]]
        return rows

    @property
    def differences(self) -> int:
        """How many rows are not the same."""
        return sum(what != "same" for what, _, _ in self.rows)

    @property
    def table(self) -> Grid:
        """The rows that differ, each between its neighbours."""
        marks = {"same": ("", ""), "changed": ("~", "warn"), "removed": ("−", "bad"), "added": ("+", "good")}
        near = {
            place
            for number, row in enumerate(self.rows)
            if row[0] != "same"
            for place in (number - 1, number, number + 1)
        }
        shown = []
        for number, (what, left, right) in enumerate(self.rows):
            if number in near:
                symbol, tone = marks[what]
                sides = _apart(str(left or ""), str(right or ""))
                shown.append(
                    [Cell(what, symbol=symbol, tone=tone), *(cell(side, most=110) for side in sides)]
                )
        same = len(self.rows) - self.differences
        caption = (
            f"{self.names[0]} against {self.names[1]}: {self.differences} differences, {same} events the same"
        )
        return Grid(caption, ("", *self.names), shown, empty="no difference")

    @property
    def text(self) -> str:
        """The alignment as lines: two spaces for the same, `-` and `+` for what one of them has."""
        told = [f"--- {self.names[0]}", f"+++ {self.names[1]}"]
        for what, left, right in self.rows:
            if what == "same":
                told.append(f"  {left}")
            else:
                told += [f"{sign} {line}" for sign, line in (("-", left), ("+", right)) if line is not None]
        return "\n".join(told)

    @property
    def html(self) -> str:
        """Table, then the two ladders side by side."""
        cells = "".join(
            f'<td style="vertical-align:top;text-align:left">{sequence_diagram(trace).html}</td>'
            for trace in (self.first, self.second)
        )
        return (
            f'<div>{self.table.html}<div style="overflow-x:auto"><table><tr>{cells}</tr></table></div></div>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return chosen({"text/html": self.html, "text/plain": self.text}, include, exclude)

    def __repr__(self) -> str:
        return self.table.text


def _apart(left: str, right: str) -> tuple[str, str]:
    """Two texts from shortly before the place where they begin to differ."""
    differs = (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)
    same = next(differs, min(len(left), len(right)))
    if not left or not right or left == right or same < 80:
        return left, right
    label = " ".join(left.split()[:2])
    return f"{label} …{left[same - 30 :]}", f"{label} …{right[same - 30 :]}"


def lines(trace: Trace) -> list[Line]:
    """The events of a trace with normalised ids."""
    numbers: dict[tuple[str, str], str] = {}
    kinds: dict[str, int] = {}

    def numbered(kind: str, value: str) -> str:
        key = (kind, value)
        if key not in numbers:
            kinds[kind] = kinds.get(kind, 0) + 1
            numbers[key] = f"{kind}{kinds[kind]}"
        return numbers[key]

    def normal(text: str) -> str:
        known = {value: word for (_, value), word in numbers.items()}
        return _ID.sub(lambda found: known.get(found[0]) or numbered("id", found[0]), text)

    return list(_lines(trace, numbered, normal))


def _lines(trace: Trace, numbered: Any, normal: Any) -> Iterator[Line]:
    frame = trace.events
    texts = frame["text"].fillna("").tolist()
    names = frame["name"].fillna("").tolist()
    ids = {column: frame[column].fillna("").tolist() for column in _KINDS}
    for number, kind in enumerate(frame["type"].tolist()):
        found = {
            column: numbered(_SHORT[column], values[number])
            for column, values in ids.items()
            if values[number]
        }
        about = " ".join(
            part for part in (names[number], found.get("call_id", ""), found.get("message_id", "")) if part
        )
        yield Line(
            found.get("run_id", ""), str(kind), about, normal(_said(trace, number, str(kind), texts[number]))
        )


def _said(trace: Trace, number: int, kind: str, text: str) -> str:
    """What an event says beside its ids: for a snapshot its messages, for the end of a run its outcome."""
    if kind not in ("MESSAGES_SNAPSHOT", "RUN_FINISHED", "CUSTOM"):
        return text
    event = trace.json(number)
    if kind == "MESSAGES_SNAPSHOT":
        told = []
        for message in event.get("messages") or ():
            calls = [
                f"{c['function']['name']}({c['function']['arguments']})"
                for c in message.get("toolCalls") or ()
            ]
            told.append(
                " ".join([f"{message.get('role')}:", str(message.get("content") or ""), *calls]).strip()
            )
        return " | ".join(told)
    return json.dumps(
        {key: value for key, value in event.items() if key not in ("type", "threadId", "runId", "timestamp")}
    )


def _trace(side: Trace | Replay) -> Trace:
    return side.trace if isinstance(side, Replay) else side


def _name(side: Trace | Replay, otherwise: str) -> str:
    return f"{side.arm.label} on {side.arm.release}" if isinstance(side, Replay) else otherwise
