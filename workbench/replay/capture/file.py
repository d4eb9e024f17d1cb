"""The calibrated scenario as a file: what a maintainer keeps and runs, without the capture.

It is JSON: the conversation (`spec`), the readings that passed the gate with what the model was sent in each, the
recorded events without passing ids, and the findings. Each finding has an `expect`: `absent`, `present` or
`any`, which may be edited. A file may come from a stranger: what would make a guest run code is not taken from it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from workbench.replay.capture.assumptions import Assumption
from workbench.replay.capture.calibrate import Calibrated, Exact
from workbench.replay.capture.derive import Scenario
from workbench.replay.capture.findings import Seen
from workbench.replay.capture.readings import Reading
from workbench.replay.engine.errors import ReplayError

FORMAT = "agui-workbench recorded scenario"
VERSION = 1
EXPECTED = ("absent", "present", "any")
_SPEC = ("agent", "endpoint", "tools", "packages", "model", "steps", "calls")
_STEP = ("name", "request", "form", "answers")
_TOOL = ("name", "origin", "gated", "declared", "description", "parameters", "calls", "result", "doubted")


def write(calibrated: Calibrated, path: Path, expect: str = "absent") -> None:
    """Write a scenario that passed the gate; `expect` goes to its errors and warnings, `any` to remarks."""
    if not calibrated.reproduced:
        raise ReplayError("what was not reproduced on the release of its recording is no test of another")
    if expect not in EXPECTED:
        raise ReplayError(f"expect is one of {', '.join(EXPECTED)}, not {expect!r}")
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
    path.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> tuple[Calibrated, dict[Any, str]]:
    """A scenario from its file, and what is expected of each finding by its key; `ReplayError` says what is wrong."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise ReplayError(f"{path}: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise ReplayError(f"{path} is no JSON: {problem}") from problem
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise ReplayError(
            f"{path} is no recorded scenario; `workbench replay --from CAPTURE -o FILE` writes one"
        )
    if told.get("version") != VERSION:
        raise ReplayError(
            f"{path} is of version {told.get('version')!r}, and this workbench reads version {VERSION}"
        )
    try:
        findings = [_finding(item) for item in told["findings"]]
        scenario = Scenario(
            thread=str(told["thread"]), spec=_spec(told["spec"]), events=told["events"], shape=told["shape"],
            findings=[finding for finding, _ in findings], open={},
            assumptions=[Assumption(**item) for item in told["assumptions"]],
        )  # fmt: skip
        exact = [Exact(Reading.of(item), item["inputs"]) for item in told["readings"]]
        kept = Calibrated(scenario, str(told["recorded_on"]), exact, int(told["tried"]))
        for one in exact:
            one.spec(scenario)  # inputs that do not fit the turns are noticed here
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ReplayError(
            f"{path} was changed so that it cannot be read: {type(problem).__name__} {problem}"
        ) from problem
    return kept, {finding.key: expect for finding, expect in findings}


def _finding(told: dict[str, Any]) -> tuple[Seen, str]:
    expect = told.get("expect", "any")
    if expect not in EXPECTED:
        raise ValueError(f"expect is one of {', '.join(EXPECTED)}, not {expect!r}")
    kept = {key: value for key, value in told.items() if key != "expect"}
    return Seen(**{**kept, "calls": tuple(kept["calls"])}), expect


def _spec(told: dict[str, Any]) -> dict[str, Any]:
    """The parts of a spec that say something again; patches, snippets and middleware are code, and stay out."""
    made = {key: told[key] for key in _SPEC}
    made["agent"] = {"kind": str(told["agent"]["kind"])}
    made["endpoint"] = {
        key: bool(value) for key, value in told["endpoint"].items() if key in ("require_confirmation", "snapshots")
    }  # fmt: skip
    made["model"] = {"client": "recorded", "turns": told["model"]["turns"]}
    made["steps"] = [{key: step[key] for key in _STEP if key in step} for step in told["steps"]]
    made["tools"] = [{key: tool[key] for key in _TOOL if key in tool} for tool in told["tools"]]
    return made
