"""What came of a recorded conversation, in lines for a terminal. Captures are hostile: the caller escapes them."""

from __future__ import annotations

from collections import Counter

from workbench.replay.capture.calibrate import Calibrated
from workbench.replay.capture.derive import Scenario
from workbench.replay.capture.judged import Judged

#: lines of a difference that are shown
_SHOWN = 40


def scenario(made: Scenario) -> list[str]:
    """What was derived, and every assumption with its evidence and what says otherwise."""
    spec = made.spec
    tools = ", ".join(tool["name"] for tool in spec["tools"]) or "none"
    turns = sum(len(step) for step in spec["model"]["turns"])
    lines = [
        f"thread {made.thread}: {len(spec['steps'])} requests, {turns} model turns, tools of the agent: {tools}"
    ]
    return [*lines, "assumed:", *(f"  {assumption}" for assumption in made.assumptions)]


def gate(made: Calibrated) -> list[str]:
    """Whether it is exact on the release of the recording; the difference where it is not."""
    if not made.recorded_on:
        return [
            "uncalibrated: the release of the recording is not known, so there is no verdict, only a difference",
            *_short(made.difference),
        ]
    if not made.reproduced:
        return [
            f"not reproduced on {made.recorded_on}: none of {made.tried} readings gives the recorded events",
            "so there is no verdict, only the difference of the nearest:",
            *_short(made.difference),
        ]
    lines = [f"exact on {made.recorded_on}: {len(made.exact)} of {made.tried} readings"]
    return [*lines, *(f"  {exact.reading}" for exact in made.exact)]


def judged(made: Judged) -> list[str]:
    """The verdicts on a release."""
    if not made.calibrated.reproduced:
        return gate(made.calibrated)
    words = Counter(verdict.word for verdict in made.verdicts)
    level = (
        "every event as recorded"
        if made.exact
        else "the same shape"
        if made.same_shape
        else "another course of events"
    )
    counts = ", ".join(f"{count} {word}" for word, count in words.items()) or "no finding in the recording"
    lines = [f"on {made.release}: {level}; {counts}"]
    for step, recorded, taken in made.forms:
        lines.append(f"  step {step + 1} was answered as {taken}, because {recorded} is refused here")
    lines += [f"  another course from {course}" for course in made.courses]
    lines += [f"  {verdict}" for verdict in made.verdicts]
    if len({tuple(v.word for v in verdicts) for verdicts in made.apart}) > 1:
        for exact, verdicts in zip(made.calibrated.exact, made.apart, strict=True):
            said = ", ".join(f"{verdict.finding.rule} {verdict.word}" for verdict in verdicts)
            lines.append(f"  read as {exact.reading}: {said}")
    for finding in made.new:
        about = ", ".join(finding.calls) or f"step {finding.step + 1}"
        lines.append(f"  new            {finding.rule} {about}: {finding.message}")
    return lines


def _short(difference: list[str]) -> list[str]:
    more = len(difference) - _SHOWN
    kept = [f"  {line[:200]}" for line in difference[:_SHOWN]]
    return [*kept, f"  and {more} more lines"] if more > 0 else kept
