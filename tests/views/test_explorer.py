"""The explorer without its page: what is asked, what is answered, and the still form."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import workbench as wb
from workbench.views.explorer import choice, flow, record
from workbench.views.explorer.search import Search
from workbench.views.explorer.session import Session

from .conftest import call, run, said

SAMPLE = "sample:mixed-decisions"


def session(*traces: wb.Trace) -> Session:
    return Session([(f"trace {n}", trace, wb.check(trace)) for n, trace in enumerate(traces)])


def view(open_session: Session, **asked: Any) -> dict[str, Any]:
    answer = open_session.answer({"op": "view", **asked})
    json.dumps(answer)
    return answer


def steps(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in answer["ladder"]["rows"] if row["k"] == "step"]


@pytest.fixture
def mixed() -> Session:
    return session(wb.load(SAMPLE))


@pytest.fixture
def two_threads(make: Callable[..., wb.Trace]) -> Session:
    first = run(
        *call("c-one", "lookup", '{"city": "Bergen"}', "rain"),
        *said("m1", "it ", "rai", "ns"),
        thread="north",
    )
    started = call("c-two", "delete", '{"branch": "old"}', None)
    second = run(started[0], *started, run_id="r2", thread="south")
    return session(make(first, second))  # fmt: skip


def test_the_first_view_is_the_thread_with_the_worst_finding(two_threads: Session) -> None:
    start = two_threads.start()
    worst = [thread["worst"] for thread in start["view"]["threads"]["rows"]]
    assert worst[1] == "error"
    assert start["view"]["focus"] == 1
    assert start["view"]["title"] == "thread south"
    assert start["view"]["calls"]["total"] == 2
    assert start["timed"] is False


def test_every_event_of_a_thread_is_behind_one_row(trace_path: Any) -> None:
    trace = wb.load(trace_path)
    open_session = session(trace)
    for number, talk in enumerate(trace.conversations):
        answer = view(open_session, focus=number)
        assert answer["ladder"]["complete"]
        rows = [row for step in open_session.flow.steps for row in step.rows]
        assert sorted(rows) == sorted(set(rows))
        assert len(rows) == sum(r.events for r in talk.runs)
        drawn = wb.sequence_diagram(trace, thread=talk.thread_id, max_steps=None)
        assert [s.type for s in open_session.flow.steps] == [s.type for s in drawn.steps]
        assert sum(row["k"] == "band" for row in open_session.flow.rows) == sum(
            bool(s.band) for s in drawn.steps
        )


def test_a_long_thread_made_in_pieces_is_the_same(make: Callable[..., wb.Trace], monkeypatch: Any) -> None:
    groups = [run(*call(f"c{n}", "look"), *said(f"m{n}", "a", "b"), run_id=f"r{n}") for n in range(20)]
    trace = make(*groups)
    whole = session(trace).flow
    whole.grow(10_000)
    monkeypatch.setattr(flow, "_FIRST", 5)
    monkeypatch.setattr(flow, "_PIECE", 12)
    pieces = session(trace).flow
    pieces.grow(1)
    assert len(pieces.rows) < len(whole.rows)
    assert not pieces.complete
    pieces.grow(10_000)
    assert pieces.complete
    assert pieces.rows == whole.rows


def test_runs_that_overlap_are_never_cut(make: Callable[..., wb.Trace], monkeypatch: Any) -> None:
    monkeypatch.setattr(flow, "_FIRST", 1)
    monkeypatch.setattr(flow, "_PIECE", 1)
    trace = make(run(*call("a", "look")), run(*call("b", "look"), run_id="r2"))
    open_session = session(trace)
    pairs = [(row, trace.run_of(row)) for row in range(len(trace.events))]
    assert [len(piece) for piece in flow._pieces(pairs)] == [6, 6]
    woven = [pair for both in zip(pairs[:6], pairs[6:], strict=True) for pair in both]
    assert [len(piece) for piece in flow._pieces(woven)] == [12]
    assert open_session.flow is not None


@pytest.mark.parametrize(
    ("asked", "calls"),
    [
        ({"call": "C-ONE"}, ["c-one"]),
        ({"tool": "del"}, ["c-two"]),
        ({"thread": "nor"}, ["c-one"]),
        ({"run": "r2"}, ["c-two"]),
        ({"severity": "error"}, ["c-two"]),
        ({"signal": "stream"}, ["c-one", "c-two"]),
        ({"signal": "payload"}, []),
        ({"text": "bergen"}, ["c-one"]),
        ({"text": "rain", "tool": "delete"}, []),
        ({"text": "  "}, ["c-one", "c-two"]),
        ({"severity": "fatal", "signal": 3, "call": None}, ["c-one", "c-two"]),
    ],
)
def test_each_filter_narrows_calls_and_ladder(
    two_threads: Session, asked: dict[str, Any], calls: list[str]
) -> None:
    answer = view(two_threads, filter=asked)
    assert [row["id"] for row in answer["calls"]["rows"]] == calls
    # what is on the ladder belongs to calls in the list
    numbers = {row["n"] for row in answer["calls"]["rows"]} | {-1}
    if set(asked) - {"thread", "severity"}:
        assert {row["call"] for row in steps(answer)} <= numbers


def test_the_call_filter_changes_the_ladder(mixed: Session) -> None:
    before = steps(view(mixed))
    answer = view(mixed, filter={"call": "call_rNc7"})
    after = steps(answer)
    assert 0 < len(after) < len(before)
    assert {
        mixed.flow.steps[row["step"]].call_id[:9] for row in after if row["head"].startswith("TOOL_CALL_ARGS")
    } >= {"call_rNc7"}
    assert any(row["k"] == "gap" for row in answer["ladder"]["rows"])
    assert len(steps(view(mixed, filter={}))) == len(before)


def test_a_call_brings_its_approval_its_answer_and_its_confirmation(mixed: Session) -> None:
    number = next(n for n, c in enumerate(mixed.listing.calls) if c.id.startswith("call_rNc7"))
    kinds = {mixed.flow.steps[row["step"]].kind for row in steps(view(mixed, chosen=[number]))}
    assert {"call", "approval", "answer"} <= kinds
    whole = view(mixed, chosen=[number], whole=True)
    assert len(steps(whole)) > len(steps(view(mixed, chosen=[number])))


def test_times_are_read_as_people_write_them() -> None:
    first = int(datetime(2026, 5, 1, 10, 0, tzinfo=UTC).timestamp()) * 10**9
    assert choice.moment("+1.5", first) == first + 1_500_000_000
    assert choice.moment("10:30", first) == first + 1800 * 10**9
    assert choice.moment("10:30", first, end=True) == first + 1860 * 10**9 - 1
    assert choice.moment("2026-05-01T12:00:01+02:00", first) == first + 10**9
    for wrong in ("noon", "25:00", "+x", "9999999999999"):
        with pytest.raises(ValueError, match=r"\+12.5"):
            choice.moment(wrong, first)
    with pytest.raises(ValueError, match="no times"):
        choice.moment("+1", None)


def test_the_time_filter_says_what_is_wrong_with_it(mixed: Session) -> None:
    everything = view(mixed)
    answer = view(mixed, filter={"since": "+1.3", "until": "+1.6"})
    assert 0 < len(steps(answer)) < len(steps(everything))
    times = [float(row["time"].strip("+ s")) for row in steps(answer)]
    assert min(times) >= 1.3
    assert max(times) <= 1.6
    assert "since" in view(mixed, filter={"since": "soon"})["wrong"]


def test_every_finding_jumps_to_its_place(trace_path: Any) -> None:
    open_session = session(wb.load(trace_path))
    for number, finding in enumerate(open_session.listing.findings):
        answer = open_session.answer({"op": "finding", "n": number})
        assert "row" in answer, finding
        row = open_session.flow.rows[answer["row"]]
        assert (row["k"], row["n"], row["rule"]) == ("mark", number, finding.rule)
        assert row["text"] != "also here"
        shown = open_session.answer(
            {"op": "record", "flow": answer["ladder"]["flow"], "step": answer["step"]}
        )
        assert finding.message[:50] in [f["message"][:50] for f in shown["findings"]]


def test_the_record_is_the_bytes_and_where_they_stand(mixed: Session) -> None:
    answer = view(mixed)
    row = next(row for row in steps(answer) if row["head"] == "RUN_STARTED")
    shown = mixed.answer({"op": "record", "flow": answer["ladder"]["flow"], "step": row["step"]})
    event = mixed.flow.steps[row["step"]].rows[0]
    assert shown["records"][0]["raw"].encode() == mixed.listing.trace.raw(event)
    assert "mixed-decisions [log.entries" in shown["records"][0]["place"]
    assert json.loads(shown["records"][0]["pretty"]) == mixed.listing.trace.json(event)


def test_a_long_record_is_cut_and_says_so(make: Callable[..., wb.Trace]) -> None:
    open_session = session(make(run(*call("c", "look", result="x" * 100_000))))
    row = next(row for row in steps(view(open_session)) if row["head"] == "TOOL_CALL_RESULT")
    shown = open_session.answer({"op": "record", "flow": open_session._flows, "step": row["step"]})
    assert len(shown["records"][0]["raw"]) == record.MAX_CHARACTERS
    assert "60,000 characters" in shown["records"][0]["note"]


def test_nothing_invisible_or_turning_is_sent(hard: dict[str, wb.Trace]) -> None:
    open_session = session(hard["hostile"])
    answer = view(open_session)
    told = [open_session.start(), answer, {"text": open_session.answer({"op": "markdown"})["text"]}]
    flow_number = answer["ladder"]["flow"]
    told += [
        open_session.answer({"op": "record", "flow": flow_number, "step": n})
        for n in range(len(open_session.flow.steps))
    ]
    whole = json.dumps(told, ensure_ascii=False)
    assert "<script>" in whole
    assert not {"\x00", "\x08", "\x1b", "\u202e", "\ud800"} & set(whole)
    json.dumps(told).encode()


@pytest.mark.parametrize(
    "question",
    [
        None, 7, {}, {"op": "nothing"}, {"op": ["view"]}, {"op": "record"}, {"op": "record", "flow": 1, "step": -1},
        {"op": "record", "flow": 1, "step": 10**9}, {"op": "finding", "n": "0"}, {"op": "finding", "n": -1},
        {"op": "calls", "from": -5, "to": 10**12}, {"op": "calls", "from": "a"}, {"op": "ladder", "flow": 99},
        {"op": "ladder", "flow": 1, "from": 0, "to": 10**12}, {"op": "difference"},
        {"op": "view", "filter": {"since": "\ud800", "call": "x" * 10**6}, "focus": 10**9, "which": -1, "chosen": [-1, "a", True, 10**9]},
    ],
)  # fmt: skip
def test_questions_are_not_trusted(mixed: Session, question: Any) -> None:
    answer = mixed.answer(question)
    json.dumps(answer)
    assert len(answer.get("rows", ())) <= 500


def test_an_outdated_ladder_is_said_to_be(mixed: Session) -> None:
    old = view(mixed)["ladder"]["flow"]
    view(mixed, filter={"call": "x"})
    assert mixed.answer({"op": "ladder", "flow": old, "from": 0, "to": 9}) == {"stale": True}
    assert "error" in mixed.answer({"op": "record", "flow": old, "step": 0})


def test_text_is_found_across_deltas_and_in_every_spelling(make: Callable[..., wb.Trace]) -> None:
    events = run(
        *said("m1", "the ref", "und is ", "late"),
        *call("c", "look", '{"a": "b\\"c"}', "Grüße\nan “alle”"),
        {"type": "CUSTOM", "name": "note", "value": {"deep": ["needle"]}},
    )
    trace = make(events)
    search = Search(trace)

    def types(text: str) -> set[str]:
        return {trace.events.at[row, "type"] for row in search(text).event}

    assert types("REFUND") == {"TEXT_MESSAGE_CONTENT"}
    assert types("grüße\nan") == {"TOOL_CALL_RESULT"}
    assert types("Grüße") == {"TOOL_CALL_RESULT"}
    assert types("needle") == {"CUSTOM"}
    assert types("“alle”") == {"TOOL_CALL_RESULT"}
    assert types("nowhere at all") == set()
    # neither what stands between two records nor half of one and half of the next
    assert types('"}\n\ndata: {"') == set()


def test_a_long_member_is_searched_in_stretches(make: Callable[..., wb.Trace], monkeypatch: Any) -> None:
    from workbench.views.explorer import search

    trace = make(run(*(event for n in range(30) for event in call(f"call-{n:03}", "look"))))
    whole = search.Search(trace)("call-01")
    monkeypatch.setattr(search, "_STRETCH", 50)
    assert search.Search(trace)("call-01") == whole
    assert len(whole.event) == 40


def test_two_calls_differ_by_what_happened_not_by_their_ids(make: Callable[..., wb.Trace]) -> None:
    same = session(make(run(*call("a", "look"), *call("b", "look"))))
    view(same, chosen=[0, 1])
    answer = same.answer({"op": "difference"})
    assert all(row["same"] for row in [*answer["facts"], *answer["steps"]])
    assert len(answer["steps"]) == 4
    other = session(make(run(*call("a", "look"), *call("b", "look", '{"n": 1}', None))))
    view(other, chosen=[0, 1])
    answer = other.answer({"op": "difference"})
    assert [row["head"] for row in answer["facts"] if not row["same"]] == [
        "arguments",
        "fate",
        "result",
        "results",
    ]
    assert [row["same"] for row in answer["steps"]] == [True, False, True, False]


def test_two_traces_differ_by_fate_and_findings(make: Callable[..., wb.Trace]) -> None:
    twice = call("z", "new")[:1]
    both = session(
        make(run(*call("a", "look"), *call("b", "save", '{"n": 1}'), *call("c", "old"))),
        make(run(*call("x", "look"), *call("y", "save", '{"n": 1}', None), *twice, *call("z", "new"))),
    )
    answer = both.answer({"op": "difference"})
    assert {(row["head"], row["changed"]) for row in answer["steps"]} == {
        ("save", "fate"), ("old", "only here"), ("new", "only here"),
    }  # fmt: skip
    assert {row["head"] for row in answer["facts"]} == {"call-start-duplicated"}
    assert "1 call" in answer["note"]
    view(both, chosen=[1])
    view(both, which=1, chosen=[1])
    picked = both.answer({"op": "difference"})
    assert [row["head"] for row in picked["facts"] if not row["same"]] == ["fate", "result", "results"]


def test_the_copy_is_what_is_in_view(mixed: Session) -> None:
    view(mixed, filter={"call": "call_rNc7"})
    text = mixed.answer({"op": "markdown"})["text"]
    assert "Filter: call contains call_rnc7" in text
    assert "```mermaid\nsequenceDiagram" in text
    assert "`delete_branch`" in text
    before = [(step.source, step.target) for step in mixed.flow.steps]
    mixed.answer({"op": "markdown"})
    assert [(step.source, step.target) for step in mixed.flow.steps] == before


def test_secrets_are_not_copied_along(make: Callable[..., wb.Trace]) -> None:
    key, mail = "sk-" + "proj-4kQ9zLmN8vXc2BhT7wYd", "someone@mail.test"
    said = {"key": key, "to": mail}
    events = [
        {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "send"},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": json.dumps(said)},
    ]
    text = wb.explore(make(events)).markdown()
    assert key not in text
    assert mail not in text
    assert key in wb.explore(make(events), redact=False).markdown()


def test_the_still_form_is_a_picture_and_tables(trace_path: Any) -> None:
    explorer = wb.explore(wb.load(trace_path))
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "data:image/svg+xml;base64," in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert bundle["text/plain"] == repr(explorer)[1:-1]


def test_an_empty_trace_is_explored_too() -> None:
    explorer = wb.explore(wb.load(b""))
    assert explorer.session.start()["view"]["ladder"]["rows"] == []
    assert "Explorer of 0 threads" in explorer.html
    assert explorer.markdown()


def test_live_the_still_form_comes_along() -> None:
    pytest.importorskip("anywidget")
    explorer = wb.explore(wb.load(SAMPLE), live=True)
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    answers: list[Any] = []
    explorer.widget.send = answers.append
    explorer.widget._answer(None, {"op": "view", "id": 7}, [])
    explorer.widget._answer(None, "nonsense", [])
    assert answers[0]["id"] == 7
    assert answers[1] == {"error": "unknown question", "id": None}


def test_without_anywidget_it_is_still_and_says_how_to_get_it() -> None:
    code = """
import sys
sys.modules["anywidget"] = None
import workbench as wb
explorer = wb.explore(wb.load("sample:healthy"))
assert set(explorer._repr_mimebundle_()) == {"text/html", "text/plain"}
try:
    explorer.widget
except ImportError as error:
    assert "agui-workbench[lab]" in str(error)
else:
    raise SystemExit("no error")
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_page_is_part_of_the_package_and_never_writes_markup(root: Any) -> None:
    page = (root / "workbench" / "views" / "explorer" / "explorer.js").read_text(encoding="utf-8")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "import(",
        "http:",
        "https:",
    ):
        assert way not in page.replace('"http://www.w3.org/2000/svg"', "")
