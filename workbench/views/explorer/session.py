"""What the page asks and what it is told: the state of one explorer, without any widget.

`Session.answer` takes a question as the page sends it (JSON, not to be trusted: an output may
be tampered with like a capture) and gives an answer that is JSON again. Every text in it has
been cleaned; the page writes it as text and never as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.findings import Finding
from workbench.model import PLACES, SEVERITIES
from workbench.trace import Trace
from workbench.views.explorer import choice as filters
from workbench.views.explorer import difference, record, words
from workbench.views.explorer.choice import Choice
from workbench.views.explorer.flow import Flow, Pieces
from workbench.views.explorer.listing import Listing
from workbench.views.steps import Step
from workbench.views.svg import ARROWS
from workbench.views.text import clean, plural
from workbench.views.theme import SEVERITY_LETTER

#: rows of a list in one answer; of calls that one ladder shows without being chosen
WINDOW, MAX_CALLS = 120, 2_000

Row = dict[str, Any]


class _Side:
    """One of the traces: its lists and its steps."""

    def __init__(self, trace: Trace, findings: Sequence[Finding]) -> None:
        self.listing = Listing(trace, findings)
        self.pieces = Pieces(self.listing)
        self.chosen: list[int] = []


class Session:
    """The state of one explorer over one trace or two: what is filtered, chosen and in view."""

    def __init__(self, traces: Sequence[tuple[str, Trace, Sequence[Finding]]]) -> None:
        self.names = [name for name, _, _ in traces]
        self._sides = [_Side(trace, findings) for _, trace, findings in traces]
        self._side = self._sides[0]
        self.choice = Choice()
        self.calls: list[int] = []
        self.found: list[int] = []
        self.threads: list[int] = []
        self.focus = self._troubled()
        self.whole = False
        self.note = ""
        #: what a text goes through that leaves the notebook
        self.scrub: Callable[[str], str] = str
        self._flows = 0
        self._ask: dict[str, Callable[[Row], Row]] = {
            "view": self._view,
            "calls": lambda q: {"rows": self._side.listing.call_rows(_window(q, self.calls))},
            "threads": lambda q: {"rows": self._side.listing.thread_rows(_window(q, self.threads))},
            "findings": lambda q: {"rows": self._side.listing.finding_rows(_window(q, self.found))},
            "ladder": self._ladder,
            "grow": self._grow,
            "warm": lambda _: {"complete": self._side.listing.search.warm(0.08)},
            "record": self._record,
            "finding": self._finding,
            "difference": lambda _: self._difference(),
            "markdown": lambda _: {"text": self.scrub(words.markdown(self))},
        }
        self._wrong: dict[str, str] = {}
        self._filter()

    @property
    def listing(self) -> Listing:
        """The lists of the trace in view."""
        return self._side.listing

    @property
    def chosen(self) -> list[int]:
        """Numbers of the calls that were picked, in order."""
        return self._side.chosen

    def answer(self, question: object) -> Row:
        """The answer to one question; `error` says in words what could not be done."""
        asked = question if isinstance(question, dict) else {}
        ask = self._ask.get(str(asked.get("op")))
        if ask is None:
            return {"error": "unknown question"}
        return ask(asked)

    def start(self) -> Row:
        """What the page needs once, with the first view."""
        calls = {call.tool for side in self._sides for call in side.listing.calls if call.tool}
        return {
            "traces": [clean(name, 80) for name in self.names],
            "tools": sorted(clean(tool, 80) for tool in calls)[:300],
            "severities": list(SEVERITIES),
            "letters": SEVERITY_LETTER,
            "signals": list(PLACES),
            "timed": self.listing.first is not None,
            "looks": {
                name: [look.colour, look.meaning, look.dash, look.head, look.weight, look.double]
                for name, look in ARROWS.items()
            },
            "view": self._shown(),
        }

    def _view(self, question: Row) -> Row:
        which = question.get("which")
        if isinstance(which, int) and 0 <= which < len(self._sides) and self._side is not self._sides[which]:
            self._side = self._sides[which]
            self.focus = self._troubled()
        self.choice, self._wrong = filters.read(question.get("filter"), self.listing.first)
        focus = question.get("focus")
        if isinstance(focus, int) and 0 <= focus < len(self.listing.talks):
            self.focus = focus
        self._side.chosen = filters.numbers(question.get("chosen"), len(self.listing.calls))
        self.whole = question.get("whole") is True
        self._filter()
        return self._shown()

    def _filter(self) -> None:
        listing, choice = self.listing, self.choice
        self.calls = listing.fitting(choice)
        self.found = listing.about(choice, self.calls)
        self.threads = [
            number
            for number, names in enumerate(listing.names)
            if not choice.thread or filters.holds(choice.thread, names)
        ]
        if self.focus not in self.threads and self.threads:
            self.focus = self.threads[0]
        self.flow = self._flow()

    def _flow(self) -> Flow:
        """The ladder of what is chosen, else of what was filtered, else of the thread in focus."""
        side, choice = self._side, self.choice
        self.note = ""
        self._flows += 1
        picked = [side.listing.calls[number] for number in side.chosen]
        if picked:
            talks = sorted({side.listing.talk_of[number] for number in side.chosen})
            if self.whole:
                return Flow(side.pieces, talks, Choice())
            return Flow(side.pieces, talks, Choice(), calls=picked)
        if choice.narrow and not self.whole:
            if self.calls and (choice.call or choice.tool):
                # the pieces without any of these calls need no steps
                several = self.calls[:MAX_CALLS]
                if len(several) < len(self.calls):
                    self.note = f"of the first {plural(MAX_CALLS, 'call')}"
                fitting = [side.listing.calls[number] for number in several]
                talks = sorted({side.listing.talk_of[number] for number in several})
                rest = Choice(run=choice.run, severity=choice.severity)
                return Flow(side.pieces, talks, rest, calls=fitting)
            hits = side.listing.search(choice.text) if choice.text else None
            return Flow(side.pieces, self.threads, choice, hits=hits)
        return Flow(side.pieces, [self.focus] if self.threads else [], Choice())

    def _troubled(self) -> int:
        """The thread with the worst findings, the first of them."""
        of_thread = self.listing.of_thread
        ranks = [
            min((SEVERITIES.index(f.severity) for f in found), default=len(SEVERITIES)) for found in of_thread
        ]
        return ranks.index(min(ranks)) if ranks else 0

    def _shown(self) -> Row:
        """Everything in view: the counts and the first rows of each list."""
        listing, first = self.listing, {"from": 0, "to": WINDOW}
        return {
            "which": self._sides.index(self._side),
            "threads": {"total": len(self.threads), "rows": listing.thread_rows(_window(first, self.threads))},
            "calls": {"total": len(self.calls), "rows": listing.call_rows(_window(first, self.calls))},
            "findings": {"total": len(self.found), "rows": listing.finding_rows(_window(first, self.found))},
            "all": {"calls": len(listing.calls), "findings": len(listing.findings), "threads": len(listing.talks)},
            "focus": self.focus,
            "chosen": self.chosen,
            "ladder": self._ladder({"flow": self._flows, "from": 0, "to": WINDOW}),
            "title": self.title(),
            "wrong": self._wrong,
        }  # fmt: skip

    def title(self) -> str:
        """What the ladder shows, in words."""
        listing = self.listing
        focus = clean(listing.talks[self.focus].thread_id, 80) or "without id" if listing.talks else ""
        if self.chosen:
            names = ", ".join(
                f"{clean(listing.calls[n].tool, 40) or 'unnamed'} {clean(listing.calls[n].id, 40)}"
                for n in self.chosen[:3]
            )
            more = f" and {len(self.chosen) - 3} more" if len(self.chosen) > 3 else ""
            return f"{'threads of ' if self.whole else ''}{names}{more}"
        if self.choice.narrow and not self.whole:
            return f"what fits the filter {self.note}".strip()
        return f"thread {focus}" if self.threads else "nothing"

    def _ladder(self, question: Row) -> Row:
        if question.get("flow") != self._flows:
            return {"stale": True}
        begin, end = _bounds(question)
        self.flow.grow(end)
        return {
            "flow": self._flows,
            "from": begin,
            "total": len(self.flow.rows),
            "complete": self.flow.complete,
            "people": self.flow.people.rows(),
            "rows": self.flow.rows[begin:end],
        }

    def _grow(self, question: Row) -> Row:
        """Make more rows of the ladder, without sending any."""
        self.flow.grow(len(self.flow.rows) + 20_000)
        return self._ladder({**question, "from": 0, "to": 0})

    def _record(self, question: Row) -> Row:
        step = self._step(question)
        if step is None:
            return {"error": "this row is no longer in view"}
        return record.of_step(self.listing.trace, step)

    def _step(self, question: Row) -> Step | None:
        number = question.get("step")
        if question.get("flow") != self._flows or not isinstance(number, int):
            return None
        return self.flow.steps[number] if 0 <= number < len(self.flow.steps) else None

    def _finding(self, question: Row) -> Row:
        """Show the place of a finding: its thread, whole, with the row at which it is written out."""
        number = question.get("n")
        listing = self.listing
        if not isinstance(number, int) or not 0 <= number < len(listing.findings):
            return {"error": "this finding is not in the trace"}
        finding = listing.findings[number]
        talk = next((n for n, names in enumerate(listing.names) if finding.thread_id in names), self.focus)
        self.choice, self._wrong, self.whole = Choice(), {}, False
        self._side.chosen, self.focus = [], talk
        self._filter()
        row = self.flow.row_of(number)
        shown = self._shown()
        if row is None:
            places = ", ".join(clean(str(item), 200) for item in finding.evidence[:5])
            return {**shown, "message": f"{finding.rule}: its evidence is on no arrow ({places or 'none'})"}
        return {**shown, "row": row, "step": self.flow.rows[row]["step"]}

    def _difference(self) -> Row:
        """Of the two calls that are chosen, else of the two traces."""
        picked = [(side, number) for side in self._sides for number in side.chosen]
        if len(picked) == 2:
            calls = [side.listing.calls[number] for side, number in picked]
            made = []
            for (side, number), call in zip(picked, calls, strict=True):
                flow = Flow(side.pieces, [side.listing.talk_of[number]], Choice(), calls=[call])
                flow.grow(10_000, seconds=5)
                made.append(flow.steps)
            return difference.of_calls(calls[0], calls[1], made[0], made[1])
        if len(self._sides) == 2 and not picked:
            left, right = (side.listing for side in self._sides)
            return difference.of_traces(left.calls, right.calls, left.findings, right.findings)
        other = ", or none for the difference of the traces" if len(self._sides) == 2 else ""
        return {"error": f"choose two calls{other}; {len(picked)} chosen now"}


def _bounds(question: Row) -> tuple[int, int]:
    begin, end = question.get("from"), question.get("to")
    if not isinstance(begin, int) or not isinstance(end, int) or begin < 0:
        return 0, 0
    return begin, min(end, begin + 500)


def _window(question: Row, numbers: Sequence[int]) -> Sequence[int]:
    begin, end = _bounds(question)
    return numbers[begin:end]
