"""What the report on resumes that replay the transcript states, and what the released packages do.

The report reads the source between 1.2.2 and 1.3.0. What is marked `client` was reported to a client's
project; what is marked `ours` was asked by nobody there.
"""

from __future__ import annotations

from workbench.replay.claims import HOLDS, NOT, ONLY, UNSEEN, Arms, Claims, Listed, Verdict
from workbench.replay.scenarios.resume_replays_transcript.evidence import (
    asks,
    calls,
    left_open,
    repeated,
    results,
    shown,
    step,
    stored,
    told,
    words,
)  # fmt: skip

__all__ = ["ARMS", "CLAIMS", "SURVEY"]

CLAIMS = Claims()
claim = CLAIMS

OLD, NEWEST = "1.0.0rc7", "1.7.0"
CALL = "call_water_bed_1"
NOTHING = {"beside": "nothing"}
MESSAGE = {"form": "call-result"}
RETRY = {"then": "retry"}
REFUSAL = "did not have response messages"

#: what is run on every release
SURVEY: list[Listed] = [
    ("unpatched", {}),
    ("unpatched", NOTHING),
    ("unpatched", MESSAGE),
    ("overlap", {}),
]
ARMS: list[Listed] = [
    *SURVEY,
    *(("unpatched", {"calls": name}) for name in ("two", "row", "later")),
    *(("unpatched", {"then": name}) for name in ("again", "retry", "reload")),
    ("unpatched", {**RETRY, **NOTHING}),
    ("unpatched", {"beside": "word"}),
    *((arm, {"ids": ids}) for arm in ("unpatched", "overlap") for ids in ("renamed", "none")),
    ("unpatched", {"store": "none"}),
    ("unpatched", {"decision": "reject"}),
    ("unpatched", {"confirm": "on"}),
    ("unpatched", {"confirm": "on", "calls": "two", **NOTHING}),
    ("overlap", RETRY),
    ("overlap", MESSAGE),
    ("overlap", {"calls": "row"}),
    ("once", {}),
    ("once", MESSAGE),
    ("alone", {}),
    ("alone", {"ids": "renamed"}),
    ("alone", {"beside": "word"}),
    ("seeded", MESSAGE),
    ("unpatched", {**RETRY, "release": NEWEST}),
    ("unpatched", {**MESSAGE, "then": "again", "release": NEWEST}),
    ("seeded", {**MESSAGE, "then": "again", "release": NEWEST}),
    ("unpatched", {"ids": "renamed", "release": NEWEST}),
]


@claim(
    "turn-twice",
    "1",
    "A client that resumes with its whole transcript has the interrupted turn stored twice.",
)
def _(arms: Arms) -> Verdict:
    kept = stored(arms())
    good = arms.outcome().word == "affected" and calls(kept)[CALL] == 2 and len(repeated(kept)) == 2
    return Verdict(
        HOLDS if good else NOT, f"stored: {words(kept)}; the same ids twice: {len(repeated(kept))}"
    )


@claim("open-again", "1", "After a refresh the second copy of the call has no result.")
def _(arms: Arms) -> Verdict:
    kept = stored(arms())
    last = max((n for n, message in enumerate(kept) if message.get("toolCalls")), default=-1)
    open_again = left_open(kept) == [CALL] and not results(kept[last:])
    return Verdict(HOLDS if open_again else NOT, f"stored: {words(kept)}; results: {dict(results(kept))}")


@claim(
    "asked-again", "1", "The call has run once, and no interrupt is open: the copy alone makes a client ask."
)
def _(arms: Arms) -> Verdict:
    arm = arms()
    ran = [told_["call"] for told_ in arm.effects]
    good = ran == [CALL] and not asks(step(arm, "refresh")) and CALL in left_open(stored(arm))
    return Verdict(HOLDS if good else NOT, f"executed: {ran}; interrupts: {asks(step(arm, 'refresh'))}")


@claim(
    "contract", "2", "The interrupt contract says nothing about messages beside a resume: both are allowed."
)
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "a statement about the text of the protocol")


@claim("reference-client", "2", "The reference client sends its whole transcript with a resume.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(
        UNSEEN, "the client of a replay does as the report says of that one; the package itself is TypeScript"
    )


@claim("provider-list", "3", "The list for the model is freed of duplicates; the one that is stored is not.")
def _(arms: Arms) -> Verdict:
    sent = told(step(arms(), "approve"))[-1]
    renamed = {ids: arms.outcome("unpatched", ids=ids) for ids in ("renamed", "none")}
    good = calls(sent)[CALL] == 1 and calls(stored(arms()))[CALL] == 2
    refused = all(any(REFUSAL in text for text in one.refusals) for one in renamed.values())
    if good and refused:
        return Verdict(
            ONLY,
            "the client keeps the message ids: without them, or with new ones, the user message stays twice in the "
            "model's list, between call and result, the model service refuses it, and the thread is stuck",
        )
    return Verdict(
        HOLDS if good else NOT, f"sent: {words(sent)}; other ids: {[str(o) for o in renamed.values()]}"
    )


@claim("other-paths", "3", "On every path but the resume the overlap of stored and sent messages is found.")
def _(arms: Arms) -> Verdict:
    again = shown(step(arms("unpatched", **{**MESSAGE, "then": "again", "release": NEWEST}), "again"))
    found = arms.outcome("unpatched", **MESSAGE)
    kept = stored(arms("unpatched", **MESSAGE))
    if found.word == "affected" and calls(again)[CALL] == 2:
        return Verdict(
            NOT,
            f"a decision in a tool message is doubled as well: {words(kept)}; a new user message adds no copy",
        )
    return Verdict(HOLDS, f"a decision in a tool message: {words(kept)}")


@claim("nothing-sent", "4", "A client that sends no messages with the resume is not affected.")
def _(arms: Arms) -> Verdict:
    found, kept = arms.outcome("unpatched", **NOTHING), stored(arms("unpatched", **NOTHING))
    good = found.word == "clean" and not repeated(kept) and not left_open(kept)
    old = arms.outcome("unpatched", release=OLD, **NOTHING)
    return Verdict(HOLDS if good else NOT, f"{found}: {words(kept)}; on {OLD} its decision is lost: {old}")


@claim("releases", "5", "The fault is in the code that the report reads.")
def _(arms: Arms) -> Verdict:
    old = arms.outcome("unpatched", release=OLD)
    good = arms.outcome().word == "affected"
    return Verdict(HOLDS if good else NOT, f"on 1.2.2: {arms.outcome()}; it is older: {old} on {OLD}")


@claim("fix", "fix", "With the overlap found on the resume as well, the turn is stored once.")
def _(arms: Arms) -> Verdict:
    found, kept = arms.outcome("overlap"), stored(arms("overlap"))
    other = arms.outcome("overlap", **MESSAGE)
    row = results(stored(arms("overlap", calls="row")))
    if found.word == "clean" and not repeated(kept) and other.word == "affected":
        return Verdict(
            ONLY,
            "the decision is a resume: one in a tool message still stores the turn twice. After a second resume "
            f"on 1.2.2 the result of the first call stands {row[CALL]} times",
        )
    return Verdict(HOLDS if found.word == "clean" else NOT, f"{found}: {words(kept)}")


@claim("fix-released", "fix", "The fix has been released.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", release=NEWEST)
    other = arms.outcome("unpatched", **{**MESSAGE, "release": NEWEST})
    if found.word == "clean" and other.word == "affected":
        return Verdict(
            ONLY, f"the decision is a resume: in a tool message it still doubles the thread on {NEWEST}"
        )
    return Verdict(HOLDS if found.word == "clean" else NOT, f"on {NEWEST}: {found}, tool message: {other}")


@claim(
    "retry-runs", "fix", "A retried approval whose result is kept falls through to another run of the agent."
)
def _(arms: Arms) -> Verdict:
    sent = {name: len(told(step(arms("unpatched", **{**RETRY, **beside}), "retry")))
            for name, beside in (("transcript", {}), ("nothing", NOTHING))}  # fmt: skip
    if sent == {"transcript": 1, "nothing": 0}:
        return Verdict(
            ONLY, "the retry brings the transcript; without messages the kept result is sent and nothing runs"
        )
    return Verdict(HOLDS if all(sent.values()) else NOT, f"requests to the model: {sent}")


@claim("retry-fixed", "fix", "With the fix the kept result is sent again, and the agent is not run.")
def _(arms: Arms) -> Verdict:
    both = [arms("overlap", **RETRY), arms("unpatched", **{**RETRY, "release": NEWEST})]
    sent = [len(told(step(arm, "retry"))) for arm in both]
    again = ["TOOL_CALL_RESULT" in step(arm, "retry").runs[0][2] for arm in both]
    once = [len(arm.effects) for arm in both]
    good = sent == [0, 0] and again == [True, True] and once == [1, 1]
    return Verdict(
        HOLDS if good else NOT, f"requests to the model {sent}, result sent again {again}, executed {once}"
    )


@claim("workflow", "fix", "The endpoint of a workflow has the same fault, and the same fix.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "a replay's endpoint serves an agent")


@claim("service-session", "fix", "Where the service keeps the session, a resume takes another way.")
def _(arms: Arms) -> Verdict:
    del arms
    return Verdict(UNSEEN, "the endpoint of a replay does without sessions at the service")


@claim("only-refresh", "client", "All is well until the page is loaded anew.")
def _(arms: Arms) -> Verdict:
    first = left_open(shown(step(arms(), "approve")))
    old = left_open(shown(step(arms("unpatched", release=OLD), "approve")))
    if first and not old:
        return Verdict(
            ONLY,
            "the release is as old as 1.0.0rc7: since then the snapshot of the resumed run has the copy, too",
        )
    return Verdict(NOT if first else HOLDS, f"open in the resumed run: {first}, on {OLD}: {old}")


@claim("word-only", "client", "A new user message alone beside the resume is appended to the stored thread.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", beside="word")
    sent = told(step(arms("unpatched", beside="word"), "approve"))[-1]
    if any(REFUSAL in text for text in found.refusals):
        return Verdict(
            NOT, f"it lands between call and result, and the model service refuses that: {words(sent)}"
        )
    return Verdict(HOLDS if found.word == "clean" else NOT, f"{found}: {words(sent)}")


@claim("turn-alone", "ours", "Only the interrupted turn is stored twice, not what was before it.")
def _(arms: Arms) -> Verdict:
    kept = stored(arms("unpatched", calls="later"))
    users = [message["id"] for message in kept if message["role"] == "user"]
    good = calls(kept)[CALL] == 2 and len(users) == len(set(users)) + 1
    return Verdict(HOLDS if good else NOT, f"the whole thread: {words(kept)}" if not good else words(kept))


@claim("in-a-row", "ours", "Every further resume adds another copy of all that was before.")
def _(arms: Arms) -> Verdict:
    kept = stored(arms("unpatched", calls="row"))
    good = calls(kept)[CALL] >= 4 and calls(kept)["call_water_bed_2"] == 2
    return Verdict(
        HOLDS if good else NOT, f"{len(kept)} messages after two resumes; calls: {dict(calls(kept))}"
    )


@claim("parallel", "ours", "Two calls in one turn are both stored twice.")
def _(arms: Arms) -> Verdict:
    kept = stored(arms("unpatched", calls="two"))
    good = set(calls(kept).values()) == {2} and len(left_open(kept)) == 2
    return Verdict(HOLDS if good else NOT, f"stored: {words(kept)}")


@claim("confirmations", "ours", "The confirmation calls that an endpoint adds by default change nothing.")
def _(arms: Arms) -> Verdict:
    one = arms.outcome("unpatched", confirm="on")
    two = arms.outcome("unpatched", confirm="on", calls="two", **NOTHING)
    if one.word == "affected" and two.refusals:
        return Verdict(
            ONLY,
            "one call is decided: with two in a turn the list for the model has a result of the second confirmation and "
            f"not its call, whatever the client sends, and the model service refuses that: “{two.refusals[0][:60]}…”",
        )
    return Verdict(HOLDS if one.word == "affected" else NOT, f"one {one}, two {two}")


@claim("rejected", "ours", "A rejected call stands open again as well.")
def _(arms: Arms) -> Verdict:
    found, arm = arms.outcome("unpatched", decision="reject"), arms("unpatched", decision="reject")
    good = left_open(stored(arm)) == [CALL] and not arm.effects
    return Verdict(
        HOLDS if good else NOT, f"{found}: {words(stored(arm))}, executed {len(arm.effects)} times"
    )


@claim("reload-first", "ours", "A page that was loaded anew before the answer is hit as well.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("unpatched", then="reload")
    good = found.word == "affected" and left_open(stored(arms("unpatched", then="reload"))) == [CALL]
    return Verdict(HOLDS if good else NOT, str(found))


@claim("no-store", "ours", "Without a snapshot store nothing is doubled.")
def _(arms: Arms) -> Verdict:
    found, kept = (
        arms.outcome("unpatched", store="none"),
        shown(step(arms("unpatched", store="none"), "approve")),
    )
    good = found.word == "clean" and not repeated(kept)
    return Verdict(HOLDS if good else NOT, f"{found}: {words(kept)}, and a refresh brings nothing")


@claim("ids", "ours", "The fix helps clients that do not keep message ids.")
def _(arms: Arms) -> Verdict:
    none, renamed = arms.outcome("overlap", ids="none"), arms.outcome("overlap", ids="renamed")
    newest = arms.outcome("unpatched", ids="renamed", release=NEWEST)
    if none.word == "clean" and renamed.refusals and newest.refusals:
        return Verdict(
            ONLY, f"they send none: under new ids the user message is taken for a new one, on {NEWEST} as well, "
            "and the model service refuses the list"
        )  # fmt: skip
    return Verdict(
        HOLDS if renamed.word == none.word == "clean" else NOT, f"none {none}, new {renamed}, {newest}"
    )


@claim("later-turns", "ours", "In later turns the model is told what happened, whatever is stored.")
def _(arms: Arms) -> Verdict:
    before = told(step(arms("unpatched", then="again"), "again"))[-1]
    late = told(step(arms("unpatched", **{**MESSAGE, "then": "again", "release": NEWEST}), "again"))[-1]
    texts = [[m["content"] for m in sent if m["role"] == "tool"] for sent in (before, late)]
    if texts[0] == ["Watered."] and texts[1] and "Watered." not in texts[1]:
        return Verdict(
            ONLY,
            f"the decision was a resume: after one in a tool message on {NEWEST} it is told “{texts[1][0]}”",
        )
    return Verdict(HOLDS if texts == [["Watered."]] * 2 else NOT, f"results that the model is told: {texts}")


@claim("once", "ours", "It is enough to store every message id once.")
def _(arms: Arms) -> Verdict:
    arm, other = arms("once"), arms("once", **MESSAGE)
    kept = [repeated(stored(one)) + left_open(stored(one)) for one in (arm, other)]
    if not any(kept) and arms.outcome("once").word == "affected":
        return Verdict(
            ONLY, "one looks at the store: the resumed run still streams the doubled list to the client. It also "
            "mends a decision in a tool message"
        )  # fmt: skip
    return Verdict(NOT if any(kept) else HOLDS, f"{words(stored(arm))}; {words(stored(other))}")


@claim("alone", "ours", "A resume can do without the messages that come with it, as other hosts have it.")
def _(arms: Arms) -> Verdict:
    found = [arms.outcome("alone"), arms.outcome("alone", ids="renamed")]
    kept = stored(arms("alone", beside="word"))
    lost = not any("Yes, please." in str(message.get("content")) for message in kept)
    if {one.word for one in found} == {"clean"} and lost:
        return Verdict(
            ONLY, "no new user message comes with it, which is lost; clients with new ids are helped, too"
        )
    return Verdict(NOT, f"{[str(one) for one in found]}, user message lost: {lost}")


@claim("seeded", "ours", "A decision in a tool message is stored once where the run is marked as seeded.")
def _(arms: Arms) -> Verdict:
    found = arms.outcome("seeded", **MESSAGE)
    newest = arms("seeded", **{**MESSAGE, "then": "again", "release": NEWEST})
    sent = told(step(newest, "again"))[-1]
    good = (
        found.word == "clean"
        and not repeated(stored(newest))
        and any(m.get("content") == "Watered." for m in sent)
    )
    return Verdict(HOLDS if good else NOT, f"on 1.2.2 {found}; on {NEWEST}: {words(stored(newest))}")
