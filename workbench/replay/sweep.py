r"""Run a bug over releases: which are affected, since when, until when, and what is left.

swept = wb.sweep("provider-tool-approval")
swept.frame                  # a row per release and variant
swept                        # the heat map
print("\\n".join(swept.words))   # first affected, first fixed, residue
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.replay import claims, recordings, specs
from workbench.replay.arms import Replay, run_all
from workbench.replay.engine import releases as known
from workbench.replay.engine.errors import BuildError, ReplayError
from workbench.replay.outcome import WORDS, Outcome, outcome
from workbench.replay.scenarios import family, folder, scenario
from workbench.views.display import chosen as bundle
from workbench.views.grid import Cell, Grid, cell

if TYPE_CHECKING:
    import pandas as pd

NOT_INSTALLED, NOT_RUN = "refused to install", "did not run"
#: what a release lacks that the scenario is made of, told by the error that building the arm ends with
_LACKS = ("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError")
#: outcomes: tone and symbol of the table, colour of the heat map
LOOKS = {
    "clean": ("good", "·", "#2da44e"),
    "affected": ("bad", "✗", "#c41e2a"),
    "executed twice": ("bad", "2", "#8250df"),
    "never executed": ("bad", "0", "#bc4c00"),
    "other fault": ("warn", "!", "#d4a72c"),
    "refused": ("wait", "–", "#54aeff"),
    "not applicable": ("none", "", "#d0d7de"),
    NOT_RUN: ("warn", "?", "#6e7781"),
    NOT_INSTALLED: ("none", "x", "#424a53"),
}
_FAULTS = ("other fault", "executed twice", "never executed")
COLUMNS = ("release", "date", "variant", "outcome", "rules", "executions", "questions", "refusals", "why")

#: told how many of how many releases are done, and what is being done
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Variant:
    """A column of a sweep: an arm of the scenario with options. A control is expected not to show the bug."""

    title: str
    arm: str = "unpatched"
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    control: bool = False

    def on(self, name: str, release: str) -> specs.Arm:
        """The arm that is run for it on a release."""
        return specs.arm(name, arm=self.arm, release=release, options=self.options)


def variants(name: str) -> list[Variant]:
    """The variants that a scenario is swept in: those it names, else those of its survey."""
    listed = scenario(name).get("sweep")
    if listed is None:
        made = [specs.arm(name, arm=arm, options=options) for arm, options in claims.survey_of(name)]
        return [Variant(arm.label, arm.name, arm.options, control=arm.name != "unpatched") for arm in made]
    return [
        Variant(row["title"], row.get("arm", "unpatched"), row["options"], control=row.get("control", False))
        for row in listed
    ]


def sweep(
    name: str,
    *,
    releases: Sequence[str] = (),
    python: str | None = None,
    jobs: int = 2,
    timeout: float = 120,
    progress: Progress | None = None,
) -> Sweep:
    """Run all variants of a reported bug on every release, `jobs` releases at a time.

    `releases` are versions of the scenario's leading package; all known ones by default, oldest first.
    A release whose environment cannot be built is a row `refused to install` with uv's words; nothing that
    a single release does ends the sweep. Raises `ReplayError` for a name that is not known.
    """
    leading = family(name)
    wanted = list(releases) or list(known.pairs(leading))
    for release in wanted:
        known.packages(release, leading)
    wanted.sort(key=list(known.pairs(leading)).index)
    columns = variants(name)
    from workbench.rules import all_rules

    all_rules()  # before there are threads
    rows: dict[str, list[dict[str, Any]]] = {}
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = {
            pool.submit(run_release, name, release, columns, python=python, timeout=timeout): release
            for release in wanted
        }
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                release = waiting.pop(future)
                rows[release] = future.result()
                if progress:
                    words = ", ".join(dict.fromkeys(row["outcome"] for row in rows[release]))
                    progress(len(rows), len(wanted), f"{release}: {words}")
    told = [row for release in wanted for row in rows[release]]
    return Sweep(name, columns, told, datetime.now(UTC).date().isoformat())


def run_release(
    name: str, release: str, columns: Sequence[Variant], *, python: str | None = None, timeout: float = 120
) -> list[dict[str, Any]]:
    """The rows of one release, one for each variant."""
    arms = [variant.on(name, release) for variant in columns]
    with tempfile.TemporaryDirectory(prefix="workbench-sweep-", ignore_cleanup_errors=True) as place:
        below = Path(place)
        try:
            failed = run_all(arms, below, python=python, jobs=1, timeout=timeout)
        except BuildError as problem:
            return [_row(name, variant, release, NOT_INSTALLED, why=str(problem)) for variant in columns]
        except ReplayError as problem:
            return [_row(name, variant, release, NOT_RUN, why=str(problem)) for variant in columns]
        return [
            _judged(name, variant, arm, below, failed.get(f"{release}/{arm.label}", ""))
            for variant, arm in zip(columns, arms, strict=True)
        ]


def _judged(name: str, variant: Variant, arm: specs.Arm, below: Path, why: str) -> dict[str, Any]:
    if not why:
        running = Replay(arm, below).run()
        found = outcome(running)
        unit = [step.told["unit"].get("error", "") for step in running.steps if "unit" in step.told]
        return _row(name, variant, arm.release, found.word, found, why="; ".join(filter(None, unit)))
    begun = bool(recordings.steps(recordings.place(below, arm)))
    fits = not why.startswith("patch ") and (begun or why.partition(":")[0] not in _LACKS)
    return _row(name, variant, arm.release, NOT_RUN if fits else "not applicable", why=why)


def _row(
    name: str, variant: Variant, release: str, word: str, found: Outcome | None = None, *, why: str = ""
) -> dict[str, Any]:
    return {
        "release": release,
        "date": known.released(release, family(name)),
        "variant": variant.title,
        "outcome": word,
        "rules": sorted(found.rules) if found else [],
        "executions": found.executions if found else 0,
        "questions": found.questions if found else 0,
        "refusals": list(dict.fromkeys(found.refusals)) if found else [],
        "why": why,
    }


class Sweep:
    """Outcomes of a bug by release and variant; shows itself as a heat map."""

    def __init__(
        self, name: str, columns: Sequence[Variant], rows: Sequence[dict[str, Any]], date: str
    ) -> None:
        self.name = name
        self.variants = list(columns)
        self.rows = list(rows)
        #: the day it was run
        self.date = date

    @cached_property
    def frame(self) -> pd.DataFrame:
        """A row per release and variant; columns as in `COLUMNS`, `rules` and `refusals` are lists."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    @property
    def releases(self) -> list[str]:
        """The releases, oldest first."""
        return list(dict.fromkeys(row["release"] for row in self.rows))

    def outcome(self, release: str, variant: str) -> str:
        """The word for one release and variant."""
        return self._words[release, variant]

    @cached_property
    def _words(self) -> dict[tuple[str, str], str]:
        return {(row["release"], row["variant"]): row["outcome"] for row in self.rows}

    @cached_property
    def span(self) -> Span:
        """Where the bug is, over all variants that are no controls."""
        shows = [variant.title for variant in self.variants if not variant.control]
        return spanned(self, shows)

    @property
    def summary(self) -> str:
        """Where the bug is, and where that part of it is that was reported, if that is less."""
        reported = next((v for v in self.variants if not v.control), None)
        part = spanned(self, [reported.title]) if reported is not None else self.span
        if reported is None or (part.affected, part.fixed) == (self.span.affected, self.span.fixed):
            return self.span.summary
        return f"{self.span.summary}; {reported.title}: {part.summary}"

    @property
    def words(self) -> list[str]:
        """First affected, first fixed, residue, and every other fault by rule: a sentence each."""
        told = self.span.words(family(self.name))
        if self.residue:
            told.append(self.residue)
        for variant in self.variants:
            if not variant.control:
                part = spanned(self, [variant.title])
                if (part.affected, part.fixed) != (self.span.affected, self.span.fixed):
                    told.append(f"{variant.title}: {part.summary}.")
        return told + [f"{variant}: {text}." for variant, text in self.faults]

    @property
    def residue(self) -> str:
        """What is left after the fix: releases with another fault in a variant that is no control."""
        if not self.span.fixed:
            return ""
        everything = self.releases
        later = everything[everything.index(self.span.fixed) :]
        shows = [variant.title for variant in self.variants if not variant.control]
        left = [r for r in later if {self.outcome(r, title) for title in shows} & set(_FAULTS)]
        if not left:
            return "Residue: none."
        after = everything[everything.index(left[-1]) + 1 :]
        end = f"clean since {after[0]}" if after else "none is clean yet"
        return f"Residue: other faults remain on {runs(left, everything)}; {end}."

    @property
    def faults(self) -> list[tuple[str, str]]:
        """What else was found: (variant, rules and releases), and why a release could not be asked."""
        groups: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            what, variant = row["outcome"], row["variant"]
            if what in _FAULTS:
                what += f" ({', '.join(row['rules'])})" if row["rules"] else ""
            elif what == NOT_INSTALLED:
                variant, what = "all variants", f"{what}: {' '.join(row['why'].split())[-300:]}"
            elif what == NOT_RUN:
                what += f": {(row['why'].strip().splitlines() or [''])[0]}"
            else:
                continue
            found = groups.setdefault((variant, what), [])
            if row["release"] not in found:
                found.append(row["release"])
        everything = self.releases
        return [
            (variant, f"{what} on {runs(found, everything)}") for (variant, what), found in groups.items()
        ]

    @property
    def table(self) -> Grid:
        """A row per release, a column per variant."""
        rows = []
        for release in self.releases:
            day = next(row["date"] for row in self.rows if row["release"] == release)
            cells = [cell(release, mono=True), cell(day)]
            for variant in self.variants:
                word = self.outcome(release, variant.title)
                tone, symbol, _ = LOOKS[word]
                cells.append(Cell(word, symbol=symbol, tone=tone))
            rows.append(cells)
        heads = (family(self.name), "date", *(variant.title for variant in self.variants))
        return Grid(f"{self.name} by release, run {self.date}", heads, rows)

    def figure(self) -> Any:
        """The heat map as a Plotly figure: releases down, variants across."""
        import plotly.graph_objects as go

        order = list(LOOKS)
        titles, shown = [variant.title for variant in self.variants], self.releases
        words = [[self.outcome(release, title) for title in titles] for release in shown]
        top = len(order) - 1
        scale = [
            edge
            for place, word in enumerate(order)
            for edge in ((place / len(order), LOOKS[word][2]), ((place + 1) / len(order), LOOKS[word][2]))
        ]
        told = {(row["release"], row["variant"]): row for row in self.rows}
        hover = [
            ["<br>".join(filter(None, (word, *told[release, title]["rules"])))
             for word, title in zip(line, titles, strict=True)]
            for line, release in zip(words, shown, strict=True)
        ]  # fmt: skip
        figure = go.Figure(
            go.Heatmap(
                z=[[order.index(word) for word in line] for line in words], x=titles, y=shown, text=hover,
                hovertemplate="%{y}, %{x}<br>%{text}<extra></extra>", xgap=2, ygap=2, zmin=-0.5, zmax=top + 0.5,
                colorscale=scale, colorbar={"tickvals": list(range(top + 1)), "ticktext": order, "title": ""},
            )
        )  # fmt: skip
        figure.update_layout(
            title=f"{self.name}: releases of {family(self.name)}",
            height=160 + 22 * len(shown),
            yaxis={"autorange": "reversed", "type": "category"},
            xaxis={"side": "top", "type": "category"},
            template="plotly_white",
        )
        return figure

    @property
    def html(self) -> str:
        """Table and sentences; needs no script."""
        from workbench.views.text import escape

        items = "".join(f"<li>{escape(line)}</li>" for line in self.words)
        return f"<div>{self.table.html}<ul>{items}</ul></div>"

    def to_dict(self) -> dict[str, Any]:
        """The sweep as data, as it stands beside a scenario in `sweep.json`."""
        return {
            "scenario": self.name,
            "date": self.date,
            "span": {**self.span.to_dict(family(self.name)), "summary": self.summary},
            "variants": [vars(variant) for variant in self.variants],
            "rows": self.rows,
        }

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Sweep:
        """The sweep of such data."""
        return cls(told["scenario"], [Variant(**row) for row in told["variants"]], told["rows"], told["date"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return bundle({"text/html": self.html, "text/plain": repr(self)}, include, exclude)

    def __repr__(self) -> str:
        return "\n".join([self.table.text, "", *self.words])


@dataclass(frozen=True)
class Span:
    """On which releases a bug shows, of those that could say."""

    affected: tuple[str, ...]
    #: the first release after the last affected one where it is gone; empty where there is none
    fixed: str
    #: releases that said anything, in order
    asked: tuple[str, ...]
    #: all releases of the sweep, in order
    swept: tuple[str, ...]

    @property
    def summary(self) -> str:
        """Where it is, in a few words."""
        if not self.asked:
            return "no release can tell"
        if not self.affected:
            return f"not affected on {runs(self.asked, self.swept)}"
        end = f"first fixed {self.fixed}" if self.fixed else "not fixed in any"
        return f"affected {runs(self.affected, self.swept)}, {end}"

    def words(self, leading: str) -> list[str]:
        """The same, in sentences."""
        if not self.affected:
            return [f"No release of {leading} is affected: {self.summary}."]
        first, before = self.affected[0], [r for r in self.asked if r not in self.affected]
        earlier = [r for r in before if self.swept.index(r) < self.swept.index(first)]
        since = f"{earlier[-1]} is not" if earlier else "no earlier release of the sweep can show it"
        told = [f"First affected: {leading} {first} ({since})."]
        if self.fixed:
            told.append(f"First fixed: {self.fixed}; last affected: {self.affected[-1]}.")
        else:
            told.append(f"Not fixed: {self.affected[-1]}, the latest that can tell, is affected.")
        gaps = [
            r for r in before
            if self.swept.index(first) < self.swept.index(r) < self.swept.index(self.affected[-1])
        ]  # fmt: skip
        if gaps:
            told.append(f"In between it does not show on {runs(gaps, self.swept)}.")
        return told

    def to_dict(self, leading: str) -> dict[str, Any]:
        """As data: the leading package, affected releases, the first fixed, and versions of all packages."""
        packages: dict[str, list[str]] = {}
        clean: dict[str, list[str]] = {}
        for release in self.asked:
            for package, version in known.packages(release, leading).items():
                listed = packages if release in self.affected else clean
                if version not in listed.setdefault(package, []):
                    listed[package].append(version)
        return {
            "package": leading, "summary": self.summary, "affected": list(self.affected), "first_fixed": self.fixed,
            "versions": packages, "unaffected": clean,
        }  # fmt: skip


def spanned(swept: Sweep, titles: Sequence[str]) -> Span:
    """The span over some variants: a release is affected where one of them is."""
    everything = swept.releases
    asked, affected = [], []
    for release in everything:
        words = {swept.outcome(release, title) for title in titles}
        if words & set(WORDS) - {"not applicable"}:
            asked.append(release)
        if "affected" in words:
            affected.append(release)
    after = [r for r in asked if affected and everything.index(r) > everything.index(affected[-1])]
    return Span(tuple(affected), after[0] if after else "", tuple(asked), tuple(everything))


def runs(found: Sequence[str], everything: Sequence[str]) -> str:
    """Releases as ranges, in the order of all: `1.0.0 to 1.2.1, 1.4.0`."""
    places = sorted(everything.index(release) for release in found)
    parts: list[list[int]] = []
    for place in places:
        if parts and parts[-1][1] == place - 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return ", ".join(everything[a] if a == b else f"{everything[a]} to {everything[b]}" for a, b in parts)


def stored(name: str) -> Sweep | None:
    """The sweep that is kept beside a scenario; none where it was not made yet."""
    file = folder(name) / "sweep.json"
    return Sweep.of(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else None


__all__ = ["Span", "Sweep", "Variant", "stored", "sweep", "variants"]
