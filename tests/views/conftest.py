"""Captures for the views: written here event by event, loaded like any other."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb

Event = dict[str, Any]


def sse(*events: Event) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def run(*events: Event, run_id: str = "r1", thread: str = "th") -> list[Event]:
    ids = {"threadId": thread, "runId": run_id}
    return [{"type": "RUN_STARTED", **ids}, *events, {"type": "RUN_FINISHED", **ids}]


def call(call_id: str, tool: str, arguments: str = "{}", result: str | None = "ok") -> list[Event]:
    events: list[Event] = [
        {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": tool},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call_id, "delta": arguments},
        {"type": "TOOL_CALL_END", "toolCallId": call_id},
    ]
    if result is not None:
        events.append(
            {
                "type": "TOOL_CALL_RESULT",
                "messageId": f"m-{call_id}",
                "toolCallId": call_id,
                "content": result,
            }
        )
    return events


def said(message_id: str, *deltas: str) -> list[Event]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": message_id, "role": "assistant"},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": message_id, "delta": delta} for delta in deltas),
        {"type": "TEXT_MESSAGE_END", "messageId": message_id},
    ]


LONG = "a label of eighty characters that no column is wide enough for, so it must wrap."
RTL = "מחק את הענף release/2.4 עכשיו — احذف الفرع الآن (100%)"
EMOJI = "削除しますか？👩‍👩‍👧‍👦🏳️‍🌈 全部の枝を削除してから報告を書いてください。👍🏽👍🏽👍🏽"
SCRIPTS = "ﷺ ﷽ நிறுவனங்களுடன் ကြိုက်နှစ်သက်မှု ᬓᬾᬢᬶᬓᬂ ꦏꦺꦴꦏꦺꦴ 𒀱𒀱𒀱 ЩЩЩЩЖЖЖ ΩΩΩ — W̷̛͎̺̎W̸̧̏W"
EVIL = "</text></svg><script>alert(1)</script>]]>\x00\x08\x1b[31m\u202eevil\u2066\ud800&amp;\"'`%%{init}%%;#35;\nend"


@pytest.fixture(scope="session")
def make() -> Callable[..., wb.Trace]:
    """A trace of events, given as lists of them."""
    return lambda *groups: wb.load(sse(*(event for group in groups for event in group)))


def _hard() -> dict[str, list[Event]]:
    tools = [f"tool_number_{n}_with_a_rather_long_name" for n in range(10)]
    texts = (LONG, RTL, EMOJI, SCRIPTS, EVIL, "W" * 400, "@" * 90, "")
    return {
        "labels of 80 characters": run(*call("c1", LONG, json.dumps({"q": LONG}), LONG), *said("m1", LONG)),
        "12 participants": run(*(e for n, tool in enumerate(tools) for e in call(f"call-{n}", tool, LONG, LONG))),
        "20 tools": run(*(e for n in range(20) for e in call(f"call-{n}", f"t{n}" * 9))),
        "right to left": run(*call(RTL, RTL, json.dumps({RTL: RTL}, ensure_ascii=False), RTL), *said(RTL, RTL), run_id=RTL, thread=RTL),
        "200 folded deltas": run(*said("m1", *("word " for _ in range(200)))),
        "wide letters": run(*call(EMOJI, EMOJI, EMOJI, EMOJI), *said("m", SCRIPTS, EMOJI), run_id=SCRIPTS, thread=EMOJI),
        "hostile": run(
            *(e for n, text in enumerate(texts) for e in call(f"{n}{text}", text, text, text)),
            *(e for n, text in enumerate(texts) for e in said(f"m{n}{text}", text)),
            {"type": "CUSTOM", "name": EVIL, "value": {EVIL: EVIL}}, {"type": EVIL},
            {"type": "STEP_STARTED", "stepName": EVIL}, {"type": "RAW", "event": EVIL, "source": EVIL},
            {"type": "RUN_ERROR", "message": EVIL, "code": EVIL},
            run_id=EVIL, thread=EVIL,
        ),
    }  # fmt: skip


@pytest.fixture(scope="session")
def hard(make: Callable[..., wb.Trace]) -> dict[str, wb.Trace]:
    """What is hard to draw, by name."""
    return {name: make(events) for name, events in _hard().items()}


@pytest.fixture(scope="session")
def approval() -> wb.Trace:
    """A capture with times, an approval and several runs."""
    return wb.load("sample:parallel-approvals")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "hard_name" in metafunc.fixturenames:
        metafunc.parametrize("hard_name", list(_hard()))
