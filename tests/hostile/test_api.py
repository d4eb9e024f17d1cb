"""Rules that fail, and other uses of the library that nobody planned."""

from __future__ import annotations

import json
import os

import pytest
from hostile_captures import call, finished, jsonl, started

import workbench as wb
from workbench.findings import Finding
from workbench.rules import RULES, rule

FAULTY = jsonl([started(), *call("c", end=False), finished()])


@pytest.fixture
def added():
    """Registers a rule with that body, and takes it out again."""

    def add(check):
        check.__doc__ = "A rule of somebody else."
        rule("odd-rule", code="ODD001", severity="info")(check)

    yield add
    RULES.pop("odd-rule", None)


def raises(trace):
    yield Finding("found before it failed", evidence=trace.evidence(0))
    raise RuntimeError("\x1b[31m" + "x" * 5000)


def gives_nothing(trace):
    return None


def has_an_unknown_severity(trace):
    return [Finding("x", severity="fatal")]


def gives_texts(trace):
    return ["not a finding"]


@pytest.mark.parametrize("check", [raises, gives_nothing, has_an_unknown_severity, gives_texts])
def test_a_rule_that_fails_hides_nothing_and_is_named(added, check):
    added(check)
    with pytest.warns(RuntimeWarning, match="odd-rule: it failed"):
        found = wb.check(wb.load(FAULTY))
    assert "call-not-closed" in {f.rule for f in found}
    (failed,) = [s for s in found.skipped if s.failed]
    assert failed.rule == "odd-rule"
    assert failed.reason.isprintable()
    assert len(failed.reason) < 300
    assert {"rule": "odd-rule", "reason": failed.reason} in found.to_dict()["skipped"]


def test_what_a_rule_found_before_it_failed_is_kept(added):
    added(raises)
    with pytest.warns(RuntimeWarning):
        found = wb.check(wb.load(FAULTY), select=["odd-rule"])
    assert [f.message for f in found] == ["found before it failed"]


def test_a_rule_may_give_lists_of_ids(added):
    added(
        lambda trace: [
            Finding("x", call_ids=["c"], evidence=[*trace.evidence(0)]),
            Finding("x", call_ids=["c"]),
        ]
    )
    (found,) = wb.check(wb.load(FAULTY), select="odd-rule")
    assert found.call_ids == ("c",)
    json.dumps(found.to_dict())


def test_rows_as_they_come_out_of_a_table():
    trace = wb.load(FAULTY)
    row = trace.calls["asked_event"].iloc[0]
    assert json.loads(trace.raw(row))["type"] == "TOOL_CALL_START"
    assert json.loads(trace.raw(trace.events.index[1]))["type"] == "TOOL_CALL_START"
    for missing in (-1, 99):
        with pytest.raises(IndexError):
            trace.raw(missing)


@pytest.mark.skipif(os.name != "posix", reason="file names are text there")
def test_a_file_name_that_is_no_text(tmp_path):
    (tmp_path / os.fsdecode(b"\xff\x1b[31m.jsonl")).write_bytes(FAULTY)
    trace = wb.load(str(tmp_path))
    found = wb.check(trace)
    assert "\\udcff" in trace.sources["path"].iloc[0]
    assert "\\udcff" in found.frame["evidence"].iloc[0]
    json.dumps(found.to_dict())
    wb.markdown(trace, found).encode()
    wb.sequence_diagram(trace, findings=found).svg.encode()
    assert len(wb.load(f"{tmp_path}/no\udcff.jsonl").problems) == 1
