"""The client was told one thing, and the spans tell another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.calls import producers
from workbench.calls.conversation import Call, Conversation, Result
from workbench.calls.telemetry.execution import Execution
from workbench.findings import Finding
from workbench.rules.calls.words import finding, granted, told, undone, waiting
from workbench.rules.registry import rule
from workbench.rules.slips import named, quoted

if TYPE_CHECKING:
    from workbench.trace import Trace

_FRAMEWORK = re.compile(r"\bfunction failed\b", re.IGNORECASE)
#: Words in which a tool's own text may speak of the failure that its span records
_TROUBLE = re.compile(
    r"\b(fail\w*|error\w*|exception|unable|could ?n[o']t|cannot|can't|invalid|not found|unavailable|retry\w*|timed? ?out"
    r"|denied|missing|wrong|problem|sorry)\b",
    re.IGNORECASE,
)


@rule("result-contradicts-telemetry", code="RES008", severity="error", needs=("telemetry", "calls"))
def result_contradicts_telemetry(trace: Trace) -> Iterator[Finding]:
    """The result that was sent says that the tool failed, but its span shows that it ran; or the reverse.

    Why it hurts: the person sees a red card for something that was done, and does it again. Or
        everyone believes in a success that never was.
    No fault when: the tool ran only in a later run, the text of the tool itself speaks of the
        trouble that its span records, or the span succeeded after a retry. A warning where an
        approved call was carried out and the client was told nothing at all.
    What to do: look for a second executor. In agent-framework's AG-UI endpoint approvals were
        carried out before the agent's own tools were known: the placeholder goes to the client,
        and the call runs afterwards.
    Example:
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1",
            "content": "Error: Tool call invocation failed."}
        {"name": "execute_tool save", "status": {}, "attributes": [
            {"key": "gen_ai.tool.call.id", "value": {"stringValue": "c1"}}]}
    Sources: microsoft/agent-framework#7569.
    """
    for conversation in trace.conversations:
        for call in conversation.calls:
            if not call.id or call.synthetic_for is not None or not call.executions:
                continue
            found = _denied(call) or _claimed(call)
            if found is not None:
                result, execution, what = found
                how = " (inferred: only this call fits)" if execution.joined == "inferred" else ""
                where = "its span" if execution.at.kind == "span" else "the log"
                message = (
                    f"{told(call)}: {named(result.run)} says {quoted(result.content)}, but {where} shows that it "
                    f"{what}{how}."
                )
                yield finding(trace, result.run, message, result.at, execution.at, call.at, calls=(call,),
                              approvals=call.approvals, place=result.place)  # fmt: skip
            elif (silent := _untold(conversation, call)) is not None:
                message = (
                    f"{told(call)} was approved and carried out in {named(silent.run)}, as its span shows, but no "
                    "result was sent to the client."
                )
                yield finding(trace, silent.run, message, silent.at, call.at, calls=(call,),
                              approvals=call.approvals, severity="warning")  # fmt: skip


def _shown(call: Call) -> list[Result]:
    """What the client, or the model, was told; not what the tool's own span says."""
    own = {e.at for e in call.executions}
    return [r for r in call.results if not r.decision and r.at not in own]


def _denied(call: Call) -> tuple[Result, Execution, str] | None:
    """Told as failed, but carried out by then."""
    shown = _shown(call)
    streamed = [r for r in shown if r.place == "stream"] or shown
    if any(r.cls == "ok" for r in streamed if r.place == "stream"):
        return None
    for result in streamed:
        if result.cls not in ("placeholder", "error"):
            continue
        for execution in call.executions:
            if not execution.ran or execution.cls != "ok" or execution.run.number > result.run.number:
                continue
            if execution.result is not None and (undone(execution.result) or waiting(execution.result)):
                continue
            # without the tool's own words, an error text may be the tool's and no contradiction
            sure = execution.result is not None and execution.at.kind == "span"
            if result.cls == "placeholder" or sure or _FRAMEWORK.search(result.content[:200]):
                gave = f" and gave {quoted(execution.result)}" if execution.result else ""
                return result, execution, f"was carried out in {named(execution.run)}{gave}"
    return None


def _claimed(call: Call) -> tuple[Result, Execution, str] | None:
    """Told as done, but every span of the tool ended in an error."""
    done = [e for e in call.executions if e.ran and e.at.kind == "span"]
    if not done or any(e.cls != "error" or not e.error for e in done):
        return None
    for result in _shown(call):
        if result.cls == "ok" and result.content.strip() and not _TROUBLE.search(result.content[:2000]):
            if any(e.error in result.content or undone(result.content) for e in done):
                continue
            return result, done[-1], f"failed in {named(done[-1].run)}: {quoted(done[-1].error)}"
    return None


def _untold(conversation: Conversation, call: Call) -> Execution | None:
    """An approved call that ran, whose run ended without a word about it, where others are told."""
    answer = next((a for p in call.approvals if (a := granted(p)) is not None), None)
    if answer is None or not call.starts or call.client_side:
        return None
    if any(r.place != "telemetry" and not r.decision for r in call.results):
        return None
    run = answer.run
    if run.producer in producers.SUPPRESSES_CALLS or run.end is None or not run.complete:
        return None
    if not any(other.streamed for other in conversation.calls):
        return None
    return next((e for e in call.executions if e.ran and e.cls == "ok" and e.run is run), None)
