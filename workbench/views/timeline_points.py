"""The timeline of very many calls as a Plotly figure: a point per call, lines for the longest.

Lines cost a software renderer fifteen times what points cost, and most of them are shorter than a
pixel. So the longest stretches are lines, every call has a point where it begins, coloured by
its result, and one where the result came if that is further away than a pixel. Positions are 32-bit offsets from the begin of the chart, ids are shortened, and
what is the same for all points is said once: 100,000 calls stay below 5 MB.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from workbench.views.lanes import SEGMENTS, Chart, Lane, Segment
from workbench.views.text import clean, short_id
from workbench.views.theme import LIGHT
from workbench.views.timeline_svg import LOOKS, WORDS

#: stretches that are drawn as lines, the longest ones
MAX_LINES = 2_000
#: parts of the axis that a result must be away from the begin of its call to get a point of its own
PIXELS = 2_000
_COLOURS = {
    "ok": "result", "error": "error", "placeholder": "error", "refusal": "warning", "none in view": "soft",
}  # fmt: skip


class Points:
    """Adds the calls of a chart to a figure. `axis_title` says what positions count from."""

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self.unit = 1e3 if chart.axis == "time" else 1.0

    def x(self, value: float) -> float:
        """A position of the chart as a position of the figure: seconds since the begin, or the event number."""
        return (value - self.chart.start) / self.unit if self.chart.axis == "time" else value

    @property
    def axis_title(self) -> str:
        """What the axis counts."""
        if self.chart.axis == "events":
            return "event number (the capture has no time for every event)"
        return (
            f"seconds since {datetime.fromtimestamp(self.chart.start / 1e3, tz=UTC):%Y-%m-%d %H:%M:%S.%f} UTC"
        )

    def add(self, fig: Any) -> None:
        """The traces: lines, begins with the name under the mouse, results by class, decisions."""
        self._lines(fig)
        lanes = self.chart.lanes
        least = (self.chart.end - self.chart.start) / PIXELS
        begins: dict[str, list[tuple[float, int]]] = {}
        ends: dict[str, list[tuple[float, int]]] = {}
        for number, lane in enumerate(lanes):
            begin = min((segment.start for segment in lane.segments), default=None)
            word = lane.result[1] if lane.result is not None else "none in view"
            if begin is not None:
                begins.setdefault(word, []).append((begin, number))
            if lane.result is not None and (begin is None or lane.result[0] - begin >= least):
                ends.setdefault(word, []).append((lane.result[0], number))
        for word, points in sorted(begins.items()):
            told = {"hovertext": [_name(lanes[number]) for _, number in points], "hoverinfo": "text+name"}
            fig.add_trace(self._markers(f"call, result {word}", points, "circle", word, **told))
        for word, points in sorted(ends.items()):
            fig.add_trace(self._markers(f"result: {word}", points, "square", word, hoverinfo="name"))
        decided: dict[str, list[tuple[float, int]]] = {}
        for number, lane in enumerate(lanes):
            for at, word in lane.decisions:
                decided.setdefault(word, []).append((at, number))
        for word, points in sorted(decided.items()):
            fig.add_trace(self._markers(f"decision: {word}", points, "star", "approval", hoverinfo="name"))

    def _markers(
        self, name: str, points: list[tuple[float, int]], symbol: str, look: str, **more: Any
    ) -> Any:
        import numpy as np
        import plotly.graph_objects as go

        return go.Scattergl(
            mode="markers",
            name=name,
            x=np.array([self.x(at) for at, _ in points], dtype="float32"),
            y=np.array([number for _, number in points], dtype="int32"),
            marker={"symbol": symbol, "size": 4, "color": LIGHT[_COLOURS.get(look, look)]},
            **more,
        )

    def _lines(self, fig: Any) -> None:
        import numpy as np
        import plotly.graph_objects as go

        every = [
            (number, segment) for number, lane in enumerate(self.chart.lanes) for segment in lane.segments
        ]
        every.sort(key=lambda pair: pair[1].start - pair[1].end)
        longest = [pair for pair in every[:MAX_LINES] if pair[1].end > pair[1].start]
        for kind in SEGMENTS:
            picked = [(number, segment) for number, segment in longest if segment.kind == kind]
            if not picked:
                continue
            fig.add_trace(
                go.Scattergl(
                    mode="lines",
                    name=WORDS[kind],
                    x=np.array(
                        [*chain.from_iterable(map(self._ends, (s for _, s in picked)))], dtype="float32"
                    ),
                    y=np.repeat(np.array([number for number, _ in picked], dtype="int32"), 3),
                    hoverinfo="name",
                    line={
                        "color": LIGHT[LOOKS[kind]],
                        "width": 2,
                        "dash": "dot" if kind in ("waiting", "open") else "solid",
                    },
                )
            )

    def _ends(self, segment: Segment) -> tuple[float, float, float]:
        return self.x(segment.start), self.x(segment.end), math.nan


def _name(lane: Lane) -> str:
    from workbench.views.timeline_plotly import safe

    return safe(short_id(lane.call.id) if lane.call is not None else clean(lane.label, 40))
