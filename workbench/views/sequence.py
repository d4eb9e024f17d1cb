"""The sequence diagram of a trace: what is shown, and its forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from workbench import rules
from workbench.calls.conversation import Conversation
from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import ladder, marks, mermaid, order, payloads, selection, steps, telemetry
from workbench.views.display import Picture
from workbench.views.participants import Participant, participants
from workbench.views.steps import Step
from workbench.views.text import clean, plural

#: more arrows than this are cut to what is flagged, because nobody reads a picture of 20,000 pixels
MAX_STEPS = 400


@dataclass(eq=False, repr=False)
class SequenceDiagram(Picture):
    """One or more conversations as a ladder: who sent what to whom, with the findings in place.

    Every event in view is behind exactly one arrow: `events_shown == arrows + folded`.
    Arrows of requests and of what they carry stand for no event and are counted apart.
    """

    steps: list[Step]
    participants: list[Participant]
    title: str
    subtitle: str
    #: events in view, counted before anything is folded or drawn
    events_shown: int
    #: findings whose evidence is on no arrow in view
    outside: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    id_prefix: str = ""
    was_cut: bool = False

    @property
    def arrows(self) -> int:
        """Arrows that stand for events."""
        return sum(bool(step.rows) for step in self.steps)

    @property
    def folded(self) -> int:
        """Events that share the arrow of another one."""
        return sum(len(step.rows) - 1 for step in self.steps if step.rows)

    @property
    def request_arrows(self) -> int:
        """Arrows that stand for no event: requests and what they carry, spans, log lines."""
        return sum(not step.rows for step in self.steps)

    @property
    def marked(self) -> list[Finding]:
        """Findings that have a mark in view, in order of their marks."""
        return list(dict.fromkeys(mark.finding for step in self.steps for mark in step.marks))

    @property
    def alt(self) -> str:
        """What the picture shows, in a sentence."""
        worst = [f"{sum(f.severity == s for f in self.marked)} {s}" for s in ("error", "warning", "info")]
        said = ", ".join(words for words in worst if not words.startswith("0 "))
        return clean(
            f"Sequence diagram of {self.title}: {self.subtitle}" + (f"; marked: {said}" if said else "")
        )

    @cached_property
    def svg(self) -> str:
        """The ladder as a self-contained SVG."""
        return ladder.draw(
            ladder.Sheet(
                self.title, self.subtitle, self.alt, self.steps, self.participants, self.outside, self.notes,
                self.id_prefix,
            )
        )  # fmt: skip

    def mermaid(self) -> str:
        """The diagram as Mermaid text.

        Raises `DiagramError` (a `ValueError`) above 50,000 characters, which renderers
        refuse: ask for a cut (`neighbours=2`), one run or one call then.
        """
        hint = "ask for fewer neighbours, one run or one call" if self.was_cut else (
            "cut it to the flagged calls with neighbours=2, or ask for one run or one call"
        )  # fmt: skip
        return mermaid.write(self.steps, self.participants, self.outside, self.notes, hint=hint)


def sequence_diagram(
    trace: Trace,
    *,
    thread: str | None = None,
    run: str | None = None,
    call_id: str | None = None,
    findings: Sequence[Finding] | None = None,
    neighbours: int | None = None,
    fold: bool = True,
    max_steps: int | None = MAX_STEPS,
    id_prefix: str = "",
) -> SequenceDiagram:
    """Draw conversations as a sequence diagram: an arrow per event, with the findings in place.

    `thread`, `run` and `call_id` narrow it down; `findings` are those of `check`, asked here
    where none are given. `neighbours=n` keeps only what is flagged (or the call) and `n`
    arrows around it; `call_id` alone means the arrows of that call. `fold=False` draws every
    delta. Beyond `max_steps` arrows the view cuts itself to what is flagged and says so.
    Raises `ValueError` for a thread, run or call that is not in the trace.
    """
    talks = selection.conversations(trace, thread=thread, run=run, call_id=call_id)
    found = list(rules.check(trace) if findings is None else findings)
    drawn: list[Step] = []
    for talk, events in zip(talks, order.events(trace, talks), strict=True):
        if run is not None:
            events = [pair for pair in events if pair[1].run_id == run]  # noqa: PLW2901
        made = steps.of_conversation(trace, talk, events, fold=fold)
        payloads.insert(trace, talk, made)
        telemetry.insert(trace, talk, made)
        if run is not None:
            made = [step for step in made if step.run.run_id == run]
        if made and len(talks) > 1:
            made[0].band = f"thread {clean(talk.thread_id) or 'without id'} · {made[0].band}"
        drawn.extend(made)
    mine = _of_view(found, talks, everything=thread is None and run is None and call_id is None)
    outside = marks.place(trace, drawn, mine)
    total = sum(step.events for step in drawn)
    notes: list[str] = [note for talk in talks for note in talk.notes]
    drawn, cut = _cut(drawn, call_id, neighbours, max_steps)
    shown = sum(step.events for step in drawn)
    if cut:
        marks.write_out(drawn)
        placed = {mark.finding for step in drawn for mark in step.marks}
        outside = [finding for finding in mine if finding not in placed]
        notes.append(f"{cut} {plural(total - shown, 'event')} of {total:,} not shown.")
    if len(mine) < len(found):
        notes.append(f"{plural(len(found) - len(mine), 'finding')} of other threads not listed.")
    return SequenceDiagram(
        drawn, participants(drawn), _title(talks, run, call_id), _subtitle(drawn, talks, shown), shown,
        outside, notes, id_prefix, bool(cut),
    )  # fmt: skip


def _of_view(findings: list[Finding], talks: Sequence[Conversation], *, everything: bool) -> list[Finding]:
    if everything:
        return findings
    threads = {name for talk in talks for name in (talk.thread_id, *talk.thread_ids)} | {""}
    return [finding for finding in findings if finding.thread_id in threads]


def _cut(
    drawn: list[Step], call_id: str | None, neighbours: int | None, max_steps: int | None
) -> tuple[list[Step], str]:
    """The steps that are left, and why some are not."""
    words = ""
    before = len(drawn)
    if call_id is not None:
        drawn = marks.cut(drawn, marks.of_call(call_id), neighbours or 0)
        words = f"Cut to the call {clean(call_id, 80)}."
    elif neighbours is not None:
        drawn = marks.cut(drawn, marks.flagged(drawn), neighbours)
        words = f"Cut to what is flagged, with {plural(neighbours, 'neighbour')} on each side."
    if max_steps is not None and len(drawn) > max_steps:
        words = "Too long for one picture: cut to what is flagged."
        for keep, around in ((marks.flagged(drawn), 2), (lambda step: bool(step.marks), 1)):
            if len(drawn) > max_steps and any(map(keep, drawn)):
                drawn = marks.cut(drawn, keep, around)
        if len(drawn) > max_steps:
            of_them = " of what is flagged" if len(drawn) < before else ""
            words = f"Too long for one picture: the first {max_steps:,} arrows{of_them}."
            drawn = drawn[:max_steps]
    return drawn, words if len(drawn) < before else ""


def _title(talks: Sequence[Conversation], run: str | None, call_id: str | None) -> str:
    names = [clean(talk.thread_id, 80) or "without id" for talk in talks]
    title = (
        f"thread {names[0]}"
        if len(names) == 1
        else plural(len(names), "thread")
        if names
        else "an empty capture"
    )
    title += f" · run {clean(run, 80)}" if run is not None else ""
    return title + (f" · call {clean(call_id, 80)}" if call_id is not None else "")


def _subtitle(drawn: Sequence[Step], talks: Sequence[Conversation], shown: int) -> str:
    runs = len({id(step.run) for step in drawn})
    calls = len(
        {id(step.call) for step in drawn if step.call is not None and step.call.synthetic_for is None}
    )
    in_view = {step.approval_id for step in drawn} - {""}
    asked = sum(approval.id in in_view for talk in talks for approval in talk.approvals)
    said = ladder.counts(((shown, "event"), (runs, "run"), (calls, "call"), (asked, "approval")))
    return said or "no events"
