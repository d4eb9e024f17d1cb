"""Colours and fonts of the pictures: one style sheet, light and dark.

Every colour is a variable that `prefers-color-scheme` turns over; the picture brings its own
paper, so it is readable on whatever page it stands. Texts keep a contrast of at least 4.5 to
that paper. No meaning rests on colour alone: see `arrows`.
"""

from __future__ import annotations

SANS = 'ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif'
#: the same colours for surfaces that cannot ask for the colour scheme (Plotly, HTML tables)
LIGHT = {
    "paper": "#ffffff", "ink": "#1f2328", "soft": "#59636e", "line": "#c4ccd4", "band": "#eef2f6",
    "box": "#f6f8fa", "request": "#1f2328", "text": "#3d5a80", "call": "#0757ba", "result": "#116329",
    "approval": "#7a3fd1", "state": "#59636e", "error": "#c41e2a", "warning": "#8a5a00", "info": "#0b6a78",
    "error-fill": "#fdecea", "warning-fill": "#fdf3d7", "info-fill": "#e4f3f5", "on": "#ffffff",
    "reasoning": "#6b5b7b",
}  # fmt: skip
DARK = {
    "paper": "#0f1419", "ink": "#e6edf3", "soft": "#9aa5b1", "line": "#3a434d", "band": "#1b232c",
    "box": "#171e26", "request": "#e6edf3", "text": "#9cc3ee", "call": "#79b8ff", "result": "#7bd88f",
    "approval": "#cfa8ff", "state": "#9aa5b1", "error": "#ff8078", "warning": "#e8b545", "info": "#67c9d8",
    "error-fill": "#35191b", "warning-fill": "#322713", "info-fill": "#132c31", "on": "#0f1419",
    "reasoning": "#b9a8cc",
}  # fmt: skip
SEVERITY_LETTER = {"error": "E", "warning": "W", "info": "i"}


def style(scope: str) -> str:
    """The style sheet of a picture whose root has the class `scope`; it touches nothing else."""
    s = f".{scope}"
    colours = (
        "request",
        "text",
        "reasoning",
        "call",
        "result",
        "approval",
        "state",
        "error",
        "warning",
        "info",
        "soft",
    )
    rules = [
        f"{s}{{{_variables(LIGHT)}}}",
        f"@media (prefers-color-scheme:dark){{{s}{{{_variables(DARK)}}}}}",
        f"{s} text{{font:12px {SANS};fill:var(--ink)}}",
        f"{s} .halo{{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}}",
        f"{s} .b{{font-weight:600}}",
        f"{s} .small{{font-size:11px}}",
        f"{s} .title{{font-size:16px;font-weight:600}}",
        f"{s} .soft{{fill:var(--soft)}}",
        f"{s} .num{{font-variant-numeric:tabular-nums}}",
        f"{s} .paper{{fill:var(--paper)}}",
        f"{s} .band{{fill:var(--band)}}",
        f"{s} .box{{fill:var(--box);stroke:var(--line)}}",
        f"{s} .life{{stroke:var(--line);stroke-dasharray:2 3}}",
        f"{s} .rule{{stroke:var(--line);fill:none}}",
        f"{s} .on{{fill:var(--on);font-size:11px;font-weight:700}}",
        f"{s} .arrow{{fill:none;stroke:currentColor;stroke-width:1.5}}",
        f"{s} .head{{fill:currentColor;stroke:currentColor;stroke-linejoin:round}}",
        f"{s} .disc{{fill:var(--paper);stroke:currentColor;stroke-width:1.5}}",
        f"{s} .hatch{{fill:none;stroke:currentColor;stroke-width:1.25}}",
        f"{s} .open{{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linejoin:round;stroke-linecap:round}}",
    ]
    rules += [f"{s} .c-{name}{{color:var(--{name})}}" for name in colours]
    rules += [f"{s} .t-{name}{{fill:var(--{name})}}" for name in colours]
    rules += [f"{s} .f-{name}{{fill:var(--{name}-fill)}}" for name in ("error", "warning", "info")]
    return "".join(rules)


def _variables(colours: dict[str, str]) -> str:
    return ";".join(f"--{name}:{value}" for name, value in colours.items())
