"""Two traces beside each other: ids numbered, so that only what differs is shown."""

from __future__ import annotations

import workbench as wb
from workbench.replay.compare import lines

ONE = (
    'data: {"type":"RUN_STARTED","threadId":"t","runId":"r-1"}\n\n'
    'data: {"type":"TOOL_CALL_START","toolCallId":"a","toolCallName":"save"}\n\n'
    'data: {"type":"TOOL_CALL_ARGS","toolCallId":"a","delta":"{}"}\n\n'
    'data: {"type":"TOOL_CALL_END","toolCallId":"a"}\n\n'
    'data: {"type":"TOOL_CALL_RESULT","toolCallId":"a","messageId":"m","content":"done"}\n\n'
    'data: {"type":"RUN_FINISHED","threadId":"t","runId":"r-1"}\n\n'
)


def trace(text: str) -> wb.Trace:
    return wb.load(text.encode())


def test_other_ids_are_no_difference():
    other = ONE.replace('"a"', '"call_9"').replace("r-1", "r-2").replace('"t"', '"u"').replace('"m"', '"n"')
    found = wb.compare(trace(ONE), trace(other))
    assert found.differences == 0
    assert "no difference" in repr(found)
    assert [str(line) for line in lines(trace(ONE))][1] == "run1 TOOL_CALL_START save call1"


def test_what_differs_is_shown():
    other = ONE.replace('"done"', '"failed"').replace(
        'data: {"type":"TOOL_CALL_END","toolCallId":"a"}\n\n', ""
    )
    found = wb.compare(trace(ONE), trace(other), names=("good", "bad"))
    assert [what for what, _, _ in found.rows] == ["same", "same", "same", "removed", "changed", "same"]
    assert found.text.split("\n")[:2] == ["--- good", "+++ bad"]
    assert "- run1 TOOL_CALL_END call1" in found.text
    assert (
        "- run1 TOOL_CALL_RESULT call1 message1 done\n+ run1 TOOL_CALL_RESULT call1 message1 failed"
        in found.text
    )


def test_the_order_counts():
    swapped = ONE.replace('"type":"TOOL_CALL_ARGS","toolCallId":"a","delta":"{}"', "X").replace(
        '"type":"TOOL_CALL_END","toolCallId":"a"', '"type":"TOOL_CALL_ARGS","toolCallId":"a","delta":"{}"'
    )
    assert (
        wb.compare(
            trace(ONE), trace(swapped.replace("X", '"type":"TOOL_CALL_END","toolCallId":"a"'))
        ).differences
        == 2
    )


def test_snapshots_are_compared_by_what_they_say():
    snapshot = 'data: {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"%s","role":"tool","toolCallId":"a","content":"%s"}]}\n\n'
    end = 'data: {"type":"RUN_FINISHED"'
    texts = [
        ONE.replace(end, snapshot % pair + end) for pair in (("m", "done"), ("x", "done"), ("m", "lost"))
    ]
    first, same, other = map(trace, texts)
    assert wb.compare(first, same).differences == 0
    assert wb.compare(first, other).differences == 1


def test_it_shows_itself_as_table_and_two_ladders():
    bundle = wb.compare(trace(ONE), trace(ONE))._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/html"].count("data:image/svg+xml;base64,") == 2


def test_nothing_of_a_capture_acts():
    evil = ONE.replace("done", "<script>alert(1)</script>")
    assert "<script>" not in wb.compare(trace(ONE), trace(evil)).html


def test_arms_bring_their_names():
    arms = [
        wb.replay("duplicate-tool-call-start", arm=arm, mode="recorded").run()
        for arm in ("unpatched", "start-once")
    ]
    found = wb.compare(*arms)
    assert found.names == ("unpatched on 1.5.0", "start-once on 1.5.0")
    removed = [left.kind for what, left, _ in found.rows if what == "removed"]
    assert removed.count("TOOL_CALL_START") == 2
