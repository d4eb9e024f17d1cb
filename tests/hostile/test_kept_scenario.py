"""Kept scenario files edited by hand, or by a stranger: they are read, or the message says what cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.replay.capture import file, judged, told
from workbench.replay.capture.calibrate import Calibrated, Exact
from workbench.replay.capture.derive import PACKAGES
from workbench.replay.capture.readings import readings
from workbench.replay.capture.running import Run
from workbench.replay.engine.errors import ReplayError
from workbench.replay.recordings import BUNDLED

#: a recording with a question, an answer, results and findings
LOST = BUNDLED / "provider-tool-approval" / "1.0.0rc7" / "unpatched"
BAD: list[Any] = [None, -1, 10**30, "\ud800\x1b[2J", [], [[]], {}, {"a": {}}, True]


def places(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """The way to every value inside of a value; of long lists, to the first items."""
    items = (
        value.items()
        if isinstance(value, dict)
        else list(enumerate(value))[:2]
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The text of a kept file."""
    scenario = wb.scenario_from(wb.load(*map(str, sorted(LOST.glob("*.har")))))
    inputs = [
        [{"results": {"c": "x"}, "refusal": None} for _ in turns] for turns in scenario.spec["model"]["turns"]
    ]
    read = readings(scenario.spec, scenario.open)[:2]
    path = tmp_path_factory.mktemp("kept") / "kept.json"
    Calibrated(scenario, "1.0.0rc7", [Exact(reading, inputs) for reading in read], 3).save(path)
    return path.read_text(encoding="utf-8")


class Refuses:
    """A workshop whose guests do what was recorded and refuse every answer."""

    class Done(Run):
        """A recording says nothing of what a guest says of its model."""

        inputs = ()
        skeleton = [["HTTP 400"]] * 9

    def run(self, release, specs):
        json.dumps(list(specs))
        return [self.Done(release, spec, LOST) for spec in specs]


def changed(kept: str, path: tuple[Any, ...], value: Any, tmp_path: Path) -> Path:
    """The kept file with another value at one place."""
    made: Any = json.loads(kept)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    target = tmp_path / "changed.json"
    target.write_text(json.dumps(made))
    return target


@pytest.mark.parametrize("value", BAD, ids=lambda value: json.dumps(value)[:20])
def test_a_file_that_was_edited_anywhere_is_judged_or_refused_with_the_place(kept, tmp_path, value):
    refused = 0
    for path in places(json.loads(kept)):
        target = changed(kept, path, value, tmp_path)
        try:
            calibrated, expected = file.read(target)
        except ReplayError as problem:
            refused += str(problem).startswith(str(target))
            continue
        made = judged.on(calibrated, "1.7.0", Refuses())
        assert told.judged(made)
        assert all(verdict.finding.key in expected for verdict in made.verdicts)
    assert refused > 20


def without(text: str, tmp_path: Path, path: tuple[Any, ...]) -> Path:
    made: Any = json.loads(text)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    target = tmp_path / "changed.json"
    target.write_text(json.dumps(made))
    return target


def test_a_file_may_lack_anything(kept, tmp_path):
    refused = 0
    for path in places(json.loads(kept)):
        try:
            calibrated, _ = file.read(without(kept, tmp_path, path))
        except ReplayError:
            refused += 1
            continue
        assert told.judged(judged.on(calibrated, "1.7.0", Refuses()))
    assert refused > 20


def test_what_a_guest_does_not_need_is_not_taken_from_a_file(kept, tmp_path):
    made: Any = json.loads(kept)
    made["spec"]["steps"][0]["name"] = "../../../evil"
    made["spec"]["steps"][0]["other_form"] = "resume"
    made["spec"]["packages"] = ["../../evil"]
    made["spec"]["tools"][0]["parameters"] = {"$ref": "http://a.invalid/schema"}
    made["spec"]["tools"][0]["description"] = "x" * 9
    made["spec"]["model"]["turns"][0][0]["when"] = "refused"
    target = tmp_path / "changed.json"
    target.write_text(json.dumps(made))
    spec = file.read(target)[0].scenario.spec
    assert spec["steps"][0]["name"] == "step-1"
    assert "other_form" not in spec["steps"][0]
    assert spec["packages"] == list(PACKAGES)
    assert "$ref" not in spec["tools"][0]["parameters"]
    assert "when" not in spec["model"]["turns"][0][0]


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("spec", "agent", "kind"), "agent-spec", "spec.agent.kind is none of plain"),
        (("readings", 0, "kind"), "agent-spec", "readings[0].kind is none of plain"),
        (("spec", "tools", 0, "origin"), "client", "spec.tools[0].origin is none of"),
        (("spec", "steps", 1, "form"), "__class__", "spec.steps[1].form is none of"),
        (("spec", "steps", 1, "request", "messages"), {"view": 7, "then": []}, "is no earlier step"),
        (("events",), [], "events is of 0 steps, and the conversation has 3"),
        (("readings",), [{}] * 5000, "there are 5000 readings"),
        (("findings", 0, "expect"), "\x1b]0;title\x07", "findings[0].expect is none of"),
    ],
)
def test_the_message_says_what_cannot_be_used(kept, tmp_path, path, value, why):
    target = changed(kept, path, value, tmp_path)
    done = CliRunner().invoke(app, ["replay", str(target), "--release", "1.7.0"])
    assert done.exit_code == 2
    assert why in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("text", ["", "\x00", "[" * 100_000, '{"a":' * 100_000, "9" * 10_000, '"\ud800"'])
def test_what_is_no_json_is_said(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    done = CliRunner().invoke(app, ["replay", str(path), "--release", "1.7.0"])
    assert done.exit_code == 2
    assert done.stderr.startswith("workbench: ")


def test_a_file_that_is_deep_or_large_is_refused(kept, tmp_path):
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    target = changed(kept, ("spec", "steps", 0, "request", "state"), deep, tmp_path)
    with pytest.raises(ReplayError, match="levels deep"):
        file.read(target)
    large = tmp_path / "large.json"
    with large.open("wb") as out:
        os.truncate(out.fileno(), 10**9)
    with pytest.raises(ReplayError, match="bytes"):
        file.read(large)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("tools.gate.gated=no", "gated is true or false, not 'no'"),
        ("endpoint.snapshots=1", "snapshots is true or false"),
        ("tools.gate.calls=x", "calls are said one by one"),
        ("tools.gate.calls.c", "is not of the form"),
        ("agent.kind=__import__", "kind is one of"),
        ("patches.x=/tmp/evil.py", "nothing is called 'patches'"),
    ],
)
def test_overrides_that_say_nothing_are_refused(said, why):
    done = CliRunner().invoke(app, ["replay", "--from", str(LOST), "--override", said])
    assert done.exit_code == 2
    assert why in done.stderr


def test_what_cannot_be_read_or_written_is_said_by_its_name(kept, tmp_path):
    done = CliRunner().invoke(app, ["replay", "--from", str(tmp_path / "no\x1b[2Jthing.har")])
    assert done.exit_code == 2
    assert "no\\x1b[2Jthing.har: " in done.stderr
    assert "no request is in the capture" in done.stderr
    done = CliRunner().invoke(app, ["replay", "--from", str(LOST), "--expect", "gone"])
    assert (done.exit_code, done.stdout) == (2, "")
    target = changed(kept, ("recorded_on",), "x", tmp_path)
    calibrated, _ = file.read(target)
    with pytest.raises(ReplayError, match="cannot be written"):
        calibrated.save(tmp_path / "nowhere" / "kept.json")
    calibrated.scenario.spec["steps"][0]["request"]["messages"][0]["content"] = "\ud800"
    calibrated.save(target)
    assert file.read(target)[0].scenario.spec == calibrated.scenario.spec


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "kept.json")
    with pytest.raises(ReplayError, match="is no file"):
        file.read(tmp_path / "kept.json")
