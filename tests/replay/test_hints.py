"""What the recorder inside of an agent, and telemetry, settle of a recorded conversation."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import agent_framework as af
import httpx
import pytest

import workbench as wb
from tests.record import scripted
from workbench.replay.capture.readings import readings

FROM_RECORDER, FROM_TELEMETRY = "the agent's recording", "tool_map"


def _provider(*tools):
    class Provider(af.ContextProvider):
        async def before_run(self, *, agent, session, context, state):
            context.extend_tools(self.source_id, list(tools))

    return Provider("mine")


def _agent(kind, provided, target):
    chat = scripted.Scripted(
        [[scripted.call("c1", "look", target="prod"), scripted.call("c2", "deploy", target=target)], [scripted.text("Done.")]]
    )  # fmt: skip
    tools = [scripted.look] if provided else [scripted.look, scripted.deploy]
    providers = [_provider(scripted.deploy)] if provided else []
    if kind == "harness":
        return af.create_harness_agent(
            chat, name="operator", tools=tools, context_providers=providers,
            disable_web_search=True, disable_compaction=True,
        )  # fmt: skip
    middleware = [af.ToolApprovalMiddleware()] if kind == "approval-middleware" else []
    return af.Agent(
        client=chat, name="operator", tools=tools, context_providers=providers, middleware=middleware
    )


def _events(response):
    return [json.loads(line[5:]) for line in response.text.split("\n") if line.startswith("data:")]


async def _talk(app):
    """Ask, and approve what comes back."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://app.invalid") as http:
        first = _events(await http.post("/agent", json=scripted.run_input()))
        interrupts = first[-1]["outcome"]["interrupts"]
        history = next(e["messages"] for e in first if e["type"] == "MESSAGES_SNAPSHOT")
        answers = [
            {"interruptId": i["id"], "status": "resolved", "payload": {"accepted": True}} for i in interrupts
        ]
        await http.post(
            "/agent", json=scripted.run_input(run="run2") | {"messages": history, "resume": answers}
        )


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A conversation with a recorder inside of the agent and one around the app."""
    # a harness keeps files of its own beside the process
    monkeypatch.chdir(tmp_path)

    def record(kind="plain", *, provided=False, target="prod"):
        folder = tmp_path / "recording"
        agent = wb.recorder(folder).attach(_agent(kind, provided, target))
        talk = _talk(wb.record(scripted.app(agent), folder))
        # a browser test before this one may have left a loop in the main thread
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, talk).result()
        return wb.load(str(folder))

    return record


def _tool(made, name):
    return next(tool for tool in made.spec["tools"] if tool["name"] == name)


@pytest.mark.parametrize("kind", ["plain", "approval-middleware", "harness"])
@pytest.mark.parametrize("provided", [False, True])
def test_a_recorder_in_the_agent_leaves_nothing_open(recorded, kind, provided):
    made = wb.scenario_from(recorded(kind, provided=provided))
    assert made.spec["agent"]["kind"] == kind
    assert made.open == {}
    assert len(readings(made.spec, made.open)) == 1
    deploy, look = _tool(made, "deploy"), _tool(made, "look")
    assert (deploy["origin"], deploy["gated"]) == ("provider" if provided else "static", True)
    assert (look["origin"], look["gated"]) == ("static", False)
    assert deploy["calls"] == {"c2": {"result": "deployed to prod"}}
    evidence = {a.about: a.evidence for a in made.assumptions}
    assert evidence["agent, kind"] == evidence["tool deploy, origin"] == FROM_RECORDER
    assert made.versions["agent-framework-ag-ui"]


def test_the_exception_that_the_wire_hides_is_in_the_recording(recorded):
    trace = recorded(target="nowhere")
    assert _tool(wb.scenario_from(trace), "deploy")["calls"] == {"c2": {"error": "no such target"}}


def test_the_user_has_the_last_word(recorded):
    trace = recorded("harness")
    made = wb.scenario_from(
        trace, overrides={"agent": {"kind": "plain"}, "tools": {"deploy": {"origin": "provider"}}}
    )
    assert made.spec["agent"]["kind"] == "plain"
    assert _tool(made, "deploy")["origin"] == "provider"


def test_two_agents_in_one_recording_say_nothing_about_the_kind(recorded):
    trace = recorded("plain")
    (path,) = [Path(s.path) for s in trace.records.sources if s.format == "agent-recording"]
    with path.open(encoding="utf-8") as file:
        line = next(told for told in map(json.loads, file) if told["kind"] == "agent")
    line |= {"id": "a99", "middleware": ["agent_framework._harness._tool_approval.ToolApprovalMiddleware"]}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    made = wb.scenario_from(wb.load(*{source.path for source in trace.records.sources}))
    assert made.open == {"agent": ["kind"]}


# ---------------------------------------------------------------- telemetry


def _attributes(**told):
    return [{"key": key.replace("__", "."), "value": {"stringValue": value}} for key, value in told.items()]


def _telemetry(*, own=None, lines=(), result=None, error=None):
    """An agent's span, a tool's span and log lines of one run of the thread `t`."""
    trace = "0a" * 16
    agent = {
        "gen_ai__operation__name": "invoke_agent", "gen_ai__conversation__id": "t",
        **({} if own is None else {"gen_ai__tool__definitions": json.dumps([{"type": "function", "name": n} for n in own])}),
    }  # fmt: skip
    spans = [{"traceId": trace, "spanId": "01" * 8, "name": "invoke_agent a", "kind": 1, "startTimeUnixNano": "1000000000",
              "endTimeUnixNano": "2000000000", "attributes": _attributes(**agent), "status": {}}]  # fmt: skip
    if result is not None or error is not None:
        told = {
            "gen_ai__operation__name": "execute_tool",
            "gen_ai__tool__name": "deploy",
            "gen_ai__tool__call__id": "c2",
        }
        told |= {} if result is None else {"gen_ai__tool__call__result": result}
        told |= {} if error is None else {"error__type": "RuntimeError", "exception__message": error}
        status = {"code": 2, "message": error} if error is not None else {}
        spans.append({"traceId": trace, "spanId": "02" * 8, "parentSpanId": "01" * 8, "name": "execute_tool deploy", "kind": 1,
                      "startTimeUnixNano": "1200000000", "endTimeUnixNano": "1300000000",
                      "attributes": _attributes(**told), "status": status})  # fmt: skip
    logs = [{"timeUnixNano": str(1_400_000_000 + n), "traceId": trace, "spanId": "01" * 8, "body": {"stringValue": line}}
            for n, line in enumerate(lines)]  # fmt: skip
    scope = {"name": "agent_framework"}
    return (
        json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": scope, "spans": spans}]}]})
        + "\n"
        + json.dumps({"resourceLogs": [{"resource": {}, "scopeLogs": [{"scope": scope, "logRecords": logs}]}]})
        + "\n"
    )  # fmt: skip


def _capture(tmp_path, telemetry):
    """A call that a person was asked about and agreed to, without its result on the wire."""
    call = [{"type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "deploy", "parentMessageId": "m"},
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c2", "delta": "{}"}, {"type": "TOOL_CALL_END", "toolCallId": "c2"}]  # fmt: skip
    asked = {
        "type": "CUSTOM",
        "name": "function_approval_request",
        "value": {"id": "i1", "function_call": {"call_id": "c2", "name": "deploy", "arguments": {}}},
    }
    finished = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r1"}
    request = {"threadId": "t", "runId": "r1", "messages": [{"id": "u", "role": "user", "content": "Go."}], "state": {},
               "tools": [], "context": [], "forwardedProps": {}}  # fmt: skip
    events = [{"type": "RUN_STARTED", "threadId": "t", "runId": "r1"}, *call, asked, finished]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    entry = {
        "request": {
            "method": "POST",
            "url": "http://a.invalid/run",
            "postData": {"text": json.dumps(request)},
        },
        "response": {"status": 200, "content": {"mimeType": "text/event-stream", "text": body}},
    }
    (tmp_path / "capture.har").write_text(json.dumps({"log": {"version": "1.2", "entries": [entry]}}))
    (tmp_path / "telemetry.jsonl").write_text(telemetry)
    return wb.scenario_from(wb.load(str(tmp_path / "capture.har"), str(tmp_path / "telemetry.jsonl")))


MAP = "_try_execute_function_calls: tool_map keys=['look', 'deploy'], approval_tools={'deploy'}"
TOOLS = ("[TOOLS] Agent has 1 configured tools", "[TOOLS]   - look: approval_mode=never_require")


@pytest.mark.parametrize(
    ("told", "origin"),
    [
        ({"own": ["look", "deploy"]}, "static"),
        ({"own": ["look"], "lines": [MAP]}, "provider"),
        ({"lines": [*TOOLS, MAP]}, "provider"),
        (
            {
                "lines": [
                    "[TOOLS] Agent has 1 configured tools",
                    "[TOOLS]   - deploy: approval_mode=always_require",
                ]
            },
            "static",
        ),
    ],
)
def test_telemetry_tells_where_a_tool_comes_from(tmp_path, told, origin):
    made = _capture(tmp_path, _telemetry(**told))
    assert _tool(made, "deploy")["origin"] == origin
    assert "origin" not in made.open.get("deploy", [])


@pytest.mark.parametrize("told", [{}, {"lines": [MAP]}])
def test_without_a_list_of_its_own_tools_the_origin_stays_open(tmp_path, told):
    assert "origin" in _capture(tmp_path, _telemetry(**told)).open["deploy"]


def test_a_list_that_is_cut_short_is_no_list(tmp_path):
    telemetry = _telemetry(own=["look"], lines=[MAP]).replace('\\"look\\"}]', '\\"lo')
    assert "origin" in _capture(tmp_path, telemetry).open["deploy"]


def test_a_tool_map_tells_what_is_gated(tmp_path):
    evidence = {a.about: a for a in _capture(tmp_path, _telemetry(lines=[MAP])).assumptions}
    assert FROM_TELEMETRY in evidence["tool deploy, gated"].evidence
    assert evidence["tool deploy, gated"].assumed == "True"


def test_a_span_knows_the_result_that_the_wire_does_not_show(tmp_path):
    deploy = _tool(_capture(tmp_path, _telemetry(result="deployed")), "deploy")
    assert deploy["calls"] == {"c2": {"result": "deployed"}}


def test_a_span_knows_why_a_tool_failed(tmp_path):
    deploy = _tool(_capture(tmp_path, _telemetry(error="no such target")), "deploy")
    assert deploy["calls"] == {"c2": {"error": "no such target"}}


# ---------------------------------------------------------------- the gate, live


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "approval-middleware", "harness"])
def test_what_was_recorded_here_is_said_again_by_the_same_release(recorded, environment, kind):
    """One reading alone, and it is exact: the agent of a replay is built as the recorder described the real one."""
    made = wb.scenario_from(recorded(kind, provided=True))
    release = made.versions["agent-framework-ag-ui"]
    environment(release)
    kept = made.calibrate(release)
    assert kept.reproduced, kept.difference
    assert kept.tried == 1
    assert kept.exact[0].reading.kind == kind
    assert kept.on(release).exact
