"""Small pieces of SVG: texts, badges and arrows, as strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.views.text import clean, escape, isolated
from workbench.views.theme import SEVERITY_LETTER, style


def num(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, content: str, css: str = "", anchor: str = "", title: str = "") -> str:
    """One line of text at a baseline; `title` is the tooltip with the whole of it."""
    cls = f' class="{css}"' if css else ""
    end = f' text-anchor="{anchor}"' if anchor else ""
    tip = f"<title>{escape(title)}</title>" if title else ""
    return f'<text x="{num(x)}" y="{num(y)}"{cls}{end}>{tip}{escape(isolated(content))}</text>'


def spans(x: float, y: float, pieces: Sequence[tuple[str, str]], css: str = "", title: str = "") -> str:
    """One line made of (class, text) pieces that follow each other."""
    tip = f"<title>{escape(title)}</title>" if title else ""
    inner = "".join(
        f'<tspan class="{cls}">{escape(isolated(part))}</tspan>'
        if cls
        else f"<tspan>{escape(isolated(part))}</tspan>"
        for cls, part in pieces
        if part
    )
    return f'<text x="{num(x)}" y="{num(y)}" class="{css}" xml:space="preserve">{tip}{inner}</text>'


def rect(x: float, y: float, w: float, h: float, css: str, rx: float = 0, more: str = "") -> str:
    """A rectangle; `more` is further attributes."""
    corner = f' rx="{num(rx)}"' if rx else ""
    return f'<rect x="{num(x)}" y="{num(y)}" width="{num(w)}" height="{num(h)}"{corner} class="{css}"{more}/>'


def line(x1: float, y1: float, x2: float, y2: float, css: str, more: str = "") -> str:
    """A straight line."""
    return f'<line x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}" class="{css}"{more}/>'


def badge(x: float, y: float, severity: str) -> str:
    """The mark of a finding around a centre: diamond E, triangle W, circle i."""
    letter = SEVERITY_LETTER.get(severity, "?")
    shape = {
        "error": f'<path d="M{num(x)} {num(y - 10)}l10 10l-10 10l-10 -10z" class="head"/>',
        "warning": f'<path d="M{num(x)} {num(y - 11)}l11 19h-22z" class="head"/>',
    }.get(severity, f'<circle cx="{num(x)}" cy="{num(y)}" r="9" class="head"/>')
    drop = 5.5 if severity == "warning" else 4
    label = f'<text x="{num(x)}" y="{num(y + drop)}" class="on" text-anchor="middle">{letter}</text>'
    return f'<g class="badge c-{severity if severity in SEVERITY_LETTER else "soft"}">{shape}{label}</g>'


@dataclass(frozen=True, slots=True)
class Arrow:
    """How one kind of arrow looks. `head`: full, open, cross."""

    colour: str
    meaning: str
    dash: str = ""
    head: str = "full"
    weight: float = 1.5
    double: bool = False


#: colour and shape of each kind say the same thing twice
ARROWS = {
    "request": Arrow("request", "request", weight=2.25),
    "payload": Arrow("request", "request to the model", head="open", weight=1.75),
    "answer": Arrow("approval", "answer to an approval", double=True),
    "approval": Arrow("approval", "approval asked", head="open", double=True),
    "run": Arrow("soft", "run or step", head="open", weight=1.25),
    "text": Arrow("text", "message"),
    "reasoning": Arrow("reasoning", "reasoning", dash="9 3 2 3", head="open"),
    "call": Arrow("call", "tool call", weight=2),
    "result": Arrow("result", "result", dash="6 4"),
    "state": Arrow("state", "snapshot, state", dash="2 4", head="open"),
    "error": Arrow("error", "error", head="cross", weight=2),
    "other": Arrow("soft", "other event", dash="12 4", head="open", weight=1.25),
    "work": Arrow("state", "span: at work", dash="10 3", weight=1.25),
    "log": Arrow("soft", "log line"),
    "bad-work": Arrow("error", "span that ended in an error", dash="10 3", head="cross", weight=1.25),
    "bad-log": Arrow("error", "log line of a failure"),
    "bad-result": Arrow("error", "result that is no success", dash="6 4", head="cross"),
    "bad-answer": Arrow("error", "answer without effect", head="cross", double=True),
    "bad-payload": Arrow("error", "request to the model that failed", head="cross", weight=1.75),
    "bad-request": Arrow("error", "request that failed", head="cross", weight=2.25),
    "outcome": Arrow("approval", "run ends with an interrupt", head="open", double=True),
}


def arrow(x1: float, x2: float, y: float, look: Arrow, *, quiet: bool = False) -> str:
    """A horizontal arrow from `x1` to `x2`."""
    way = 1 if x2 >= x1 else -1
    tip = x2 - way
    weight = 1.0 if quiet else look.weight
    more = f' stroke-width="{num(weight)}"' + (f' stroke-dasharray="{look.dash}"' if look.dash else "")
    more += ' stroke-linecap="round"' if look.dash.startswith("2 ") else ""
    end = tip - way * (10 if look.head == "full" else 3 if look.head == "cross" else 2)
    tracks = (-2, 2) if look.double else (0,)
    reach = end - way * 5 if look.double and look.head == "open" else end
    parts = [line(x1, y + shift, reach, y + shift, "arrow", more) for shift in tracks]
    parts.append(f'<circle cx="{num(x1)}" cy="{num(y)}" r="2.5" class="head"/>')
    back = num(-way * 10)
    if look.head == "full":
        parts.append(f'<path d="M{num(tip)} {num(y)}l{back} -5v10z" class="head"/>')
    elif look.head == "open":
        parts.append(
            f'<path d="M{num(tip - way * 9)} {num(y - 6)}L{num(tip)} {num(y)}L{num(tip - way * 9)} {num(y + 6)}" class="open"/>'
        )
    else:
        parts.append(
            f'<path d="M{num(tip - way * 10)} {num(y - 6)}l{num(way * 9)} 12m0 -12l{num(-way * 9)} 12" class="open"/>'
        )
    return f'<g class="c-{look.colour}">{"".join(parts)}</g>'


def note(x: float, y: float, look: Arrow) -> str:
    """A sheet with a folded corner on a lifeline: something that was said there, not sent."""
    sheet = f"M{num(x - 7)} {num(y - 8)}h9l5 5v11h-14zm9 0v5h5"
    return f'<g class="c-{look.colour}"><path d="{sheet}" class="disc"/></g>'


def activation(x: float, top: float, bottom: float, colour: str) -> str:
    """The bar of something at work on a lifeline."""
    return f'<g class="c-{colour}">{rect(x - 4, top, 8, max(bottom - top, 10), "disc", 2)}</g>'


def document(width: float, height: float, scope: str, alt: str, body: Sequence[str]) -> str:
    """The whole picture: own paper, own style, no script and nothing from outside."""
    w, h = num(width), num(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" width="{w}" height="{h}" '
        f'viewBox="0 0 {w} {h}" role="img" aria-label="{escape(clean(alt))}">'
        f"<title>{escape(clean(alt))}</title><style>{style(scope)}</style>"
        f'<rect width="{w}" height="{h}" class="paper"/>{"".join(body)}</svg>\n'
    )
