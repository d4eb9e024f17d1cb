"""What an index says, for people: tables, and a picture of days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.views.display import Picture
from workbench.views.grid import Cell, Grid, cell
from workbench.views.text import escape

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fleet.index import Index

#: what a lost call is called by the rules
LOST = "approval-not-executed"
_MOST = 60
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 900, 220, 60, 46

BY_RELEASE = f"""
SELECT r.release, count(DISTINCT r.thread_id) AS conversations,
       count(DISTINCT f.thread_id) AS lost,
       round(100.0 * count(DISTINCT f.thread_id) / count(DISTINCT r.thread_id), 2) AS percent,
       min(f.day) AS first_day, max(f.day) AS last_day
FROM runs r LEFT JOIN findings f ON f.thread_id = r.thread_id AND f.rule = '{LOST}'
GROUP BY r.release ORDER BY min(r.day)
"""  # noqa: S608 - constants of ours
BY_TOOL = f"""
SELECT c.tool, count(DISTINCT c.thread_id) AS conversations, count(DISTINCT f.thread_id) AS lost
FROM calls c LEFT JOIN findings f ON f.thread_id = c.thread_id AND f.rule = '{LOST}'
WHERE c.release IN (SELECT release FROM findings WHERE rule = '{LOST}')
GROUP BY c.tool ORDER BY lost DESC, c.tool
"""  # noqa: S608 - constants of ours
BY_DAY = f"""
SELECT r.day, r.release, count(DISTINCT r.thread_id) AS conversations, count(DISTINCT f.thread_id) AS lost
FROM runs r LEFT JOIN findings f ON f.thread_id = r.thread_id AND f.rule = '{LOST}'
WHERE r.day <> '' GROUP BY ALL ORDER BY r.day, r.release
"""  # noqa: S608 - constants of ours
CALLS = f"""
SELECT DISTINCT f.thread_id, f.release, f.day, c.tool, c.call_id, c.arguments
FROM findings f JOIN calls c ON c.thread_id = f.thread_id AND contains(f.call_ids, c.call_id)
WHERE f.rule = '{LOST}' ORDER BY f.day, f.thread_id
"""  # noqa: S608 - constants of ours


def table(frame: pd.DataFrame, caption: str = "") -> Grid:
    """A frame of an answer as a table, its first rows."""
    rows = [[_cell(value) for value in row] for row in frame.head(_MOST).itertuples(index=False)]
    more = len(frame) - len(rows)
    said = caption + (f", the first {len(rows)} of {len(frame):,}" if more > 0 else "")
    return Grid(said or f"{len(frame):,} rows", list(map(str, frame.columns)), rows, "no row")


def nothing(value: object) -> bool:
    """Whether a value of a frame stands for none."""
    return value is None or str(value) in ("nan", "NaT", "<NA>")


def _cell(value: Any) -> Cell:
    if nothing(value):
        return Cell("")
    return cell(f"{value:,}" if isinstance(value, int) else value, mono=isinstance(value, str))


class Days(Picture):
    """Conversations per day, and those of them that lost a call, as a picture."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame

    @property
    def svg(self) -> str:
        """The picture: a bar a day, the lost ones in red from below, a line where a release begins."""
        days = list(dict.fromkeys(self.frame["day"]))
        if not days:
            return f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="40"><text x="8" y="24">no times</text></svg>'
        total = self.frame.groupby("day")["conversations"].sum()
        lost = self.frame.groupby("day")["lost"].sum()
        first = self.frame.groupby("release")["day"].min()
        wide, tall = (_WIDTH - _LEFT - 10) / len(days), _HEIGHT - _BOTTOM - 24
        top = max(int(total.max()), 1)
        out = [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
                'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
            )
        ]
        base = _HEIGHT - _BOTTOM
        out.append(f'<text x="{_LEFT - 8}" y="30" text-anchor="end" fill="#444">{top:,}</text>')
        out.append(f'<text x="{_LEFT - 8}" y="{base}" text-anchor="end" fill="#444">0</text>')
        for number, day in enumerate(days):
            x = _LEFT + number * wide
            for count, colour in ((int(total[day]), "#b8c4d6"), (int(lost[day]), "#c41e2a")):
                height = tall * count / top
                out.append(
                    f'<rect x="{x + 1:.1f}" y="{base - height:.1f}" width="{max(wide - 2, 1):.1f}" height="{height:.1f}" fill="{colour}">'
                    f"<title>{escape(day)}: {int(lost[day])} of {int(total[day])} lost</title></rect>"
                )
        for number, (release, day) in enumerate(first.sort_values().items()):
            x = _LEFT + days.index(day) * wide
            out.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="20" y2="{base + 6}" stroke="#444" stroke-dasharray="3 3"/>'
            )
            out.append(
                f'<text x="{x + 3:.1f}" y="{base + 18 + 14 * (number % 2)}" fill="#222">{escape(str(release) or "unknown")}</text>'
            )
        return "".join(out) + "</svg>"

    @property
    def alt(self) -> str:
        """The picture in a sentence."""
        lost = int(self.frame["lost"].sum()) if len(self.frame) else 0
        return f"Conversations by day, {lost:,} of them with a lost call"


def by_release(index: Index) -> Grid:
    """How many conversations of each release lost an approved call, and when."""
    return table(index.query(BY_RELEASE), "lost approved calls by release")


def by_tool(index: Index) -> Grid:
    """Which tools they were of, on the releases that lost any."""
    return table(index.query(BY_TOOL), "lost calls by tool, on the releases that lose any")


def by_day(index: Index) -> Days:
    """Since when, as a picture."""
    return Days(index.query(BY_DAY))


def lost_calls(index: Index) -> pd.DataFrame:
    """Every lost call with its thread, release, day, tool and arguments."""
    return index.query(CALLS)
