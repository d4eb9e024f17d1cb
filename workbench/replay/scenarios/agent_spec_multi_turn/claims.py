"""What the report on the second turn after a server tool states, and what the released packages do.

The report names the adapter ag-ui-agent-spec on the LangGraph runtime, with OpenAI's connector.
"""

from __future__ import annotations

from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Verdict
from workbench.replay.scenarios.agent_spec_multi_turn.evidence import (
    ARMS,
    DANGLING,
    ORPHAN,
    SURVEY,
    correlated,
    events,
    merges,
    refused,
    roles,
    valid,
    warnings,
)  # fmt: skip

__all__ = ["ARMS", "CLAIMS", "SURVEY"]

CLAIMS = Claims()
claim = CLAIMS
CALL = "call_find_trains_1"


def _said(good: bool, because: str) -> Verdict:  # noqa: FBT001 - it is the verdict
    return Verdict(HOLDS if good else NOT, because)


@claim(
    "any-server-tool", "summary", "After a turn with a server tool, the next turn fails, whatever is asked."
)
def _(arms: Arms) -> Verdict:
    kinds: tuple[dict[str, str], ...] = (
        {},
        {"tools": "async"},
        {"case": "two"},
        {"case": "two", "tools": "async"},
    )
    words = {str(options): arms.outcome(**options).word for options in kinds}
    good = set(words.values()) == {"affected"} and arms.outcome(case="none").word == "clean"
    return _said(good, f"{words}; without a tool: {arms.outcome(case='none').word}")


@claim("first-turn", "summary", "The first turn works.")
def _(arms: Arms) -> Verdict:
    words = {tools: (len(arms(tools=tools).steps[0].executions), roles(arms(tools=tools).steps[1].runs[0][0]["messages"])) for tools in ("sync", "async")}  # fmt: skip
    good = all(executed == 1 and told[-2] == "assistant" for executed, told in words.values())
    return _said(good, f"executions, and what the client has after it: {words}")


@claim("warning", "summary", "Calls of server tools are warned about as correlation misses.")
def _(arms: Arms) -> Verdict:
    told = {tools: len(warnings(arms(tools=tools))) for tools in ("sync", "async")}
    if told["async"] and not told["sync"]:
        return Verdict(ONLY, f"the tool is an async function; warnings: {told}")
    return _said(all(told.values()), f"warnings: {told}")


@claim(
    "second-turn-400",
    "summary",
    "The model node of the second turn fails: 400, a result that follows no call.",
)
def _(arms: Arms) -> Verdict:
    words = refused(arms())
    sent = roles(arms().steps[1].payloads[0][0]["messages"])
    good = ORPHAN in words.get("follow", "") and arms.outcome().word == "affected"
    return _said(good, f"sent: {sent}; the refusal is that of our fake service")


@claim("no-reply", "reproduction", "The person gets no reply in the second turn.")
def _(arms: Arms) -> Verdict:
    told = [event["type"] for event in events(arms(), 1, "TEXT_MESSAGE_CHUNK", "RUN_FINISHED", "RUN_ERROR")]
    return _said("TEXT_MESSAGE_CHUNK" not in told, f"events: {told}; the run is both finished and failed")


@claim("not-recorded", "root cause", "Executions of server tools are not recorded as requests.")
def _(arms: Arms) -> Verdict:
    told = {
        tools: [(one["event"], one["id"], one["call"]) for one in correlated(arms(tools=tools))]
        for tools in ("sync", "async")
    }
    missing = [
        tools for tools, seen in told.items() if "ToolExecutionRequest" not in {event for event, _, _ in seen}
    ]
    return _said(
        bool(missing),
        f"both are recorded; that of an async tool is looked for by another id: {told['async']}",
    )


@claim("surrogate-unknown", "root cause", "The result carries an id that the client has never seen.")
def _(arms: Arms) -> Verdict:
    told = {}
    for tools in ("sync", "async"):
        asked = {event["toolCallId"] for event in events(arms(tools=tools), 0, "TOOL_CALL_CHUNK")}
        told[tools] = {
            event["toolCallId"] for event in events(arms(tools=tools), 0, "TOOL_CALL_RESULT")
        } <= asked
    return _said(
        not all(told.values()),
        f"the id is that of the call, also where the warning calls it a surrogate: {told}",
    )


@claim("client-history", "root cause", "The history that the client sends has a result without its call.")
def _(arms: Arms) -> Verdict:
    told = {}
    for tools in ("sync", "async"):
        sent = arms(tools=tools).steps[1].runs[0][0]["messages"]
        told[tools] = valid(sent)
    return _said(not all(told.values()), f"what the client sends is in order: {told}; {roles(sent)}")


@claim("same-defect", "root cause", "The warning and the refusal are one defect, seen at two points.")
def _(arms: Arms) -> Verdict:
    quiet, still = arms("correlate", tools="async"), arms.outcome("correlate", tools="async").word
    alone = not warnings(arms()) and arms.outcome().word == "affected"
    fixed = not warnings(quiet) and still == "affected"
    return _said(
        not (alone and fixed),
        f"a sync tool fails without a warning; without the warning an async one is {still}",
    )


@claim("confirm-unreachable", "reproduction", "The flow that waits for a confirmation is out of reach.")
def _(arms: Arms) -> Verdict:
    told = {case: refused(arms(case=case)) for case in ("confirm", "seat")}
    good = all("confirm" in words for words in told.values())
    return _said(good, f"refused: { {case: list(words) for case, words in told.items()} }")


@claim("direction-correlate", "direction", "Recording the request for every execution cures it.")
def _(arms: Arms) -> Verdict:
    words = {tools: arms.outcome("correlate", tools=tools).word for tools in ("sync", "async")}
    left = len(warnings(arms("correlate", tools="async")))
    before = len(warnings(arms(tools="async")))
    good = set(words.values()) == {"clean"} and left == 0
    return Verdict(
        HOLDS if good else NOT if left < before else UNSEEN,
        f"{before} warnings become {left}, and the next turn is {words}",
    )


@claim("direction-reconcile", "direction", "Reconciling ids when the history is rebuilt cures it as well.")
def _(arms: Arms) -> Verdict:
    words = {case: arms.outcome("by-call", case=case).word for case in ("one", "two", "seat", "abandoned")}
    if [words[case] for case in ("one", "two", "seat")] == ["clean"] * 3:
        return Verdict(ONLY, f"no call was left unanswered: {words}")
    return _said(good=False, because=f"{words}")


@claim(
    "merge-by-id", "workaround", "Each turn, only messages whose ids the checkpoint does not have are added."
)
def _(arms: Arms) -> Verdict:
    told = merges(arms())[1]
    known = {message["id"] for message in told["checkpoint"]}
    good = told["added"] == [message for message in told["request"] if message["id"] not in known]
    return _said(
        good,
        f"in {told['place']}; added: {roles([{'role': m['role'], 'toolCallId': m.get('call')} for m in told['added']])}",
    )


@claim(
    "ids-never-match",
    "workaround",
    "The client's ids never match, so that call and result are added a second time.",
)
def _(arms: Arms) -> Verdict:
    told = merges(arms())[1]
    known = {message["id"] for message in told["checkpoint"]}
    match = [(message["role"], message["id"] in known) for message in told["request"][:-1]]
    good = not any(matched for _, matched in match)
    renamed = [message["role"] for message in merges(arms(case="renamed"))[1]["added"]]
    return _said(good, f"which ids match: {match}. With all ids new, the whole history is added: {renamed}")


@claim("client-sends-all", "workaround", "The client sends the whole, valid history every turn.")
def _(arms: Arms) -> Verdict:
    told = {
        case: valid(arms(case=case).steps[1].runs[0][0]["messages"]) for case in ("one", "two", "abandoned")
    }
    if told == {"one": True, "two": True, "abandoned": False}:
        return Verdict(
            ONLY, f"no call was left unanswered: {told}; it contradicts the root cause of the same report"
        )
    return _said(all(told.values()), f"{told}")


@claim(
    "replace-restores",
    "workaround",
    "Taking the client's history in place of the checkpoint's restores conversations.",
)
def _(arms: Arms) -> Verdict:
    words = {case: arms.outcome("replace", case=case).word for case in ("one", "two", "seat", "abandoned")}
    if words == {"one": "clean", "two": "clean", "seat": "clean", "abandoned": "affected"}:
        return Verdict(ONLY, f"no call was left unanswered, which the report says further down: {words}")
    return _said(set(words.values()) == {"clean"}, f"{words}")


@claim("replace-confirm", "workaround", "It makes the flow that waits for a confirmation work.")
def _(arms: Arms) -> Verdict:
    asked = {case: arms("replace", case=case) for case in ("confirm", "said", "seat")}
    reached = {case: "confirm" not in refused(arm) for case, arm in asked.items()}
    booked = [
        told["call"]
        for case in ("confirm", "said")
        for told in asked[case].effects
        if told["tool"] == "book_train"
    ]
    results = [event["content"] for event in events(asked["confirm"], 1, "TOOL_CALL_RESULT")]
    if all(reached.values()) and not booked and not refused(asked["seat"]):
        return Verdict(
            ONLY,
            "the call is the client's own. A server tool that requires a confirmation is asked for, but never executed: "
            f"its interrupt is sent as a result ({results}), and neither a decision as the call's result (refused: "
            f"{list(refused(asked['confirm']))}) nor a yes in words resumes the graph",
        )
    return _said(all(reached.values()), f"reached: {reached}; executed: {booked}")


@claim("always-messages", "workaround", "Every turn, an answer included, goes in as messages.")
def _(arms: Arms) -> Verdict:
    arm = arms("replace", case="seat")
    turns = [told["step"] for told in merges(arm)]
    last = roles(arm.steps[-1].payloads[0][0]["messages"])[-1]
    return _said(
        turns == [step.name for step in arm.steps] and last.startswith("tool("),
        f"merged in {turns}; the last message is {last}",
    )


@claim("client-call-waits", "inverse case", "A client-side call interrupts the run and waits for the client.")
def _(arms: Arms) -> Verdict:
    arm = arms(case="answered")
    kinds = [event["type"] for event in events(arm, 0, "TOOL_CALL_RESULT", "RUN_FINISHED", "RUN_ERROR")]
    good = kinds == ["RUN_FINISHED"] and arms.outcome(case="answered").word == "clean"
    return _said(
        good, f"events after the call: {kinds}; answered at once it is {arms.outcome(case='answered').word}"
    )


@claim(
    "abandoned-400",
    "inverse case",
    "Another message instead of the answer is refused: a call without a result.",
)
def _(arms: Arms) -> Verdict:
    words = {
        arm: refused(arms(arm, case="abandoned")).get("aside", "")
        for arm in ("unpatched", "replace", "by-call", "correlate")
    }
    rules = arms.outcome(case="abandoned").rules
    good = all(DANGLING in text for text in words.values()) and "provider-rejects" in rules
    return _said(good, f"refused in {[arm for arm, text in words.items() if text]}; rules: {rules}")


@claim(
    "repair",
    "inverse case",
    "A made-up result after the call repairs it, and the model answers the new question.",
)
def _(arms: Arms) -> Verdict:
    told = {}
    for arm in ("replace-repair", "by-call-repair"):
        told[arm] = (refused(arms(arm, case="abandoned")), refused(arms(arm, case="late")))
    aside = not any(first for first, _ in told.values())
    late = {arm: list(second) for arm, (_, second) in told.items()}
    if aside and "late" in late["replace-repair"]:
        return Verdict(
            ONLY,
            f"the answer does not come after all: appended late, it is refused again; refused steps: {late}",
        )
    return _said(aside, f"refused steps: {late}")


@claim(
    "late-by-call",
    "inverse case",
    "A repair that compares results by call also takes an answer that comes late.",
)
def _(arms: Arms) -> Verdict:
    words = refused(arms("by-call-repair", case="late"))
    return _said(not words, f"our own arm, not the report's; refused steps: {list(words)}")


@claim(
    "old-id",
    "cause",
    "What breaks the match is the random id of a result's event: with the one it had before, it is clean.",
)
def _(arms: Arms) -> Verdict:
    words = {case: arms.outcome("old-id", case=case).word for case in ("one", "two")}
    sent = [message["id"] for message in arms("old-id").steps[1].runs[0][0]["messages"]]
    return _said(
        "affected" not in words.values() and not refused(arms("old-id")),
        f"our own arm: {words}; ids sent: {len(sent)}, different: {len(set(sent))}",
    )


@claim("poisoned", "impact", "A conversation that failed once goes on failing.")
def _(arms: Arms) -> Verdict:
    words, after = refused(arms(case="poisoned")), refused(arms(case="restarted"))
    if list(words) == ["follow", "third", "fourth"] and "third" not in after:
        return Verdict(
            ONLY,
            "the server keeps running: it is refused in turns 2, 3 and 4, and heals when the checkpoints in memory are lost",
        )
    return _said(len(words) > 1, f"refused: {list(words)}; after a restart: {list(after)}")


@claim(
    "telemetry",
    "environment",
    "Spans of the run, in the words of OpenInference, belong to the same conversation.",
)
def _(arms: Arms) -> Verdict:
    trace = arms(telemetry="on").trace
    threads = set(trace.events["thread_id"].dropna().astype(str))
    spans = trace.spans
    calls = set(spans["call_id"].dropna().astype(str)) & {CALL}
    joined = {str(name) for name in spans["thread_id"].dropna()} & threads
    return _said(
        bool(len(spans)) and bool(calls or joined),
        f"{len(spans)} spans of OpenInference; joined by thread: {len(joined)}, by call: {sorted(calls)}",
    )


@claim("own-path", "inverse case", "Choosing in the interface itself does not lead to the refusal.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "that path lies in the application's front end and makes no request to the agent")
