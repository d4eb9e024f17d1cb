"""step-unbalanced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.findings import Finding
from workbench.rules.registry import rule
from workbench.rules.slips import cut, named, report, slips

if TYPE_CHECKING:
    from workbench.trace import Trace

_SAID = {
    "never-started": "STEP_FINISHED of step {step}, which is not open in {run}.",
    "left-open": "Step {step} is still open at the end of {run}.",
    "started-twice": "Step {step} of {run} is started again while it is open.",
}


@rule("step-unbalanced", code="STP001", severity="error", scope="run")
def step_unbalanced(trace: Trace) -> Iterator[Finding]:
    """A step ends without a start, is open at the end of its run, or is started while it is open.

    Why it hurts: verifying clients abort; progress displays stay at the step for ever.
    No fault when: the step is started again after it has finished (loops do that), or two
        subagents have steps of one name. Information where the stream is cut, or the run failed
        in the middle of the step.
    What to do: emit STEP_FINISHED where the step is left, also on errors; give parallel steps
        different names.
    Example:
        {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
        {"type": "STEP_STARTED", "stepName": "plan"}
        {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}
    Sources: AG-UI events, steps; verifyEvents of @ag-ui/client.
    """
    for conversation, slip in slips(trace, "step-unbalanced"):
        if not any(slip.ids):
            continue  # without a name there is nothing to pair: schema-field-missing
        run = slip.run
        late = conversation.starts_late or not run.complete or run.start is None
        early = cut(run, conversation) or run.end is None or run.outcome == "error"
        mild = late if slip.variant == "never-started" else early if slip.variant == "left-open" else False
        said = _SAID.get(slip.variant, "Step {step} of {run} is out of balance.")
        message = said.format(step=slip.ids[0], run=named(run))
        yield report(trace, slip, message, severity="info" if mild else "")
