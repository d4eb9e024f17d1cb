"""From a recorded conversation to a replay: derivation, gate, guard, verdicts, and the file that is kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import workbench as wb
from workbench.cli import app
from workbench.commands.recorded import overrides
from workbench.replay.capture import calibrate as gate
from workbench.replay.capture import file, normal
from workbench.replay.capture.calibrate import Calibrated, Exact
from workbench.replay.capture.exchanges import Exchange
from workbench.replay.capture.findings import Seen
from workbench.replay.capture.readings import Reading, readings
from workbench.replay.capture.running import Run
from workbench.replay.capture.tools import INVENTED
from workbench.replay.capture.verdicts import GONE, INJECTED, OPEN, SAME, Verdict, judge, together
from workbench.replay.engine.errors import BuildError, ReplayError
from workbench.replay.guest.turns import FILLER, Turns
from workbench.replay.recordings import BUNDLED, steps

LOST = BUNDLED / "provider-tool-approval" / "1.0.0rc7" / "unpatched"
DOUBLED = BUNDLED / "duplicate-tool-call-start" / "1.5.0" / "unpatched"


def exchange(tmp_path, *pairs):
    """A capture of requests and responses."""
    entries = [
        {
            "request": {
                "method": "POST",
                "url": "http://a.invalid/run",
                "postData": {"text": json.dumps(request)},
            },
            "response": {
                "status": 200,
                "content": {
                    "mimeType": "text/event-stream",
                    "text": "".join(f"data: {json.dumps(event)}\n\n" for event in events),
                },
            },
        }
        for request, events in pairs
    ]
    path = tmp_path / "capture.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {"name": "t"}, "entries": entries}}))
    return wb.load(str(path))


def asked(number, *messages, **more):
    return {"threadId": "t", "runId": f"r{number}", "state": {}, "messages": list(messages), "tools": [], "context": [],
            "forwardedProps": {}, **more}  # fmt: skip


def ran(number, *events):
    started = {"type": "RUN_STARTED", "threadId": "t", "runId": f"r{number}"}
    return [started, *events, {"type": "RUN_FINISHED", "threadId": "t", "runId": f"r{number}"}]


def called(call, tool, *pieces):
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool, "parentMessageId": "m"},
        *({"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": piece} for piece in pieces),
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def gave(call, content):
    return {"type": "TOOL_CALL_RESULT", "messageId": f"of-{call}", "toolCallId": call, "content": content}


def said(text):
    return {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text}


HELLO = {"id": "u1", "role": "user", "content": "How deep is the lock?"}


def test_a_model_call_begins_after_a_result_of_the_same_run(tmp_path):
    events = ran(
        1, *called("c1", "sound", '{"at": ', '"gate"}'), gave("c1", "3 m"), said("3 m "), said("deep.")
    )
    made = wb.scenario_from(exchange(tmp_path, (asked(1, HELLO), events)))
    first, second = made.spec["model"]["turns"][0]
    assert first["contents"] == [
        {"call": "c1", "name": "sound", "arguments": '{"at": '},
        {"call": "c1", "name": "", "arguments": '"gate"}'},
    ]
    assert second["contents"] == [{"text": "3 m "}, {"text": "deep."}]
    (tool,) = made.spec["tools"]
    assert (tool["calls"], tool["gated"]) == ({"c1": {"result": "3 m"}}, False)


def test_a_whole_call_that_is_started_again_was_emitted_again(tmp_path):
    start = called("c1", "sound", "{}")[0]
    events = ran(1, *called("c1", "sound", "{}"), start)
    made = wb.scenario_from(exchange(tmp_path, (asked(1, HELLO), events)))
    assert made.spec["model"]["turns"] == [
        [{"contents": [{"call": "c1", "name": "sound", "arguments": "{}"}]}]
    ]


@pytest.mark.parametrize(
    ("result", "stub"),
    [
        ("3 m", {"result": "3 m"}),
        ("Error: Function failed. Exception: no rope", {"error": "no rope"}),
        ("Error: Tool call invocation failed.", None),
        ("Error: Tool call invocation was rejected by user.", None),
        ("Tool execution skipped - user provided follow-up message", None),
    ],
)
def test_what_the_framework_writes_is_no_result_of_the_tool(tmp_path, result, stub):
    made = wb.scenario_from(
        exchange(tmp_path, (asked(1, HELLO), ran(1, *called("c1", "sound", "{}"), gave("c1", result))))
    )
    (tool,) = made.spec["tools"]
    assert tool["calls"] == ({} if stub is None else {"c1": stub})
    assert tool["result"] == INVENTED
    assert any(a.about == "result of c1" for a in made.assumptions) == (stub is None)


def test_a_tool_that_was_not_found_is_not_declared(tmp_path):
    result = gave("c1", "Error: Requested function sound not found.")
    made = wb.scenario_from(
        exchange(tmp_path, (asked(1, HELLO), ran(1, *called("c1", "sound", "{}"), result)))
    )
    assert made.spec["tools"] == []


def asked_about(call, tool):
    value = {"id": f"i-{call}", "function_call": {"call_id": call, "name": tool, "arguments": {}}}
    return {"type": "CUSTOM", "name": "function_approval_request", "value": value}


def answered(tmp_path, result):
    """A call that a person was asked about, and what came after the answer."""
    first = ran(1, *called("c1", "sound", "{}"), asked_about("c1", "sound"))
    return exchange(tmp_path, (asked(1, HELLO), first), (asked(2, HELLO), ran(2, gave("c1", result))))


def test_a_tool_that_was_asked_about_is_there_also_if_it_was_not_found(tmp_path):
    made = wb.scenario_from(answered(tmp_path, "Error: Requested function sound not found."))
    (tool,) = made.spec["tools"]
    assert (tool["origin"], tool["gated"], tool["calls"]) == ("provider", True, {})


def test_an_error_after_an_approval_may_be_the_tools_or_not(tmp_path):
    trace = answered(tmp_path, "Error: no rope.")
    made = wb.scenario_from(trace)
    kinds = {reading.doubt for reading in readings(made.spec, made.open)}
    assert kinds == {False, True}
    given = [r.applied(made.spec)["tools"][0]["calls"] for r in readings(made.spec, made.open) if r.doubt]
    assert given == [{}] * len(given)
    assert any(a.about == "error of c1" for a in made.assumptions)
    told = wb.scenario_from(trace, overrides=overrides(["tools.sound.calls.c1=Error: no rope."]))
    assert {reading.doubt for reading in readings(told.spec, told.open)} == {False}


def test_an_error_without_an_approval_is_the_tools(tmp_path):
    trace = exchange(
        tmp_path, (asked(1, HELLO), ran(1, *called("c1", "sound", "{}"), gave("c1", "Error: no rope.")))
    )
    made = wb.scenario_from(trace)
    assert {reading.doubt for reading in readings(made.spec, made.open)} == {False}


def test_an_error_of_the_framework_is_not_said_by_the_model(tmp_path):
    for code, turns in (("APPROVAL_RESUME_INVALID", 0), ("ChatClientException", 1)):
        error = {"type": "RUN_ERROR", "code": code, "message": "no"}
        made = wb.scenario_from(exchange(tmp_path, (asked(1, HELLO), [ran(1)[0], error])))
        assert len(made.spec["model"]["turns"][0]) == turns


def test_answers_name_their_call_and_histories_the_step():
    made = wb.scenario_from(wb.load(*map(str, sorted(LOST.glob("*.har")))))
    second = made.spec["steps"][1]
    assert second["answers"] == [
        {"call": "call_file_access_write_1", "accepted": True, "payload": {"accepted": True}}
    ]
    assert second["form"] == "call-result"
    assert second["request"]["messages"]["view"] == 0
    assert len(second["request"]["messages"]["then"]) == 1
    assert made.spec["tools"][0]["origin"] == "provider"
    assert [a for a in made.assumptions if not a.evidence] == []


def test_an_interrupt_is_looked_up_in_the_run():
    folder = BUNDLED / "provider-tool-approval" / "1.7.0" / "unpatched,model=scripted"
    made = wb.scenario_from(wb.load(*map(str, sorted(folder.glob("*.har")))))
    assert made.spec["steps"][1]["request"]["resume"][0]["interruptId"] == {
        "$id": ["interrupt", "call_file_access_write_1"]
    }


def test_what_the_user_says_settles_what_is_open(tmp_path):
    trace = exchange(tmp_path, (asked(1, HELLO), ran(1, *called("c1", "sound", "{}"))))
    free = wb.scenario_from(trace)
    assert len(readings(free.spec, free.open)) > 3
    told = overrides(
        [
            "tools.sound.origin=provider",
            "tools.sound.gated=true",
            "tools.sound.calls.c1=3 m",
            "agent.kind=plain",
        ]
    )
    made = wb.scenario_from(trace, overrides=told)
    assert made.spec["tools"][0]["calls"] == {"c1": {"result": "3 m"}}
    assert {r.tools["sound"] for r in readings(made.spec, made.open)} == {("provider", True)}
    assert {r.kind for r in readings(made.spec, made.open)} == {"plain"}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"tool": {}}, "nothing is called 'tool'"),
        ({"agent": {"kind": "odd"}}, "kind is one of"),
        ({"tools": {"sound": {"colour": 1}}}, "have no 'colour'"),
        ({"tools": {"dig": {"gated": True}}}, "no tool of the capture is called dig"),
    ],
)
def test_what_cannot_be_said_is_refused(tmp_path, given, why):
    trace = exchange(tmp_path, (asked(1, HELLO), ran(1, *called("c1", "sound", "{}"))))
    with pytest.raises(ReplayError, match=why):
        wb.scenario_from(trace, overrides=given)


def test_without_requests_there_is_nothing_to_say_again(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in ran(1, said("Hello."))))
    with pytest.raises(ReplayError, match="no request"):
        wb.scenario_from(wb.load(str(path)))


def test_passing_ids_are_numbered_and_everything_else_counts():
    def lines(message, text, call="c1"):
        events = [{"type": "TOOL_CALL_START", "toolCallId": call, "parentMessageId": message}, said(text)]
        return normal.exact([Exchange({}, 200, events)], ["c1"])

    assert lines("a", "x") == lines("b", "x")
    assert lines("a", "x") != lines("a", "y")
    assert lines("a", "x", "c1") != lines("a", "x", "c2")


# ---------------------------------------------------------------- the guard


def history(result):
    call = {"id": "c1", "type": "function", "function": {"name": "sound", "arguments": "{}"}}
    given = [] if result is None else [{"role": "tool", "tool_call_id": "c1", "content": result}]
    return [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        *given,
    ]


def guarded(**turn):
    made = Turns([[{"contents": [{"call": "c1", "name": "sound", "arguments": "{}"}]}],
                  [{"contents": [{"text": "Once more."}], "input": {"c1": "failed"}, **turn}]])  # fmt: skip
    made.begin()
    made.answer([{"role": "user", "content": "?"}])
    made.begin()
    return made


def test_the_same_input_gets_the_recorded_answer():
    turns = guarded()
    assert turns.answer(history("failed"))["contents"] == [{"text": "Once more."}]
    turns.end()
    assert not turns.diverged


@pytest.mark.parametrize("result", ["3 m", None])
def test_another_input_gets_a_filler_and_the_reason_is_told(result):
    turns = guarded()
    assert turns.answer(history(result))["contents"] == [{"text": FILLER}]
    assert "was told 'failed'" in turns.diverged


def test_a_refusal_without_its_cause_is_not_said_again():
    turns = guarded(when="refused")
    turns.answer(history("failed"))
    assert "has no reason to" in turns.diverged


def test_a_call_too_many_and_one_too_few_are_noticed():
    turns = guarded()
    turns.end()
    assert "was not called" in turns.diverged
    turns = guarded()
    turns.answer(history("failed"))
    turns.answer(history("failed"))
    assert "once more" in turns.diverged


# ---------------------------------------------------------------- the gate and the verdicts


class Repeats:
    """A workshop that gives recorded runs, whatever the spec."""

    def __init__(self, folder, **changes):
        self.folder, self.changes = folder, changes

    def run(self, release, specs):
        return [Run(release, spec, self.folder, **self.changes) for spec in specs]


def test_events_of_another_release_do_not_pass_the_gate():
    scenario = wb.scenario_from(wb.load(*map(str, sorted(LOST.glob("*.har")))))
    other = BUNDLED / "provider-tool-approval" / "1.7.0" / "unpatched,model=scripted"
    kept = gate.calibrate(scenario, "1.7.0", Repeats(other))
    assert not kept.reproduced
    assert any(line.startswith("-") for line in kept.difference)
    assert kept.on("1.5.0", Repeats(other)).verdicts == []
    with pytest.raises(ReplayError, match="not reproduced"):
        kept.save(Path("never.json"))


class Course:
    """A run as the verdicts see it."""

    release = "x"

    def __init__(self, findings, *, diverged="", steps=2, events=(), turns=((), ())):
        self.findings = findings
        self.diverged, self.error = diverged, ""
        self.steps = [None] * steps
        self.exchanges = [Exchange({}, 200, list(events), list(range(len(events))))]
        self.spec = {"steps": [{}, {}], "model": {"turns": [list(turn) for turn in turns]}}
        self.inputs = [[], []]


def seen(rule, *calls, step=0, row=-1):
    return Seen(rule, calls, step, 0, "error", "", row)


STARTED = {"type": "TOOL_CALL_START", "toolCallId": "c1"}


def word(finding, course):
    return judge([finding], course)[0][0].word


def test_verdicts_need_what_they_rest_on():
    fault = seen("result-placeholder", "c1", step=1)
    assert word(fault, Course([fault])) == SAME
    assert word(fault, Course([])) == GONE
    assert word(fault, Course([], diverged="other")) == OPEN
    assert word(fault, Course([], diverged="other", events=[STARTED])) == OPEN
    assert word(fault, Course([], diverged="other", events=[STARTED, gave("c1", "3 m")])) == GONE
    placeholder = gave("c1", "Error: Tool call invocation failed.")
    assert word(fault, Course([], diverged="other", events=[STARTED, placeholder])) == OPEN


def test_what_is_missing_at_an_early_end_is_no_finding():
    fault = seen("call-unanswered", "c1", step=0)
    assert word(fault, Course([fault], diverged="other", events=[STARTED])) == OPEN
    assert judge([], Course([fault], diverged="other", events=[STARTED]))[1] == []


def test_an_error_that_the_replay_brings_along_is_injected():
    error = {"contents": [{"error": {"code": "X", "message": ""}}]}
    fault = seen("run-error", step=1)
    assert word(fault, Course([fault], turns=((), (error,)))) == INJECTED
    assert word(fault, Course([fault], turns=((), ({**error, "when": "refused"},)))) == SAME


def test_what_was_missing_at_the_end_is_only_gone_if_it_came():
    pending = seen("approval-pending", "c1", step=0)
    assert word(pending, Course([], diverged="other", events=[STARTED])) == OPEN
    assert word(pending, Course([], diverged="other", events=[STARTED, gave("c1", "3 m")])) == GONE
    assert word(pending, Course([])) == GONE


def test_a_second_answer_is_another_matter():
    """The first refusal is gone and the second still there: two occurrences, though of one call."""
    first, second = seen("approval-refused", "c1", step=1), seen("approval-refused", "c1", step=2)
    assert first.key != second.key
    assert word(first, Course([second])) == GONE
    assert seen("result-placeholder", "c1", step=1).key == seen("result-placeholder", "c1", step=2).key


def test_an_endpoint_that_stores_threads_is_tried_last():
    folder = BUNDLED / "provider-tool-approval" / "1.0.0rc7" / "unpatched,snapshots=on"
    scenario = wb.scenario_from(wb.load(*map(str, sorted(folder.glob("*.har")))))
    other = folder.with_name("option-1")
    asked = []

    class Silent(Run):
        """A recording says nothing of what a guest says of its model."""

        inputs = ()

    class Stores(Repeats):
        """Gives the recording where snapshots are stored, else another one."""

        def run(self, release, specs):
            stored = [spec["endpoint"].get("snapshots", False) for spec in specs]
            asked.append(set(stored))
            return [
                Silent(release, spec, folder if kept else other)
                for spec, kept in zip(specs, stored, strict=True)
            ]

    kept = gate.calibrate(scenario, "1.0.0rc7", Stores(folder))
    assert kept.reproduced
    assert all(exact.reading.stored for exact in kept.exact)
    assert asked == [{False}, {True}]


def test_the_release_of_a_recording_is_found_among_several():
    folder = BUNDLED / "provider-tool-approval" / "1.7.0" / "unpatched,model=scripted"
    scenario = wb.scenario_from(wb.load(*map(str, sorted(folder.glob("*.har")))))
    left = []

    class Silent(Run):
        inputs = ()

    class Releases:
        """Two releases do what was recorded, one does something else, and one cannot be built."""

        def run(self, release, specs):
            if release == "1.2.2":
                raise BuildError("no versions that fit\nmore words")
            shown = folder if release in ("1.6.0", "1.7.0") else LOST
            return [Silent(release, spec, shown) for spec in specs]

        def leave(self, release):
            left.append(release)

    kept = gate.calibrate(scenario, "1.0.0, 1.2.2, 1.6.0,1.7.0", Releases())
    assert kept.recorded_on == "1.6.0, 1.7.0"
    assert len(kept.exact) == len({str(exact.reading) for exact in kept.exact})
    assert left == ["1.0.0", "1.2.2", "1.6.0", "1.7.0"]
    none = gate.calibrate(scenario, "1.0.0,1.2.2", Releases())
    assert not none.reproduced
    assert none.difference[0] == "nearest on 1.0.0:"
    assert gate.calibrate(scenario, "any", Releases()).recorded_on == "1.6.0, 1.7.0"


def test_readings_that_disagree_decide_nothing():
    fault = seen("result-placeholder", "c1")
    assert together([[Verdict(fault, SAME)], [Verdict(fault, GONE)]])[0].word == OPEN
    assert together([[Verdict(fault, GONE)], [Verdict(fault, GONE)]])[0].word == GONE


# ---------------------------------------------------------------- the file


@pytest.fixture
def kept():
    scenario = wb.scenario_from(wb.load(*map(str, sorted(DOUBLED.glob("*.har")))))
    inputs = [[{"results": {}, "refusal": None} for _ in turns] for turns in scenario.spec["model"]["turns"]]
    return Calibrated(scenario, "1.5.0", [Exact(Reading("plain"), inputs)], 3)


def test_a_kept_scenario_needs_no_capture(kept, tmp_path):
    kept.save(tmp_path / "kept.json")
    again, expected = file.read(tmp_path / "kept.json")
    assert again.exact == kept.exact
    assert again.scenario.events == kept.scenario.events
    assert [f.key for f in again.scenario.findings] == [f.key for f in kept.scenario.findings]
    severities = {f.key: f.severity for f in kept.scenario.findings}
    assert {key for key, word in expected.items() if word == "absent"} == {
        key for key, severity in severities.items() if severity != "info"
    }


def test_a_file_of_a_stranger_brings_no_code(kept, tmp_path):
    path = tmp_path / "kept.json"
    kept.save(path)
    told = json.loads(path.read_text())
    told["spec"] |= {"patches": ["/tmp/evil.py"], "spies": [{}], "skills": [{}]}
    told["spec"]["steps"][0]["unit"] = "raise SystemExit"
    told["spec"]["agent"]["middleware"] = ["x"]
    path.write_text(json.dumps(told))
    spec = file.read(path)[0].exact[0].spec(file.read(path)[0].scenario)
    assert not {"patches", "spies", "skills"} & set(spec)
    assert "unit" not in spec["steps"][0]
    assert spec["agent"] == {"kind": "plain"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda told: told | {"format": "x"}, "is no recorded scenario"),
        (lambda told: told | {"version": 9}, "of version 9"),
        (lambda told: told | {"spec": {}}, "was changed so that it cannot be read"),
        (lambda told: told | {"readings": [{"kind": "plain", "tools": {}, "idle": False, "inputs": []}]}, "cannot be read"),
    ],
)  # fmt: skip
def test_a_broken_file_is_said(kept, tmp_path, change, why):
    path = tmp_path / "kept.json"
    kept.save(path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    done = CliRunner().invoke(app, ["replay", str(path), "--release", "1.5.0"])
    assert done.exit_code == 2
    assert why in done.stderr


@pytest.mark.slow
def test_a_recording_is_judged_on_another_release_and_kept(environment, tmp_path):
    for release in ("1.0.0rc7", "1.7.0"):
        environment(release)
    path = tmp_path / "kept.json"
    done = CliRunner().invoke(
        app, ["replay", "--from", str(LOST), "--recorded-on", "1.0.0rc7", "--override", "agent.kind=plain",
              "--release", "1.7.0", "-o", str(path)]
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert "exact on 1.0.0rc7: 2 of" in done.stdout
    assert "gone           result-placeholder call_file_access_write_1" in done.stdout
    assert "not decidable  result-placeholder call_file_access_write_2" in done.stdout
    again = CliRunner().invoke(app, ["replay", str(path), "--release", "1.0.0rc7"])
    assert again.exit_code == 1
    assert "every event as recorded" in again.stdout
    other = CliRunner().invoke(app, ["replay", "--from", str(LOST), "--recorded-on", "1.7.0"])
    assert other.exit_code == 2
    assert "not reproduced on 1.7.0" in other.stdout


def test_a_conversation_may_have_more_than_99_steps(tmp_path):
    for number in (1, 2, 99, 100, 101, 1000):
        (tmp_path / f"{number:02}-step-{number}.har").write_text("{}")
    (tmp_path / "10x-other.har").write_text("{}")
    numbers = [int(step.path.name.partition("-")[0]) for step in steps(tmp_path)]
    assert numbers == [1, 2, 99, 100, 101, 1000]
