"""A calibrated scenario on another release: all its readings are run, and what they say is put together."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from workbench.replay.capture.calibrate import Calibrated, differences
from workbench.replay.capture.findings import Seen
from workbench.replay.capture.running import Run, Workshop
from workbench.replay.capture.verdicts import Verdict, judge, together
from workbench.replay.guest.client import FORMS

#: forms of an answer in the order in which they are tried: that of the protocol first
_IN_TURN = ("resume", *(form for form in FORMS if form != "resume"))


@dataclass(frozen=True)
class Judged:
    """What a release does with a recorded conversation. `verdicts` is empty where the gate was not passed."""

    calibrated: Calibrated
    release: str
    #: one for each reading; what they recorded is there as long as their workshop is
    runs: list[Run]
    verdicts: list[Verdict] = field(default_factory=list)
    #: by reading
    apart: list[list[Verdict]] = field(default_factory=list)
    new: list[Seen] = field(default_factory=list)
    #: answers that were given in another form: step (from 0), the recorded form, the one that was taken
    forms: list[tuple[int, str, str]] = field(default_factory=list)

    #: where and why readings took another course than the recording
    courses: list[str] = field(default_factory=list)
    #: every event is as recorded, in all readings
    exact: bool = False
    #: the same kinds of events, calls and messages in the same order, in all readings
    same_shape: bool = False
    #: how the events of the first reading differ from the recorded ones
    difference: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        from workbench.replay.capture import told

        return "\n".join(told.judged(self))


def on(calibrated: Calibrated, release: str, workshop: Workshop) -> Judged:
    """Run all readings that passed the gate on a release, and judge the findings of the recording."""
    if not calibrated.reproduced:
        return Judged(calibrated, release, [])
    runs, forms = _accepted(calibrated, release, workshop)
    apart, new = [], dict[Any, Seen]()
    # most readings do the same: what they did is judged once
    told: dict[str, tuple[list[Verdict], list[Seen]]] = {}
    for run in runs:
        did = json.dumps([run.exact, run.diverged, run.inputs])
        if did not in told:
            told[did] = judge(calibrated.scenario.findings, run)
        apart.append(told[did][0])
        new |= {finding.key: finding for finding in told[did][1]}
    recorded = calibrated.scenario
    return Judged(
        calibrated, release, runs, together(apart), apart, list(new.values()), forms,
        courses=list(dict.fromkeys(f"step {len(run.steps)}: {run.diverged}" for run in runs if run.diverged)),
        exact=all(run.exact == recorded.events for run in runs),
        same_shape=all(run.skeleton == recorded.shape for run in runs),
        difference=differences(recorded.events, runs[0]),
    )  # fmt: skip


def _accepted(
    calibrated: Calibrated, release: str, workshop: Workshop
) -> tuple[list[Run], list[tuple[int, str, str]]]:
    """Runs in which no answer was refused that was accepted in the recording, as far as forms are to be had."""
    specs = [exact.spec(calibrated.scenario) for exact in calibrated.exact]
    forms: list[tuple[int, str, str]] = []
    runs = workshop.run(release, specs)
    while True:
        refused = _refused(calibrated, runs)
        if refused is None or any(step == refused for step, _, _ in forms):
            break
        step = specs[0]["steps"][refused]
        if (
            any(answer.get("only") for answer in step["answers"])
            or len({a["accepted"] for a in step["answers"]}) > 1
        ):
            break
        for form in _IN_TURN:
            if form == step["form"]:
                continue
            # one reading tells whether the form is taken
            again = _refused(calibrated, workshop.run(release, [_with_form(specs[0], refused, form)]))
            if again is None or again > refused:
                specs = [_with_form(spec, refused, form) for spec in specs]
                runs = workshop.run(release, specs)
                forms.append((refused, step["form"], form))
                break
        else:
            break
    return runs, forms


def _with_form(spec: dict[str, Any], number: int, form: str) -> dict[str, Any]:
    steps = [{**step, "other_form": form} if n == number else step for n, step in enumerate(spec["steps"])]
    return {**spec, "steps": steps}


def _refused(calibrated: Calibrated, runs: list[Run]) -> int | None:
    """The first step whose answer is refused in a run, and was not in the recording."""
    recorded = calibrated.scenario.shape
    steps = calibrated.scenario.spec["steps"]
    for number, step in enumerate(steps):
        if "answers" not in step or _says_no(recorded[number]):
            continue
        if any(number < len(run.skeleton) and _says_no(run.skeleton[number]) for run in runs):
            return number
    return None


def _says_no(shape: list[str]) -> bool:
    return any(line.startswith(("HTTP 4", "RUN_ERROR APPROVAL_")) for line in shape)
