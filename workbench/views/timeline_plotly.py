"""The timeline as a Plotly figure. Imported only when a figure is asked for."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from html import escape
from typing import Any

import plotly.graph_objects as go
import plotly.io

from workbench.findings import Finding
from workbench.views import timeline_points
from workbench.views.lanes import SEGMENTS, Chart, Lane
from workbench.views.text import clean
from workbench.views.theme import LIGHT
from workbench.views.timeline_svg import LOOKS, WORDS, axis_title

#: with more calls than this, bars take too long to draw and lines take their place
MAX_BARS = 3_000
#: with more calls than this, lines do too, and points take their place
MAX_LINES = 10_000
#: more names than this on the axis cannot be read
_MAX_NAMES = 400
_PATTERNS = {"asked": "", "waiting": "/", "running": "-", "open": "x"}
_SYMBOLS = {"error": "diamond", "warning": "triangle-up", "info": "circle"}
_RESULT_COLOURS = {"ok": "result", "error": "error", "placeholder": "error", "refusal": "warning"}


def figure(chart: Chart, title: str) -> Any:
    """Make the figure: traces for the segments, results, decisions, findings and run boundaries."""
    fig = go.Figure()
    few = len(chart.lanes) <= MAX_BARS
    if len(chart.lanes) > MAX_LINES:
        points = timeline_points.Points(chart)
        _boundaries(fig, chart, points.x, many=True)
        points.add(fig)
        _flags(fig, chart, points.x, few=few)
        _layout(fig, chart, title)
        # every pixel costs, and no single lane can be seen anyway
        fig.update_layout(height=900)
        fig.update_xaxes(
            title={"text": points.axis_title}, type="linear", range=[points.x(at) for at in _range(chart)]
        )
        return fig
    hovers = [_hover(lane, brief=not few) for lane in chart.lanes]
    _boundaries(fig, chart)
    for kind in SEGMENTS:
        (_bars if few else _lines)(fig, chart, kind, hovers)
    _results(fig, chart, hovers, few=few)
    _decisions(fig, chart, few=few)
    _flags(fig, chart, few=few)
    _layout(fig, chart, title)
    return fig


def _same(position: float) -> float:
    return position


def _range(chart: Chart) -> tuple[float, float]:
    """The axis with a little room on both sides."""
    room = (chart.end - chart.start) * 0.03
    return chart.start - room, chart.end + room


def _hover(lane: Lane, *, brief: bool) -> str:
    facts = [(name, value) for name, value in lane.facts if not brief or name in ("call", "tool", "result")]
    return "<br>".join(f"<b>{name}</b> {safe(value[:80] if brief else value)}" for name, value in facts)


def safe(text: str) -> str:
    """Text for Plotly, which reads a little HTML and, between dollar signs, formulas."""
    return escape(text, quote=False).replace("$", "&#36;")


def _bars(fig: Any, chart: Chart, kind: str, hovers: list[str]) -> None:
    picked = [(n, s) for n, lane in enumerate(chart.lanes) for s in lane.segments if s.kind == kind]
    if not picked:
        return
    least = (chart.end - chart.start) / 400
    fig.add_trace(
        go.Bar(
            orientation="h",
            name=WORDS[kind],
            y=[n for n, _ in picked],
            base=[s.start for _, s in picked],
            # a stretch without length would be invisible
            x=[max(s.end - s.start, least) for _, s in picked],
            hovertext=[
                f"{hovers[n]}<br><i>{WORDS[kind]}{_length(chart, s.start, s.end)}</i>" for n, s in picked
            ],
            hoverinfo="text",
            width=0.5 if kind != "running" else 0.3,
            marker={
                "color": LIGHT[LOOKS[kind]],
                "pattern": {"shape": _PATTERNS[kind], "fillmode": "replace", "size": 6, "solidity": 0.4},
                "line": {"color": LIGHT[LOOKS[kind]], "width": 1},
            },
        )
    )


def _length(chart: Chart, start: float, end: float) -> str:
    return f", {(end - start) / 1e3:,.3f} s" if chart.axis == "time" else ""


def _lines(fig: Any, chart: Chart, kind: str, hovers: list[str]) -> None:
    """Every segment as two points and a gap: the only form that stays quick for very many."""
    import numpy as np

    picked = [(n, s) for n, lane in enumerate(chart.lanes) for s in lane.segments if s.kind == kind]
    if not picked:
        return
    gap = math.nan
    fig.add_trace(
        go.Scattergl(
            mode="lines",
            name=WORDS[kind],
            x=np.array([v for _, s in picked for v in (s.start, s.end, gap)], dtype="float64"),
            y=np.array([v for n, _ in picked for v in (n, n, gap)], dtype="float32"),
            hovertext=[text for n, _ in picked for text in (hovers[n], hovers[n], "")],
            hoverinfo="text",
            line={
                "color": LIGHT[LOOKS[kind]],
                "width": 3,
                "dash": "dot" if kind in ("waiting", "open") else "solid",
            },
        )
    )


def _results(fig: Any, chart: Chart, hovers: list[str], *, few: bool) -> None:
    by_class: dict[str, list[tuple[float, int]]] = {}
    for number, lane in enumerate(chart.lanes):
        if lane.result is not None:
            by_class.setdefault(lane.result[1], []).append((lane.result[0], number))
    make = go.Scatter if few else go.Scattergl
    for word in sorted(by_class):
        points = by_class[word]
        fig.add_trace(
            make(
                mode="markers",
                name=f"result: {word}",
                x=[x for x, _ in points],
                y=[n for _, n in points],
                hovertext=[hovers[n] for _, n in points],
                hoverinfo="text",
                marker={
                    "symbol": "square" if word == "ok" else "x",
                    "size": 9,
                    "color": LIGHT[_RESULT_COLOURS.get(word, "soft")],
                },
            )
        )


def _decisions(fig: Any, chart: Chart, *, few: bool) -> None:
    points = [(at, n, word) for n, lane in enumerate(chart.lanes) for at, word in lane.decisions]
    if not points:
        return
    fig.add_trace(
        (go.Scatter if few else go.Scattergl)(
            mode="markers",
            name="decision",
            x=[at for at, _, _ in points],
            y=[n for _, n, _ in points],
            hovertext=[f"<b>decision</b> {safe(word)}" for _, _, word in points],
            hoverinfo="text",
            marker={
                "symbol": [
                    "star" if word in ("approved", "edited") else "star-open" for _, _, word in points
                ],
                "size": 12,
                "color": LIGHT["approval"],
            },
        )
    )


def _flags(fig: Any, chart: Chart, x: Callable[[float], float] = _same, *, few: bool) -> None:
    """One mark per place, in the form of the worst finding there; the mouse shows all of them."""
    places: dict[tuple[int, float], list[Finding]] = {}
    for number, lane in enumerate(chart.lanes):
        for flag in lane.flags:
            places.setdefault((number, flag.at), []).append(flag.finding)
    ranks = list(_SYMBOLS)
    for severity, symbol in _SYMBOLS.items():
        worst = {
            place: found
            for place, found in places.items()
            if min((f.severity for f in found), key=lambda s: ranks.index(s) if s in ranks else 9) == severity
        }
        if not worst:
            continue
        fig.add_trace(
            (go.Scatter if few else go.Scattergl)(
                mode="markers",
                name=severity,
                x=[x(at) for _, at in worst],
                y=[number - 0.38 for number, _ in worst],
                hovertext=["<br>".join(map(_told, found)) for found in worst.values()],
                hoverinfo="text",
                marker={
                    "symbol": symbol,
                    "size": [13 if len(found) == 1 else 16 for found in worst.values()],
                    "color": LIGHT[severity],
                    "line": {"color": LIGHT["paper"], "width": 1},
                },
            )
        )


def _told(finding: Finding) -> str:
    return (
        f"<b>{safe(finding.severity)} {safe(finding.rule)}</b><br>{safe(_broken(finding.message))}".replace(
            "\n", "<br>"
        )
    )


def _broken(message: str, length: int = 90) -> str:
    """A message in lines, because Plotly does not wrap."""
    lines, line = [], ""
    for word in clean(message).split(" "):
        if line and len(line) + len(word) >= length:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def _boundaries(fig: Any, chart: Chart, x: Callable[[float], float] = _same, *, many: bool = False) -> None:
    """Run boundaries as one trace of lines: shapes of the layout are very slow when there are many."""
    if not chart.runs:
        return
    low, high = -1.0, max(len(chart.lanes) - 0.4, 0.6)
    # so many runs that their lines would be a wall: the mouse finds them at the upper edge
    if many and len(chart.runs) > _MAX_NAMES:
        fig.add_trace(
            go.Scattergl(
                mode="markers",
                name="run begins",
                x=[x(at) for at, _ in chart.runs],
                y=[low] * len(chart.runs),
                hovertext=[safe(name) for _, name in chart.runs],
                hoverinfo="text",
                marker={"symbol": "line-ns-open", "size": 9, "color": LIGHT["soft"]},
            )
        )
        return
    fig.add_trace(
        go.Scatter(
            mode="lines",
            name="run begins",
            x=[v for at, _ in chart.runs for v in (x(at), x(at), None)],
            y=[v for _ in chart.runs for v in (low, high, None)],
            hovertext=[v for _, name in chart.runs for v in (safe(name), safe(name), "")],
            hoverinfo="text",
            line={"color": LIGHT["soft"], "width": 1, "dash": "dot"},
        )
    )


def _layout(fig: Any, chart: Chart, title: str) -> None:
    lanes = chart.lanes
    names = lanes if len(lanes) <= _MAX_NAMES else []
    fig.update_layout(
        title={
            "text": safe(title),
            "font": {"size": 16},
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 16},
        },
        barmode="overlay",
        height=min(210 + 34 * max(len(lanes), 1), 1600),
        margin={"l": 20, "r": 20, "t": 100, "b": 60},
        paper_bgcolor=LIGHT["paper"],
        plot_bgcolor=LIGHT["paper"],
        font={"color": LIGHT["ink"], "size": 12},
        hoverlabel={"align": "left", "bgcolor": LIGHT["paper"], "font": {"color": LIGHT["ink"]}},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
        dragmode="pan" if len(lanes) > 40 else "zoom",
    )
    fig.update_xaxes(
        title={"text": axis_title(chart)},
        type="date" if chart.axis == "time" else "linear",
        range=list(_range(chart)),
        gridcolor=LIGHT["band"],
        zeroline=False,
    )
    fig.update_yaxes(
        tickmode="array",
        tickvals=list(range(len(names))),
        ticktext=[safe(lane.label) for lane in names],
        range=[max(len(lanes) - 0.4, 0.6), -1.0],
        automargin=True,
        gridcolor=LIGHT["band"],
        zeroline=False,
    )
    if not lanes:
        fig.add_annotation(
            text="No tool call in view, so there is no lane to draw.", showarrow=False, x=0.5, y=0.5,
            xref="paper", yref="paper",
        )  # fmt: skip


def data(fig: Any) -> Any:
    """The figure as plain data, for the Plotly output of a notebook."""
    return json.loads(plotly.io.to_json(fig, validate=False))


def html(fig: Any, fallback: str, *, plotlyjs: bool) -> str:
    """The figure as HTML; the still picture is taken away by the script that draws the figure."""
    name = "wb-timeline-figure"
    drawn = plotly.io.to_html(fig, full_html=False, include_plotlyjs=plotlyjs, div_id=name, validate=False)
    return (
        f'<div class="wb-still">{fallback}</div>{drawn}'
        "<script>if(window.Plotly)document.querySelectorAll('.wb-still').forEach(function(e){e.remove()})</script>"
    )
