"""The tables of an investigation, declared: name, dtype, unit and meaning of every column.

`docs/tables.md` is generated from here, and an empty capture still gives every
table with all its columns. Nothing in this module knows where a row comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

Dtype = Literal["id", "text", "word", "int", "ms", "time", "bool"]

#: pandas dtype of each kind of column. Ids, texts and words are all `str`, so that
#: any two id columns can be compared, merged and concatenated without a cast.
PANDAS_DTYPES: Mapping[Dtype, str] = {
    "id": "str",
    "text": "str",
    "word": "str",
    "int": "Int64",
    "ms": "float64",
    "time": "datetime64[ns, UTC]",
    "bool": "boolean",
}

DECISIONS = ("approved", "edited", "rejected", "cancelled", "unseen", "none")
STATES = ("open", "refused", "answered", "executed", "lost", "replayed", "reasked")
RESULT_CLASSES = ("ok", "error", "placeholder", "refusal", "none")
TIME_SOURCES = ("event", "arrival", "request", "span", "log", "none")
PLACES = ("stream", "snapshot", "request", "payload", "history", "telemetry")
SEVERITIES = ("error", "warning", "info")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its kind (see `PANDAS_DTYPES`), unit where it has one, and meaning."""

    name: str
    dtype: Dtype
    meaning: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """One table: what a row stands for, and its columns in order."""

    name: str
    row: str
    columns: tuple[Column, ...]

    def frame(self, values: Mapping[str, Sequence[Any] | pd.Series[Any]] | None = None) -> pd.DataFrame:
        """Make the DataFrame; every declared column is there, in order and dtype.

        `values` maps column names to equally long sequences; `time` columns are given
        as UTC nanoseconds (`None` for no time) and a column left out is all missing.
        A pandas Series is taken as it is: it has the dtype already.
        Raises `KeyError` for a name that is not declared.
        """
        import pandas as pd

        values = values or {}
        unknown = set(values) - {column.name for column in self.columns}
        if unknown:
            raise KeyError(f"table {self.name} has no column {', '.join(sorted(unknown))}")
        length = max((len(column) for column in values.values()), default=0)
        series: dict[str, pd.Series[Any]] = {}
        for column in self.columns:
            given = values.get(column.name)
            if isinstance(given, pd.Series):
                series[column.name] = given
            elif column.dtype == "time":
                # Through Int64, because a list with None would become float and lose nanoseconds.
                # A date may be given that nanoseconds cannot count to (an approval until the year 9999).
                ticks = pd.array(
                    [_tick(v) for v in given] if given is not None else [None] * length, dtype="Int64"
                )
                times = pd.to_datetime(pd.Series(ticks), unit="ns", utc=True)
                series[column.name] = times.astype("datetime64[ns, UTC]")
            else:
                data = [None] * length if given is None else given
                series[column.name] = column_of(data, PANDAS_DTYPES[column.dtype])
        return pd.DataFrame(series)


def column_of(values: Sequence[Any], dtype: str) -> pd.Series[Any]:
    """A column of that pandas dtype; what UTF-8 cannot hold (a file name of other bytes) is written out."""
    import pandas as pd

    try:
        return pd.Series(values, dtype=dtype)
    except UnicodeEncodeError:
        held = [v.encode("utf-8", "backslashreplace").decode() if isinstance(v, str) else v for v in values]
        return pd.Series(held, dtype=dtype)


def _tick(value: int | None) -> int | None:
    """A time in nanoseconds, or None where it does not fit 64 bits."""
    return value if value is not None and -(2**63) < value < 2**63 else None


def _place() -> tuple[Column, ...]:
    return (
        Column("source", "int", "row of `sources` that this was read from"),
        Column("record", "int", "number of the record in its source, from 0"),
        Column("line", "int", "line in the member, from 1; missing where the format has none"),
        Column("offset", "int", "first byte in the decoded member", "bytes"),
        Column("length", "int", "length of the record in the decoded member", "bytes"),
    )


_THREAD = Column("thread_id", "id", "AG-UI thread")
_RUN = Column("run_id", "id", "AG-UI run")
_CALL = Column("call_id", "id", "tool call id")
_MESSAGE = Column("message_id", "id", "message id")
_TIME = Column("time", "time", "when it happened; missing where nothing says so", "UTC ns")
_TIME_SOURCE = Column("time_source", "word", f"where `time` is from: {', '.join(TIME_SOURCES)}")

SOURCES = Table(
    "sources",
    "file, archive member or live stream",
    (
        Column("path", "text", "as it was given"),
        Column("member", "text", "archive member or inner part; empty for the file itself"),
        Column("format", "word", "name of the format it was read as"),
        Column("bytes", "int", "size as given, before any decoding", "bytes"),
        Column("records", "int", "units found by the framing layer"),
        Column("rows", "int", "records that became rows of other tables"),
        Column("duplicates", "int", "records that repeat another one and were left out"),
        Column("ignored", "int", "records that carry nothing: comments, noise, end marks"),
        Column("problems", "int", "records that could not be used, see `problems`"),
        Column("complete", "bool", "false where the capture visibly ends too early or is lossy"),
        Column("note", "text", "what else is to be known: why it is cut, what was ignored"),
    ),
)

PROBLEMS = Table(
    "problems",
    "piece of input that could not be used",
    (
        Column("source", "int", "row of `sources`"),
        Column("path", "text", "as it was given"),
        Column("member", "text", "archive member or inner part"),
        Column("record", "int", "number of the record in its source, from 0"),
        Column("line", "int", "line in the member, from 1"),
        Column("offset", "int", "first byte in the decoded member", "bytes"),
        Column("reason", "text", "what is wrong, in words"),
        Column("excerpt", "text", "start of the offending bytes"),
    ),
)

EVENTS = Table(
    "events",
    "AG-UI event",
    (
        *_place(),
        Column("stream", "int", "number of the response or connection it arrived in"),
        _THREAD,
        _RUN,
        Column("run", "int", "row of `runs`; missing before the first run"),
        Column("sequence", "int", "number of the event in its thread, from 0"),
        _TIME,
        _TIME_SOURCE,
        Column("type", "word", "event type as written"),
        _MESSAGE,
        Column("parent_message_id", "id", "message that owns a call"),
        _CALL,
        Column("name", "text", "tool, step or custom event name"),
        Column("role", "word", "role, where the event has one"),
        Column("subagent_run_id", "id", "lane of a subagent"),
        Column("text", "text", "delta, content or error message"),
    ),
)

RUNS = Table(
    "runs",
    "run that has a start or an end in the capture",
    (
        _THREAD,
        _RUN,
        Column("turn", "int", "user turn of the thread, from 0"),
        Column("started", "time", "time of RUN_STARTED", "UTC ns"),
        Column("ended", "time", "time of RUN_FINISHED or RUN_ERROR", "UTC ns"),
        _TIME_SOURCE,
        Column("outcome", "word", "success, interrupt, cancelled, error, or none where no end was seen"),
        Column("error_code", "word", "code of RUN_ERROR"),
        Column("error", "text", "message of RUN_ERROR"),
        Column("events", "int", "events that belong to the run"),
        Column("start_event", "int", "row of `events` of RUN_STARTED"),
        Column("end_event", "int", "row of `events` of the first terminal event"),
        Column("request", "int", "row of `requests` that caused it"),
        Column("parent_run_id", "id", "parentRunId of the start"),
        Column("stream", "int", "number of the response or connection"),
        Column(
            "producer",
            "word",
            "framework that wrote it: agent-framework-py, dotnet, langgraph, mastra, adk or unknown",
        ),
        Column("producer_evidence", "text", "what the producer was told by"),
        Column("complete", "bool", "false where its stream is visibly cut"),
    ),
)

REQUESTS = Table(
    "requests",
    "request to an agent (RunAgentInput)",
    (
        *_place(),
        _THREAD,
        _RUN,
        Column("run", "int", "row of `runs` that answered it"),
        _TIME,
        _TIME_SOURCE,
        Column("status", "int", "HTTP status of the response; missing where unknown"),
        Column("url", "text", "address it was sent to"),
        Column("messages", "int", "messages it carries"),
        Column("tools", "text", "names of the client's tools, comma separated"),
        Column("resume", "text", "answers to interrupts as JSON, in whatever field they came"),
        Column("carrier", "word", "body, or event where RUN_STARTED carried it"),
    ),
)

PARTS = Table(
    "parts",
    "content part of a message in a snapshot, request, payload, history or telemetry",
    (
        *_place(),
        Column("place", "word", f"where the list stood: {', '.join(PLACES[1:])}"),
        _THREAD,
        _RUN,
        Column("list", "int", "number of the message list in the investigation"),
        Column("position", "int", "index of the message in its list"),
        _MESSAGE,
        Column("role", "word", "role of the message"),
        Column(
            "kind",
            "word",
            "text, reasoning, call, result, approval-request, approval-response, activity, data",
        ),
        _CALL,
        Column("name", "text", "tool name of a call"),
        Column("arguments", "text", "arguments of a call, as written"),
        Column("content", "text", "text or result, as written; of an approval-response the decision"),
        Column("approval_id", "id", "approval that an approval-request or -response is about"),
        Column("hosted", "bool", "true for a tool that the model provider runs"),
        Column("path", "text", "its exact place in the list as written: `messages[3].tool_calls[0]`"),
    ),
)

_SPAN_IDS = (
    Column("trace_id", "id", "OpenTelemetry trace"),
    Column("span_id", "id", "OpenTelemetry span"),
)

_JOINED = Column(
    "joined",
    "word",
    "how it was joined with a thread of the AG-UI side: call id, conversation id, time or (lines of a log without times) tool; missing where it was not",
)

SPANS = Table(
    "spans",
    "span",
    (
        *_place(),
        *_SPAN_IDS,
        Column("parent_span_id", "id", "parent span"),
        Column("thread_id", "id", "conversation; from the parent spans where the span itself names none"),
        _JOINED,
        _CALL,
        Column("name", "text", "span name"),
        Column("kind", "word", "internal, server, client, producer, consumer; missing where it is not said"),
        Column("operation", "word", "execute_tool, chat, invoke_agent, …"),
        Column("tool", "text", "tool name, of execute_tool spans"),
        Column("arguments", "text", "arguments of the tool, as written"),
        Column("result", "text", "result of the tool, as written"),
        Column("scope", "text", "instrumentation scope"),
        Column("service", "text", "service or resource that sent it"),
        _TIME,
        Column("ended", "time", "end", "UTC ns"),
        _TIME_SOURCE,
        Column("duration", "ms", "end − start", "ms"),
        Column("status", "word", "unset, ok, error; missing where the dialect has none"),
        Column("error", "text", "status message, exception or error type; missing where it succeeded"),
    ),
)

LOGS = Table(
    "logs",
    "log record",
    (
        *_place(),
        *_SPAN_IDS,
        Column("thread_id", "id", "conversation, from its span or trace"),
        _JOINED,
        _CALL,
        Column(
            "call_from", "word", "how the call is known: call id, or inferred where only one fits the line"
        ),
        _TIME,
        _TIME_SOURCE,
        Column("order", "int", "place among records without a time: Aspire's log id"),
        Column("logger", "text", "scope or logger name"),
        Column("service", "text", "service or resource that sent it"),
        Column("severity", "word", "as the record gives it"),
        Column("event", "word", "event name"),
        Column("tool", "text", "tool that the record names"),
        Column("text", "text", "body; JSON where it is structured"),
    ),
)

CALLS = Table(
    "calls",
    "occurrence of a tool call",
    (
        _THREAD,
        _CALL,
        Column("occurrence", "int", "number of the occurrence of this id in its thread, from 0"),
        Column("tool", "text", "tool name"),
        Column("arguments", "text", "canonical JSON; as written where it is not JSON"),
        Column("turn", "int", "user turn of the thread, from 0"),
        Column("asked_run", "id", "run in which it was first seen"),
        Column("asked", "time", "time of the first sighting", "UTC ns"),
        Column("ended", "time", "time of TOOL_CALL_END", "UTC ns"),
        Column("answered", "time", "time of the first result", "UTC ns"),
        _TIME_SOURCE,
        Column("asked_event", "int", "row of `events` of the first sighting"),
        Column("ended_event", "int", "row of `events` of TOOL_CALL_END"),
        Column("answered_event", "int", "row of `events` of the first TOOL_CALL_RESULT"),
        Column("answered_run", "id", "run that carried the first result"),
        Column("executed", "int", "executions seen (results that differ or stand in different runs, spans)"),
        Column("result", "text", "content of the result that counts"),
        Column("result_class", "word", f"{', '.join(RESULT_CLASSES)}"),
        Column("approval_id", "id", "approval that gated it"),
        Column("client_side", "bool", "true where the client runs the tool"),
        Column("synthetic_for", "id", "call that this confirmation call points at; missing for real calls"),
        Column("message_id", "id", "message that owns it"),
        Column("signals", "text", f"what saw it: {', '.join(PLACES)}; comma separated"),
        Column(
            "joined",
            "word",
            "how its spans or log lines were found: call id, or inferred where only one call fits; missing without",
        ),
    ),
)

APPROVALS = Table(
    "approvals",
    "approval request, however many channels show it",
    (
        _THREAD,
        Column("approval_id", "id", "interrupt id, else CUSTOM id, else call id"),
        _CALL,
        Column("occurrence", "int", "occurrence of the call"),
        Column("tool", "text", "tool that waits"),
        Column("arguments", "text", "arguments shown to the person, canonical JSON"),
        Column(
            "channel",
            "text",
            "how it was asked: outcome, custom, confirm-call, on_interrupt, legacy-field, raw, client-tool",
        ),
        Column("reason", "word", "reason of the interrupt"),
        Column("question", "text", "message shown to the person"),
        Column("asked_run", "id", "run that asked"),
        Column("asked", "time", "when it was asked", "UTC ns"),
        Column("asked_event", "int", "row of `events` that asked first"),
        Column("expires", "time", "expiresAt", "UTC ns"),
        Column("decision", "word", f"{', '.join(DECISIONS)}"),
        Column("answered_run", "id", "run that carried the answer"),
        Column("answered", "time", "when it was answered", "UTC ns"),
        Column("form", "word", "resume, command, tool-message, function-approvals; missing where unseen"),
        _TIME_SOURCE,
        Column("state", "word", f"{', '.join(STATES)}"),
    ),
)

TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (SOURCES, PROBLEMS, EVENTS, RUNS, REQUESTS, PARTS, SPANS, LOGS, CALLS, APPROVALS)
}
