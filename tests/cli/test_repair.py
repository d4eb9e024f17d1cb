"""`workbench check --repair`: shown in every form, and pointed at where a provider would refuse."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from workbench.cli import app

CALL = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
HOSTILE = "\x1b[31m|`"
BODY = {"model": "m", "messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "", "tool_calls": [CALL]},
                                   {"role": "user", "content": "and?"}, {"role": "tool", "tool_call_id": HOSTILE, "content": HOSTILE},
                                   {"role": "user", "content": "so?"}]}  # fmt: skip


def run(*arguments: str):
    return CliRunner().invoke(app, ["check", *arguments])


def payload(tmp_path) -> str:
    path = tmp_path / "payload.json"
    path.write_text(json.dumps(BODY), encoding="utf-8")
    return str(path)


def test_the_text_tells_each_suggestion_with_its_reason(tmp_path):
    done = run(payload(tmp_path), "--provider", "openai-chat", "--repair")
    assert done.exit_code == 1
    assert "OpenAI Chat Completions: repair of the payload (list 0)" in done.stdout
    assert "R11  placeholder: insert behind messages[1]" in done.stdout
    assert "R12  drop messages[3]" in done.stdout
    assert "put the true one here" in done.stdout
    assert "\x1b[31m" not in done.stdout
    assert "--repair" not in done.stdout


def test_without_it_the_output_points_at_it_where_there_is_something_to_repair(tmp_path):
    assert "the same command with --repair" in run(payload(tmp_path), "--provider", "openai-chat").stdout
    assert "--repair" not in run("sample:healthy").stdout


def test_json_has_the_repairs_only_where_they_are_asked_for(tmp_path):
    given = json.loads(
        run(payload(tmp_path), "--provider", "openai-chat", "--repair", "--format", "json").stdout
    )
    (repair,) = given["repairs"]
    assert [(s["rule"], s["action"], s["placeholder"]) for s in repair["suggestions"]] == [
        ("R11", "insert", True), ("R12", "drop", False)]  # fmt: skip
    assert repair["suggestions"][0]["becomes"]["tool_call_id"] == "c1"
    assert repair["unmended"] == []
    assert "repairs" not in json.loads(run(payload(tmp_path), "--format", "json").stdout)
    nothing = json.loads(
        run("sample:healthy", "--provider", "anthropic", "--repair", "--format", "json").stdout
    )
    assert nothing["repairs"] == []


def test_markdown_has_them_as_a_table(tmp_path):
    text = run(payload(tmp_path), "--provider", "openai-chat", "--repair", "--format", "md").stdout
    table = text[text.index("## Repairs") :]
    assert "| openai-chat | R12 |" in table
    assert "\x1b" not in table


def test_one_call_or_one_thread_only(tmp_path):
    path = payload(tmp_path)
    assert "R11" in run(path, "--provider", "openai-chat", "--repair", "--call", "c1").stdout
    sample = ("sample:refused-history", "--provider", "anthropic", "--repair", "--format", "json")
    thread = json.loads(run(*sample).stdout)["repairs"][0]["thread_id"]
    assert json.loads(run(*sample, "--thread", thread).stdout)["repairs"]


def test_lists_that_share_a_repair_are_told_once(tmp_path):
    """Every request says the history again, with the same fault in it."""
    called = {"id": "a1", "role": "assistant", "toolCalls": [CALL]}
    said = [
        {"id": "u1", "role": "user", "content": "go"},
        called,
        {"id": "u2", "role": "user", "content": "and?"},
    ]
    given = {"threadId": "t", "tools": [], "context": [], "state": {}, "forwardedProps": {}}
    lines = [
        {"runId": "r1", "messages": said, **given},
        {"runId": "r2", "messages": [*said, {"id": "u3", "role": "user", "content": "so?"}], **given},
    ]
    path = tmp_path / "requests.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    text = run(str(path), "--provider", "openai-chat", "--repair").stdout
    assert text.count("OpenAI Chat Completions: repair of the request") == 1
    assert "of run r2 (list 1), and 1 list before it" in text


def test_nothing_to_repair():
    assert "Nothing to repair" in run("sample:healthy", "--provider", "anthropic", "--repair").stdout


def test_a_refusal_without_a_repair_says_why(tmp_path):
    path = tmp_path / "payload.json"
    path.write_text(
        json.dumps({"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": "9"}]})
    )
    said = run(str(path), "--provider", "openai-chat", "--repair").stdout
    assert "R12  no honest repair: the user says nothing in this list" in said
