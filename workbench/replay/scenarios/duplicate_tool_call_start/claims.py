"""What the report on doubled starts states, and what the released packages do.

The report names agent-framework-ag-ui 1.5.0 with agent-framework-core 1.20.0 and agent-framework-anthropic.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from workbench.replay.arms import Replay
from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Listed, Verdict

CLAIMS = Claims()
claim = CLAIMS

DECLARED = ("client", "server")
MODELS = ("anthropic", "scripted", "chat", "responses")
FIXES = ("start-once", "wrapper")

ARMS: list[Listed] = [
    *(
        (arm, {"declared": declared, "calls": calls})
        for arm in ("unpatched", *FIXES)
        for declared in DECLARED
        for calls in ("one", "two", "three")
    ),
    *(("unpatched", {"model": model}) for model in MODELS),
    *((arm, {"calls": calls}) for arm in ("unpatched", *FIXES) for calls in ("snippet", "reused")),
    *(("unpatched", {"calls": calls, "model": "scripted"}) for calls in ("two", "snippet")),
    ("unpatched", {"calls": "source"}),
]
#: what is run on the other releases: the conversation and the snippet of the report
SURVEY: list[Listed] = [
    *(("unpatched", {"calls": calls, "model": "scripted"}) for calls in ("two", "snippet")),
]


def _events(arm: Replay, *kinds: str) -> list[dict[str, Any]]:
    """The events of these types in turn 1."""
    _, _, stream = arm.steps[0].runs[0]
    events = [json.loads(line[6:]) for line in stream.split("\n") if line.startswith("data: ")]
    return [event for event in events if event["type"] in kinds]


def _started(arm: Replay) -> list[str]:
    return [event["toolCallId"] for event in _events(arm, "TOOL_CALL_START")]


def _kept(arm: Replay) -> list[tuple[str, str]]:
    """Ids and arguments of the calls in the snapshot of turn 1."""
    messages = _events(arm, "MESSAGES_SNAPSHOT")[-1]["messages"]
    calls = [call for message in messages for call in message.get("toolCalls") or ()]
    return [(call["id"], call["function"]["arguments"]) for call in calls]


def _unit(arm: Replay) -> dict[str, Any]:
    told: dict[str, Any] = arm.steps[0].told["unit"]
    return told


def _good(arms: Arms, name: str) -> dict[str, str]:
    return {
        f"{declared}, {calls}": arms.outcome(name, declared=declared, calls=calls).word
        for declared in DECLARED
        for calls in ("one", "two", "three")
    }


@claim("starts-twice", "observed", "Two declaration-only calls in one response are each started twice.")
def _(arms: Arms) -> Verdict:
    started = _started(arms())
    a, b = "call_read_gauge_1", "call_read_clock_1"
    good = started == [a, b, a, b] and arms.outcome().rules.get("call-start-duplicated") == 2
    return Verdict(HOLDS if good else NOT, f"TOOL_CALL_START: {started}")


@claim("snapshot-twice", "observed", "The snapshot of the thread has each call twice.")
def _(arms: Arms) -> Verdict:
    kept = _kept(arms())
    counts = Counter(call for call, _ in kept)
    empty = all(not arguments for _, arguments in kept)
    good = set(counts.values()) == {2} and "call-duplicated" in arms.outcome().rules
    said = "; and what the report does not say: all of them without their arguments" if empty else ""
    return Verdict(HOLDS if good else NOT, f"calls in the snapshot: {dict(counts)}{said}")


@claim("next-run-fails", "observed", "The next run fails, because the provider refuses ids that repeat.")
def _(arms: Arms) -> Verdict:
    found = {model: arms.outcome("unpatched", model=model).refusals for model in MODELS}
    good = all(refused for refused in found.values())
    return Verdict(
        HOLDS if good else NOT,
        f"{ {model: refused[0][:50] if refused else 'accepted' for model, refused in found.items()} }",
    )


@claim("anthropic-words", "errors", "Anthropic answers 400 with “tool_use ids must be unique”.")
def _(arms: Arms) -> Verdict:
    statuses = [(status, text) for _, status, text in arms().steps[1].payloads]
    good = bool(statuses) and statuses[0][0] == 400 and "ids must be unique" in statuses[0][1]
    sent = [block["id"] for m in arms().steps[1].payloads[0][0]["messages"] if isinstance(m["content"], list)
            for block in m["content"] if block["type"] == "tool_use"]  # fmt: skip
    return Verdict(
        HOLDS if good else NOT, f"the real client sent {sent}; the refusal is that of our fake service"
    )


@claim("single-fine", "observed", "A single client-side call in a response is not affected.")
def _(arms: Arms) -> Verdict:
    words = {
        declared: arms.outcome("unpatched", declared=declared, calls="one").word for declared in DECLARED
    }
    return Verdict(HOLDS if set(words.values()) == {"clean"} else NOT, f"{words}")


@claim(
    "any-number", "expected", "However many declaration-only calls there are, each should be started once."
)
def _(arms: Arms) -> Verdict:
    started = _started(arms("unpatched", calls="three"))
    fixed = _started(arms("start-once", calls="three"))
    good = set(Counter(started).values()) == {2} and set(Counter(fixed).values()) == {1}
    return Verdict(
        HOLDS if good else NOT,
        f"three calls: {len(started)} starts as released, {len(fixed)} with the line changed",
    )


@claim("registered-on-agent", "steps 1 to 3", "It takes two declaration-only tools registered on the agent.")
def _(arms: Arms) -> Verdict:
    words = {declared: arms.outcome("unpatched", declared=declared).word for declared in DECLARED}
    if words == {"client": "affected", "server": "affected"}:
        return Verdict(HOLDS, "on the agent, and as well in the request of the client: both are affected")
    return Verdict(NOT, f"{words}")


@claim(
    "snippet", "reproduction", "The snippet prints each id twice, for the starts and for the pending calls."
)
def _(arms: Arms) -> Verdict:
    told = _unit(arms("unpatched", calls="snippet"))
    good = told.get("started") == told.get("pending") == ["call_p", "call_q", "call_p", "call_q"]
    return Verdict(HOLDS if good else NOT, f"{told}")


@claim("handed-back", "cause 1", "After streaming, the function loop hands each declaration-only call back.")
def _(arms: Arms) -> Verdict:
    seen = [told for told in arms().seen if told["step"] == "ask"]
    again = [(told["call"], told["arguments"]) for told in seen if told["replayed"]]
    ids = [call for call, _ in again]
    good = ids == ["call_read_gauge_1", "call_read_clock_1"]
    return Verdict(HOLDS if good else NOT, f"contents marked as a pause for the caller: {again}")


@claim(
    "last-id-only",
    "cause 2, 3",
    "A call counts as new where its id differs from the last one, so a, b, a, b starts four.",
)
def _(arms: Arms) -> Verdict:
    seen = [told for told in arms().seen if told["step"] == "ask"]
    again = [told for told in seen if told["replayed"]]
    restarted = all(
        told["call"] in told["known"] and told["call"] != told["last"] and "TOOL_CALL_START" in told["events"]
        for told in again
    )
    good = bool(again) and restarted
    told = [f"{one['call']} after {one['last']}: {one['events']}" for one in again]
    return Verdict(HOLDS if good else NOT, f"known, but not the last: {told}")


@claim(
    "pending-twice",
    "cause 3",
    "Each new start adds the call to the pending ones, from which the snapshot is made.",
)
def _(arms: Arms) -> Verdict:
    kept = [call for call, _ in _kept(arms())]
    pending = _unit(arms("unpatched", calls="snippet")).get("pending", [])
    good = kept == _started(arms()) and len(pending) == 4
    return Verdict(HOLDS if good else NOT, f"in the snapshot: {kept}; pending in the snippet: {pending}")


def _stands(arms: Arms, module: str, words: str, lines: tuple[int, ...]) -> Verdict:
    """Whether the words stand at the lines that the report names, in the released wheel."""
    look = arms("unpatched", calls="source").steps[0].told["source"][module]
    named = {line: look["lines"][str(line)] for line in lines}
    if all(words in text for text in named.values()):
        return Verdict(HOLDS, f"there stands: {list(named.values())}")
    return Verdict(
        NOT,
        f"in the released wheel `{words}` stands at {look['words'][words]} of {look['file']}, there at {named}",
    )


@claim("line-pause", "cause 1", "`_as_user_input_pause` is at lines 2482, 2510 and 2758 of `_tools.py`.")
def _(arms: Arms) -> Verdict:
    return _stands(arms, "agent_framework._tools", "_as_user_input_pause(", (2482, 2510, 2758))


@claim("line-stream", "cause 2", "Line 3893 of `_agent_run.py` hands the copies to `_emit_content`.")
def _(arms: Arms) -> Verdict:
    return _stands(arms, "agent_framework_ag_ui._agent_run", "in _emit_content(", (3893,))


@claim("line-numbers", "cause 3", "`_emit_tool_call` tests this at line 733 of `_run_common.py`.")
def _(arms: Arms) -> Verdict:
    return _stands(arms, "agent_framework_ag_ui._run_common", "tool_call_id != flow.tool_call_id", (733,))


@claim(
    "one-line",
    "fix",
    "Starting only ids that are not registered fixes it; a replayed call takes the other branch.",
)
def _(arms: Arms) -> Verdict:
    words = _good(arms, "start-once")
    return Verdict(HOLDS if set(words.values()) == {"clean"} else NOT, f"{words}")


@claim("registered-means-started", "fix", "An id that is registered has always been started.")
def _(arms: Arms) -> Verdict:
    seen = [told for told in arms().seen if told["step"] == "ask"]
    started: set[str] = set()
    good = bool(seen)
    for told in seen:
        good = good and set(told["known"]) <= started
        if "TOOL_CALL_START" in told["events"]:
            started.add(told["call"])
    reused = _unit(arms("start-once", calls="reused"))["events"]
    if good and reused[-1] == "TOOL_CALL_ARGS" and reused.count("TOOL_CALL_START") == 1:
        return Verdict(
            ONLY,
            "an id is not used again after its result in the run: with the line changed, such a call gets arguments "
            "without a start, where the released code starts it again",
        )
    return Verdict(HOLDS if good else NOT, f"events of an id that is used again: {reused}")


@claim(
    "workaround", "workaround", "Making a known call the current one before the function runs helps as well."
)
def _(arms: Arms) -> Verdict:
    words = _good(arms, "wrapper")
    same = _unit(arms("wrapper", calls="reused")) == _unit(arms("start-once", calls="reused"))
    good = set(words.values()) == {"clean"} and same
    return Verdict(
        HOLDS if good else NOT, f"{words}; an id that is used again fares as with the changed line: {same}"
    )


@claim("container", "platform", "It was observed in a Debian 13 container on aarch64.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "no such machine took part; the cause has nothing of a machine in it")


@claim("platform", "platform", "It does not depend on the platform.")
def _(arms: Arms) -> Verdict:
    good = arms.outcome().word == "affected"
    return Verdict(
        HOLDS if good else NOT, "the same on Linux with the Python that ran here; macOS was not tried"
    )


@claim("regression", "regression", "Whether it is a regression is not known.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(
        UNSEEN, "nothing is claimed; the table over releases shows the oldest one that was run, and it has it"
    )
