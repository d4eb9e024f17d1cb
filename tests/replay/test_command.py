"""`workbench replay`, on recordings, and the reports of the notebooks."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.report import replays
from workbench.report.replays import Ran


def run(*arguments):
    return CliRunner().invoke(app, ["replay", *arguments])


def test_without_a_name_it_lists_what_there_is():
    done = run()
    assert done.exit_code == 0
    for word in (
        "provider-tool-approval",
        "option-1",
        "agent: plain, no-static-tools",
        "1.7.0",
        "start-unknown-ids-only: Start",
    ):
        assert word in done.stdout


def test_a_recorded_arm_is_told_step_by_step():
    done = run("provider-tool-approval", "--recorded")
    assert done.exit_code == 0
    assert (
        "2. approve, answered as call-result\n   asks a person about call_file_access_write_2" in done.stdout
    )
    assert "unpatched: affected" in done.stdout
    assert "agent-framework-core 1.10.0" in done.stdout
    assert "result-placeholder" in done.stdout


def test_a_fix_is_told_with_what_was_executed():
    done = run("provider-tool-approval", "--recorded", "--arm", "option-1", "--fail")
    assert done.exit_code == 0
    assert "executed file_access_write (call_file_access_write_1): File 'harvest.md' written." in done.stdout


def test_fail_makes_an_affected_arm_exit_with_1():
    assert run("duplicate-tool-call-start", "--recorded", "--fail").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "no replay is called 'nothing'"),
        (["provider-tool-approval", "--arm", "x"], "has no arm 'x'"),
        (["provider-tool-approval", "--release", "0.1"], "no release 0.1"),
        (["provider-tool-approval", "-O", "agent"], "is not of the form --option AXIS=VALUE"),
        (
            ["provider-tool-approval", "--recorded", "-O", "agent=harness", "-O", "form=resume"],
            "there is no recording of",
        ),
        (["provider-tool-approval", "--package", "agent-framework-ag-ui=/nowhere.whl"], "is not there"),
    ],
)
def test_what_cannot_be_is_said_with_exit_code_2(arguments, said):
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_name_is_a_function_and_a_package():
    import workbench.replay.compare
    from workbench.replay import arms

    assert wb.replay.compare is workbench.replay.compare
    made = wb.replay("duplicate-tool-call-start", mode="recorded")
    assert isinstance(made, arms.Replay)
    assert (made.left, made.steps) == (2, [])


def test_an_arm_shows_only_what_was_done():
    arm = wb.replay("provider-tool-approval", mode="recorded")
    arm.step()
    assert len(arm.trace.runs) == 1
    assert not arm.effects
    arm.run()
    assert len(arm.trace.runs) == 3
    assert {"result-placeholder", "approval-reasked"} <= {finding.rule for finding in arm.findings}


CLAIM = {
    "name": "c",
    "text": "It <breaks>.",
    "verdict": "holds",
    "because": "seen",
    "expected": "holds",
    "arms": [],
}
ARM = {"arm": "unpatched", "release": "1.0", "outcome": "affected", "expected": "affected"}


def cases(run: Ran) -> dict[str, bool]:
    suite = ET.fromstring(replays.junit([run])).find("testsuite")
    assert int(suite.get("tests")) == len(suite)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    return {case.get("name"): case.find("failure") is not None for case in suite}


def test_junit_has_a_case_per_claim_and_arm():
    good = Ran("n", "N", 1.0, verdicts={"claims": [CLAIM], "outcomes": [ARM]})
    assert cases(good) == {
        "the notebook runs to its end": False,
        "c: It <breaks>.": False,
        "unpatched on 1.0": False,
    }
    bad = Ran(
        "n",
        "N",
        1.0,
        verdicts={
            "claims": [{**CLAIM, "verdict": "does not hold"}],
            "outcomes": [{**ARM, "outcome": "clean"}],
        },
    )
    assert list(cases(bad).values()) == [False, True, True]
    unknown = Ran("n", "N", 1.0, verdicts={"claims": [], "outcomes": [{**ARM, "expected": ""}]})
    assert list(cases(unknown).values()) == [False, False]


def test_a_notebook_that_died_is_a_failure():
    assert cases(Ran("n", "N", 1.0, failure="cell 3 was not executed: the kernel died")) == {
        "the notebook runs to its end": True
    }


def test_the_index_escapes_what_it_names():
    page = replays.index([Ran("n", "<b>N</b>", 1.0, verdicts={"claims": [CLAIM], "mode": "live"})])
    assert "<b>N" not in page
    assert "1 of 1" in page


def test_a_killed_kernel_and_a_missing_notebook(tmp_path):
    """By hand and not by papermill's marks: the notebook ends in the middle."""
    book = tmp_path / "dies.ipynb"
    source = (replays.notebooks()[0]).read_text(encoding="utf-8")
    book.write_text(
        source.replace("story.environment()", "import os\\nos.kill(os.getpid(), 9)"), encoding="utf-8"
    )
    assert replays.main([str(book), "-o", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out" / "index.html").exists()
    assert "failure" in (tmp_path / "out" / "replays.xml").read_text(encoding="utf-8")
