"""The workaround, the options of a fix, reports beside it, and the triage: sections 6 to 9 of the report."""

from __future__ import annotations

from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Verdict
from workbench.replay.scenarios.provider_tool_approval.evidence import (
    AGENTS,
    PLACEHOLDER,
    fixed,
    results,
    seen,
    texts,
)

claim = Claims()


@claim("workaround-writes", "6", "With the workaround the file is written with the approved content.")
def _(arms: Arms) -> Verdict:
    agents = {agent: arms("workaround", agent=agent).files for agent in AGENTS}
    good = all(files == {"harvest.md": "Pears on Friday."} for files in agents.values())
    return Verdict(
        HOLDS if good else NOT,
        f"files by agent: { {agent: sorted(files) for agent, files in agents.items()} }",
    )


@claim("workaround-no-loop", "6", "With the workaround the loop is gone: there is no second card.")
def _(arms: Arms) -> Verdict:
    arm = arms("workaround", agent="harness")
    cards = [len(step.told["cards"]) for step in arm.steps]
    if cards == [1, 0, 1]:
        return Verdict(
            ONLY,
            "the conversation ends there: turn 2 brings no card, but the placeholder in the client's history makes "
            "the model ask again in turn 3",
        )
    return Verdict(HOLDS if cards == [1, 0, 0] else NOT, f"cards by turn: {cards}")


@claim("option-1", "7.1", "Gathering the providers' tools before approvals are carried out fixes it.")
def _(arms: Arms) -> Verdict:
    words = {agent: arms.outcome("option-1", agent=agent).word for agent in AGENTS}
    good = all(fixed(arms, "option-1", agent=agent) for agent in AGENTS) and fixed(
        arms, "option-1", provider="skills"
    )
    rejected = arms("option-1", decision="reject")
    good = good and not rejected.effects
    return Verdict(
        HOLDS if good else NOT, f"{words}; one execution, one card; a rejected call is not executed"
    )


@claim("option-2", "7.2", "Leaving approvals of unknown tools to the run fixes it.")
def _(arms: Arms) -> Verdict:
    found = {agent: arms.outcome("option-2", agent=agent) for agent in AGENTS}
    ran = all(one.executions == 1 and one.questions == 1 for one in found.values())
    silent = not results(arms("option-2"), 1)
    if ran and silent and all(one.refusals for one in found.values()):
        return Verdict(
            ONLY,
            "the provider does not test the order of messages: the file is written and no card follows, but the "
            "client is never told the result, its snapshot keeps the answer in place of it, and the next request "
            "is refused; with approval middleware or harness, already that of the same turn",
        )
    return Verdict(
        HOLDS if ran and not silent else NOT, f"{ {agent: one.word for agent, one in found.items()} }"
    )


@claim("option-3", "7.3", "Telling a missing tool from a failed one is enough to avoid the loop.")
def _(arms: Arms) -> Verdict:
    found = [arms.outcome("option-3", agent=agent) for agent in AGENTS]
    named = all(PLACEHOLDER not in results(arms("option-3", agent=agent), 1) for agent in AGENTS)
    if named and all(one.executions == 0 and one.questions == 3 for one in found):
        return Verdict(
            NOT,
            "with other words in the result the action is still not carried out, and asked again; the report's other "
            "reading, to leave the approval in place, is option 2",
        )
    return Verdict(HOLDS, f"{[one.word for one in found]}")


@claim("indistinct", "7.3", "The model cannot tell the placeholder from the result of a tool that threw.")
def _(arms: Arms) -> Verdict:
    lost, threw = arms(), arms("unpatched", provider="throws")
    sent = {
        word: sorted({m["content"] for m in arm.steps[1].payloads[0][0]["messages"] if m["role"] == "tool"})
        for word, arm in (("lost", lost), ("threw", threw))
    }
    fields = [set(texts(arm, 1, "TOOL_CALL_RESULT")[0]) for arm in (lost, threw)]
    ran = [told["error"] for told in threw.effects]
    if ran and sent["lost"] != sent["threw"] and fields[0] == fields[1]:
        return Verdict(
            ONLY,
            f"one does not know the words by heart: {sent}. No field tells the two apart, and neither gives a reason",
        )
    return Verdict(HOLDS if ran and sent["lost"] == sent["threw"] else NOT, f"{sent}, executions: {ran}")


@claim("related-6910", "8", "It is independent of the lost approval state of another report.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "the other report's fix is in no release of this one")


@claim("related-6920", "8", "Another report is about state of the same providers, at another seam.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "it is about state that is lost between requests; no step here needs such state")


@claim("snapshots-no-help", "8", "Snapshots of the thread on the server do not help.")
def _(arms: Arms) -> Verdict:
    found = {agent: arms.outcome("unpatched", snapshots="on", agent=agent) for agent in ("plain", "harness")}
    good = all(one.word == "affected" and not one.executions for one in found.values())
    told = {agent: f"{one.word}, {one.executions} executions" for agent, one in found.items()}
    return Verdict(HOLDS if good else NOT, f"with a store of snapshots: {told}")


@claim(
    "mcp-precedent", "8", "Tools of connected MCP servers are among the collected ones, by an earlier fix."
)
def _(arms: Arms) -> Verdict:
    told = arms("unpatched", provider="mcp").steps[0].told["unit"]
    return Verdict(
        HOLDS if told.get("collected") == ["mcp_tool"] else NOT, f"collected from a connected server: {told}"
    )


@claim("platform", "9", "It was seen on Windows with CopilotKit and Ollama.")
def _(arms: Arms) -> Verdict:
    return Verdict(
        UNSEEN,
        f"none of the three is needed: on Linux, client and model in one process, it is {arms.outcome()}",
    )


@claim(
    "triage-lines",
    "triage",
    "In rc8: the tool map at 1633 of `_tools.py`; tools, call and failure at 1814, 1855, 1857 and 1343 of `_agent_run.py`.",
)
def _(arms: Arms) -> Verdict:
    look = arms("unpatched", release="1.0.0rc8", provider="source").steps[0].told["source"]
    run, core = look["agent_framework_ag_ui._agent_run"], look["agent_framework._tools"]
    named = {
        1814: "collect_server_tools(agent)",
        1855: "tools_for_execution = ",
        1857: "await _resolve_approval_responses(",
    }
    good = all(words in run["lines"][str(line)] for line, words in named.items())
    good = good and "def _try_execute_function_calls(" in core["lines"]["1633"]
    # the statement begins at the line named, and its text stands in the next one
    good = good and 0 <= run["words"][PLACEHOLDER][0] - 1343 <= 1
    return Verdict(HOLDS if good else NOT, f"in the released wheels: {run['words']}, {core['words']}")


@claim(
    "triage-unit",
    "triage",
    "Executing an approval with a list of tools that lacks its name gives the placeholder.",
)
def _(arms: Arms) -> Verdict:
    told = seen(arms(), "_resolve_approval_responses")[0]
    good = "file_access_write" not in told["tools"] and told["returned"][0].get("result") == PLACEHOLDER
    return Verdict(HOLDS if good else NOT, f"offered {told['tools']}, returned {told['returned']}")
