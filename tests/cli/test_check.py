"""`workbench check`: exit codes, the three outputs, and what is said about unread input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

HEALTHY = "sample:healthy"
FAULTY = "sample:provider-tool-lost"

TOP = {
    "schema",
    "sources",
    "problems",
    "threads",
    "runs",
    "calls",
    "approvals",
    "findings",
    "known",
    "skipped",
}
SOURCE = {"path", "format", "records", "rows", "duplicates", "ignored", "problems", "complete", "note"}
PROBLEM = {"path", "member", "line", "offset", "reason"}
FINDING = {
    "rule", "code", "severity", "place", "thread_id", "run_id", "call_ids", "approval_ids", "other_ids",
    "message", "help", "evidence",
}  # fmt: skip
EVIDENCE = {"path", "member", "record", "line", "offset"}


def events(*extra: dict) -> bytes:
    start = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
    end = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
    return b"".join(json.dumps(event).encode() + b"\n" for event in (start, *extra, end))


def test_healthy_is_0_and_says_what_happened(cli):
    done = cli("check", HEALTHY)
    assert done.code == 0
    assert "Nothing wrong" in done.out
    assert "asked in" in done.out
    assert "answered: " in done.out


def test_findings_are_1_with_file_and_line(cli, tmp_path):
    path = tmp_path / "twice.jsonl"
    start = {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "dig"}
    path.write_bytes(events(start, start, {"type": "TOOL_CALL_END", "toolCallId": "c"}))
    done = cli("check", str(path))
    assert done.code == 1
    assert "call-start-duplicated" in done.out
    assert f"{path}:3" in done.out
    assert "\n  dig  c\n" in done.out


def test_without_requests_an_open_approval_is_not_called_healthy(cli, tmp_path):
    start = {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "dig"}
    ask = {
        "type": "CUSTOM",
        "name": "function_approval_request",
        "value": {"id": "c", "function_call": {"call_id": "c", "name": "dig", "arguments": {}}},
    }
    path = tmp_path / "asked.jsonl"
    path.write_bytes(events(start, {"type": "TOOL_CALL_END", "toolCallId": "c"}, ask))
    out = cli("check", str(path), "--select", "approval-pending").out
    assert "Nothing wrong that can be seen without the requests." in out
    assert "requests carry the answers" in " ".join(out.split())
    assert "without the requests" not in cli("check", HEALTHY).out


def test_a_file_that_is_not_there_is_said_once(cli):
    assert cli("check", "nowhere.sse").err.count("no such file") == 1


@pytest.mark.parametrize(("fail_on", "code"), [("error", 1), ("warning", 1), ("info", 1), ("never", 0)])
def test_fail_on_with_errors(cli, fail_on, code):
    assert cli("check", FAULTY, "--fail-on", fail_on).code == code


def test_fail_on_info_only(cli, tmp_path):
    path = tmp_path / "error.jsonl"
    path.write_text(
        '{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n{"type":"RUN_ERROR","message":"no","code":"X"}\n'
    )
    assert cli("check", str(path)).code == 0
    assert cli("check", str(path), "--fail-on", "info").code == 1


def test_json_has_exactly_the_keys(cli, tmp_path):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(events() + b"{broken\n")
    done = cli("check", FAULTY, str(bad), "--format", "json")
    assert done.out.endswith("}\n")
    assert not done.out.endswith("\n\n")
    told = json.loads(done.out)
    assert set(told) == TOP
    assert told["schema"] == 1
    assert told["findings"]
    assert told["problems"]
    for key, keys in (("sources", SOURCE), ("problems", PROBLEM), ("findings", FINDING)):
        assert all(set(item) == keys for item in told[key]), key
    assert all(set(place) == EVIDENCE for finding in told["findings"] for place in finding["evidence"])


def test_rules_that_cannot_be_asked_are_skipped_with_a_reason(cli):
    told = json.loads(cli("check", "-", "--format", "json", stdin=events()).out)
    assert told["skipped"]
    assert all(set(item) == {"rule", "reason"} and all(item.values()) for item in told["skipped"])
    assert "not asked:" in cli("check", "-", stdin=events()).out


def test_json_is_what_to_dict_gives(cli):
    import workbench as wb

    told = json.loads(cli("check", FAULTY, "--format", "json").out)
    assert told == json.loads(json.dumps(wb.check(wb.load(FAULTY)).to_dict()))


def test_thread_and_call_narrow_the_findings(cli):
    whole = json.loads(cli("check", FAULTY, "--format", "json").out)
    call = next(f["call_ids"][0] for f in whole["findings"] if f["call_ids"])
    thread = whole["findings"][0]["thread_id"]
    by_call = json.loads(cli("check", FAULTY, "--format", "json", "--call", call).out)
    by_thread = json.loads(cli("check", FAULTY, "--format", "json", "--thread", thread).out)
    assert 0 < len(by_call["findings"]) < len(whole["findings"])
    assert all(f in whole["findings"] for f in by_call["findings"])
    assert by_thread["findings"] == [f for f in whole["findings"] if f["thread_id"] == thread]
    assert set(by_call) == TOP
    assert by_call["sources"] == whole["sources"]


@pytest.mark.parametrize("option", ["--thread", "--call"])
def test_an_id_that_is_not_there_is_refused(cli, option):
    done = cli("check", FAULTY, option, "nobody")
    assert done.code == 2
    assert "nobody" in done.err
    assert "known:" in done.err
    assert not done.out


def test_select_and_ignore(cli):
    def rules(*options):
        told = json.loads(cli("check", FAULTY, "--format", "json", *options).out)
        return {finding["rule"] for finding in told["findings"]}

    everything = rules()
    assert rules("--select", "approval-reasked") == {"approval-reasked"}
    assert rules("--select", "approval-reasked,result-placeholder") == {
        "approval-reasked",
        "result-placeholder",
    }
    assert rules("--select", "approval") == {rule for rule in everything if rule.startswith("approval-")}
    assert rules("--ignore", "approval") == {rule for rule in everything if not rule.startswith("approval-")}


@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_an_unknown_rule_is_refused_with_its_neighbours(cli, option):
    done = cli("check", FAULTY, option, "aproval-reasked")
    assert done.code == 2
    assert "approval-reasked" in done.err
    assert not done.out


def test_usage_is_2(cli):
    assert cli("check").code == 2
    assert cli("check", FAULTY, "--format", "xml").code == 2
    assert cli("check", FAULTY, "--fail-on", "fatal").code == 2
    assert cli("nonsense").code == 2


def test_unreadable_alone_is_2(cli, tmp_path):
    done = cli("check", str(tmp_path / "missing.har"))
    assert done.code == 2
    assert "missing.har" in done.err
    noise = tmp_path / "noise.bin"
    noise.write_bytes(bytes(range(256)) * 8)
    assert cli("check", str(noise)).code == 2


def test_unreadable_beside_readable_is_judged_by_findings(cli, tmp_path):
    missing = str(tmp_path / "missing.har")
    for sample, code in ((HEALTHY, 0), (FAULTY, 1)):
        done = cli("check", sample, missing)
        assert done.code == code
        assert "missing.har" in done.err
    told = json.loads(cli("check", HEALTHY, missing, "--format", "json").out)
    assert [problem["path"] for problem in told["problems"]] == [missing]


def test_strict_makes_unread_input_2(cli, tmp_path):
    missing = str(tmp_path / "missing.har")
    done = cli("check", HEALTHY, missing, "--strict", "--format", "json")
    assert done.code == 2
    assert json.loads(done.out)["problems"]
    assert cli("check", HEALTHY, "--strict").code == 0
    assert cli("check", FAULTY, "--strict").code == 1


def test_standard_input(cli):
    done = cli("check", "-", "--format", "json", stdin=events())
    assert done.code == 0
    (source,) = json.loads(done.out)["sources"]
    assert source["rows"] == 2


def test_a_capture_without_events_is_not_called_healthy(cli, tmp_path):
    path = tmp_path / "idle.har"
    path.write_text('{"log":{"version":"1.2","creator":{"name":"x"},"entries":[]}}')
    done = cli("check", str(path))
    assert "Nothing wrong" not in done.out
    assert "Nothing to judge" in done.out


def test_a_cut_capture_is_said(cli):
    assert "incomplete" in cli("check", "sample:cut").err


@pytest.mark.parametrize("shape", ["text", "json", "md"])
def test_no_control_character_reaches_the_terminal(cli, tmp_path, shape):
    evil = "\x1b]0;owned\x07\x1b[31m\u202e\x9b2J\x00"
    path = tmp_path / "evil.jsonl"
    start = {"type": "TOOL_CALL_START", "toolCallId": f"c{evil}", "toolCallName": f"dig{evil}"}
    message = {"type": "TEXT_MESSAGE_CONTENT", "messageId": evil, "delta": evil}
    path.write_bytes(events(start, start, message))
    done = cli("check", str(path), "--format", shape)
    assert done.code == 1
    shown = done.out + done.err + cli("show", str(path)).out
    assert not {c for c in shown if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or c == "\u202e"}


def test_markup_of_rich_is_text(cli, tmp_path):
    path = tmp_path / "markup.jsonl"
    start = {"type": "TOOL_CALL_START", "toolCallId": "[red]c[/red]", "toolCallName": "[link=x]dig :smile:"}
    path.write_bytes(events(start, start))
    done = cli("check", str(path))
    assert "[red]c[/red]" in done.out
    assert ":smile:" in done.out


def test_works_at_80_columns_without_colour(process, traces):
    done = process("check", str(traces / "provider-tool-lost.har"), NO_COLOR="1", COLUMNS="80", TERM="dumb")
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert all(len(line) <= 80 for line in lines if not line.strip().startswith("at "))
    assert b"\x1b" not in done.stdout


def test_ascii_output_is_no_crash(process):
    done = process("check", FAULTY, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 1, done.stderr.decode()


def test_check_imports_neither_pandas_nor_plotly(process):
    import subprocess
    import sys

    code = (
        "import sys; from workbench import cli; sys.argv = ['workbench', 'check', 'sample:healthy']\n"
        "try: cli.main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "heavy = {'pandas', 'numpy', 'plotly', 'jinja2', 'pyarrow'} & set(sys.modules); assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_progress_is_not_written_to_a_pipe(cli):
    assert cli("check", HEALTHY).err == ""


def test_markdown_is_printed_once(cli):
    done = cli("check", FAULTY, "--format", "md")
    assert done.code == 1
    assert done.out.count("```mermaid") == 1
    assert done.out.endswith("\n")
    assert not done.out.endswith("\n\n")


def test_path_with_spaces(cli, tmp_path: Path):
    path = tmp_path / "my capture [1].jsonl"
    path.write_bytes(events())
    assert cli("check", str(path)).code == 0
