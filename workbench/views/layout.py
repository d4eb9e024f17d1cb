"""Where everything of a ladder stands: columns of the lifelines, heights of the rows.

Every step has a row of its own, so texts of different steps cannot meet; inside a row the
number, the time, the label and the findings have places of their own. All lengths are pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from workbench.views.participants import Participant
from workbench.views.steps import AGENT, CLIENT, MODEL, Mark, Step
from workbench.views.text import LINE, clean, pitch, plural, shorten, width, wrap

MARGIN = 18.0
BAND = 28.0
HEAD = 46.0
#: findings written out below one step; further ones are counted
MAX_MARKS = 4


@dataclass(slots=True)
class Columns:
    """Horizontal places: gutter, lifelines, right edge."""

    number: float
    time: float
    rail: float
    x: dict[str, float]
    boxes: dict[str, float]
    right: float


@dataclass(slots=True)
class MarkRow:
    """The lines of one finding below a step; `marks` has more than one where they are only counted."""

    marks: list[Mark]
    lines: list[str]
    severity: str
    pitch: float
    top: float = 0.0

    @property
    def height(self) -> float:
        """Height of the coloured field."""
        return self.pitch * len(self.lines) + 5


@dataclass(slots=True)
class Row:
    """One step with its wrapped texts and the heights at which they stand.

    `heads`, `gap` and `band` are None where the row has none of them; `base` is the baseline
    of the first line of the label, `arrow` the height of the arrow.
    """

    step: Step
    heads: float | None = None
    gap: float | None = None
    band: float | None = None
    band_lines: list[str] = field(default_factory=list)
    band_height: float = 0.0
    lines: list[str] = field(default_factory=list)
    pitch: float = LINE
    start: float = 0.0
    base: float = 0.0
    arrow: float = 0.0
    marks: list[MarkRow] = field(default_factory=list)
    bottom: float = 0.0


def columns(
    people: Sequence[Participant], steps: Sequence[Step], number_room: float, time_room: float
) -> Columns:
    """Places of the gutter and of every lifeline."""
    number = MARGIN + number_room
    time = number + (14 + time_room if time_room else 0)
    rail = time + 18
    tools = sum(person.role not in ("client", "agent", "model") for person in people)
    tight = 150.0 if tools <= 5 else 126.0
    x: dict[str, float] = {}
    boxes: dict[str, float] = {}
    place, before = rail + 84, None
    for person in people:
        if before is not None:
            place += _gap(before, person, tight)
        x[person.key] = place
        boxes[person.key] = tight - 14 if person.role not in ("client", "agent", "model") else 148
        before = person
    right = max(place + 90, rail + 620)
    for step in steps:
        right = max(right, min(x[step.source], x[step.target]) + 362)
    return Columns(number, time, rail, x, boxes, right)


def _gap(left: Participant, right: Participant, tight: float) -> float:
    if {left.key, right.key} == {CLIENT, AGENT}:
        return 400.0
    if MODEL in (left.key, right.key) or left.key == AGENT or right.key == CLIENT:
        return 244.0
    return tight


def rows(steps: Sequence[Step], cols: Columns, top: float) -> list[Row]:
    """Place the rows one below the other, beginning at `top`."""
    made: list[Row] = []
    y, since_heads = top, top
    for step in steps:
        row = Row(step)
        if step.band and y - since_heads > 1100:
            row.heads = y + 12
            y += HEAD + 34
            since_heads = y
        if step.band and made:
            y += 10
        if step.skipped:
            row.gap = y
            y += 26
        if step.band:
            y = _band(row, cols, y)
        y = _label(row, cols, y)
        row.marks = _marks(step, cols)
        if row.marks:
            y += 3
            for mark in row.marks:
                mark.top = y
                y += mark.height + 2
            y += 6
        row.bottom = y
        made.append(row)
    return made


def _band(row: Row, cols: Columns, y: float) -> float:
    row.band = y
    row.band_lines = wrap(row.step.band, (cols.right - cols.rail - 30) / 1.1, lines=2)
    between = pitch(row.step.band)
    row.band_height = BAND + between * len(row.band_lines) - LINE
    return y + row.band_height + 10


def head_text(step: Step) -> str:
    """The type and the count of folded events: what stands in front of the words."""
    return f"{clean(step.type, 60)} × {step.events}" if step.events > 1 else clean(step.type, 60)


def _label(row: Row, cols: Columns, y: float) -> float:
    step = row.step
    low, high = sorted((cols.x[step.source], cols.x[step.target]))
    row.start = low + 12
    room = min(max(high - low - 24, 330), cols.right - row.start - MARGIN)
    head = head_text(step)
    first = room - width(f"{head}  ", 11, bold=True)
    if step.label and first < 90:
        row.lines = ["", *wrap(step.label, room, lines=2)]
    else:
        row.lines = wrap(step.label, room, first=first, lines=2) or [""]
    row.pitch = pitch(head, step.label)
    row.base = y + row.pitch - 6 - (row.pitch - LINE) * 0.3
    row.arrow = y + row.pitch * len(row.lines) + 6
    return row.arrow + 13


def _marks(step: Step, cols: Columns) -> list[MarkRow]:
    room = cols.right - cols.rail - 56
    shown = step.marks if len(step.marks) <= MAX_MARKS else step.marks[: MAX_MARKS - 1]
    out = []
    for mark in shown:
        finding = mark.finding
        head = width(f"{finding.rule}  ", 12, bold=True)
        words = clean(finding.message) if mark.main else "also here"
        lines = wrap(words, room, first=max(room - head, 60), lines=3)
        out.append(MarkRow([mark], lines or [""], finding.severity, pitch(words)))
    rest = step.marks[len(shown) :]
    if rest:
        names = ", ".join(dict.fromkeys(mark.finding.rule for mark in rest))
        words = shorten(f"{plural(len(rest), 'more finding')}: {names}", room)
        out.append(MarkRow(list(rest), [words], rest[0].finding.severity, LINE))
    return out
