"""The ladder: draws the steps of conversations as a sequence diagram in SVG."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from workbench.findings import Finding
from workbench.views import svg
from workbench.views.layout import (
    HEAD,
    MARGIN,
    Columns,
    MarkRow,
    Row,
    columns,
    head_text,
    rows,
)
from workbench.views.participants import Participant
from workbench.views.steps import Step
from workbench.views.text import LINE, clean, escape, pitch, plural, shorten, width, wrap
from workbench.views.theme import SEVERITY_LETTER

SCOPE = "wb-ladder"
_OUTCOME = {"success": "result", "interrupt": "approval", "error": "error", "cancelled": "warning"}
_MAX_OUTSIDE = 12


@dataclass(slots=True)
class Sheet:
    """What one picture shows."""

    title: str
    subtitle: str
    alt: str
    steps: list[Step]
    participants: list[Participant]
    #: findings whose evidence is on none of the steps
    outside: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    prefix: str = ""


def draw(sheet: Sheet) -> str:
    """The picture as SVG text."""
    return _Ladder(sheet).draw()


class _Ladder:
    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        times = [s.time for s in sheet.steps if s.time is not None]
        self.zero = min(times, default=None)
        numbers = max((width(_number(step), 11) for step in sheet.steps), default=0.0)
        moments = max((width(self.moment(step), 11) for step in sheet.steps), default=0.0)
        self.cols: Columns = columns(sheet.participants, sheet.steps, numbers, moments)
        self.width = self.cols.right + MARGIN
        self.out: list[str] = []
        self.drawn = 0

    def draw(self) -> str:
        sheet, out = self.sheet, self.out
        room = self.width - 2 * MARGIN
        y = MARGIN + pitch(sheet.title) - 1
        out.append(svg.text(MARGIN, y, shorten(sheet.title, room, 16, bold=True), "title", title=sheet.title))
        for part in wrap(sheet.subtitle, room):
            y += pitch(sheet.title) + 2
            out.append(svg.text(MARGIN, y, part, "soft"))
        y += 18
        if not sheet.steps:
            out.append(svg.text(MARGIN, y + 18, "There is nothing to draw here.", "soft"))
            return svg.document(self.width, self.footer(y + 36), SCOPE, sheet.alt, out)
        first_heads = y
        placed = rows(sheet.steps, self.cols, y + HEAD + 16)
        end = placed[-1].bottom
        for person in sheet.participants:
            x = self.cols.x[person.key]
            out.append(svg.line(x, first_heads + HEAD, x, end + 12, "life"))
        self.heads(first_heads)
        self.rails(placed)
        self.activations(placed)
        for row in placed:
            self.row(row)
        self.heads(end + 12)
        return svg.document(self.width, self.footer(end + HEAD + 34), SCOPE, sheet.alt, out)

    def heads(self, y: float) -> None:
        """The boxes with the names, at the head of the lifelines and at their foot."""
        for person in self.sheet.participants:
            x, wide = self.cols.x[person.key], self.cols.boxes[person.key]
            rx = {"client": 22.0, "agent": 6.0, "model": 14.0}.get(person.role, 3.0)
            more = ' stroke-dasharray="5 3"' if person.role in ("client-tool", "other") else ""
            self.out.append(svg.rect(x - wide / 2, y, wide, HEAD, "box", rx, more))
            if person.role == "agent":
                self.out.append(svg.rect(x - wide / 2 + 3, y + 3, wide - 6, HEAD - 6, "rule", 4))
            room = wide - (26 if person.role in ("client", "agent", "model") else 12)
            note = person.note
            names = wrap(person.name, room / 1.2, 13, lines=2)
            if len(names) > 1 or pitch(person.name, note) > LINE:
                # long names and high scripts need the room of both lines
                note = ""
                names = names if pitch(person.name) == LINE else [shorten(person.name, room, 13, bold=True)]
            base = y + (HEAD / 2 - 3 if note or len(names) > 1 else HEAD / 2 + 4)
            for index, part in enumerate(names):
                self.out.append(svg.text(x, base + LINE * index, part, "b", "middle", person.name))
            if note:
                short = shorten(note, room, 11)
                self.out.append(
                    svg.text(x, base + 16, short, "soft small", "middle", note if short != note else "")
                )

    def rails(self, placed: Sequence[Row]) -> None:
        """The line at the left that holds the events of one run together."""
        begun = placed[0]
        for row, after in zip(placed, [*placed[1:], None], strict=True):
            begun = row if row.band is not None else begun
            if after is None or after.band is not None:
                top = begun.band if begun.band is not None else begun.base
                colour = _OUTCOME.get(begun.step.run.outcome, "soft")
                rail = svg.line(
                    self.cols.rail,
                    top,
                    self.cols.rail,
                    row.bottom - 4,
                    "arrow",
                    ' stroke-width="3" stroke-linecap="round"',
                )
                self.out.append(f'<g class="c-{colour}">{rail}</g>')

    def activations(self, placed: Sequence[Row]) -> None:
        """Bars on the lifelines of what was at work, from where it began to the last step before it ended."""
        for number, row in enumerate(placed):
            step = row.step
            if step.kind != "work":
                continue
            bottom, until = row.arrow + 6, step.until
            for after in placed[number + 1 :] if until is not None else ():
                when = after.step.time
                if after.step.run is not step.run or when is None or until is None or when > until:
                    break
                bottom = after.arrow
            colour = svg.ARROWS[self.look(step)].colour
            self.out.append(svg.activation(self.cols.x[step.target], row.arrow - 4, bottom, colour))

    def row(self, row: Row) -> None:
        step, cols, out = row.step, self.cols, self.out
        if row.heads is not None:
            self.heads(row.heads)
        if row.gap is not None:
            words = f"⋯ {_missing(step.skipped, step.skipped_events)} not shown"
            out.append(svg.text(cols.rail + 14, row.gap + 14, words, "soft halo"))
        if row.band is not None:
            self.band(row, row.band)
        out.append(self.opening_tag(step))
        self.gutter(row)
        self.label(row)
        look = svg.ARROWS[self.look(step)]
        if step.kind == "log":
            out.append(svg.note(cols.x[step.source], row.base - 4, look))
        else:
            out.append(svg.arrow(cols.x[step.source], cols.x[step.target], row.arrow, look, quiet=step.quiet))
        for mark in row.marks:
            self.mark(mark)
        out.append("</g>")

    def band(self, row: Row, y: float) -> None:
        """The boundary of a run, with its name in bold."""
        left, step = self.cols.rail, row.step
        self.out.append(svg.rect(left, y, self.width - MARGIN - left, row.band_height, "band", 4))
        base = y + 18 + (pitch(step.band) - LINE) * 0.6
        for index, part in enumerate(row.band_lines):
            name, dot, rest = part.partition(" · ") if index == 0 else ("", "", part)
            pieces = [("b", name), ("", dot + rest)]
            self.out.append(svg.spans(left + 14, base + pitch(step.band) * index, pieces, title=step.band))

    def opening_tag(self, step: Step) -> str:
        parts = [f'<g class="step k-{step.kind}" id="{self.sheet.prefix}step-{self.drawn}"']
        self.drawn += 1
        if step.rows:
            parts.append(f'data-events="{step.events}" data-first="{step.first}" data-last="{step.last}"')
        if step.call_id:
            parts.append(f'data-call="{escape(clean(step.call_id))}"')
        if step.approval_id:
            parts.append(f'data-approval="{escape(clean(step.approval_id))}"')
        return " ".join(parts) + ">"

    def gutter(self, row: Row) -> None:
        step, cols = row.step, self.cols
        base = row.arrow + 4
        number = _number(step)
        if number:
            self.out.append(svg.text(cols.number, base, number, "soft small num", "end"))
        if moment := self.moment(step):
            self.out.append(svg.text(cols.time, base, moment, "soft small num", "end"))

    def moment(self, step: Step) -> str:
        """When it happened, since the first step with a time."""
        return "" if step.time is None or self.zero is None else offset(step.time - self.zero)

    def label(self, row: Row) -> None:
        step = row.step
        base = row.base
        colour = svg.ARROWS[self.look(step)].colour
        head = f"b small t-{colour}"
        full = f"{head_text(step)} {step.label}".strip()
        tail = f"  {row.lines[0]}" if row.lines[0] else ""
        css = "soft" if step.quiet else ""
        self.out.append(
            svg.spans(
                row.start,
                base,
                [(head, head_text(step)), ("", "  " if tail else ""), (css, tail[2:])],
                "halo",
                full,
            )
        )
        for index, part in enumerate(row.lines[1:], start=1):
            self.out.append(
                svg.text(row.start, base + row.pitch * index, part, f"halo {css}".strip(), title=full)
            )

    def look(self, step: Step) -> str:
        if step.bad and f"bad-{step.kind}" in svg.ARROWS:
            return f"bad-{step.kind}"
        if step.type.upper() == "RUN_FINISHED" and step.approval_id:
            return "outcome"
        return step.kind

    def mark(self, mark: MarkRow) -> None:
        """One finding below its step, or several that are only counted."""
        left, y = self.cols.rail + 10, mark.top
        severity = mark.severity if mark.severity in SEVERITY_LETTER else "info"
        numbers = " ".join(str(item.number) for item in mark.marks)
        finding = mark.marks[0].finding
        single = len(mark.marks) == 1
        self.out.append(f'<g class="mark s-{severity}" data-findings="{numbers}">')
        self.out.append(svg.rect(left, y, self.width - MARGIN - left, mark.height, f"f-{severity}", 4))
        base = y + 15.5 + (mark.pitch - LINE) * 0.6
        self.out.append(svg.badge(left + 14, base - 4.5, severity))
        title = f"{finding.code} {finding.rule}: {clean(finding.message)}" if single else ""
        head = f"{clean(finding.rule, 60)}  " if single else ""
        pieces = [(f"b t-{severity}", head), ("", mark.lines[0])]
        self.out.append(svg.spans(left + 32, base, pieces, title=title))
        for index, part in enumerate(mark.lines[1:], start=1):
            self.out.append(svg.text(left + 32, base + mark.pitch * index, part, title=title))
        self.out.append("</g>")

    def footer(self, y: float) -> float:
        """Legend, findings from elsewhere and notes; returns the height of the picture."""
        y = self.legend(y)
        room = self.width - 2 * MARGIN - 32
        for finding in self.sheet.outside[:_MAX_OUTSIDE]:
            lines = wrap(f"{finding.rule}: {clean(finding.message)}", room, lines=2)
            between = pitch(*lines)
            y += (between - LINE) * 0.6
            self.out.append(svg.badge(MARGIN + 12, y + 8, finding.severity))
            for index, part in enumerate(lines):
                self.out.append(
                    svg.text(MARGIN + 32, y + 12 + between * index, part, title=clean(finding.message))
                )
            y += between * len(lines) + 8
        rest = len(self.sheet.outside) - _MAX_OUTSIDE
        notes = [f"{plural(rest, 'more finding')} outside of this view."] if rest > 0 else []
        for note in (*notes, *self.sheet.notes):
            for part in wrap(note, room + 32, lines=3):
                self.out.append(svg.text(MARGIN, y + 12 + (pitch(note) - LINE) * 0.6, part, "soft"))
                y += pitch(note) + 2
        return y + MARGIN

    def legend(self, y: float) -> float:
        """Samples of the arrows and badges that occur, and of nothing else."""
        looks = dict.fromkeys(self.look(step) for step in self.sheet.steps)
        severities = {mark.finding.severity for step in self.sheet.steps for mark in step.marks}
        severities |= {finding.severity for finding in self.sheet.outside}
        entries = [(name, svg.ARROWS[name].meaning) for name in svg.ARROWS if name in looks]
        entries += [(f"finding:{name}", f"finding: {name}") for name in SEVERITY_LETTER if name in severities]
        if any(step.events > 1 for step in self.sheet.steps):
            entries.append(("", "× n: n events in a row, folded"))
        x = MARGIN
        for name, words in entries:
            sample = 46.0 if name in svg.ARROWS else 22.0 if name else 0.0
            wide = sample + 8 + width(words, 11)
            if x + wide > self.width - MARGIN and x > MARGIN:
                x, y = MARGIN, y + 24
            if name in ("log", "bad-log"):
                self.out.append(svg.note(x + 12, y + 8, svg.ARROWS[name]))
            elif name in svg.ARROWS:
                self.out.append(svg.arrow(x + 3, x + sample, y + 8, svg.ARROWS[name]))
            elif name:
                self.out.append(svg.badge(x + 11, y + 8, name.removeprefix("finding:")))
            self.out.append(svg.text(x + sample + 8, y + 12, words, "soft small"))
            x += wide + 22
        return y + 30 if entries else y


def _number(step: Step) -> str:
    if step.first is None:
        return ""
    return f"#{step.first}" if step.last == step.first else f"#{step.first}–{step.last}"


def _missing(steps: int, events: int) -> str:
    return plural(events, "event") if events else plural(steps, "arrow")


def offset(nanoseconds: int) -> str:
    """A time since the first one in view: `+1.204 s`, `+2:05.0`, `+1:02:05`."""
    seconds = nanoseconds / 1e9
    if seconds < 60:
        return f"+{seconds:.3f} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"+{int(minutes)}:{rest:04.1f}"
    hours, minutes = divmod(int(minutes), 60)
    return f"+{hours}:{minutes:02d}:{int(rest):02d}"


def counts(pairs: Iterable[tuple[int, str]]) -> str:
    """`14 events, 2 runs`: what there is any of."""
    return ", ".join(plural(number, word) for number, word in pairs if number)
