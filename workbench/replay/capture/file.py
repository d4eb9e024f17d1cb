"""The calibrated scenario as a file: what a maintainer keeps and runs, without the capture.

It is JSON: the conversation (`spec`), the readings that passed the gate with what the model was sent in each, the
recorded events without passing ids, and the findings. Each finding has an `expect`: `absent`, `present` or
`any`, which may be edited. A file may come from a stranger: what would make a guest run code is not taken from it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.replay.capture import checked
from workbench.replay.capture.assumptions import Assumption
from workbench.replay.capture.calibrate import Calibrated, Exact
from workbench.replay.capture.derive import Scenario
from workbench.replay.capture.findings import Seen
from workbench.replay.capture.readings import Reading
from workbench.replay.capture.shapes import shallow
from workbench.replay.engine.errors import ReplayError

FORMAT = "agui-workbench recorded scenario"
VERSION = 1
EXPECTED = ("absent", "present", "any")
#: bytes; each reading is a copy of the conversation
_MOST = 64_000_000


def write(calibrated: Calibrated, path: Path, expect: str = "absent") -> None:
    """Write a scenario that passed the gate; `expect` goes to its errors and warnings, `any` to remarks."""
    if not calibrated.reproduced:
        raise ReplayError("what was not reproduced on the release of its recording is no test of another")
    expected(expect)
    scenario = calibrated.scenario
    told = {
        "format": FORMAT, "version": VERSION, "thread": scenario.thread, "recorded_on": calibrated.recorded_on,
        "findings": [
            {**finding.told(), "expect": "any" if finding.severity == "info" else expect}
            for finding in scenario.findings
        ],
        "assumptions": [assumption.told() for assumption in scenario.assumptions],
        "tried": calibrated.tried,
        "readings": [{**exact.reading.told(), "inputs": exact.inputs} for exact in calibrated.exact],
        "spec": scenario.spec, "events": scenario.events, "shape": scenario.shape,
    }  # fmt: skip
    text = json.dumps(told, ensure_ascii=False, indent=1) + "\n"
    try:
        path.write_text(text, encoding="utf-8")
    except UnicodeEncodeError:
        # half a surrogate pair, which JSON may hold and a file may not, is written as an escape
        path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    except OSError as problem:
        raise ReplayError(f"{path} cannot be written: {problem.strerror}") from problem


def expected(expect: str) -> None:
    """Raise `ReplayError` for a word that a finding cannot have as its `expect`."""
    if expect not in EXPECTED:
        raise ReplayError(f"expect is one of {', '.join(EXPECTED)}, not {expect!r}")


def read(path: Path) -> tuple[Calibrated, dict[Any, str]]:
    """A scenario from its file, and what is expected of each finding by its key; `ReplayError` says what is wrong."""
    told = _told(path)
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ReplayError(
            f"{path} is no recorded scenario; `workbench replay --from CAPTURE -o FILE` writes one"
        )
    if told.get("version") != VERSION:
        raise ReplayError(
            f"{path} is of version {told.get('version')!r}, and this workbench reads version {VERSION}"
        )
    try:
        return _read(told)
    except ValueError as problem:
        raise ReplayError(f"{path} was changed so that it cannot be read: {problem}") from problem


def _told(path: Path) -> Any:
    try:
        if path.exists() and not path.is_file():
            raise ReplayError(f"{path} is no file")
        size = path.stat().st_size
        if size > _MOST:
            raise ReplayError(f"{path} has {size:,} bytes; a recorded scenario has at most {_MOST:,}")
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ReplayError(f"{path}: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise ReplayError(f"{path} is no JSON: {problem}") from problem
    shallow(told, str(path))
    return told


def _read(told: dict[str, Any]) -> tuple[Calibrated, dict[Any, str]]:
    findings = [
        _finding(item, f"findings[{number}]")
        for number, item in enumerate(checked.each(told.get("findings"), dict, "findings"))
    ]
    assumptions = checked.each(told.get("assumptions"), dict, "assumptions")
    spec = checked.spec(told.get("spec"))
    steps = len(spec["steps"])
    scenario = Scenario(
        thread=checked.member(told, "thread", str, "it"), spec=spec,
        events=checked.lines(told.get("events"), steps, "events"), shape=checked.lines(told.get("shape"), steps, "shape"),
        findings=[finding for finding, _ in findings], open={},
        assumptions=[Assumption(**checked.assumption(item, "assumptions")) for item in assumptions],
    )  # fmt: skip
    exact = [Exact(Reading.of(item), item["inputs"]) for item in checked.readings(told.get("readings"))]
    recorded_on = checked.member(told, "recorded_on", str, "it")
    kept = Calibrated(scenario, recorded_on, exact, checked.member(told, "tried", int, "it"))
    for one in exact:
        one.spec(scenario)  # inputs that do not fit the turns are noticed here
    return kept, {finding.key: expect for finding, expect in findings}


def _finding(told: dict[str, Any], place: str) -> tuple[Seen, str]:
    expect = checked.one_of(told.get("expect", "any"), EXPECTED, f"{place}.expect")
    return Seen(**checked.finding(told, place)), expect
