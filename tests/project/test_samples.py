"""The workbench says about the bundled captures what their README promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import workbench as wb

# calls that are not synthetic with result class; approvals with decision and state
FATES = {
    "healthy.sse": (["find_train ok"], []),
    "approval.har": (["pay_invoice ok"], ["approved executed"]),
    "rejection.har": (["cancel_subscription refusal"], ["rejected answered"]),
    "edited-approval.agui.jsonl": (["send_email ok"], ["edited executed"]),
    "parallel-approvals.har": (
        ["delete_branch ok", "delete_branch refusal"],
        ["approved executed", "rejected answered"],
    ),
    "mixed-decisions.har": (
        ["delete_branch none", "delete_branch refusal"],
        ["approved lost", "rejected reasked"],
    ),
    "provider-tool-lost.har": (
        ["save_note placeholder", "save_note placeholder", "save_note none"],
        ["approved reasked", "approved reasked", "none open"],
    ),
    "duplicate-starts.har": (["set_map_center ok", "show_layer ok"], []),
    "cut.sse": (["read_meter ok", "read_meter none"], []),
    "client-tools.har": (["read_selection ok", "replace_text ok", "add_comment ok"], []),
    "langgraph-interrupt.jsonl": (["order_material ok"], ["approved answered"]),
    "garden.sse": (
        ["read_soil ok", "read_soil ok", "open_valve none", "open_valve refusal"],
        ["none open", "rejected reasked"],
    ),
    "garden-aspire.zip": (
        ["read_soil ok", "read_soil ok", "open_valve none", "open_valve refusal"],
        ["approved lost", "rejected reasked"],
    ),
    "refused-history.jsonl": (["check_stock ok", "order_part ok"], []),
    "dotnet-approval.har": (["BookRoom ok"], ["approved executed"]),
}


def promises(root: Path) -> dict[str, str]:
    """The last cell of the README's table, by file."""
    text = (root / "traces" / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([^`]+\.[^`]+)` \|.*\| ([^|]+) \|$", text, re.MULTILINE))


def test_fates_of_calls_and_approvals(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    real = trace.calls[trace.calls["synthetic_for"].isna()]
    calls = (real["tool"] + " " + real["result_class"]).tolist()
    approvals = (trace.approvals["decision"] + " " + trace.approvals["state"]).tolist()
    assert (calls, approvals) == FATES[trace_path.name]


def test_telemetry_tells_the_same_and_what_was_answered(traces: Path) -> None:
    trace = wb.load(traces / "garden-aspire.zip")
    calls = (trace.calls["tool"] + " " + trace.calls["result_class"]).tolist()
    approvals = (trace.approvals["decision"] + " " + trace.approvals["state"]).tolist()
    assert (calls, approvals) == FATES["garden-aspire.zip"]
    both = wb.load(traces / "garden.sse", traces / "garden-aspire.zip")
    assert (both.approvals["decision"] + " " + both.approvals["state"]).tolist() == approvals
    assert set(both.spans["joined"]) == {"call id"}


def test_nothing_is_left_unread(trace_path: Path) -> None:
    trace = wb.load(trace_path)
    source = trace.sources.iloc[0]
    assert source["records"] == source["rows"] + source["duplicates"] + source["ignored"] + source["problems"]
    cut = trace_path.name == "cut.sse"
    assert bool(source["complete"]) is not cut
    assert source["problems"] == len(trace.problems) == int(cut)


def test_findings_are_those_that_the_readme_names(root: Path, trace_path: Path) -> None:
    promise = promises(root)[trace_path.name]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", promise))
    findings = wb.check(wb.load(trace_path))
    found = {finding.rule for finding in findings}
    loud = {finding.rule for finding in findings.at_least("warning")}
    assert named <= found
    assert loud <= named
    if promise.startswith("nothing wrong"):
        assert not loud


@pytest.mark.parametrize("name", ["healthy", "healthy.sse", "edited-approval", "langgraph-interrupt"])
def test_samples_open_by_name(name: str) -> None:
    assert len(wb.load(f"sample:{name}").events) > 0
