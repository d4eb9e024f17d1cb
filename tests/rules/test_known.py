"""`known:` stands where a replayed bug is, and nowhere else."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.replay import recordings
from workbench.replay.arms import Replay
from workbench.replay.outcome import outcome
from workbench.replay.scenarios import names
from workbench.replay.specs import Arm

CASES = {"microsoft-agent-framework-7043": "provider-tool-approval"}
SAMPLES = {
    "provider-tool-lost.har": "provider-tool-approval",
    "duplicate-starts.har": "duplicate-tool-call-start",
}


def test_of_all_cases_only_those_of_a_replayed_report(root):
    told = {}
    folders = sorted(path for path in (root / "tests/data/cases").iterdir() if path.is_dir())
    assert len(folders) > 190
    for case in folders:
        files = [str(file) for file in case.iterdir() if file.name != "expect.json"]
        for one in wb.check(wb.load(*files)).known:
            told[case.name] = one.name
    assert told == CASES


def test_of_all_samples_only_those_of_a_replayed_report(root):
    told = {}
    for file in sorted((root / "traces").iterdir()):
        if file.suffix != ".md":
            for one in wb.check(wb.load(str(file))).known:
                told[file.name] = one.name
                assert one.certainty == "likely"
    assert told == SAMPLES


@pytest.mark.parametrize(
    "name", [name for name in names() if name in set(CASES.values()) | set(SAMPLES.values())]
)
def test_on_recordings_it_is_said_exactly_where_the_bug_came_out(name):
    said = silent = 0
    for folder in recordings.folders(name):
        steps = recordings.steps(folder)
        told = steps[0].told["arm"]
        arm = Arm(name, told["release"], told["name"], tuple(told["patches"]), told["options"])
        running = Replay(arm, None).run()
        shown = outcome(running).word == "affected" and "unit" not in steps[0].told
        found = wb.check(wb.load(*(str(step.path) for step in steps))).known
        assert [(one.name, one.certainty) for one in found] == ([(name, "exact")] if shown else []), folder
        said, silent = said + shown, silent + (not shown)
    assert said >= 10
    assert silent >= 10


def recorded(version: str) -> bytes:
    """A recording that shows the bug, as if made with another release."""
    folder = recordings.BUNDLED / "provider-tool-approval/1.0.0rc7/unpatched"
    text = (folder / "02-approve.har").read_text(encoding="utf-8")
    return (
        text.replace('"agent-framework-ag-ui": "1.0.0rc7"', version)
        .replace('"agent-framework-core": "1.10.0"', '"x": "1"')
        .encode()
    )


@pytest.mark.parametrize(
    ("version", "certainty"),
    [
        ('"agent-framework-ag-ui": "1.0.0rc8"', ["exact"]),
        ('"agent-framework-ag-ui": "1.7.0"', []),
        ('"agent-framework-ag-ui": "99.0"', ["likely"]),
        ('"agent": "1"', ["likely"]),
    ],
)
def test_the_release_decides(version, certainty):
    data = recorded(version)
    data = data.replace(b'"agent-framework-openai": "1.10.0"', b'"y": "1"').replace(
        b'"agent-framework-anthropic": "1.0.0b260630"', b'"z": "1"'
    )
    folder = recordings.BUNDLED / "provider-tool-approval/1.0.0rc7/unpatched"
    first = (folder / "01-ask.har").read_bytes().replace(b"agent-framework-", b"other-")
    found = wb.check(wb.load(first, data)).known
    assert [one.certainty for one in found] == certainty


def test_command_and_reports_say_it(root, tmp_path):
    capture = str(root / "traces/provider-tool-lost.har")
    run = CliRunner().invoke
    words = "known: provider-tool-approval (affected"
    text = " ".join(run(app, ["check", capture]).stdout.split())
    assert words in text
    assert "See it: workbench replay provider-tool-approval" in text
    told = json.loads(run(app, ["check", capture, "--format", "json"]).stdout)["known"]
    assert [one["name"] for one in told] == ["provider-tool-approval"]
    assert told[0]["evidence"][0]["path"]
    assert set(told[0]["rules"]) == {"result-placeholder", "approval-not-executed"}
    for form in ("md", "html"):
        assert words in run(app, ["report", capture, "--format", form, "-o", "-"]).stdout.replace("\\", "")


def test_it_costs_no_import_of_replays(root):
    code = "import sys, workbench as wb; wb.check(wb.load('sample:provider-tool-lost')).known[0]; print([m for m in sys.modules if m.startswith('workbench.replay')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "agent-framework-" * 100_000,
        'agent-framework" ' * 100_000,
        '"name" ' * 100_000,
        "agent-framework==" + "1" * 10**6,
    ],
)
def test_texts_that_look_like_names_of_packages_cost_no_time(root, tmp_path, text):
    har = json.loads((root / "traces/duplicate-starts.har").read_text(encoding="utf-8"))
    har["log"]["comment"] = text
    path = tmp_path / "capture.har"
    path.write_text(json.dumps(har))
    begun = time.process_time()
    assert [one.name for one in wb.check(wb.load(str(path))).known] == ["duplicate-tool-call-start"]
    assert time.process_time() - begun < 5
