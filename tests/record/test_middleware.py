"""`wb.record(app)` and `wb.recorder(folder)` around and inside of a real agent-framework app."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import scripted
from scripted import call, run_input, text

import workbench as wb


def run(work):
    """In a thread of its own: a browser test before may have left a loop that runs in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def talk(app, *bodies, url="/agent", headers=None):
    """Post bodies one after another; a callable makes one of the events before."""

    async def all_of_them():
        events: list = []
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://test"
        ) as client:
            for body in bodies:
                response = await client.post(
                    url, json=body(events) if callable(body) else body, headers=headers or {}
                )
                events = [json.loads(x[6:]) for x in response.text.splitlines() if x.startswith("data: ")]
        return events

    return run(all_of_them())


def answer(run_id, **payload):
    def body(events):
        history = next(e for e in events if e["type"] == "MESSAGES_SNAPSHOT")["messages"]
        entries = [
            {"interruptId": i["id"], "status": "resolved", "payload": payload}
            for i in events[-1]["outcome"]["interrupts"]
        ]
        return {**run_input(run=run_id), "messages": history, "resume": entries}

    return body


def recorded(folder, kind=None):
    (path,) = folder.glob("agent-*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in lines if kind in (None, line["kind"])]


def test_an_app_is_recorded_as_it_is(tmp_path):
    made = scripted.agent([[text("Well,"), call("c1", "deploy", target="prod")], [text("Done.")]])
    app = wb.record(scripted.app(made), tmp_path / "rec")
    assert any(getattr(route, "path", "") == "/agent" for route in app.routes)  # the app shows through
    events = talk(
        app, run_input(), answer("run2", approved=True), headers={"Authorization": "Bearer s3cret-s3cret"}
    )
    trace = wb.load(tmp_path / "rec")
    assert trace.events[trace.events.run_id == "run2"].type.tolist() == [e["type"] for e in events]
    assert trace.approvals[["decision", "state"]].values.tolist() == [["approved", "executed"]]
    assert not len(wb.check(trace))
    assert b"s3cret" not in b"".join(p.read_bytes() for p in (tmp_path / "rec").iterdir())


def test_the_function_is_callable_whatever_was_imported_before(tmp_path):
    code = (
        "import workbench.record.exchange, workbench as wb\n"
        f"app = wb.record(print, {str(tmp_path)!r})\n"
        "assert app.app is print and type(app).__name__ == 'RecordingMiddleware'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_app_that_fails_and_a_client_that_leaves_are_told_apart(tmp_path):
    async def fails(scope, receive, send):
        await receive()
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream")],
            }
        )
        await send({"type": "http.response.body", "body": b'data: {"type":"RUN_ST', "more_body": True})
        raise ValueError("no")

    async def waits(scope, receive, send):
        await receive()
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream")],
            }
        )
        assert (await receive())["type"] == "http.disconnect"

    def why(app, folder):
        messages = [
            {"type": "http.request", "body": json.dumps(run_input()).encode(), "more_body": False},
            {"type": "http.disconnect"},
        ]

        async def receive():
            return messages.pop(0)

        async def send(message):
            pass

        scope = {"type": "http", "method": "POST", "path": "/", "headers": [], "query_string": b""}
        with contextlib.suppress(ValueError):
            run(wb.record(app, folder)(scope, receive, send))
        (path,) = folder.iterdir()
        end = json.loads(path.read_text().splitlines()[-1])
        assert not end["complete"]
        assert not wb.load(folder).sources.complete.any()
        return end["why"]

    assert why(fails, tmp_path / "a") == "the server failed: ValueError"
    assert why(waits, tmp_path / "b") == "the client went away"


def test_a_recorder_that_fails_does_not_touch_the_app(tmp_path, capsys, monkeypatch):
    # `wb.record` is the function and hides the package of that name
    exchange = importlib.import_module("workbench.record.exchange")
    monkeypatch.setattr(exchange.AgentExchange, "chunk", lambda *_: 1 / 0)
    made = scripted.agent([[text("Hello")]])
    wb.recorder(tmp_path / "rec").attach(made)
    inside = importlib.import_module("workbench.record.agent_framework")
    monkeypatch.setattr(inside, "_tool", lambda *_: 1 / 0)
    events = talk(wb.record(scripted.app(made), tmp_path / "rec"), run_input())
    assert events[-1]["type"] == "RUN_FINISHED"
    said = capsys.readouterr().err
    assert said.count("ZeroDivisionError") >= 2


def test_the_recorder_writes_what_a_replay_needs(tmp_path):
    from agent_framework_ag_ui import AgentFrameworkAgent

    made = scripted.agent(
        [[call("c1", "look", target="x"), call("c2", "deploy", target="nowhere")], [text("It failed.")]]
    )
    wrapped = AgentFrameworkAgent(made, require_confirmation=False)
    recorder = wb.recorder(tmp_path / "rec")
    assert recorder.attach(wrapped) is wrapped
    recorder.attach(wrapped)
    assert len(made.middleware) == 3
    talk(wb.record(scripted.app(wrapped), tmp_path / "rec"), run_input(), answer("run2", approved=True))
    (versions,) = recorded(tmp_path / "rec", "versions")
    assert versions["packages"]["agent-framework-core"] >= "1.22"
    described = recorded(tmp_path / "rec", "agent")[0]
    assert {t["name"]: (t["approvalMode"], t["declarationOnly"]) for t in described["tools"]} == {
        "deploy": ("always_require", False),
        "look": ("never_require", False),
    }
    assert described["tools"][0]["parameters"]["required"] == ["target"]
    assert (described["requireConfirmation"], described["client"]) == (False, "scripted.Scripted")
    first, second = recorded(tmp_path / "rec", "model-call")
    assert (first["threadId"], first["runId"], second["runId"]) == ("t1", "run1", "run2")
    assert first["options"]["instructions"] == "Be brief."
    (tools,) = recorded(tmp_path / "rec", "tools")
    assert [t["name"] for t in tools["tools"]] == ["deploy", "look"]
    assert first["toolset"] == second["toolset"] == tools["id"]
    updates = [u for u in recorded(tmp_path / "rec", "model-update") if u["id"] == first["id"]]
    assert [u["update"]["contents"][0]["call_id"] for u in updates] == ["c1", "c2"]
    assert all(end["complete"] for end in recorded(tmp_path / "rec", "model-end"))
    executed = {e["callId"]: e for e in recorded(tmp_path / "rec", "execution")}
    ended = {e["callId"]: e for e in recorded(tmp_path / "rec", "execution-end")}
    assert (executed["c2"]["arguments"], executed["c2"]["approved"]) == ({"target": "nowhere"}, True)
    assert ended["c2"]["exception"] == {"type": "RuntimeError", "message": "no such target"}
    if "c1" in ended:
        assert ended["c1"]["result"][0]["text"] == "x is idle"
    trace = wb.load(tmp_path / "rec")
    bodies = [payload.body["messages"] for payload in trace.records.payloads]
    assert bodies[0] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Deploy to prod"},
    ]
    assert {m.get("tool_call_id") for m in bodies[1]} >= {"c2"}
    assert not len(trace.problems)


def test_a_model_that_fails_is_recorded_with_its_exception(tmp_path):
    made = scripted.agent([RuntimeError("POST https://models.test/v1?key=abc-123 failed")])
    wb.recorder(tmp_path / "rec").attach(made)
    with pytest.raises(Exception, match="failed"):
        run(made.run("Hello"))
    (end,) = recorded(tmp_path / "rec", "model-end")
    assert (end["complete"], end["exception"]["type"]) == (False, "RuntimeError")
    assert end["exception"]["message"] == "POST https://models.test/v1?key= failed"


def test_what_takes_no_middleware_is_refused(tmp_path):
    with pytest.raises(TypeError, match="takes no middleware"):
        wb.recorder(tmp_path / "rec").attach(object())
