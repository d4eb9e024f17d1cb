"""The verdicts are what is expected, and they would not be if a patch did nothing or the rules said nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from workbench.findings import Findings
from workbench.replay import arms as running
from workbench.replay import claims, recordings
from workbench.replay.claims import UNSEEN, WORDS
from workbench.replay.engine import releases
from workbench.replay.outcome import WORDS as OUTCOMES
from workbench.replay.record import shown_releases
from workbench.replay.scenarios import expectations, names, scenario
from workbench.report import replays
from workbench.trace import load

ROOT = Path(__file__).resolve().parents[2]
SMALL = "duplicate-tool-call-start"
#: every arm with a patch, by scenario
PATCHED = [(name, arm) for name in names() for arm, told in scenario(name)["arms"].items() if told["patches"]]


def judged(name, folder=None):
    arms = claims.gather(name, folder=folder)
    shown = shown_releases(name)
    return claims.judge(name, arms), claims.survey(name, arms, shown)


@pytest.mark.parametrize("name", names())
def test_all_verdicts_and_outcomes_are_as_expected(name):
    found, surveyed = judged(name)
    claims.gate(name, found, surveyed)
    assert {item.claim.name for item in found} == set(expectations(name)["claims"])
    assert {label for label, _ in surveyed} == {
        label for told in expectations(name)["outcomes"].values() for label in told
    }
    assert all(item.verdict.word in WORDS for item in found)
    assert all(one.word in OUTCOMES for one in surveyed.values())


@pytest.mark.parametrize("name", names())
def test_a_verdict_that_was_not_replayed_rests_on_nothing_else(name):
    for item in judged(name)[0]:
        assert item.verdict.because
        if item.verdict.word != UNSEEN:
            assert item.verdict.arms, item.claim.name


@pytest.mark.parametrize(("name", "arm"), PATCHED)
def test_a_patch_that_does_nothing_is_noticed(name, arm, without_patch):
    found, surveyed = judged(name, without_patch(name, arm))
    with pytest.raises(AssertionError, match="differs from what is expected"):
        claims.gate(name, found, surveyed)
    wrong = [item for item in found if not item.as_expected]
    assert any(label.startswith(arm) for item in wrong for label in item.verdict.arms)


@pytest.mark.parametrize("name", names())
def test_rules_that_say_nothing_are_noticed(name, monkeypatch):
    monkeypatch.setattr(running, "check", Findings)
    found, surveyed = judged(name)
    with pytest.raises(AssertionError, match="differs from what is expected"):
        claims.gate(name, found, surveyed)


def test_no_claim_at_all_is_noticed():
    with pytest.raises(AssertionError, match="no claim was judged"):
        claims.gate(SMALL, [])


def book(name):
    return ROOT / "notebooks" / f"{name.replace('-', '_')}.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_the_notebook_fails_with_it(name, without_patch, tmp_path, monkeypatch):
    """The first patch of each bug as a stand-in: what gate makes of the others is tested above."""
    arm = next(arm for known, arm in PATCHED if known == name)
    monkeypatch.setenv("WORKBENCH_RECORDINGS", str(without_patch(name, arm)))
    assert replays.main([str(book(name)), "-o", str(tmp_path)]) == 1
    suite = ET.parse(tmp_path / "replays.xml").getroot()[0]
    failed = {case.get("name").partition(":")[0] for case in suite if case.find("failure") is not None}
    assert "the notebook runs to its end" in failed
    assert failed & set(expectations(name)["claims"])
    assert "differs from what is expected" in (tmp_path / f"{book(name).stem}.ipynb").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_the_notebook_fails_without_rules(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import workbench.replay.arms as arms\nfrom workbench.findings import Findings\narms.check = Findings\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    assert replays.main([str(book(SMALL)), "-o", str(tmp_path / "out")]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", names())
def test_the_notebook_runs_and_its_page_is_whole(name, tmp_path):
    assert replays.main([str(book(name)), "-o", str(tmp_path)]) == 0
    page = (tmp_path / f"{book(name).stem}.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in page
    assert 'src="http' not in page
    cases = ET.parse(tmp_path / "replays.xml").getroot().findall("testsuite/testcase")
    told = expectations(name)
    assert len(cases) == 1 + len(told["claims"]) + sum(map(len, told["outcomes"].values()))
    assert not [case.get("name") for case in cases if case.find("failure") is not None]
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert f"{len(told['claims'])} of {len(told['claims'])}" in index


@pytest.mark.slow
def test_the_parameters_of_papermill(tmp_path):
    """As papermill passes them on the command line: a text that is a list, and fewer arms."""
    ran = replays.run_one(book(SMALL), tmp_path, {"releases": "['1.7.0']", "arms": "unpatched"})
    assert not ran.failure
    assert {arm["release"] for arm in ran.verdicts["outcomes"]} == {"1.5.0", "1.7.0"}
    rests = {label.partition(",")[0] for claim in ran.verdicts["claims"] for label in claim["arms"]}
    assert rests == {"unpatched"}


@pytest.mark.parametrize("name", names())
def test_every_recording_opens_whole(name):
    """Every file of every arm is read, with all of its records."""
    folders = recordings.folders(name)
    assert folders
    for folder in folders[:: max(1, len(folders) // 12)]:
        trace = load(folder)
        assert not len(trace.problems), folder
        telemetry = {"otlp"} if "telemetry=on" in folder.name else set()
        assert {str(name).partition("-")[0] for name in trace.sources["format"]} == {"har"} | telemetry
        unit = any(word in folder.name for word in ("snippet", "reused", "provider=mcp", "list=", "=source"))
        assert unit or len(trace.events)


@pytest.mark.parametrize("name", names())
def test_recordings_are_small_dated_and_say_their_versions(name):
    note = claims.recorded_note(name)
    assert note["date"]
    assert note["system"]
    for folder in recordings.folders(name):
        for file in folder.glob("*.har"):
            assert file.stat().st_size < 80 * 1024, file
            arm = json.loads(file.read_text(encoding="utf-8"))["log"]["_replay"]["arm"]
            declared = scenario(name)["packages"]
            wanted = {
                p: v for p, v in releases.packages(arm["release"], declared[0]).items() if p in declared
            }
            assert {package: arm["versions"][package] for package in wanted} == wanted
            assert arm["scenario"] == name
            assert arm["name"] in scenario(name)["arms"]
