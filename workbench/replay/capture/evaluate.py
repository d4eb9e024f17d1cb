"""How far a recording can be trusted to say what another release does: `python -m workbench.replay.capture.evaluate`.

The cases of the bundled bugs are run on many releases and recorded. Each recording, of which only the AG-UI side
is shown, is derived, calibrated on its own release and judged on the others; what is said there is compared with
the findings of the real run of the same case. Captures of other frameworks are tried as well, and have to fail.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from workbench.replay import claims, recordings, specs
from workbench.replay.arms import run_all
from workbench.replay.capture import findings
from workbench.replay.capture.calibrate import Calibrated, calibrate
from workbench.replay.capture.derive import Scenario, scenario_from
from workbench.replay.capture.exchanges import agui_only
from workbench.replay.capture.judged import Judged, on
from workbench.replay.capture.readings import readings
from workbench.replay.capture.running import Workshop
from workbench.replay.capture.verdicts import GONE, INJECTED, OPEN, SAME
from workbench.replay.engine import releases
from workbench.replay.engine.errors import ReplayError
from workbench.replay.specs import Arm
from workbench.trace import Trace, load

#: Steps that send nothing to an endpoint
_ASIDE = {"unit", "source", "messages"}
BUGS = ("provider-tool-approval", "duplicate-tool-call-start")


@dataclass
class Figures:
    """What was counted, and what went wrong."""

    recordings: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        """Count what another part counted."""
        self.recordings += other.recordings
        self.words += other.words
        self.pairs += other.pairs
        self.wrong += other.wrong


def cases(name: str) -> list[Arm]:
    """Every case of a bug that is a conversation, once: unpatched, then those with patches on the reported release."""
    talks = [
        arm for arm in claims.listed(name) if not any(_ASIDE & set(step) for step in specs.spec(arm)["steps"])
    ]
    return list(dict.fromkeys(talks))


class Evaluation:
    """Recordings of all cases, made as they are asked for."""

    def __init__(self, folder: Path, workshop: Workshop) -> None:
        self._folder = folder
        self._workshop = workshop
        self._failed: dict[str, str] = {}
        self._known: set[Arm] = set()
        self._findings: dict[Arm, dict[findings.Key, findings.Seen]] = {}

    def record(self, arms: Sequence[Arm]) -> None:
        """Run arms that were not run yet."""
        new = [arm for arm in dict.fromkeys(arms) if arm not in self._known]
        if new:
            self._failed |= run_all(new, self._folder)
            self._known |= set(new)

    def trace(self, arm: Arm) -> Trace | None:
        """The AG-UI side of an arm; None where it could not be run."""
        steps = recordings.steps(recordings.place(self._folder, arm))
        if f"{arm.release}/{arm.label}" in self._failed or not steps:
            return None
        return agui_only(load(*(file for step in steps for file in step.files)))

    def real(self, arm: Arm) -> dict[findings.Key, findings.Seen] | None:
        """The findings of the real run of an arm."""
        if arm not in self._findings:
            self.record([arm])
            trace = self.trace(arm)
            if trace is None:
                return None
            self._findings[arm] = {finding.key: finding for finding in findings.seen(trace)}
        return self._findings[arm]

    def calibrated(self, arm: Arm, trace: Trace) -> Calibrated:
        """An arm through the gate, with its own patches."""
        patches = [str(specs.patch_file(patch)) for patch in arm.patches]
        return calibrate(scenario_from(trace), arm.release, self._workshop, patches=patches)

    def judged(self, calibrated: Calibrated, release: str) -> Judged:
        """What a recording says of a release."""
        return on(calibrated, release, self._workshop)


def real_arm(arm: Arm, judged: Judged) -> Arm | None:
    """The real run that a replay stands for: the same case, unpatched, answered in the same form."""
    options = dict(arm.options)
    if arm.scenario == "provider-tool-approval":
        changed = {step: taken for step, _, taken in judged.forms}
        steps = judged.calibrated.scenario.spec["steps"]
        forms = {changed.get(n, step["form"]) for n, step in enumerate(steps) if step.get("form")}
        if len(forms) > 1:
            return None
        if forms:
            options["form"] = forms.pop()
    return replace(arm, release=judged.release, name="unpatched", patches=(), options=options)


def _count(figures: Figures, arm: Arm, judged: Judged, real: dict[findings.Key, findings.Seen]) -> None:
    figures.pairs += 1
    for verdict in judged.verdicts:
        there = verdict.finding.key in real
        figures.words[verdict.word] += 1
        if verdict.word in (SAME, GONE) and (verdict.word == SAME) != there:
            figures.words["contradictions"] += 1
            figures.wrong.append(f"{arm.scenario} {arm.release}/{arm.label} on {judged.release}: {verdict}")
        elif verdict.word in (SAME, GONE):
            figures.words["equal"] += 1


def evaluate(
    name: str,
    chosen: Sequence[str],
    *,
    only: str = "",
    skip: str = "",
    most: int = 0,
    jobs: int = 1,
) -> Figures:
    """All recordings of a bug on these releases, judged on `most` others each (0: on all), in `jobs` processes."""
    listed = [case for case in cases(name) if only in case.label and not (skip and skip in case.label)]
    # all releases of a case together: one's recording is the real run of another's replay
    by_case: dict[str, list[Arm]] = {}
    for case in listed:
        made = [case] if case.patches else [replace(case, release=release) for release in chosen]
        by_case.setdefault(",".join(f"{k}={v}" for k, v in sorted(case.options.items())), []).extend(made)
    groups = list(by_case.values())
    parts = [part for n in range(jobs) if (part := [arm for group in groups[n::jobs] for arm in group])]
    figures = Figures()
    with ProcessPoolExecutor(max(1, len(parts)), mp_context=get_context("spawn")) as pool:
        for told in pool.map(_part, parts, [chosen] * len(parts), [most] * len(parts)):
            figures.add(told)
    return figures


def _part(arms: Sequence[Arm], chosen: Sequence[str], most: int) -> Figures:
    """The figures of some recordings."""
    figures = Figures()
    with Workshop() as workshop, tempfile.TemporaryDirectory(prefix="workbench-evaluate-") as folder:
        made = Evaluation(Path(folder), workshop)
        made.record(arms)
        for number, arm in enumerate(arms, 1):
            try:
                _recording(arm, made, chosen, most, figures)
            except ReplayError as problem:
                figures.wrong.append(f"{arm.scenario} {arm.release}/{arm.label}: {problem}")
            _progress(
                f"{number} of {len(arms)}: {arm.release}/{arm.label}, {len(figures.wrong)} wrong so far"
            )
    return figures


def _recording(arm: Arm, made: Evaluation, chosen: Sequence[str], most: int, figures: Figures) -> None:
    trace = made.trace(arm)
    if trace is None:
        return
    kind = "patched" if arm.patches else "unpatched"
    figures.recordings[kind] += 1
    kept = made.calibrated(arm, trace)
    if not kept.reproduced:
        difference = "\n  ".join(kept.difference[:6])
        figures.wrong.append(f"{arm.scenario} {arm.release}/{arm.label}: not reproduced\n  {difference}")
        return
    figures.recordings[f"{kind} exact"] += 1
    figures.recordings[f"{kind} exact by default"] += _default(kept)
    for release in _others(arm, chosen, most):
        judged = made.judged(kept, release)
        twin = real_arm(arm, judged)
        real = None if twin is None else made.real(twin)
        if real is not None:
            _count(figures, arm, judged, real)


def _progress(line: str) -> None:
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line}\n")
    sys.stderr.flush()


def _others(arm: Arm, chosen: Sequence[str], most: int) -> list[str]:
    """The releases that a recording is judged on: evenly over those that are not its own."""
    others = [release for release in chosen if release != arm.release or arm.patches]
    if not most or most >= len(others):
        return others
    first = list(chosen).index(arm.release) if arm.release in chosen else 0
    return [others[(first + n * len(others) // most) % len(others)] for n in range(most)]


def _default(kept: Calibrated) -> bool:
    return kept.exact[0].reading == readings(kept.scenario.spec, kept.scenario.open)[0]


def others(paths: Sequence[Path], release: str, workshop: Workshop) -> Iterator[tuple[str, str]]:
    """What becomes of captures that are not of this framework: each path with `no scenario`, `refused` or `exact`."""
    for path in paths:
        trace = load(str(path))
        for thread in [c.thread_id for c in trace.conversations] or [""]:
            try:
                scenario: Scenario = scenario_from(agui_only(trace), thread)
            except ReplayError as problem:
                yield str(path), f"no scenario: {problem}"
                continue
            kept = calibrate(scenario, release, workshop)
            yield str(path), "exact" if kept.reproduced else "refused"


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate and print the figures; 1 where a verdict contradicts a real run or a recording is not reproduced."""
    parser = argparse.ArgumentParser(prog="python -m workbench.replay.capture.evaluate", description=__doc__)
    parser.add_argument("name", nargs="*", help="bugs; both by default")
    parser.add_argument("--release", action="append", help="releases; all that are known by default")
    parser.add_argument(
        "--most",
        type=int,
        default=0,
        help="judge each recording on so many other releases; on all by default",
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes; one for each processor by default"
    )
    parser.add_argument("--skip", default="", help="no cases with this in their label")
    parser.add_argument("--only", default="", help="only cases with this in their label")
    parser.add_argument(
        "--others", nargs="*", type=Path, default=[], metavar="PATH", help="captures that have to be refused"
    )
    given = parser.parse_args(arguments)
    chosen = given.release or list(releases.pairs())
    wrong = 0
    started = time.monotonic()
    for name in given.name or (() if given.others else BUGS):
        figures = evaluate(
            name, chosen, only=given.only, skip=given.skip, most=given.most, jobs=given.jobs
        )  # fmt: skip
        wrong += len(figures.wrong)
        _tell(name, chosen, figures)
    if given.others:
        with Workshop() as workshop:
            found = list(others(given.others, chosen[-1], workshop))
        words = Counter(word.partition(":")[0] for _, word in found)
        _say(f"other captures, gate of {chosen[-1]}: {len(found)} conversations, {dict(words)}")
        for path, word in found:
            if word == "exact":
                _say(f"  exact: {path}")
    _say(f"{time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


def _tell(name: str, chosen: Sequence[str], figures: Figures) -> None:
    r, w = figures.recordings, figures.words
    _say(f"{name}, on {len(chosen)} releases ({', '.join(chosen)})")
    for kind in ("unpatched", "patched"):
        if r[kind]:
            _say(f"  {kind}: {r[kind]} recordings, exact on their own release {r[f'{kind} exact']}, "
                  f"by the default reading alone {r[f'{kind} exact by default']}")  # fmt: skip
    _say(
        f"  on other releases: {figures.pairs} pairs; verdicts: {w[SAME]} same, {w[GONE]} gone, {w[OPEN]} not decidable, {w[INJECTED]} injected"
    )
    _say(f"  against the real runs: {w['equal']} equal, {w['contradictions']} contradictions")
    for line in figures.wrong[:40]:
        _say(f"  ! {line}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
