"""`workbench record` between a client and a server, each a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import psutil
import pytest
from scripted import run_input
from servers import until

import workbench as wb

pytestmark = pytest.mark.slow


@pytest.fixture
def client():
    with httpx.Client(timeout=30, trust_env=False) as made:
        yield made


def events(response):
    return [json.loads(line[6:]) for line in response.text.splitlines() if line.startswith("data: ")]


def lines(folder, kind):
    found = []
    for path in folder.glob("*.jsonl"):
        found += [json.loads(line) for line in path.read_text().splitlines()]
    return [line for line in found if line["kind"] == kind]


def test_an_approval_through_the_proxy_is_whole(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    asked = events(client.post(f"{rec.url}/agent", json=run_input()))
    interrupt = asked[-1]["outcome"]["interrupts"][0]
    history = next(e for e in asked if e["type"] == "MESSAGES_SNAPSHOT")["messages"]
    resume = [{"interruptId": interrupt["id"], "status": "resolved", "payload": {"approved": True}}]
    body = {**run_input(run="run2"), "messages": history, "resume": resume}
    answered = events(client.post(f"{rec.url}/agent", json=body))
    assert rec.stop() == 0
    trace = wb.load(rec.folder)
    assert [e["type"] for e in asked + answered] == trace.events.sort_values(["run_id", "sequence"])[
        "type"
    ].tolist()
    assert trace.calls.set_index("tool").loc["deploy", "result"] == "deployed to prod"
    assert trace.approvals[["decision", "state"]].values.tolist() == [["approved", "executed"]]
    assert trace.requests.status.tolist() == [200, 200]
    assert (trace.events.time_source == "arrival").all()
    assert trace.sources.complete.all()
    assert not len(wb.check(trace))


def test_an_upstream_with_a_path_stands_for_the_root(upstream, recorder, client):
    rec = recorder("--upstream", f"{upstream.url}/agent")
    assert events(client.post(rec.url, json=run_input()))[0]["type"] == "RUN_STARTED"


def test_thousands_of_small_chunks_arrive_and_are_recorded_in_order(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    got = events(client.post(f"{rec.url}/many?n=5000", json=run_input()))
    assert rec.stop() == 0
    assert [e["delta"] for e in got if "delta" in e] == [f"word{n} " for n in range(5000)]
    trace = wb.load(rec.folder)
    recorded = trace.events[trace.events.type == "TEXT_MESSAGE_CONTENT"].text.tolist()
    assert recorded == [f"word{n} " for n in range(5000)]
    assert trace.sources.complete.all()


def test_the_first_events_come_through_while_the_upstream_holds_the_rest(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    with client.stream("POST", f"{rec.url}/silent", json=run_input()) as answer:
        arriving = answer.iter_lines()
        assert "RUN_STARTED" in next(arriving)
        # written too, at once, and the connection is still open
        trace = wb.load(rec.folder)
        assert trace.events.type.tolist()[0] == "RUN_STARTED"
        assert not trace.sources.complete.any()


def test_a_client_that_does_not_read_slows_the_upstream(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    with client.stream("POST", f"{rec.url}/flood", json=run_input()) as answer:
        arriving = answer.iter_raw(1024)  # kept: httpx closes the connection with it
        next(arriving)
        # what the sockets and buffers between hold is taken; then it stands still
        before, now = -1, 0
        while before != now:
            time.sleep(1)
            before, now = now, max((n["flood"] for n in upstream.notes()), default=0)
        assert now < 3000
        assert psutil.Process(rec.process.pid).memory_info().rss < 300 * 2**20
    until(lambda: any(n.get("over") for n in upstream.notes()))


@pytest.mark.parametrize("path", ["silent", "mute"])
def test_a_client_that_goes_away_is_passed_on(upstream, recorder, path):
    rec = recorder("--upstream", upstream.url)
    with (
        httpx.Client(timeout=1, trust_env=False) as impatient,
        pytest.raises(httpx.ReadTimeout),
        impatient.stream("POST", f"{rec.url}/{path}", json=run_input()) as answer,
    ):
        answer.read()
    until(lambda: {"gone": True} in upstream.notes())
    (end,) = until(lambda: lines(rec.folder, "end"))
    assert (end["complete"], end["why"]) == (False, "the client went away")
    assert len(wb.load(rec.folder).requests) == 1


def test_an_upstream_that_dies_is_seen_by_the_client_and_by_the_recording(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    with pytest.raises(httpx.RemoteProtocolError):
        client.post(f"{rec.url}/dies", json=run_input())
    again = client.post(f"{rec.url}/agent", json=run_input(run="run2"))
    assert again.status_code == 502
    assert "cannot be reached" in again.text
    assert rec.stop() == 0
    trace = wb.load(rec.folder)
    assert trace.requests.status.tolist() == [200, 502]
    assert trace.events.type.tolist() == ["RUN_STARTED", "TEXT_MESSAGE_START"]
    assert "the upstream broke off" in trace.sources.note[0]
    # a cut stream is no fault of the agent
    assert not wb.check(trace).at_least("error")


@pytest.mark.parametrize("after", [0.0, 0.05, 0.2, 0.4])
def test_a_recorder_that_is_killed_leaves_whole_lines_and_no_process(upstream, recorder, client, after):
    rec = recorder("--upstream", upstream.url, "--otlp")

    def read():
        with contextlib.suppress(httpx.HTTPError):
            client.post(f"{rec.url}/many?n=100000", json=run_input())

    reading = threading.Thread(target=read)
    reading.start()
    until(lambda: lines(rec.folder, "request"))
    time.sleep(after)
    children = psutil.Process(rec.process.pid).children(recursive=True)
    rec.process.send_signal(signal.SIGKILL)
    rec.process.wait()
    reading.join()
    assert children == []
    for url in rec.urls:
        with pytest.raises(httpx.ConnectError):
            client.get(url)
    trace = wb.load(rec.folder)
    text = next(rec.folder.glob("agui-*")).read_bytes()
    whole = [line for line in text.split(b"\n")[:-1] if b'"kind":"event"' in line]
    assert len(trace.events) == len(whole)
    assert len(trace.problems) == (not text.endswith(b"\n"))
    assert not trace.sources.complete.any()
    assert not wb.check(trace).at_least("error")


def test_asked_to_stop_it_ends_streams_that_are_open(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    with client.stream("POST", f"{rec.url}/silent", json=run_input()) as answer:
        arriving = answer.iter_lines()
        next(arriving)
        assert rec.stop() == 0
    (end,) = lines(rec.folder, "end")
    assert (end["complete"], end["why"]) == (False, "the recorder stopped")
    until(lambda: {"gone": True} in upstream.notes())


SECRETS = {
    "authorization": "Bearer tok-4f2a9c77d1",
    "cookie": "theme=dark; sid=cookie-0123456789abcdef",
    "x-api-key": 'key with "quotes" and ünits',
    "proxy-authorization": "Basic b3BlcmF0b3I6aHVudGVyLTIwNDg=",
}
PLANTED = [
    b"tok-4f2a9c77d1", b"cookie-0123456789abcdef", b"quotes", b"hunter-2048", b"b3BlcmF0b3I6", b"query-77aa88bb",
    b"sig%2Fnature", b"sig/nature", b"cookie-of-the-server-77", b"key-of-the-server-88",
    b"93817264",
]  # fmt: skip


@pytest.mark.parametrize("path", ["echo", "refuse"])
def test_secrets_of_headers_and_queries_are_nowhere_in_the_folder(upstream, recorder, client, path):
    rec = recorder("--upstream", upstream.url, "--provider-upstream", upstream.url)
    query = "api_key=query-77aa88bb&sig=sig%2Fnature&note=private-note&pin_code=1&token=93817264"
    headers = {name: value.encode() for name, value in SECRETS.items()}
    for url in rec.urls:
        response = client.post(f"{url}/{path}?{query}", json=run_input(), headers=headers)
        assert b"tok-4f2a9c77d1" in response.content  # the client is told everything
    assert rec.stop() == 0
    kept = b"".join(file.read_bytes() for file in rec.folder.iterdir())
    assert [secret for secret in PLANTED if secret in kept] == []
    assert b"api_key=&sig=&note=" in kept
    trace = wb.load(rec.folder)
    assert not len(trace.problems)
    assert trace.requests.status.tolist()[0] in (200, 401)


def test_the_password_of_an_upstream_is_used_and_nowhere_else(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url.replace("http://", "http://op:upstream-pass@"))
    assert b"Basic b3A6dXBzdHJlYW0tcGFzcw==" in client.post(f"{rec.url}/refuse", json=run_input()).content
    assert rec.stop() == 0
    kept = b"".join(file.read_bytes() for file in rec.folder.iterdir())
    said = "".join(rec.said) + rec.process.stderr.read()
    for secret in ("upstream-pass", "b3A6dXBzdHJlYW0tcGFzcw=="):
        assert secret.encode() not in kept
        assert secret not in said


def test_a_refusal_is_recorded_with_its_words(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    client.post(f"{rec.url}/refuse", json=run_input())
    assert rec.stop() == 0
    trace = wb.load(rec.folder)
    assert trace.requests.status.tolist() == [401]
    assert "is not known" in trace.records.streams[0].note


def test_what_is_no_exchange_with_an_agent_leaves_nothing(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url)
    assert client.get(f"{rec.url}/health").text == "ok"
    assert client.get(f"{rec.url}/nowhere").status_code == 404
    assert client.post(f"{rec.url}/v1/chat/completions", json={"model": "m"}).status_code == 200
    assert rec.stop() == 0
    assert not len(wb.load(rec.folder).requests)


def test_between_a_server_and_its_provider(upstream, recorder, client):
    rec = recorder("--provider-upstream", upstream.url)
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "A tale"}]}
    answer = client.post(f"{rec.url}/v1/chat/completions", json=body)
    assert answer.text.count("data: ") == 4
    assert client.get(f"{rec.url}/v1/models").json() == {"data": []}
    assert rec.stop() == 0
    trace = wb.load(rec.folder)
    assert trace.sources.format.tolist() == ["provider-recording"]
    (payload,) = trace.records.payloads
    assert payload.body == body
    assert (payload.status, payload.url) == (200, f"{upstream.url}/v1/chat/completions")
    assert "".join(line["text"] for line in lines(rec.folder, "chunk")) == answer.text
    assert len(lines(rec.folder, "request")) == 1


def test_one_command_records_everything_into_one_folder(upstream, recorder, client):
    rec = recorder("--upstream", upstream.url, "--provider-upstream", upstream.url, "--otlp")
    agent, provider, otlp = rec.urls
    client.post(f"{agent}/agent", json=run_input())
    client.post(f"{provider}/v1/chat/completions", json={"model": "m", "messages": []})
    span = {"traceId": "0" * 31 + "1", "spanId": "0" * 15 + "2", "name": "execute_tool deploy",
            "startTimeUnixNano": "1", "endTimeUnixNano": "2"}  # fmt: skip
    export = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert client.post(f"{otlp}/v1/traces", json=export).json() == {}
    assert rec.stop() == 0
    trace = wb.load(rec.folder)
    assert sorted(trace.sources.format) == ["agui-devtools", "otlp", "provider-recording"]
    assert len(trace.spans) == 1
    assert (Path(trace.sources.path[0]).stat().st_mode & 0o077) == 0


def command(*options):
    return subprocess.run(
        [sys.executable, "-m", "workbench", "record", *options], capture_output=True, text=True, timeout=60
    )


def test_another_address_than_loopback_needs_a_flag_that_says_what_it_means(tmp_path):
    done = command("--otlp", "--host", "0.0.0.0", "--folder", str(tmp_path / "rec"))
    assert done.returncode == 2
    assert "--expose" in done.stderr
    assert "everyone who can reach this machine" in done.stderr
    assert not (tmp_path / "rec").exists()


def test_a_port_that_is_taken_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = command("--otlp", "--otlp-port", str(port), "--folder", str(tmp_path / "rec"))
    assert done.returncode == 2
    assert f"port {port} at 127.0.0.1: Address already in use" in done.stderr


@pytest.mark.parametrize("options", [[], ["--upstream", "localhost:8000"], ["--upstream", "http://h/?a=b"]])
def test_nonsense_is_refused(tmp_path, options):
    done = command(*options, "--folder", str(tmp_path / "rec"), "--port", "0")
    assert done.returncode == 2
    assert done.stderr.startswith("workbench: ")
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    done = command("--otlp", "--otlp-port", "0", "--folder", str(tmp_path / "file" / "rec"))
    assert done.returncode == 2
    assert "Not a directory" in done.stderr


def test_help_stays_light():
    code = "import sys, workbench.cli; print([m for m in ('uvicorn', 'httpx', 'starlette', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.stdout.strip() == "[]"
