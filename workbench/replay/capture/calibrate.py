"""The gate: only what gives the recorded events again, on the release of the recording, may judge another."""

from __future__ import annotations

import copy
import difflib
from dataclasses import dataclass, field, replace
from typing import Any

from workbench.replay.capture.derive import Scenario
from workbench.replay.capture.readings import Reading, readings
from workbench.replay.capture.running import Run, Workshop

#: What a model that keeps the conversation itself was sent cannot be judged from one request
_KEPT_ELSEWHERE = "conversation_id"


@dataclass(frozen=True)
class Calibrated:
    """A scenario after the gate: the readings that are exact on `recorded_on`, and what the model was sent there.

    Without `readings` there is no verdict on any release, only `difference`: of the reading that came nearest.
    """

    scenario: Scenario
    recorded_on: str
    readings: list[Reading] = field(default_factory=list)
    tried: int = 0
    #: by reading: the spec that was exact, with the results that the model was given
    specs: list[dict[str, Any]] = field(default_factory=list)
    difference: list[str] = field(default_factory=list)

    @property
    def reproduced(self) -> bool:
        """At least one reading gives the recorded events."""
        return bool(self.readings)

    def __repr__(self) -> str:
        if not self.reproduced:
            return f"<not reproduced on {self.recorded_on}: none of {self.tried} readings>"
        return f"<exact on {self.recorded_on}: {len(self.readings)} of {self.tried} readings>"


def calibrate(scenario: Scenario, release: str, workshop: Workshop, *, patches: list[str] | None = None) -> Calibrated:
    """Run every open reading on the release of the recording and keep those that give the same events.

    `patches` are applied there and not on other releases: for a recording of a patched framework.
    """
    spec = {**scenario.spec, "patches": patches or []}
    tried = readings(spec, scenario.open)
    runs = workshop.run(release, [reading.applied(spec) for reading in tried])
    kept = [(reading, run) for reading, run in zip(tried, runs, strict=True) if run.exact == scenario.events]
    if kept:
        specs = [_instructed(reading.applied(scenario.spec), run) for reading, run in kept]
        return Calibrated(scenario, release, [reading for reading, _ in kept], len(tried), specs)
    nearest = min(runs, key=lambda run: len(differences(scenario.events, run)))
    return Calibrated(scenario, release, [], len(tried), [], differences(scenario.events, nearest))


def _instructed(spec: dict[str, Any], run: Run) -> dict[str, Any]:
    """The spec with what its model was sent: the recorded answers hold for that alone."""
    made = copy.deepcopy(spec)
    for turns, asked in zip(made["model"]["turns"], run.inputs, strict=True):
        for turn, told in zip(turns, asked, strict=True):
            turn["input"] = told["results"]
            fails = any("error" in content for content in turn["contents"])
            if fails and told["refusal"] and _KEPT_ELSEWHERE not in turn:
                turn["when"] = "refused"
    return made


def differences(events: list[list[str]], run: Run) -> list[str]:
    """A unified difference of the recorded events and those of a run."""
    if run.error:
        return [f"it could not be run: {run.error.splitlines()[0]}"]
    told = list(_compared(events, run.exact))
    return [*told, f"it ended early: {run.diverged}"] if run.diverged else told


def _compared(recorded: list[list[str]], now: list[list[str]]) -> list[str]:
    flat = [[line for step in side for line in ("", *step)] for side in (recorded, now)]
    found = difflib.unified_diff(*flat, "recorded", "replayed", n=0, lineterm="")
    return [line for line in found if not line.startswith("@@")]


def uncalibrated(scenario: Scenario, release: str, workshop: Workshop) -> Calibrated:
    """Only the difference: for a recording whose release is not known, or is not to be had."""
    run = workshop.run(release, [scenario.spec])[0]
    return replace(Calibrated(scenario, "", [], 0), difference=differences(scenario.events, run))
