"""What the report on resumes that replay the transcript states, and what the released packages do."""

from __future__ import annotations

from workbench.replay.claims import UNSEEN, Arms, Claims, Listed, Verdict

__all__ = ["ARMS", "CLAIMS", "SURVEY"]

CLAIMS = Claims()
SURVEY: list[Listed] = [("unpatched", {})]
ARMS: list[Listed] = [("unpatched", {})]

STATEMENTS = [
    ("turn-twice", "1", "A client that resumes with its whole transcript has the interrupted turn stored twice."),
    ("open-again", "1", "After a refresh the second copy of the call has no result."),
    ("asked-again", "1", "The call has run, and no interrupt is open: only the copy makes a client ask again."),
    ("contract", "2", "The interrupt contract says nothing about messages beside a resume, so that both are allowed."),
    ("reference-client", "2", "The reference client sends its whole transcript with a resume."),
    ("provider-list", "3", "The list for the model is freed of duplicates, the stored one is made of the raw messages."),
    ("other-paths", "3", "On every path but the resume the overlap of stored and sent messages is found."),
    ("nothing-sent", "4", "A client that sends no messages with the resume is not affected."),
    ("releases", "5", "The code read by the report, between 1.2.2 and 1.3.0, has it."),
    ("fix", "fix", "With the overlap found on the resume as well, the turn is stored once."),
    ("fix-released", "fix", "The fix came with 1.4.0."),
    ("retry-runs", "fix", "A retried approval whose result is kept falls through to another run of the agent."),
    ("retry-fixed", "fix", "With the fix the kept result is sent again, and the agent is not run."),
    ("workflow", "fix", "The endpoint of a workflow has the same fault, and the same fix."),
    ("service-session", "fix", "Where the service keeps the session, the resume splits the messages already."),
    ("only-refresh", "client", "All is well until the reload: only then the question comes again."),
    ("word-only", "client", "A client that sends a new user message alone with the resume has its thread kept whole."),
    ("whole-thread", "ours", "Only the interrupted turn is stored twice, not what was before it."),
    ("in-a-row", "ours", "Every further resume adds another copy."),
    ("parallel", "ours", "With two calls in one turn both are stored twice."),
    ("rejected", "ours", "A rejected call comes again as well."),
    ("reload-first", "ours", "It is the same for a page that was loaded anew before the answer."),
    ("no-store", "ours", "Without a snapshot store nothing is doubled."),
    ("ids", "ours", "The fix also helps a client that keeps no message ids."),
    ("later-turns", "ours", "The model is told the doubled turn in later runs."),
]
for name, where, text in STATEMENTS:

    @CLAIMS(name, where, text)
    def _(arms: Arms) -> Verdict:
        return Verdict(UNSEEN, "not yet run")
