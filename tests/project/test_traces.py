"""The bundled captures are well formed by the standard library alone, without the workbench's readers."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

LARGEST = 40 * 1024
EVENT = re.compile(r"[A-Z]+(_[A-Z]+)+|CUSTOM|RAW")


def sse_events(text: str) -> list[dict[str, Any]]:
    frames = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(frame) for frame in frames]


def exchanges(path: Path) -> list[tuple[dict[str, Any] | None, list[dict[str, Any]]]]:
    """Requests and the events that answered them."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sse":
        if path.name == "cut.sse":
            text = text[: text.rindex("data: ")]
        return [(None, sse_events(text))]
    if path.suffix == ".har":
        found = []
        for entry in json.loads(text)["log"]["entries"]:
            content = entry["response"]["content"]
            body = content["text"]
            if content.get("encoding") == "base64":
                body = base64.b64decode(body).decode()
            assert content["size"] == len(body.encode())
            events = sse_events(body)
            messages = entry.get("_eventSourceMessages")
            if messages is not None:
                assert len(messages) == len(events)
                data = [json.loads(message["data"]) for message in messages if "data" in message]
                assert data in ([], events)
            found.append((json.loads(entry["request"]["postData"]["text"]), events))
        return found
    found = []
    for line in text.splitlines():
        record = json.loads(line)
        if record["kind"] == "request":
            found.append((record["input"], []))
        elif record["kind"] == "event":
            found[-1][1].append(record["event"])
    return found


def test_it_is_small_and_has_events(trace_path: Path) -> None:
    assert trace_path.stat().st_size <= LARGEST
    events = [event for _, answered in exchanges(trace_path) for event in answered]
    assert 5 <= len(events) <= 80
    assert all(EVENT.fullmatch(event["type"]) for event in events)


def test_requests_and_runs_belong_together(trace_path: Path) -> None:
    for request, events in exchanges(trace_path):
        assert events[0]["type"] == "RUN_STARTED"
        if request is not None:
            assert events[0]["threadId"] == request["threadId"]
            assert events[0]["runId"] == request["runId"]
        if trace_path.name != "cut.sse":
            assert events[-1]["type"] in {"RUN_FINISHED", "RUN_ERROR"}


def test_only_the_cut_capture_is_cut(traces: Path) -> None:
    last = (traces / "cut.sse").read_text(encoding="utf-8").rsplit("data: ", 1)[1]
    with pytest.raises(json.JSONDecodeError):
        json.loads(last)


def test_every_capture_has_ids_of_its_own(traces: Path) -> None:
    threads = Counter(
        next(event["threadId"] for event in exchanges(path)[0][1] if event["type"] == "RUN_STARTED")
        for path in sorted(traces.iterdir())
        if path.suffix not in (".md", ".zip")
    )
    # the two captures of one conversation with two releases are told apart by their threads, too
    assert set(threads.values()) == {1}


def test_duplicate_starts_holds_the_fault(traces: Path) -> None:
    (_, first), (request, second) = exchanges(traces / "duplicate-starts.har")
    for kind in ("TOOL_CALL_START", "TOOL_CALL_END"):
        one, two, *rest = [event["toolCallId"] for event in first if event["type"] == kind]
        assert rest == [one, two]
    assert request is not None
    calls = [call for message in request["messages"] for call in message.get("toolCalls", [])]
    assert [call["id"] for call in calls] == [one, two, one, two]
    assert {call["function"]["arguments"] for call in calls} == {""}
    assert second[-1]["type"] == "RUN_ERROR"


def test_provider_tool_lost_holds_the_fault(traces: Path) -> None:
    asked = []
    for _, events in exchanges(traces / "provider-tool-lost.har"):
        results = [event["content"] for event in events if event["type"] == "TOOL_CALL_RESULT"]
        assert results in ([], ["Error: Tool call invocation failed."])
        asked += events[-1]["outcome"]["interrupts"]
    assert len(asked) == len({interrupt["id"] for interrupt in asked}) == 3
    shown = [interrupt["metadata"]["agent_framework"]["function_call"]["arguments"] for interrupt in asked]
    assert shown[0] == shown[1] == shown[2]


def test_the_table_names_every_capture_once(traces: Path) -> None:
    readme = (traces / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([^`]+\.[^`]+)` \|", readme, re.MULTILINE)
    assert sorted(named) == sorted(path.name for path in traces.iterdir() if path.suffix != ".md")
