"""What the cells of a replay notebook show. One object per notebook holds its parameters and its arms."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.replay import claims, parameters
from workbench.replay.arms import Replay, replay
from workbench.replay.claims import Arms, Judged
from workbench.replay.compare import Comparison, compare
from workbench.replay.engine import releases
from workbench.replay.outcome import Outcome
from workbench.replay.patches import described
from workbench.replay.scenarios import family, scenario
from workbench.trace import load
from workbench.views.grid import Cell, Grid, cell
from workbench.views.sequence import SequenceDiagram, sequence_diagram

#: form of the verdicts in an executed notebook, which `workbench.report.replays` makes JUnit of
MIME = "application/vnd.agui-workbench.claims+json"

_TONES = {
    "clean": "good", "affected": "bad", "executed twice": "bad", "never executed": "bad", "other fault": "warn",
    "refused": "wait", "not applicable": "none",
    "holds": "good", "holds only when": "warn", "does not hold": "bad", "not replayed": "none",
}  # fmt: skip


class Story:
    """One bug in a notebook: its arms, live or recorded, and the tables about them."""

    def __init__(
        self, name: str, *, mode: object = "recorded", releases: object = (), arms: object = ()
    ) -> None:
        self.name = name
        self.mode = parameters.mode(mode)
        self.releases = parameters.releases(name, releases)
        self.only = parameters.arms(name, arms)
        self.declared = scenario(name)
        self._stepped: dict[str, Replay] = {}
        self._folder = (
            tempfile.TemporaryDirectory(prefix="workbench-replay-") if self.mode == "live" else None
        )

    @cached_property
    def arms(self) -> Arms:
        """All arms, run when they are first asked for, or the recorded ones."""
        return claims.gather(
            self.name, mode=self.mode, releases=self.releases, only=self.only, progress=_say,
            folder=Path(self._folder.name) if self._folder else None,
        )  # fmt: skip

    def environment(self) -> Grid:
        """The releases that are looked at, with the packages released together."""
        chosen = [releases.packages(release, family(self.name)) for release in self.releases]
        names = list(dict.fromkeys(name for row in chosen for name in row))
        rows = [[cell(row.get(name, ""), mono=True) for name in names] for row in chosen]
        note = claims.recorded_note(self.name)
        how = (
            "run here and now"
            if self.mode == "live"
            else f"recorded {note.get('date', '')} on {note.get('system', '')}"
        )
        return Grid(f"Released packages, {how}", names, rows)

    def start(self, arm: str = "unpatched", **options: str) -> Replay:
        """An arm to go through step by step."""
        chosen: dict[str, Any] = dict(options)
        made = replay(self.name, arm=arm, mode=self.mode, telemetry=False, progress=_say, **chosen)
        self._stepped[made.arm.label] = made
        return made

    @staticmethod
    def ladder(arm: Replay, step: int | None = None) -> SequenceDiagram:
        """A step of an arm as a ladder, the last one by default, judged with all that came before it."""
        number = len(arm.steps) - 1 if step is None else step
        trace = load(*(file for done in arm.steps[: number + 1] for file in done.files))
        return sequence_diagram(trace, run=trace.conversations[-1].runs[-1].run_id)

    @staticmethod
    def effects(arm: Replay) -> Grid:
        """Every execution of a tool, and the files that are there at the end."""
        rows = [
            [
                cell(told["step"]),
                cell(told["tool"], mono=True),
                cell(told["call"], mono=True),
                cell(told.get("result", told.get("error", ""))),
            ]
            for told in arm.effects
        ]
        files = ", ".join(sorted(arm.files)) or "none"
        return Grid(
            f"Executions of tools; files written: {files}",
            ("step", "tool", "call", "result"),
            rows,
            "no tool was executed",
        )

    @staticmethod
    def seen(arm: Replay, step: str) -> Grid:
        """What the watched functions saw in a step, in the order of their calls."""
        rows = []
        for told in arm.seen:
            if told["step"] == step:
                rest = {
                    key: value
                    for key, value in told.items()
                    if key not in ("step", "function", "place", "by")
                }
                who = f"{told['function']} ({told['by']})" if told["by"] else told["function"]
                rows.append(
                    [
                        cell(who, mono=True),
                        cell(told["place"], mono=True),
                        cell(json.dumps(rest), mono=True, most=260),
                    ]
                )
        return Grid("In the order in which they were called", ("function", "where", "what it saw"), rows)

    def patches(self) -> Grid:
        """The arms of the bug with what their patches do, where, and with which side effects."""
        rows = []
        for name, arm in self.declared["arms"].items():
            for patch in arm["patches"]:
                told = described(patch)
                rows.append(
                    [
                        cell(name),
                        cell(told["what"], most=300),
                        cell(told["where"], mono=True),
                        cell(told["effects"], most=400),
                    ]
                )
        return Grid(
            "Fixes and workarounds, as run-time patches", ("arm", "what", "where", "side effects"), rows
        )

    def outcomes(self, columns: Sequence[str], rows: Sequence[tuple[str, dict[str, str]]], axis: str) -> Grid:
        """Outcomes of arms: a row per arm and options, a column per value of one more option."""
        shown = []
        for arm, options in rows:
            if self.only and arm not in self.only:
                continue
            label = ", ".join([arm, *(f"{name}={value}" for name, value in options.items())])
            shown.append(
                [
                    cell(label),
                    *(_outcome(self.arms.outcome(arm, **options, **{axis: value})) for value in columns),
                ]
            )
        return Grid(f"What became of it, by {axis}", ("", *columns), shown)

    def survey(self) -> Grid:
        """Outcomes by release."""
        found = claims.survey(self.name, self.arms, self.releases, self.only)
        labels = list(dict.fromkeys(label for label, _ in found))
        rows = [
            [cell(label), *(_outcome(found[label, release]) for release in self.releases)] for label in labels
        ]
        return Grid("What became of it, by release", ("", *self.releases), rows)

    def look(self, arm: str, step: int, **options: str) -> SequenceDiagram | Grid:
        """A step of an arm as a ladder; a word where the arm was left out."""
        return self._left_out(arm) or self.ladder(self.arms(arm, **options), step)

    def ran(self, arm: str, **options: str) -> Grid:
        """The executions of an arm; a word where it was left out."""
        return self._left_out(arm) or self.effects(self.arms(arm, **options))

    def compare(self, first: str, second: str, **options: str) -> Comparison | Grid:
        """Two arms aligned; a word where one of them was left out."""
        gone = self._left_out(first) or self._left_out(second)
        return gone or compare(self.arms(first, **options), self.arms(second, **options))

    def units(self, **options: str) -> Grid:
        """What a snippet told, by arm."""
        rows = [
            [cell(arm), *(cell(f"{key}: {value}", mono=True, most=200) for key, value in told.items())]
            for arm in self.declared["arms"]
            if not self._left_out(arm) and (told := self.arms(arm, **options).steps[0].told["unit"])
        ]
        width = max(map(len, rows), default=1)
        rows = [row + [cell("")] * (width - len(row)) for row in rows]
        return Grid("What the snippet told", ("arm", *[""] * (width - 1)), rows)

    def _left_out(self, arm: str) -> Grid | None:
        if not self.only or arm in self.only:
            return None
        return Grid(f"{arm} was left out", (), empty="it is not among the arms of the parameters")

    @cached_property
    def judged(self) -> list[Judged]:
        """The claims of the report with their verdicts."""
        return claims.judge(self.name, self.arms, self.only)

    def claims(self) -> Verdicts:
        """The table of claims and verdicts."""
        return Verdicts(self)

    def gate(self) -> str:
        """Fail where a verdict or an outcome differs from what is expected; say how many were as expected."""
        self.close()
        surveyed = claims.survey(self.name, self.arms, self.releases, self.only)
        claims.gate(self.name, self.judged, surveyed)
        return f"All {len(self.judged)} verdicts and {len(surveyed)} outcomes are as expected."

    def close(self) -> None:
        """End what is still running."""
        for arm in self._stepped.values():
            arm.close()


class Verdicts:
    """The claims as a table for people, and as data for reports."""

    def __init__(self, story: Story) -> None:
        self._story = story

    @property
    def grid(self) -> Grid:
        """The table."""
        rows = [
            [
                cell(item.claim.where), cell(item.claim.text, most=300), _word(item.verdict.word, item.as_expected),
                cell(item.verdict.because, most=500), cell("; ".join(item.verdict.arms), most=80),
            ]
            for item in self._story.judged
        ]  # fmt: skip
        caption = f"What the report states, and what {self._story.declared['release']} says to it"
        return Grid(caption, ("section", "statement", "verdict", "because", "arms"), rows)

    @property
    def data(self) -> dict[str, Any]:
        """The verdicts as data: one entry per claim, one per arm and release."""
        story = self._story
        surveyed = claims.survey(story.name, story.arms, story.releases, story.only)
        return {
            "scenario": story.name,
            "mode": story.mode,
            "claims": [
                {
                    "name": item.claim.name, "text": item.claim.text, "verdict": item.verdict.word,
                    "because": item.verdict.because, "expected": item.expected, "arms": list(item.verdict.arms),
                }
                for item in story.judged
            ],
            "outcomes": [
                {"arm": label, "release": release, "outcome": found.word, "expected": _expected(story.name, release, label)}
                for (label, release), found in surveyed.items()
            ],
        }  # fmt: skip

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        grid = self.grid
        return {"text/html": grid.html, "text/plain": grid.text, MIME: self.data}


def _expected(name: str, release: str, label: str) -> str:
    from workbench.replay.scenarios import expectations

    return str(expectations(name)["outcomes"].get(release, {}).get(label, ""))


def _outcome(found: Outcome) -> Cell:
    symbol = {"good": "✓", "bad": "✗", "warn": "!", "wait": "…", "none": "–"}[_TONES[found.word]]
    rules = ", ".join(found.rules)
    executed = f"executed {found.executions}×" if found.word != "not applicable" else ""
    refused = f"provider: {found.refusals[0]}" if found.refusals else ""
    full = "; ".join(part for part in (executed, rules, refused) if part)
    return Cell(found.word, symbol=symbol, tone=_TONES[found.word], full=full)


def _word(word: str, expected: bool) -> Cell:  # noqa: FBT001
    symbol = {"holds": "✓", "holds only when": "!", "does not hold": "✗", "not replayed": "–"}[word]
    return Cell(word, symbol=symbol, tone=_TONES[word], note="" if expected else "not as expected")


def _say(text: str) -> None:
    """Progress of a live run, into the output of the cell: recorded runs have none."""
    sys.stdout.write(f"{text}\n")
