"""Which framework wrote a run, told from the marks it leaves (reading rules 5 and 6)."""

from __future__ import annotations

from workbench.calls.conversation import Run

#: Confirmation calls that point at the real call: tool name → producer (None: any).
CONFIRM_CALLS = {
    "confirm_changes": None,
    "adk_request_confirmation": "adk",
    "request_info": "agent-framework-py",
}
#: Client-side tools whose only purpose is to ask a person.
CONFIRM_TOOLS = frozenset({"request_approval", "requestApproval", "ask_approval", "confirm_action", "confirmAction",
                           "human_approval", "approve_action"})  # fmt: skip
SUPPRESSES_CALLS = frozenset({"mastra"})
REEMITS_ON_RESUME = frozenset({"dotnet", "langgraph", "agno"})


#: .NET does this always, LangGraph and others now and then.
_SHARED_MARK = "RESULT.messageId equals toolCallId"


def note(run: Run, producer: str, evidence: str) -> None:
    """Record the first evidence for a producer; a framework's own mark beats a shared one."""
    if run.producer == "unknown" or (run.producer_evidence == _SHARED_MARK != evidence):
        run.producer, run.producer_evidence = producer, evidence


def by_interrupt(run: Run, interrupt_id: str, reason: str) -> None:
    """Marks in an interrupt's id and reason."""
    if interrupt_id.startswith("ficc_"):
        note(run, "dotnet", f"interrupt id {interrupt_id}")
    elif interrupt_id.startswith("af-call-"):
        note(run, "agent-framework-py", f"interrupt id {interrupt_id}")
    elif reason.startswith("langgraph:"):
        note(run, "langgraph", f"interrupt reason {reason}")
    elif reason.startswith("crewai:"):
        note(run, "crewai", f"interrupt reason {reason}")
    elif interrupt_id.startswith("adk-"):
        note(run, "adk", f"interrupt id {interrupt_id}")


def by_custom(run: Run, name: str, value: object) -> None:
    """Marks in a CUSTOM event."""
    if name == "function_approval_request":
        note(run, "agent-framework-py", "CUSTOM function_approval_request")
    elif name == "on_interrupt":
        mastra = isinstance(value, dict) and value.get("type") == "mastra_suspend"
        if mastra or (isinstance(value, str) and "mastra_suspend" in value):
            note(run, "mastra", "CUSTOM on_interrupt of type mastra_suspend")
        else:
            note(run, "langgraph", "CUSTOM on_interrupt")


def by_raw(run: Run, event: object) -> None:
    """Marks in a RAW event."""
    if not isinstance(event, dict):
        return
    metadata = event.get("metadata")
    if str(event.get("event", "")).startswith("on_chain_") or (
        isinstance(metadata, dict) and any(str(key).startswith("langgraph_") for key in metadata)
    ):
        note(run, "langgraph", "RAW event of a LangGraph node")


def by_message(run: Run, message_id: str) -> None:
    """Marks in a message id."""
    if message_id.startswith(("lc_run--", "run--")):
        note(run, "langgraph", f"message id {message_id}")


def by_call(run: Run, call_id: str, tool: str) -> None:
    """Marks in a call's id and name."""
    if tool == "adk_request_confirmation" or call_id.startswith("adk-"):
        note(run, "adk", f"call {tool or call_id}")


def by_result(run: Run, call_id: str, message_id: str) -> None:
    """.NET gives a result the id of its call as message id."""
    if call_id and call_id == message_id:
        note(run, "dotnet", _SHARED_MARK)


def spread(runs: list[Run]) -> None:
    """One thread is served by one framework: a run without marks has that of the others, if they agree."""
    sure = {run.producer for run in runs if run.producer_evidence != _SHARED_MARK} - {"unknown"}
    known = sure or {run.producer for run in runs} - {"unknown"}
    if len(known) != 1:
        return
    producer = known.pop()
    for run in runs:
        if run.producer == "unknown" or (run.producer != producer and run.producer_evidence == _SHARED_MARK):
            run.producer, run.producer_evidence = producer, "another run of the thread"
