"""What the report on local approvals sent as MCP approvals states, and what the released packages do.

The report names core 1.12.1 and openai 1.11.0; the code it quotes is that of core 1.13.0 and openai 1.12.0,
which were released with agent-framework-ag-ui 1.0.1.
"""

from __future__ import annotations

from typing import Any

from workbench.replay.arms import Replay
from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Listed, Verdict

__all__ = ["ARMS", "CLAIMS", "SURVEY"]

CLAIMS = Claims()
claim = CLAIMS

FIXES = ("2a", "2b", "2c", "2ab", "2abc")
LISTS = (
    "response-first", "result-first", "history-response-first", "history-result-first",
    "history-executing", "layouts",
)  # fmt: skip
CARRIERS = ("carrier-call", "carrier-response-call", "carrier-request-call", "carrier-call-request")
TWICE = {"batch": "registered", "agent": "plain", "form": "function-approvals+resume"}
STATELESS = {"model": "responses-stateless"}

#: what is run on every release
SURVEY: list[Listed] = [
    ("unpatched", {}),
    ("unpatched", STATELESS),
    ("unpatched", {"list": "result-first"}),
    ("2a", {}),
]
ARMS: list[Listed] = [
    *((arm, options) for arm in ("unpatched", *FIXES) for options in ({}, STATELESS, TWICE)),
    *((arm, {"list": name}) for arm in ("unpatched", *FIXES) for name in LISTS),
    *(("unpatched", {"batch": batch}) for batch in ("provider", "registered")),
    *(("unpatched", {"agent": agent, "batch": "registered"}) for agent in ("approval-middleware", "plain")),
    ("unpatched", {"batch": "registered", **STATELESS}),
    ("unpatched", {"decision": "reject"}),
    *(("unpatched", {"model": model}) for model in ("chat", "anthropic", "ollama")),
    *(("unpatched", {"list": name, "model": "chat"}) for name in ("result-first", "approvals-only")),
    ("unpatched", {"list": "approvals-only", "model": "ollama"}),
    *(("unpatched", {"list": name, "model": "gemini"}) for name in CARRIERS),
    ("unpatched", {"list": "asked", **STATELESS}),
    ("unpatched", {"list": "hosted", **STATELESS}),
    ("2a", {"list": "hosted", **STATELESS}),
    *SURVEY,
]
REFUSAL = "The following MCP approval requests have approval responses but weren't passed as input"


def _refused(arm: Replay) -> tuple[list[dict[str, Any]], str]:
    """Items and refusal of the first request that was turned down; none where all were taken."""
    for step in arm.steps:
        for body, status, text in step.payloads:
            if status >= 400:
                return body["input"], text
    return [], ""


def _sent(arm: Replay) -> list[dict[str, Any]]:
    """All items of all requests."""
    return [item for step in arm.steps for body, _, _ in step.payloads for item in body["input"]]


def _error(arms: Arms, name: str, **options: str) -> bool:
    """Whether the error of the report is there, whatever else is."""
    return any(text.startswith(REFUSAL) for text in arms.outcome(name, **options).refusals)


@claim("every-card", "1", "Every answered approval of a local tool ends in the error on the Responses path.")
def _(arms: Arms) -> Verdict:
    mixed = arms.outcome()
    alone = [arms.outcome("unpatched", batch="registered", agent=a) for a in ("plain", "approval-middleware")]
    alone.append(arms.outcome("unpatched", batch="registered"))
    rejected = _error(arms, "unpatched", decision="reject")
    single = all(one.word == "clean" and one.executions == 1 for one in alone)
    if mixed.word == "affected" and single and not rejected:
        return Verdict(
            ONLY,
            "a decision is in the list twice, as where gated and free calls come in one turn: a single gated call "
            "is executed once, and its turn completes, in all kinds of agents; and it is an approval: with a "
            "rejection there is no such error, only that the free call beside it gets no output",
        )
    return Verdict(
        HOLDS if mixed.word == "affected" and rejected else NOT,
        f"{mixed}; alone {[str(o) for o in alone]}; with a rejection {rejected}",
    )


@claim("words", "1", "The service names the call of the local tool as an MCP approval without a request.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome().refusals
    good = bool(found) and found[0].startswith(REFUSAL) and "call_file_access_read" in found[0]
    return Verdict(HOLDS if good else NOT, f"refused by the fake, which has the rule: {found[:1]}")


@claim(
    "no-request",
    "2a",
    "The refused request carries an `mcp_approval_response` and no `mcp_approval_request`.",
)
def _(arms: Arms) -> Verdict:
    kinds = [item.get("type", "message") for item in _refused(arms())[0]]
    good = "mcp_approval_response" in kinds and "mcp_approval_request" not in kinds
    return Verdict(HOLDS if good else NOT, f"items: {kinds}")


@claim(
    "unchecked",
    "2a",
    "The serializer does not look whether an approval is hosted: its id is a local call id.",
)
def _(arms: Arms) -> Verdict:
    made = [
        i for i in _sent(arms("unpatched", list="result-first")) if i.get("type") == "mcp_approval_response"
    ]
    good = [item["approval_request_id"] for item in made] == ["call_n"]
    return Verdict(HOLDS if good else NOT, f"sent for a call without server label: {made}")


@claim("no-label", "2a", "A local approval request is sent with the server label None.")
def _(arms: Arms) -> Verdict:
    arm = arms("unpatched", list="asked", model="responses-stateless")
    made = [item for item in _sent(arm) if item.get("type") == "mcp_approval_request"]
    good = len(made) == 1 and made[0].get("server_label") is None
    return Verdict(HOLDS if good else NOT, f"without storage: {made}")


@claim(
    "storage", "2a, 4", "It takes storage on the side of the service: without it, request and response pair."
)
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", model="responses-stateless")
    kinds = [
        item.get("type", "message") for item in _refused(arms("unpatched", model="responses-stateless"))[0]
    ]
    if found.word == "affected" and "mcp_approval_request" not in kinds:
        return Verdict(NOT, f"with `store: false` the request is refused as well: {kinds}")
    return Verdict(HOLDS if found.word == "clean" else NOT, f"{found}: {kinds}")


@claim(
    "layouts",
    "2b",
    "A history drops a decision before its result and keeps one behind it, in all four layouts.",
)
def _(arms: Arms) -> Verdict:
    told = arms("unpatched", list="layouts").steps[0].told["unit"]
    four = [
        told[name]
        for name in ("response, result", "response | result", "result, response", "result | response")
    ]
    return Verdict(HOLDS if four == [0, 0, 1, 1] else NOT, f"decisions that are kept: {four}")


@claim("rejected-repeated", "2b", "Rejected decisions and repeated call ids are kept by the same mechanism.")
def _(arms: Arms) -> Verdict:
    told = arms("unpatched", list="layouts").steps[0].told["unit"]
    kept = {name: count for name, count in told.items() if name.startswith(("rejected", "repeated"))}
    behind = all(bool(count) == (name.find("result") < name.find("response")) for name, count in kept.items())
    return Verdict(HOLDS if behind else NOT, f"kept: {kept}")


@claim("live-layout", "2b, 3", "In the live case the decision is left because it stands behind its result.")
def _(arms: Arms) -> Verdict:
    lists = [told for told in arms().seen if told["step"] == "approve" and told.get("list")]
    name = "function_approval_response call_file_access_read_1"
    most = max((told["list"].count(name) for told in lists), default=0)
    errors = {fix: _error(arms, fix) for fix in ("2b", "2a")}
    if most > 1 and errors == {"2b": True, "2a": False}:
        return Verdict(
            NOT,
            f"the decision on the free call is in the list {most} times before anything has a result, put there by "
            "the endpoint's resume and again by the core; the first copy is replaced, and the second stays. With 2b "
            "nothing changes",
        )
    return Verdict(HOLDS if not errors["2b"] else NOT, f"{most} copies, error left: {errors}")


@claim(
    "evidence", "3", "The result of a call stands in front of its own `mcp_approval_response` in the payload."
)
def _(arms: Arms) -> Verdict:
    items, _ = _refused(arms())
    told = [(i.get("type", "message"), i.get("call_id") or i.get("approval_request_id")) for i in items]
    name = "call_file_access_read_1"
    both = ("function_call_output", name) in told and ("mcp_approval_response", name) in told
    good = both and told.index(("function_call_output", name)) < told.index(("mcp_approval_response", name))
    return Verdict(HOLDS if good else NOT, f"{told}")


@claim("either-fix", "2", "Either fix alone prevents the error.")
def _(arms: Arms) -> Verdict:
    history = [_error(arms, fix, list="history-result-first") for fix in ("2a", "2b")]
    live = [_error(arms, fix) for fix in ("2a", "2b")]
    if not any(history) and live == [False, True]:
        return Verdict(
            ONLY, "the list comes out of a history provider: at the endpoint 2a helps, 2b does not"
        )
    return Verdict(
        NOT if any(live) else HOLDS, f"error left after 2a, 2b: history {history}, endpoint {live}"
    )


@claim("any-tool", "4", "Nothing depends on the harness: any gated local tool reaches the same path.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", **TWICE)
    alone = arms.outcome("unpatched", batch="registered", agent="plain")
    if alone.word == "clean" and found.word != "clean":
        return Verdict(
            ONLY,
            f"the decision arrives twice, as by two forms in one request: then {found.word} with a plain agent "
            f"({found.executions} executions, {', '.join(found.rules)})",
        )
    return Verdict(HOLDS if alone.word == "affected" else NOT, f"alone {alone}, twice {found}")


@claim("versions", "versions", "core 1.12.1 with openai 1.11.0 has it.")
def _(arms: Arms) -> Verdict:
    direct = [arms.outcome("unpatched", release=r, list="result-first").word for r in ("1.0.0rc8", "1.0.0")]
    endpoint = [_error(arms, "unpatched", release=r) for r in ("1.0.0rc8", "1.0.0")]
    if set(direct) == {"affected"} and not any(endpoint) and _error(arms, "unpatched"):
        return Verdict(
            ONLY,
            "a list is handed to the connector directly, and continues nothing: openai 1.11.0 sends the item then. At "
            "the endpoint it first appears with openai 1.12.0 and core 1.13.0; core 1.12.1 is in no pair here",
        )
    return Verdict(HOLDS if all(endpoint) else NOT, f"direct {direct}, at the endpoint {endpoint}")


@claim("fix-2a", "5", "2a, to send hosted approvals alone, fixes it.")
def _(arms: Arms) -> Verdict:
    left = _error(arms, "2a") or _error(arms, "2a", model="responses-stateless")
    live, behind = arms.outcome("2a"), arms.outcome("2a", list="history-executing")
    if not left and live.refusals and behind.word == "executed twice":
        return Verdict(
            ONLY,
            "the conversation ends there: the error is gone, but after a mixed batch the next turn lacks the result "
            f"of the free call (“{live.refusals[0][:60]}…”), and a decision behind its result is executed twice",
        )
    return Verdict(NOT if left else HOLDS, f"{live}, history: {behind}")


@claim("loses-nothing", "5", "Nothing is lost with 2a: what was decided travels as the result of the call.")
def _(arms: Arms) -> Verdict:
    arm = arms("2a")
    outputs = {item["call_id"] for item in _sent(arm) if item.get("type") == "function_call_output"}
    hosted = [i["type"] for i in _sent(arms("2a", list="hosted", model="responses-stateless")) if "type" in i]
    kept = {"mcp_approval_request", "mcp_approval_response"} <= set(hosted)
    good = outputs == {told["call"] for told in arm.effects} and len(outputs) == 2 and kept
    return Verdict(
        HOLDS if good else NOT, f"results sent: {sorted(outputs)}; hosted approvals still sent: {kept}"
    )


@claim("fix-2b", "5", "2b, to settle decisions in any order, keeps what is settled out of a history.")
def _(arms: Arms) -> Verdict:
    told = arms("2b", list="layouts").steps[0].told["unit"]
    reopened = told["open again: result | call | response"]
    rest = sum(count for name, count in told.items() if not name.startswith("open again"))
    once = arms.outcome("2b", list="history-executing")
    if not rest and not reopened and once.word == "clean":
        return Verdict(
            ONLY,
            "no call id is used again: collected per id, an earlier result also settles the decision on a later call",
        )
    return Verdict(HOLDS if not rest else NOT, f"kept: {told}; executed: {once}")


@claim("twice", "2b, ours", "Without a fix, a decision behind its result is executed a second time.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", list="history-executing")
    return Verdict(HOLDS if found.word == "executed twice" else NOT, f"{found}: {found.refusals}")


@claim("fix-2c", "ours", "2c alone turns the second execution into the error; with 2a and 2b it ends both.")
def _(arms: Arms) -> Verdict:
    alone, all_three = (
        arms.outcome("2c", list="history-executing"),
        arms.outcome("2abc", list="history-executing"),
    )
    good = alone.word == "affected" and all_three.word == "clean"
    once = arms.outcome("2abc", **TWICE)
    good = good and once.word == "clean"
    return Verdict(
        HOLDS if good else NOT, f"alone {alone}, all three {all_three}, decision in two forms {once}"
    )


@claim("both", "5", "2a and 2b together are enough.")
def _(arms: Arms) -> Verdict:
    cases: list[dict[str, str]] = [{}, STATELESS, *({"list": name} for name in LISTS if name != "layouts")]
    left = [case for case in cases if _error(arms, "2ab", **case)]
    twice = arms.outcome("2ab", **TWICE)
    if not left and twice.word == "executed twice":
        return Verdict(
            ONLY,
            f"the decision comes once: the error is gone in all {len(cases)} cases, but sent in two forms the "
            "decision is carried out twice",
        )
    return Verdict(NOT if left else HOLDS, f"error left: {left}; decision in two forms: {twice}")


@claim("ollama", "6", "Ollama's connector fails on a user message that holds nothing but approvals.")
def _(arms: Arms) -> Verdict:
    text = arms("unpatched", list="approvals-only", model="ollama").steps[0].told.get("error", "")
    live = arms("unpatched", model="ollama")
    logged = any('"RUN_ERROR"' in stream for step in live.steps for _, _, stream in step.runs)
    if "only supports user messages" in text and logged:
        return Verdict(HOLDS, f"{text[:140]}; the mixed batch ends in RUN_ERROR, without a request")
    return Verdict(
        ONLY if "only supports user messages" in text else NOT, f"{text[:140]}; live error: {logged}"
    )


@claim(
    "gemini", "6", "Gemini's connector loses the signature where an approval stands between carrier and call."
)
def _(arms: Arms) -> Verdict:
    signed = {}
    for name in CARRIERS:
        body = arms("unpatched", list=name, model="gemini").steps[0].payloads[0][0]
        parts = [part for content in body["contents"] for part in content["parts"] if "functionCall" in part]
        signed[name] = [bool(part.get("thoughtSignature")) for part in parts]
    good = list(signed.values()) == [[True], [False], [False], [True]]
    return Verdict(HOLDS if good else NOT, f"signed: {signed}")


@claim(
    "chat-immune",
    "6",
    "Connectors on Chat Completions leave approvals out: a list of them alone gives nothing.",
)
def _(arms: Arms) -> Verdict:
    whole = arms("unpatched", list="result-first", model="chat").steps[0].payloads[0][0]["messages"]
    only = arms("unpatched", list="approvals-only", model="chat").steps[0].payloads[0][0]["messages"]
    roles = [[message["role"] for message in messages] for messages in (whole, only)]
    live = {model: arms.outcome("unpatched", model=model) for model in ("chat", "anthropic")}
    free = all("approval-misrouted" not in one.rules for one in live.values())
    good = roles == [["user", "assistant", "tool", "user"], ["user", "assistant", "tool"]] and free
    return Verdict(
        HOLDS if good else NOT,
        f"roles sent: {roles}; the mixed batch: { {model: one.word for model, one in live.items()} }; "
        "Mistral, OpenRouter and Hugging Face were not run",
    )


@claim("earlier-pin", "6", "Ollama's failure was there before the two changes named by the report.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "the connector is not among the packages of the earlier releases here")


@claim("other-gemini", "6", "Another Gemini error with the same words has another cause.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "the report leaves it out, and says not how to get it")


@claim("platform", "4", "It was seen on Azure Foundry with gpt-5.4-mini.")
def _(arms: Arms) -> Verdict:
    return Verdict(UNSEEN, f"a fake with the service's rules in its place; there it is {arms.outcome()}")
