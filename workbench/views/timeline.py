"""The timeline of a trace: a still picture that every page shows, and a Plotly figure to look closer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from workbench import rules
from workbench.findings import Finding
from workbench.trace import Trace
from workbench.views import selection, timeline_svg
from workbench.views.display import Picture, chosen
from workbench.views.lanes import Axis, Chart, chart
from workbench.views.text import clean, plural


@dataclass(eq=False, repr=False)
class Timeline(Picture):
    """Calls as lanes over time or over event numbers.

    The picture of `svg` is what a notebook shows, trusted or not. `figure` is the Plotly
    figure with everything under the mouse; `interactive()` displays it.
    """

    chart: Chart
    title: str
    subtitle: str
    notes: list[str] = field(default_factory=list)

    @property
    def alt(self) -> str:
        """What the picture shows, in a sentence."""
        return clean(f"Timeline of {self.title}: {self.subtitle}")

    @cached_property
    def svg(self) -> str:
        """The timeline as a self-contained SVG."""
        return timeline_svg.draw(self.chart, self.title, self.subtitle, self.alt, self.notes)

    @cached_property
    def figure(self) -> Any:
        """The `plotly.graph_objects.Figure`: bars up to about 3,000 calls, lines beyond, points from 10,000 on."""
        from workbench.views import timeline_plotly

        return timeline_plotly.figure(self.chart, self.title)

    def show(self, *args: Any, **kwargs: Any) -> None:
        """Show the Plotly figure, with the renderer that Plotly is set to."""
        self.figure.show(*args, **kwargs)

    def interactive(self, *, plotlyjs: bool = True) -> Interactive:
        """The Plotly figure as an output of a notebook that stays readable without it.

        `plotlyjs` puts the library (5 MB) into the output, so that exported pages work
        offline; give False for further figures of the same page.
        """
        return Interactive(self, plotlyjs)


@dataclass(eq=False, repr=False)
class Interactive:
    """A timeline that displays as its Plotly figure wherever scripts run, else as its picture."""

    timeline: Timeline
    plotlyjs: bool = True

    def __repr__(self) -> str:
        return f"<{self.timeline.alt}>"

    @property
    def html(self) -> str:
        """The figure as HTML; the picture stands in where scripts are taken out or switched off."""
        from workbench.views import timeline_plotly

        return timeline_plotly.html(self.timeline.figure, self.timeline.html, plotlyjs=self.plotlyjs)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from workbench.views import timeline_plotly

        bundle: dict[str, Any] = {
            "application/vnd.plotly.v1+json": timeline_plotly.data(self.timeline.figure),
            "text/html": self.html,
            "text/plain": self.timeline.alt,
        }
        return chosen(bundle, include, exclude)


def timeline(
    trace: Trace,
    *,
    thread: str | None = None,
    run: str | None = None,
    call_id: str | None = None,
    findings: Sequence[Finding] | None = None,
    axis: Axis | None = None,
) -> Timeline:
    """Draw the calls of a trace as lanes: asked, waiting for a person, running, answered.

    `thread`, `run` (calls first seen in it) and `call_id` narrow it down; `findings` are
    those of `check`, asked here where none are given. The axis is time where every event has
    a time of its own, else the event number; `axis` ("time", "events") overrules that.
    Raises `ValueError` for a thread, run or call that is not in the trace.
    """
    talks = selection.conversations(trace, thread=thread, run=run, call_id=call_id)
    found = list(rules.check(trace) if findings is None else findings)
    if thread is not None or run is not None or call_id is not None:
        threads = {name for talk in talks for name in (talk.thread_id, *talk.thread_ids)} | {""}
        found = [finding for finding in found if finding.thread_id in threads]
    made = chart(trace, talks, found, axis=axis, call_id=call_id, run=run)
    calls = sum(lane.call is not None for lane in made.lanes)
    flags = len({flag.finding for lane in made.lanes for flag in lane.flags})
    subtitle = ", ".join(
        [plural(calls, "call"), plural(len(made.runs), "run"), *([plural(flags, "finding")] if flags else [])]
    )
    names = [clean(talk.thread_id, 80) or "without id" for talk in talks]
    title = (
        f"thread {names[0]}"
        if len(names) == 1
        else plural(len(names), "thread")
        if names
        else "an empty capture"
    )
    return Timeline(made, title, subtitle)
