"""What a span or log record says, decoded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.readers.records import Records
from workbench.readers.telemetry import log_lines, mapping, messages
from workbench.readers.telemetry.log_lines import LogFact
from workbench.readers.telemetry.mapping import Facts

Message = dict[str, Any]


class Told(NamedTuple):
    """A span's facts, the messages that it was given, those that it gave, and whether its answer names a run."""

    facts: Facts
    inputs: list[Message]
    outputs: list[Message]
    #: id that the model or agent gave its answer: agent-framework 1.10 puts the AG-UI run id here
    response_id: str


class Reading:
    """Decodes rows; the last ones are kept, because joins ask for them twice."""

    def __init__(self, records: Records) -> None:
        self.records = records
        self._spans: dict[int, Told] = {}
        self._keep = 20_000
        codes = records.pool.codes
        self._tool = codes.get("execute_tool", -2)

    def is_tool(self, row: int) -> bool:
        """The span is one of a tool at work."""
        return self.records.spans.operation[row] == self._tool

    def span(self, row: int) -> Told:
        """What a row of `spans` says."""
        told = self._spans.get(row)
        if told is None:
            decoded = self.records.span(row)
            found = messages.of_span(decoded)
            inputs = [m for m in found if m["direction"] == "input"]
            response = decoded.attributes.get("gen_ai.response.id")
            told = Told(
                mapping.facts(decoded),
                inputs,
                found[len(inputs) :],
                response if isinstance(response, str) else "",
            )
            if len(self._spans) >= self._keep:
                del self._spans[next(iter(self._spans))]
            self._spans[row] = told
        return told

    def log(self, row: int) -> tuple[LogFact | None, list[Message]]:
        """What a row of `logs` says, and the messages in it."""
        decoded = self.records.log(row)
        fact = log_lines.fact_of(decoded)
        return fact, messages.of_log(decoded) if fact is not None and fact.kind == "message" else []


def ids(found: list[Message]) -> Iterator[tuple[str, str]]:
    """(`call` or `approval`, id) of messages, without ids that are only a tool's name."""
    for message in found:
        for part in message["parts"]:
            name, kind = part.get("id"), part["type"]
            called = part.get("function_call")
            if kind in ("tool_call", "tool_call_response"):
                if name and name != part.get("name"):
                    yield "call", name
            elif kind.startswith("function_approval"):
                if name:
                    yield "approval", name
                if isinstance(called, dict) and (own := called.get("id")) and own != called.get("name"):
                    yield "call", own
