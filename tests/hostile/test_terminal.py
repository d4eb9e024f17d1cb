"""What the command line prints of hostile captures: no terminal escape, JSON that is JSON, any width."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

#: what a terminal obeys, or what turns the direction of writing; line ends are ours
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
EVIL = (
    "\x1b[31mred\x1b]8;;http://x\x07y\x1b]52;c;aGk=\x07\r\n\x08\x7f\x9b1m\u202eabc\u2066"
    "[red]x[/red][link=http://x]y[/link]<script>alert(1)</script> é 日本"
)


def _capture(text: str) -> str:
    call = {"toolCallId": text, "messageId": text}
    events = [
        {"type": "CUSTOM", "name": "x", "value": 1},
        {"type": "RUN_STARTED", "threadId": text, "runId": text},
        {"type": "TOOL_CALL_START", "toolCallName": text, **call},
        {"type": "TOOL_CALL_ARGS", "delta": text, **call},
        {"type": "TOOL_CALL_END", **call},
        {"type": "TOOL_CALL_RESULT", "content": text, **call},
        {"type": "TOOL_CALL_RESULT", "content": text + "2", **call},
        {"type": "TOOL_CALL_RESULT", "content": "x", "toolCallId": text + "2", "messageId": text},
        {"type": "STATE_DELTA", "delta": [{"op": "test", "path": text, "value": float("nan")}]},
        {"type": "RUN_ERROR", "message": text, "code": text},
    ]
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.fixture(scope="session")
def evil(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "evil.jsonl"
    path.write_text(_capture(EVIL), encoding="ascii")
    return str(path)


@pytest.fixture(scope="session")
def broken_text(tmp_path_factory):
    """Lone surrogates in every text, and a number that JSON does not have, among as many good lines."""
    path = tmp_path_factory.mktemp("hostile") / "surrogates.jsonl"
    good = '{"type":"CUSTOM","name":"x","value":1}\n'
    bad = [*_capture("a\ud800b\udfff").splitlines(keepends=True)[1:]]
    bad.append('{"type":"TOOL_CALL_RESULT","toolCallId":"n","messageId":"m","content":NaN}\n')
    path.write_text("".join(f"{line}{good}" for line in bad), encoding="ascii")
    return str(path)


COMMANDS = {
    "text": ("check",),
    "json": ("check", "--format", "json"),
    "md": ("check", "--format", "md"),
    "show": ("show",),
    "mermaid": ("show", "--mermaid"),
    "svg": ("show", "--svg", "-"),
}


@pytest.fixture(scope="module")
def cli():
    """`cli(*arguments)`: exit code, standard output and standard error of the command line in this process."""
    from typer.testing import CliRunner

    from workbench.cli import app

    def run(*arguments):
        result = CliRunner().invoke(app, list(arguments))
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return SimpleNamespace(code=result.exit_code, out=result.stdout, err=result.stderr)

    return run


def _run(cli, name, path):
    command, *options = COMMANDS[name]
    return cli(command, path, *options)


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_of_a_capture_acts_in_a_terminal(cli, evil, name):
    done = _run(cli, name, evil)
    assert done.code in (0, 1)
    assert not ACTS.findall(done.out + done.err)
    assert "red" in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_lone_surrogates_are_written_out(cli, broken_text, name):
    done = _run(cli, name, broken_text)
    assert done.code in (0, 1)
    done.out.encode()


def test_json_is_json_whatever_the_capture_holds(cli, broken_text, evil):
    for path in (broken_text, evil):
        done = cli("check", path, "--format", "json")
        assert done.code in (0, 1)
        assert done.out.isascii()
        result = json.loads(done.out, parse_constant=pytest.fail)
        assert result["findings"]
        assert all(finding["evidence"] for finding in result["findings"])


@pytest.mark.parametrize("columns", ["0", "1", "20", "wide"])
@pytest.mark.parametrize("name", ["text", "show"])
def test_narrow_terminals_get_an_answer(cli, evil, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("LINES", "0")
    done = _run(cli, name, evil)
    assert done.code in (0, 1)
    assert not ACTS.findall(done.out)
    assert "red" in "".join(done.out.split())


def test_ids_on_the_command_line_are_shown_harmlessly(cli, evil):
    for option in ("--thread", "--call", "--select"):
        done = cli("check", evil, option, "\x1b[31m\udcff")
        assert done.code == 2
        assert done.err.startswith("workbench: ")
        assert not ACTS.findall(done.out + done.err)


def test_a_rule_that_fails_is_named_and_exits_with_2(cli, monkeypatch):
    from workbench.rules import all_rules, registry

    def fail(trace):
        raise RuntimeError("\x1b[31mboom")

    rules = {
        **all_rules(),
        "demo-broken": registry.Rule("demo-broken", "ZZZ001", "error", "thread", (), fail),
    }
    monkeypatch.setattr("workbench.rules.all_rules", lambda: rules)
    done = cli("check", "sample:mixed-decisions", "--format", "json")
    assert done.code == 2
    assert len(json.loads(done.out)["findings"]) > 1
    assert "demo-broken" in done.err
    assert not ACTS.findall(done.err)


def test_an_interrupt_of_the_user_is_no_failing_rule(monkeypatch):
    from workbench import load
    from workbench.rules import all_rules, check, registry

    def stop(trace):
        raise KeyboardInterrupt

    rules = {**all_rules(), "demo-stop": registry.Rule("demo-stop", "ZZZ001", "error", "thread", (), stop)}
    monkeypatch.setattr("workbench.rules.all_rules", lambda: rules)
    with pytest.raises(KeyboardInterrupt):
        check(load("sample:healthy"))
