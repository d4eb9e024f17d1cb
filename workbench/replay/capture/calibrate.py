"""The gate: only what gives the recorded events again, on the release of the recording, may judge another."""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.replay.capture.derive import Scenario
from workbench.replay.capture.readings import Reading, readings
from workbench.replay.capture.running import Run, Workshop
from workbench.replay.engine import releases
from workbench.replay.engine.errors import BuildError

if TYPE_CHECKING:
    from workbench.replay.capture.judged import Judged

Made = TypeVar("Made")

#: in place of a release: all that are known
ANY = "any"

#: What a model that keeps the conversation itself was sent cannot be judged from one request
_KEPT_ELSEWHERE = "conversation_id"


#: For each step and model call: the results by call that the model was sent, and whether a provider refuses that
Inputs = list[list[dict[str, Any]]]


@dataclass(frozen=True)
class Exact:
    """A reading that gives the recorded events again, with what the model was sent on the way."""

    reading: Reading
    inputs: Inputs

    def spec(self, scenario: Scenario) -> dict[str, Any]:
        """What a guest carries out: the recorded answers hold for the recorded inputs alone."""
        made = copy.deepcopy(self.reading.applied(scenario.spec))
        for turns, asked in zip(made["model"]["turns"], self.inputs, strict=True):
            for turn, told in zip(turns, asked, strict=True):
                turn["input"] = told["results"]
                fails = any("error" in content for content in turn["contents"])
                if fails and told["refusal"] and _KEPT_ELSEWHERE not in turn:
                    turn["when"] = "refused"
        return made


@dataclass(frozen=True)
class Calibrated:
    """A scenario after the gate: the readings that are exact on `recorded_on`.

    Without any there is no verdict on any release, only `difference`: of the reading that came nearest.
    """

    scenario: Scenario
    recorded_on: str
    exact: list[Exact] = field(default_factory=list)
    tried: int = 0
    difference: list[str] = field(default_factory=list)

    @property
    def reproduced(self) -> bool:
        """At least one reading gives the recorded events."""
        return bool(self.exact)

    def __repr__(self) -> str:
        if not self.reproduced:
            return f"<not reproduced on {self.recorded_on or 'any release'}: none of {self.tried} readings>"
        return f"<exact on {self.recorded_on}: {len(self.exact)} of {self.tried} readings>"

    def on(self, release: str, workshop: Workshop | None = None) -> Judged:
        """Run it on a release and judge the findings of the recording there."""
        from workbench.replay.capture import judged

        return (
            judged.on(self, release, workshop)
            if workshop
            else _alone(lambda shop: judged.on(self, release, shop))
        )

    def save(self, path: str | Path, expect: str = "absent") -> None:
        """Keep it as a file that `workbench replay FILE --release R` runs: see `workbench.replay.capture.file`."""
        from workbench.replay.capture import file

        file.write(self, Path(path), expect)


def calibrate(
    scenario: Scenario, release: str, workshop: Workshop | None = None, *, patches: list[str] | None = None
) -> Calibrated:
    """Run every open reading on the release of the recording and keep those that give the same events.

    `release` may be several, with commas between them, or `any` for all that are known: then readings count that
    are exact on one of them, and `recorded_on` names those. `patches` are applied there and not on other releases:
    for a recording of a patched framework.
    """
    if workshop is None:
        return _alone(lambda shop: calibrate(scenario, release, shop, patches=patches))
    candidates = (
        list(releases.pairs()) if release == ANY else [r.strip() for r in release.split(",") if r.strip()]
    )
    if len(candidates) == 1:
        return _on_one(scenario, candidates[0], workshop, patches or [])
    made = []
    for candidate in candidates:
        try:
            made.append(_on_one(scenario, candidate, workshop, patches or []))
        except BuildError as problem:
            made.append(Calibrated(scenario, candidate, difference=[str(problem).splitlines()[0]]))
        workshop.leave(candidate)
    return _either(scenario, made)


def _either(scenario: Scenario, made: list[Calibrated]) -> Calibrated:
    """What is exact on one of several releases; else the difference of the nearest."""
    tried = sum(one.tried for one in made)
    exact = [one for one in made if one.reproduced]
    if not exact:
        ran = [one for one in made if one.tried] or made
        nearest = min(ran, key=lambda one: len(one.difference))
        names = f"{made[0].recorded_on} to {made[-1].recorded_on}"
        return Calibrated(
            scenario, names, [], tried, [f"nearest on {nearest.recorded_on}:", *nearest.difference]
        )
    kept: list[Exact] = []
    for one in exact:
        kept += [item for item in one.exact if item not in kept]
    return Calibrated(scenario, ", ".join(one.recorded_on for one in exact), kept, tried)


def _on_one(scenario: Scenario, release: str, workshop: Workshop, patches: list[str]) -> Calibrated:
    spec = {**scenario.spec, "patches": patches}
    tried, runs, kept = readings(spec, scenario.open), list[Run](), list[Exact]()
    while True:
        more = tried[len(runs) :]
        made = workshop.run(release, [reading.applied(spec) for reading in more])
        runs += made
        kept += [
            _exact(reading, run)
            for reading, run in zip(more, made, strict=True)
            if run.exact == scenario.events and not run.diverged
        ]
        if kept:
            return Calibrated(scenario, release, kept, len(tried))
        # an endpoint that keeps threads is rare, and is only thought of where nothing else explains the recording
        if "snapshots" in spec["endpoint"] or any(reading.stored for reading in tried):
            break
        tried = [*tried, *(replace(reading, stored=True) for reading in tried)]
    nearest = min(runs, key=lambda run: len(differences(scenario.events, run)))
    return Calibrated(scenario, release, [], len(tried), differences(scenario.events, nearest))


def _exact(reading: Reading, run: Run) -> Exact:
    return Exact(
        reading,
        [[{key: told[key] for key in ("results", "refusal")} for told in step] for step in run.inputs],
    )


def uncalibrated(scenario: Scenario, release: str, workshop: Workshop) -> Calibrated:
    """Only the difference: for a recording whose release is not known, or is not to be had."""
    run = workshop.run(release, [scenario.spec])[0]
    return Calibrated(scenario, "", [], 0, differences(scenario.events, run))


def _alone(work: Callable[[Workshop], Made]) -> Made:
    with Workshop() as workshop:
        return work(workshop)


def differences(events: list[list[str]], run: Run) -> list[str]:
    """A unified difference of the recorded events and those of a run."""
    if run.error:
        return [f"it could not be run: {run.error.splitlines()[0]}"]
    told = list(_compared(events, run.exact))
    return [*told, f"it ended early: {run.diverged}"] if run.diverged else told


def _compared(recorded: list[list[str]], now: list[list[str]]) -> list[str]:
    before, after = ([line for step in side for line in ("", *step)] for side in (recorded, now))
    found = difflib.unified_diff(before, after, "recorded", "replayed", n=0, lineterm="")
    return [line for line in found if not line.startswith("@@")]
