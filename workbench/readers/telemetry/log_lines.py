"""What lines of a framework's log say about tool calls and approvals.

Most lines name the tool and not the call; which call is meant is for others to infer. Texts are those
of agent-framework (Python), its AG-UI endpoint, and Microsoft.Extensions.AI.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from workbench.readers.telemetry import values
from workbench.readers.telemetry.rows import LogRow


@dataclass(frozen=True, slots=True)
class LogFact:
    """One line, read.

    kind: `tool-map` (the tools that can run here, in `tools`; those that need approval in
    `approval_tools`), `checking`, `approval-needed`, `approval-returned`, `invoking`, `arguments`,
    `succeeded`, `result`, `failed`, `duration`, `lifecycle` (an approval's step, in `event`),
    `approval-refused`, `approval-pending`, `approval-skipped`, `synthetic-result`, `duplicate-result`,
    `tool-end`, `message` (a message of the conversation, see `messages`).
    """

    kind: str
    tool: str | None = None
    call_id: str | None = None
    approval_id: str | None = None
    #: arguments, result or error, as written
    text: str | None = None
    #: of `checking`: whether the tool needs approval
    gated: bool | None = None
    tools: tuple[str, ...] = ()
    approval_tools: tuple[str, ...] = ()
    event: str = ""
    status: str = ""
    owner: str = ""


_LINES = tuple(
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        ("tool-map", r"_try_execute_function_calls: tool_map keys=(?P<tools>\[.*?\]), approval_tools=(?P<gates>.*)"),
        ("checking", r"Checking function call: type=\w+, name=(?P<tool>.*?), in approval_tools=(?P<gated>True|False)"),
        ("approval-needed", r"Approval needed for function: (?P<tool>\S+)"),
        ("approval-returned", r"Returning (?:visible )?function_approval_request contents"),
        ("invoking", r"Function name: (?P<tool>\S+)"),
        ("arguments", r"Function arguments: (?P<text>.*)"),
        ("succeeded", r"Function (?P<tool>\S+) succeeded\."),
        ("result", r"Function result: (?P<text>.*)"),
        ("failed", r"Function failed\. Error: (?P<text>.*)"),
        ("failed", r"Function (?P<tool>\S+) failed \((?P<text>.*)\)\."),
        ("failed", r"Function '(?P<tool>[^']+)' raised an exception; .*?Exception: (?P<text>.*)"),
        ("failed", r"Function '(?P<tool>[^']+)' raised an exception"),
        ("failed", r"Function (?P<tool>\S+): (?P<text>result parser failed\..*)"),
        ("duration", r"Function duration: (?P<text>\S+)"),
        ("approval-refused", r"Rejected approval response id=(?P<approval>\S+): (?P<text>.*)"),
        ("approval-pending", r"Approval remains pending .* call_id=(?P<call>\S+?)\.?$"),
        ("approval-skipped", r"Skipping (?:hosted|local) approval .* call_id=(?P<call>\S+?)\.?$"),
        ("synthetic-result", r"Injecting synthetic tool result for .*call_id=(?P<call>\S+)"),
        ("duplicate-result", r"Skipping duplicate tool result at index \d+: call_id=(?P<call>\S+)"),
        ("tool-end", r"Emitting ToolCallEndEvent for declaration-only tool '(?P<call>[^']+)'"),
        # Microsoft.Extensions.AI
        ("invoking", r"Invoking (?P<tool>[\w.-]+)(?:\((?P<text>\{.*\})\))?\.$"),
        ("succeeded", r"(?P<tool>[\w.-]+) invocation completed\. Duration: [^.]+(?:\.\d+)?(?:\. Result: (?P<text>.*))?"),
        ("failed", r"(?P<tool>[\w.-]+) invocation (?P<text>failed|canceled)\."),
    )
)  # fmt: skip
_STARTS = (
    "_try_execute", "Checking", "Approval ", "Returning ", "Function ", "Rejected ", "Skipping ", "Injecting ",
    "Emitting ", "Invoking ",
)  # fmt: skip
_LIFECYCLE = "AG-UI approval lifecycle transition"
#: Longest line that is looked at
_LONGEST = 20_000


def fact_of(log: LogRow) -> LogFact | None:
    """What a log record says; None for nothing about tools."""
    attributes = log.attributes
    if isinstance(log.body, str) and log.body:
        found = line_fact(log.body, attributes)
        if found is not None:
            return found
    return _message_fact(log)


def line_fact(text: str, attributes: dict[str, Any] | None = None) -> LogFact | None:
    """What the text of a log line says."""
    if text.startswith(_LIFECYCLE):
        said = attributes or {}
        return LogFact(
            "lifecycle",
            approval_id=values.word(said.get("approval_occurrence_id")),
            text=values.word(said.get("approval_failure_type")),
            event=values.word(said.get("approval_event")) or "",
            status=values.word(said.get("approval_status")) or "",
            owner=values.word(said.get("approval_owner")) or "",
        )
    if not text.startswith(_STARTS) and " invocation " not in text[:200]:
        return None
    for kind, pattern in _LINES:
        found = pattern.match(text[:_LONGEST])
        if found is None:
            continue
        parts = found.groupdict()
        gated = parts.get("gated")
        return LogFact(
            kind,
            tool=parts.get("tool"),
            call_id=parts.get("call"),
            approval_id=parts.get("approval"),
            text=parts.get("text"),
            gated=None if gated is None else gated == "True",
            tools=_names(parts.get("tools")),
            approval_tools=_names(parts.get("gates")),
        )
    return None


def _names(text: str | None) -> tuple[str, ...]:
    """Names in a list or set as Python writes it."""
    if not text or text.startswith("set("):
        return ()
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return tuple(re.findall(r"'([^']*)'", text))
    return tuple(str(name) for name in value) if isinstance(value, list | set | tuple | dict) else ()


def _message_fact(log: LogRow) -> LogFact | None:
    """A message of the conversation that a record carries, with the call if it is about one only."""
    from workbench.readers.telemetry.messages import of_log

    found = of_log(log)
    parts = [part for message in found for part in message["parts"]]
    kinds = ("tool_call", "tool_call_response")
    calls = [(part.get("id"), part.get("name")) for part in parts if part["type"] in kinds]
    direct = values.word(log.attributes.get("gen_ai.tool.call.id"))
    if not found and direct is None:
        return None
    one = calls[0] if len(calls) == 1 else (None, None)
    return LogFact("message", tool=one[1], call_id=direct or one[0])
