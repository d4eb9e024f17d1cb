"""The timeline as a still picture: one lane per call occurrence, drawn in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

from workbench.model import SEVERITIES
from workbench.views import svg
from workbench.views.lanes import Chart, Lane, Segment
from workbench.views.text import LINE, clean, escape, pitch, plural, shorten, width, wrap
from workbench.views.theme import SEVERITY_LETTER

SCOPE = "wb-timeline"
#: lanes in the still picture; the Plotly figure has all of them
MAX_LANES = 60
LANE = 36.0
PLOT = 680.0
MARGIN = 18.0
RIGHT = 40.0
_BADGE = 24.0
LOOKS = {"asked": "call", "waiting": "approval", "running": "result", "open": "error"}
WORDS = {
    "asked": "arguments arrive",
    "waiting": "waits for a decision",
    "running": "until the result",
    "open": "no result in view",
}
_RESULTS = {"ok": "result", "error": "error", "placeholder": "error", "refusal": "warning"}


def draw(chart: Chart, title: str, subtitle: str, alt: str, notes: Sequence[str] = ()) -> str:
    """The picture as SVG text."""
    return _Picture(chart).draw(title, subtitle, alt, notes)


def shown(lanes: Sequence[Lane], limit: int = MAX_LANES) -> tuple[list[Lane], int]:
    """At most `limit` lanes, flagged ones first to be kept, in their order; and how many are left out."""
    if len(lanes) <= limit:
        return list(lanes), 0
    ranked = sorted(range(len(lanes)), key=lambda number: (not lanes[number].flags, number))[:limit]
    return [lanes[number] for number in sorted(ranked)], len(lanes) - limit


class _Picture:
    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.lanes, self.left_out = shown(chart.lanes)
        widest = max((width(lane.label) for lane in self.lanes), default=0.0)
        self.labels = min(max(widest, 120.0), 320.0)
        self.zero = MARGIN + self.labels + 20
        self.total = self.zero + PLOT + RIGHT
        self.out: list[str] = []
        self.flags_left_out = 0

    def x(self, value: float) -> float:
        inside = (value - self.chart.start) / (self.chart.end - self.chart.start)
        return self.zero + min(max(inside, 0.0), 1.0) * PLOT

    def draw(self, title: str, subtitle: str, alt: str, notes: Sequence[str]) -> str:
        out, room = self.out, self.total - 2 * MARGIN
        y = MARGIN + pitch(title) - 1
        out.append(svg.text(MARGIN, y, shorten(title, room, 16, bold=True), "title", title=title))
        for part in wrap(subtitle, room):
            y += pitch(title) + 2
            out.append(svg.text(MARGIN, y, part, "soft"))
        y += 24
        if not self.lanes:
            out.append(svg.text(MARGIN, y + 8, "No tool call in view, so there is no lane to draw.", "soft"))
            return svg.document(self.total, y + 36, SCOPE, alt, out)
        extra = pitch(*(name for _, name in self.chart.runs)) - LINE
        y += extra / 2
        top = y + 20 + extra / 2
        bottom = top + LANE * len(self.lanes)
        self.runs(y + 6, bottom)
        for index, lane in enumerate(self.lanes):
            self.lane(lane, top + LANE * index)
        y = self.legend(self.axis(bottom))
        left_out = [
            f"{plural(count, word)} not shown in this picture."
            for count, word in ((self.left_out, "lane"), (self.flags_left_out, "mark"))
            if count
        ]
        for note in (*left_out, *notes):
            for part in wrap(clean(note), room, lines=3):
                out.append(svg.text(MARGIN, y + 12 + (pitch(note) - LINE) * 0.6, part, "soft"))
                y += pitch(note) + 2
        return svg.document(self.total, y + MARGIN, SCOPE, alt, out)

    def runs(self, y: float, bottom: float) -> None:
        """Run boundaries; the name where there is room for it."""
        free = 0.0
        for at, name in self.chart.runs:
            x = self.x(at)
            self.out.append(svg.line(x, y - 12, x, bottom, "life"))
            wide = width(name, 11)
            if x >= free and x + 5 + wide < self.total - 4:
                self.out.append(svg.text(x + 5, y, name, "soft small"))
                free = x + 14 + wide
            elif x - 5 - wide >= free:
                self.out.append(svg.text(x - 5, y, name, "soft small", "end"))
                free = x + 5

    def lane(self, lane: Lane, y: float) -> None:
        out, middle = self.out, y + LANE / 2
        out.append('<g class="lane">')
        facts = "\n".join(f"{name}: {value}" for name, value in lane.facts)
        out.append(svg.line(self.zero, middle, self.zero + PLOT, middle, "rule"))
        css = "" if lane.call is not None else "soft"
        out.append(svg.text(self.zero - 16, middle + 4, shorten(lane.label, self.labels), css, "end", facts))
        for segment in lane.segments:
            out.append(self.segment(segment, middle))
        for at, decision in lane.decisions:
            self.out.append(_decision(self.x(at), middle, kept=_kept(decision), title=decision))
        if lane.result is not None:
            self.out.append(_tick(self.x(lane.result[0]), middle, _RESULTS.get(lane.result[1], "soft"), 22))
        self.flags(lane, middle)
        out.append("</g>")

    def segment(self, segment: Segment, middle: float) -> str:
        x, end = self.x(segment.start), self.x(segment.end)
        wide = max(end - x, 3.0)
        x = min(x, self.zero + PLOT - wide)
        return f'<g class="c-{LOOKS[segment.kind]}">{_bar(segment.kind, x, middle, wide)}</g>'

    def flags(self, lane: Lane, middle: float) -> None:
        """Badges at their places, pushed apart where they would cover each other; the worst ones if too many."""
        most = int(PLOT / _BADGE)
        worst = sorted(lane.flags, key=lambda flag: SEVERITIES.index(flag.finding.severity))[:most]
        self.flags_left_out += len(lane.flags) - len(worst)
        flags = sorted(worst, key=lambda flag: flag.at)
        places: list[float] = []
        for flag in flags:
            places.append(max(self.x(flag.at), places[-1] + _BADGE if places else 0.0))
        edge = self.zero + PLOT + _BADGE
        for number in range(len(places) - 1, -1, -1):
            edge -= _BADGE
            places[number] = edge = min(places[number], edge)
        for flag, x in zip(flags, places, strict=True):
            self.out.append(f'<g class="mark"><title>{escape(clean(flag.finding.message))}</title>')
            self.out.append(svg.badge(x, middle, flag.finding.severity) + "</g>")

    def axis(self, y: float) -> float:
        out = self.out
        out.append(svg.line(self.zero, y, self.zero + PLOT, y, "rule"))
        free = 0.0
        for value, label in ticks(self.chart):
            x, half = self.x(value), width(label, 11) / 2
            out.append(svg.line(x, y, x, y + 5, "rule"))
            if x - half >= free and x + half < self.total:
                out.append(svg.text(x, y + 19, label, "soft small num", "middle"))
                free = x + half + 12
        out.append(svg.text(self.zero + PLOT / 2, y + 39, axis_title(self.chart), "soft small", "middle"))
        return y + 60

    def legend(self, y: float) -> float:
        kinds = {segment.kind for lane in self.lanes for segment in lane.segments}
        severities = {flag.finding.severity for lane in self.lanes for flag in lane.flags}
        x = MARGIN
        entries = [(kind, WORDS[kind]) for kind in WORDS if kind in kinds]
        looks: dict[str, dict[str, None]] = {}
        for word in sorted({lane.result[1] for lane in self.lanes if lane.result}):
            looks.setdefault(_RESULTS.get(word, "soft"), {})[word] = None
        entries += [(f"result:{colour}", f"result: {', '.join(words)}") for colour, words in looks.items()]
        made = {_kept(decision) for lane in self.lanes for _, decision in lane.decisions}
        entries += [
            (f"decision:{kept}", "approved" if kept else "not approved")
            for kept in sorted(made, reverse=True)
        ]
        entries += [(name, name) for name in SEVERITY_LETTER if name in severities]
        for name, words in entries:
            wide = 38 + width(words, 11)
            if x + wide > self.total - MARGIN:
                x, y = MARGIN, y + 24
            kind, _, look = name.partition(":")
            if name in WORDS:
                self.out.append(f'<g class="c-{LOOKS[name]}">{_bar(name, x, y + 8, 28)}</g>')
            elif kind == "result":
                self.out.append(_tick(x + 14, y + 8, look, 16))
            elif kind == "decision":
                self.out.append(_decision(x + 14, y + 8, kept=look == "True"))
            else:
                self.out.append(svg.badge(x + 14, y + 8, name))
            self.out.append(svg.text(x + 36, y + 12, words, "soft small"))
            x += wide + 20
        return y + 30 if entries else y


def _kept(decision: str) -> bool:
    """Whether a decision lets the call run."""
    return decision in ("approved", "edited")


def _decision(x: float, middle: float, *, kept: bool, title: str = "") -> str:
    """A disc with a tick or a cross: what a person said."""
    mark = "M-4 0l3 4 6 -8" if kept else "M-4 -4l8 8m0 -8l-8 8"
    tip = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<g class="c-{"result" if kept else "error"}" transform="translate({svg.num(x)} {svg.num(middle)})">{tip}'
        f'<circle r="8" class="disc"/><path d="{mark}" class="open"/></g>'
    )


def _tick(x: float, middle: float, colour: str, high: float) -> str:
    """The upright bar of a result."""
    return f'<g class="c-{colour}">{svg.rect(x - 2, middle - high / 2, 4, high, "head", 1)}</g>'


def _bar(kind: str, x: float, middle: float, wide: float) -> str:
    """Each kind in its own shape: full, hatched, half as high, dashed outline."""
    if kind == "asked":
        return svg.rect(x, middle - 8, wide, 16, "head", 2)
    if kind == "running":
        return svg.rect(x, middle - 4, wide, 8, "head", 2)
    if kind == "open":
        return svg.rect(x, middle - 6, wide, 12, "open", 2, ' stroke-dasharray="4 3"')
    stripes = "".join(
        f"M{svg.num(x + step)} {svg.num(middle + 8)}L{svg.num(min(x + step + 8, x + wide))} "
        f"{svg.num(middle + 8 - 16 * min(8, wide - step) / 8)}"
        for step in range(0, int(wide), 8)
    )
    return svg.rect(x, middle - 8, wide, 16, "open", 2) + f'<path d="{stripes}" class="hatch"/>'


def axis_title(chart: Chart) -> str:
    """What the axis counts."""
    if chart.axis == "events":
        return "event number (the capture has no time for every event)"
    return f"time, UTC, {_moment(chart.start):%Y-%m-%d}"


def ticks(chart: Chart, most: int = 8) -> list[tuple[float, str]]:
    """Round positions inside the axis, with their labels."""
    span = chart.end - chart.start
    if chart.axis == "events":
        step = max(1.0, _nice(span / most))
        first = math.ceil(chart.start / step)
        return [(n * step, f"{n * step:g}") for n in range(first, math.floor(chart.end / step) + 1)]
    step = _nice_time(span / most)
    first = math.ceil(chart.start / step)
    marks = [n * step for n in range(first, math.floor(chart.end / step) + 1)]
    return [(value, _clock(value, step)) for value in marks]


def _nice(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(max(rough, 1e-9)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def _nice_time(rough: float) -> float:
    second, minute, hour, day = 1e3, 6e4, 36e5, 864e5
    round_ones = [n * unit for unit, ns in (
        (second, (1, 2, 5, 10, 15, 30)), (minute, (1, 2, 5, 10, 15, 30)), (hour, (1, 2, 3, 6, 12)),
    ) for n in ns]  # fmt: skip
    if rough < second:
        return max(_nice(rough), 1e-3)
    return next((value for value in round_ones if value >= rough), math.ceil(rough / day) * day)


def _moment(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1e3, tz=UTC)


def _clock(milliseconds: float, step: float) -> str:
    moment = _moment(milliseconds)
    if step >= 864e5:
        return f"{moment:%m-%d}"
    if step >= 6e4:
        return f"{moment:%H:%M}"
    if step >= 1e3:
        return f"{moment:%H:%M:%S}"
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03d}"
