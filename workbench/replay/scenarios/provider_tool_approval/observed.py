"""What was seen, and why: sections 1 to 5 of the report."""

from __future__ import annotations

from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Verdict
from workbench.replay.scenarios.provider_tool_approval.evidence import (
    AGENTS,
    FORMS,
    MATRIX,
    MODELS,
    PLACEHOLDER,
    fixed,
    results,
    seen,
    texts,
)

claim = Claims()


@claim(
    "order", "1", "Approved calls are executed before the agent's context providers have added their tools."
)
def _(arms: Arms) -> Verdict:
    order = [told["function"] for told in arms().seen if told["step"] == "approve"]
    first = order.index("_resolve_approval_responses") < order.index("FileAccessProvider.before_run")
    return Verdict(HOLDS if first else NOT, f"order of the calls in turn 2: {', '.join(order)}")


@claim("static-tools-only", "1", "The tools for that execution are the agent's static ones alone.")
def _(arms: Arms) -> Verdict:
    offered = seen(arms(), "_resolve_approval_responses")[0]["tools"]
    return Verdict(HOLDS if offered == ["list_topics"] else NOT, f"tools offered to it: {offered}")


@claim("no-result", "1, 5", "The execution finds no tool of that name and produces no result for the call.")
def _(arms: Arms) -> Verdict:
    tried = seen(arms(), "_try_execute_function_calls", "transport")[0]
    returned = [part["type"] for part in tried["returned"]]
    without = seen(arms("unpatched", agent="no-static-tools"), "_try_execute_function_calls", "transport")
    if returned == ["function_approval_response"] and not without:
        return Verdict(
            ONLY,
            "the agent has static tools: then the approval comes back as it is, as for a hosted tool; "
            "with no static tool at all the execution is not even tried",
        )
    return Verdict(NOT, f"it returned {returned}; without static tools it was called {len(without)} times")


@claim(
    "placeholder", "1, 2, 5", f"The call gets the result “{PLACEHOLDER}”, in the stream and for the model."
)
def _(arms: Arms) -> Verdict:
    arm = arms()
    shown = results(arm, 1)
    sent = [m["content"] for m in arm.steps[1].payloads[0][0]["messages"] if m["role"] == "tool"]
    good = shown == sent == [PLACEHOLDER]
    return Verdict(HOLDS if good else NOT, f"TOOL_CALL_RESULT {shown}, tool message to the model {sent}")


@claim("never-runs", "1, 2", "The approved action never runs: nothing is executed and no file is written.")
def _(arms: Arms) -> Verdict:
    arm = arms()
    good = not arm.effects and not arm.files and arms.outcome().word == "affected"
    return Verdict(
        HOLDS if good else NOT, f"{len(arm.effects)} executions, files: {sorted(arm.files) or 'none'}"
    )


@claim("listed-tools", "1", "This befalls `file_access_write`, `file_memory_*`, `todos_*` and `load_skill`.")
def _(arms: Arms) -> Verdict:
    told = arms("unpatched", provider="stock").steps[0].told["unit"]
    gated = sorted(name for name, tools in told.items() if "always_require" in tools.values())
    free = sorted(set(told) - set(gated))
    if gated == ["FileAccessProvider", "SkillsProvider"] and free == ["FileMemoryProvider", "TodoProvider"]:
        return Verdict(
            ONLY,
            f"the tool needs approval: as they come, those of {' and '.join(gated)} do; "
            f"none of {' or '.join(free)} does, and so none of those is asked for",
        )
    return Verdict(HOLDS if not free else NOT, f"tools that need approval: {told}")


@claim(
    "second-card",
    "1, 2",
    "The model asks for the same call again, and a second card appears; approving that loops.",
)
def _(arms: Arms) -> Verdict:
    found = arms.outcome()
    good = found.rules.get("approval-reasked") == 2 and found.questions == 3
    return Verdict(
        HOLDS if good else NOT,
        f"{found.questions} cards in three turns for one action. That the model tries again is the script's doing; "
        "that each try is asked and lost is the transport's",
    )


@claim("apology", "1", "The model apologises and calls again in one answer, and the loop goes on.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", speech="apology")
    if found.word == "affected" and found.refusals and found.questions == 2:
        return Verdict(
            ONLY,
            "the provider accepts two results for one call: after text beside a call the snapshot splits the "
            f"message, and the next request is refused (“{found.refusals[0][:60]}…”)",
        )
    return Verdict(
        HOLDS if found.questions == 3 else NOT, f"{found.questions} cards, refusals: {found.refusals}"
    )


@claim(
    "optimistic-card", "2", "A client that draws the card from the arguments shows a success that is none."
)
def _(arms: Arms) -> Verdict:
    arm = arms()
    call = texts(arm, 0, "TOOL_CALL_START")[0]["toolCallId"]
    drawn = "".join(
        event["delta"] for event in texts(arm, 0, "TOOL_CALL_ARGS") if event["toolCallId"] == call
    )
    good = "Pears on Friday." in drawn and not arm.files
    return Verdict(
        HOLDS if good else NOT, "the arguments are complete in the stream of turn 1, and no file follows"
    )


@claim("any-model", "2", "The failure does not depend on the model provider.")
def _(arms: Arms) -> Verdict:
    words = {model: arms.outcome("unpatched", model=model).word for model in MODELS}
    told = ", ".join(f"{model}: {word}" for model, word in words.items())
    same = [word == "affected" for model, word in words.items() if model != "responses"]
    if all(same) and words["responses"] == "other fault":
        return Verdict(
            ONLY,
            "the provider keeps no conversation of its own: with stored Responses the run takes the thread id of "
            f"the response, and the approval is dropped before anything is tried ({told})",
        )
    return Verdict(HOLDS if all(same) and words["responses"] == "affected" else NOT, told)


@claim("approval-log", "3", "The debug log names the gated call: “Approval needed for function”.")
def _(arms: Arms) -> Verdict:
    tried = seen(arms(), "_try_execute_function_calls", "run", "ask")
    asked = [part["type"] for told in tried for part in told.get("returned", ())]
    good = asked == ["function_approval_request"]
    return Verdict(HOLDS if good else NOT, f"in turn 1 the function that writes it returned {asked}")


@claim(
    "two-results",
    "3",
    "The placeholder reaches the client twice for one call: as a result and in the snapshot.",
)
def _(arms: Arms) -> Verdict:
    arm = arms()
    snapshot = texts(arm, 1, "MESSAGES_SNAPSHOT")[-1]["messages"]
    kept = [m for m in snapshot if m["role"] == "tool" and m["content"] == PLACEHOLDER]
    sent = [m for m in arm.steps[1].payloads[0][0]["messages"] if m["role"] == "tool"]
    good = len(results(arm, 1)) == len(kept) == 1 and len(sent) == 1
    return Verdict(
        HOLDS if good else NOT,
        f"{len(results(arm, 1))} TOOL_CALL_RESULT and {len(kept)} message in the snapshot; the model is sent {len(sent)}",
    )


@claim("tool-map", "3, 5", "The tools that approvals are executed with are exactly the static ones.")
def _(arms: Arms) -> Verdict:
    tried = seen(arms(), "_try_execute_function_calls", "transport")
    without = seen(arms("unpatched", agent="no-static-tools"), "_try_execute_function_calls", "transport")
    if tried and tried[0]["tools"] == ["list_topics"] and not without:
        return Verdict(ONLY, "the agent has any: without static tools there is no such call to log")
    return Verdict(NOT, f"{[told.get('tools') for told in tried]}, without static tools {len(without)} calls")


@claim("skills", "3a", "A call to the skills provider's `load_skill` fails in the same way.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", provider="skills")
    return Verdict(HOLDS if found.word == "affected" else NOT, f"{found.word}, {found.executions} executions")


@claim(
    "static-beside",
    "3a",
    "Static tools approved in the same turn are executed, and only the provider's is not.",
)
def _(arms: Arms) -> Verdict:
    arm = arms("unpatched", provider="skills-mixed")
    ran = sorted(told["tool"] for told in arm.effects)
    refusals = arms.outcome("unpatched", provider="skills-mixed").refusals
    if ran != ["list_topics", "read_weather"]:
        return Verdict(NOT, f"executed: {ran}")
    if refusals:
        return Verdict(
            ONLY,
            "the provider takes any order: both static tools ran and `load_skill` did not, but three cards at once "
            f"also run into another fault of this release (“{refusals[0][:60]}…”)",
        )
    return Verdict(HOLDS, f"executed: {ran}")


@claim(
    "workaround-still-red",
    "3a",
    "With the application's workaround the client is still told the placeholder.",
)
def _(arms: Arms) -> Verdict:
    arm = arms("workaround", agent="harness")
    shown, ran = results(arm, 1), arm.effects
    good = shown == [PLACEHOLDER] and len(ran) == 1
    return Verdict(HOLDS if good else NOT, f"TOOL_CALL_RESULT {shown} beside {len(ran)} execution")


@claim("history-keeps-it", "3a", "The client's history sends the placeholder back in the next turn.")
def _(arms: Arms) -> Verdict:
    arm = arms("workaround", agent="harness")
    request = arm.steps[2].runs[0][0]
    sent = [m.get("content") for m in request["messages"] if m["role"] == "tool"]
    cards = len(arm.steps[2].told["cards"])
    return Verdict(
        HOLDS if PLACEHOLDER in sent else NOT,
        f"tool messages in the request of turn 3: {sent}. The model believes them, and asks {cards} more time",
    )


@claim("on-main", "3a", "The fault is alive on the main branch of that day.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(
        UNSEEN, "a commit is no released package; the table over releases shows which of those have it"
    )


@claim(
    "stock-provider",
    "4",
    "`FileAccessProvider` adds `file_access_write` in `before_run`, and it needs approval.",
)
def _(arms: Arms) -> Verdict:
    arm = arms()
    offered = seen(arm, "_try_execute_function_calls", "run", "ask")
    good = bool(offered) and "file_access_write" in offered[0]["tools"] and bool(arm.steps[0].told["cards"])
    return Verdict(
        HOLDS if good else NOT, f"tools inside of the run: {offered[0]['tools'] if offered else 'none'}"
    )


@claim(
    "no-middleware",
    "4",
    "No middleware of one's own is needed: provider and endpoint as they come are enough.",
)
def _(arms: Arms) -> Verdict:
    words = {
        agent: arms.outcome("unpatched", model="scripted", agent=agent, form="command").word
        for agent in AGENTS
    }
    good = all(word == "affected" for word in words.values())
    return Verdict(HOLDS if good else NOT, f"all kinds of agents, not only the harness: {words}")


@claim("any-provider", "4", "Every gated tool that a provider injects fails alike.")
def _(arms: Arms) -> Verdict:
    heard = [options for options in MATRIX if options["provider"] == "own" and options["form"] != "resume"]
    words = [arms.outcome("unpatched", **options).word for options in heard]
    good = all(word == "affected" for word in words)
    return Verdict(
        HOLDS if good else NOT,
        f"a provider of a few lines: {words.count('affected')} of {len(words)} affected",
    )


@claim("any-form", "4", "Approving the call in the client is what it takes, whatever form the approval has.")
def _(arms: Arms) -> Verdict:
    words = {
        form: {arms.outcome("unpatched", **o).word for o in MATRIX if o["form"] == form} for form in FORMS
    }
    told = "; ".join(f"{form}: {', '.join(sorted(found))}" for form, found in words.items())
    heard = all(found == {"affected"} for form, found in words.items() if form != "resume")
    if heard and words["resume"] == {"refused"}:
        return Verdict(
            ONLY, f"the release accepts the form: it answers 422 to the list form of `resume` ({told})"
        )
    return Verdict(HOLDS if heard and words["resume"] == {"affected"} else NOT, told)


@claim("line-numbers", "1, 5", "The code stands at lines 926 to 953 and 1341 to 1384 of `_agent_run.py`.")
def _(arms: Arms) -> Verdict:
    look = arms("unpatched", provider="source").steps[0].told["source"]["agent_framework_ag_ui._agent_run"]
    named = {
        "collect_server_tools(agent)": range(1341, 1342),
        "tools_for_execution = ": range(1381, 1385),
        "await _resolve_approval_responses(": range(1381, 1385),
        "await _try_execute_function_calls(": range(926, 934),
        PLACEHOLDER: range(941, 954),
    }
    good = all(set(look["words"][words]) & set(lines) for words, lines in named.items())
    return Verdict(
        HOLDS if good else NOT,
        f"in the released wheel they stand at {look['words']}: the report's lines are from another tree",
    )


@claim(
    "ungated-fine",
    "5",
    "A provider's tool that needs no approval is executed: only the approval path is broken.",
)
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", provider="ungated")
    good = found.word == "clean" and found.executions == 1 and found.questions == 0
    return Verdict(
        HOLDS if good else NOT, f"{found.word}, {found.executions} execution, {found.questions} cards"
    )


@claim("static-fine", "5", "The same gated tool on the agent itself is executed after its approval.")
def _(arms: Arms) -> Verdict:
    good = fixed(arms, "unpatched", provider="none")
    found = arms.outcome("unpatched", provider="none")
    return Verdict(
        HOLDS if good else NOT, f"{found.word}, {found.executions} execution, {found.questions} card"
    )
