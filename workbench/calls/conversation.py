"""A conversation: one thread across its runs, as objects that rules and tables read.

The walk (`calls.walk`) fills these from the events and requests of one thread; they hold
no logic of their own beyond simple questions. Event rows are numbers in `trace.events`;
`sequence` orders everything in one conversation, whatever file or response it came from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.readers.payloads.history import History

if TYPE_CHECKING:
    from workbench.calls.telemetry.execution import Execution

Place = Literal["stream", "snapshot", "request", "payload", "history", "telemetry"]


class Short:
    """A short repr: the objects point at each other, and a full one would print the whole capture."""

    __slots__ = ()
    #: the fields that tell one from another
    TOLD = (
        "thread_id",
        "run_id",
        "id",
        "call_id",
        "occurrence",
        "kind",
        "place",
        "tool",
        "decision",
        "state",
        "outcome",
    )

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.TOLD if hasattr(self, name))
        return f"<{type(self).__name__} {told}>"


class At(NamedTuple):
    """Where something stands: a row of `events`, `requests`, `spans` or `logs`, or the number of a payload."""

    kind: Literal["event", "request", "payload", "span", "log"]
    row: int


@dataclass(slots=True, eq=False, repr=False)
class Run(Short):
    """One run of a thread: from RUN_STARTED to its terminal event, as far as the capture shows it.

    `row` is None for what has neither start nor end (loose events of an excerpt, or a
    request without its response): such a run is not in `trace.runs`.
    """

    thread_id: str
    run_id: str
    stream: int | None
    row: int | None = None
    #: order in the conversation and user turn, both from 0
    number: int = 0
    turn: int = 0
    start: int | None = None
    end: int | None = None
    first: int | None = None
    last: int | None = None
    events: int = 0
    #: success, interrupt, cancelled, error, none
    outcome: str = "none"
    interrupts: list[dict[str, Any]] = field(default_factory=list)
    error_code: str = ""
    error: str = ""
    parent_run_id: str = ""
    #: row of `requests`
    request: int | None = None
    #: names of the tools that the client declares
    client_tools: frozenset[str] = frozenset()
    answers: list[Answer] = field(default_factory=list)
    #: the endpoint refused the answers (reading rule 7)
    refused: bool = False
    producer: str = "unknown"
    producer_evidence: str = ""
    #: False where its stream is visibly cut or lossy (reading rule 15)
    complete: bool = True
    #: an earlier run with the same id and the same events: this one is a replay and is not walked
    replay_of: Run | None = None
    #: rows of `spans` and `logs` that belong to it, and when they begin and end (UTC ns, clock of the telemetry)
    spans: list[int] = field(default_factory=list)
    logs: list[int] = field(default_factory=list)
    told_from: int | None = None
    told_until: int | None = None
    #: how sure it is that they belong to it: `call id`, `conversation id`, `time`, `tool`; "" without telemetry
    joined: str = ""
    #: spans of the agent as a whole, as far as they are in the capture and surely belong to the run
    roots: list[int] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """It has come to its end: by its terminal event, or else by the end of the agent's span."""
        return self.end is not None or (self.row is None and bool(self.roots))

    @property
    def seen(self) -> bool:
        """More than a request of it is in the capture."""
        return self.row is not None or bool(self.spans)

    @property
    def resumed(self) -> bool:
        """Its request answers approvals."""
        return bool(self.answers)


@dataclass(slots=True, eq=False, repr=False)
class Message(Short):
    """One streamed message. `deltas` are inclusive ranges of event rows, in order."""

    id: str
    role: str
    kind: Literal["text", "reasoning", "thinking"]
    run: Run
    sequence: int
    lane: str = ""
    start: int | None = None
    end: int | None = None
    chunked: bool = False
    deltas: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True, eq=False, repr=False)
class Part(Short):
    """One content part of a message in a list. `position` is the index of its message."""

    position: int
    message_id: str
    role: str
    kind: str
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    content: str = ""
    hosted: bool = False
    error: str = ""
    #: of a request for a decision, and of the decision
    approval_id: str = ""
    #: its place in the list as written, as in `messages[3].tool_calls[0]`
    path: str = ""


@dataclass(slots=True, eq=False, repr=False)
class ListCall(Short):
    """One call occurrence inside one message list, with the results that answer it there."""

    part: Part
    #: further copies of the call in the list (same id, not a new occurrence)
    copies: list[Part] = field(default_factory=list)
    results: list[Part] = field(default_factory=list)
    #: number of user messages before it in the list
    turn: int = 0
    #: the occurrence it was joined with
    call: Call | None = None


@dataclass(slots=True, eq=False, repr=False)
class MessageList(Short):
    """The messages of one snapshot, request, payload or history, in order.

    `messages` are the decoded messages as they stand; `parts` the same, flattened.
    `orphans` are results without a call before or after them in the list.
    """

    number: int
    place: Place
    run: Run
    at: At
    sequence: int
    messages: list[dict[str, Any]]
    parts: list[Part] = field(default_factory=list)
    calls: list[ListCall] = field(default_factory=list)
    orphans: list[Part] = field(default_factory=list)
    #: of telemetry: what a model or agent gave, not what it was given
    output: bool = False
    #: of a payload or history: the same as the provider's dialect has it
    history: History | None = None
    #: False where only a piece of the list is known: one message of a log, or what was not cut off
    whole: bool = True

    @property
    def alone(self) -> bool:
        """Only its own calls count: it is all that a model was sent."""
        return self.place in ("payload", "history", "telemetry")


@dataclass(slots=True, eq=False, repr=False)
class Result(Short):
    """One sighting of a result. `cls`: ok, error, placeholder, refusal; a decision is no result."""

    call_id: str
    content: str
    cls: str
    place: Place
    run: Run
    at: At
    sequence: int
    message_id: str = ""
    role: str = "tool"
    #: the content is the answer to an approval, not a result
    decision: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Start(Short):
    """One TOOL_CALL_START (or first chunk) with the arguments and the end that follow it."""

    event: int
    run: Run
    sequence: int
    tool: str
    parent: str = ""
    lane: str = ""
    chunked: bool = False
    #: inclusive ranges of event rows of TOOL_CALL_ARGS, in order
    deltas: list[tuple[int, int]] = field(default_factory=list)
    end: int | None = None
    #: arguments as streamed, filled when the walk is over
    arguments: str = ""


@dataclass(slots=True, eq=False, repr=False)
class Call(Short):
    """One occurrence of a tool call, with every sighting of it."""

    thread_id: str
    id: str
    occurrence: int
    turn: int
    run: Run
    at: At
    sequence: int
    tool: str = ""
    parent: str = ""
    lane: str = ""
    starts: list[Start] = field(default_factory=list)
    #: rows of all TOOL_CALL_END events
    ends: list[int] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    #: lists in which it stands, with its place there
    listed: list[tuple[MessageList, ListCall]] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    #: id of the real call that this confirmation call points at; None for a real call
    synthetic_for: str | None = None
    client_side: bool = False
    #: canonical JSON of the arguments, or as written where they are no JSON; None if never seen
    arguments: str | None = None
    #: what telemetry shows of the tool at work, in order
    executions: list[Execution] = field(default_factory=list)
    #: message lists of telemetry in which it stands
    told: list[tuple[MessageList, ListCall]] = field(default_factory=list)
    #: results that telemetry shows beside those of the AG-UI side; where it shows the only ones, they are `results`
    witnessed: list[Result] = field(default_factory=list)

    @property
    def real_results(self) -> list[Result]:
        """Results that are outcomes of an execution: neither placeholder, refusal nor decision."""
        return [r for r in self.results if not r.decision and r.cls in ("ok", "error")]

    @property
    def settled(self) -> bool:
        """Answered in some way: by a result, a placeholder, a refusal or a decision that ends the matter."""
        denied = (x for a in self.approvals for x in a.accepted if x.decision in ("rejected", "cancelled"))
        return bool(self.results) or next(denied, None) is not None

    @property
    def settled_anyhow(self) -> bool:
        """Settled, or carried out as far as telemetry tells."""
        return self.settled or bool(self.witnessed) or any(e.ran for e in self.executions)

    @property
    def streamed(self) -> list[Result]:
        """Results that came as TOOL_CALL_RESULT events."""
        return [r for r in self.results if r.place == "stream"]


@dataclass(slots=True, eq=False, repr=False)
class Ask(Short):
    """One sighting of an approval request on one channel."""

    channel: str
    id: str
    call_id: str
    run: Run
    at: At
    sequence: int
    tool: str = ""
    arguments: str | None = None
    reason: str = ""
    question: str = ""
    #: UTC ns
    expires: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class Answer(Short):
    """One answer to an approval. `decision` is a word of `model.DECISIONS`.

    `approval` is None where nothing that was asked fits it. An unseen answer (reading rule
    14) has decision `unseen`, form "" and stands where the result was seen.
    """

    id: str
    decision: str
    form: str
    run: Run
    at: At
    sequence: int
    payload: Any = None
    approval: Approval | None = None
    #: the run that carried it refused it (reading rule 7)
    refused: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Approval(Short):
    """One request for a person's decision, over all its channels and offers."""

    id: str
    call_id: str
    run: Run
    at: At
    sequence: int
    asks: list[Ask] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    call: Call | None = None
    tool: str = ""
    arguments: str | None = None
    decision: str = "none"
    state: str = "open"
    #: the approval that asked for the same action again in the same user turn (itself, where offered again)
    reasked_by: Approval | None = None
    #: where telemetry shows the request, and the answers it shows beside those of the AG-UI side
    told: list[At] = field(default_factory=list)
    witnessed: list[Answer] = field(default_factory=list)
    #: the model provider runs the tool
    hosted: bool = False

    @property
    def accepted(self) -> list[Answer]:
        """Answers that were not refused."""
        return [a for a in self.answers if not a.refused]

    @property
    def channels(self) -> list[str]:
        """Channels that showed it, in order."""
        return list(dict.fromkeys(ask.channel for ask in self.asks))


@dataclass(frozen=True, slots=True)
class Slip:
    """A step against the protocol that the walk noticed; `rule` is the name of the rule that reports it.

    `ids` are further ids that belong to it: message ids, step names, run ids.
    """

    rule: str
    run: Run
    at: At
    call_id: str | None = None
    ids: tuple[str, ...] = ()
    #: a word for the variant, read by the rule (`open`, `ended`, `earlier-run`, …)
    variant: str = ""
    detail: str = ""
    #: a second place that belongs to it
    other: At | None = None


@dataclass(slots=True, eq=False, repr=False)
class Conversation(Short):
    """Everything about one thread (or several that are one conversation, reading rule 16)."""

    thread_id: str
    thread_ids: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)
    lists: list[MessageList] = field(default_factory=list)
    #: message lists inside of telemetry: what models and agents were given and gave
    told: list[MessageList] = field(default_factory=list)
    #: tool spans without a call id that several calls fit
    loose: list[Execution] = field(default_factory=list)
    #: the call that a row of `logs` speaks of, and how it is known: `call id` or `inferred`
    log_calls: dict[int, tuple[str, str]] = field(default_factory=dict)
    slips: list[Slip] = field(default_factory=list)
    #: TOOL_CALL_RESULT events for an id never called
    orphans: list[Result] = field(default_factory=list)
    #: answers for approvals never offered
    strays: list[Answer] = field(default_factory=list)
    #: rows of STATE_SNAPSHOT, STATE_DELTA, ACTIVITY_*, RAW and CUSTOM events, by run number
    states: list[tuple[Run, int]] = field(default_factory=list)
    raws: list[tuple[Run, int]] = field(default_factory=list)
    #: the capture begins after the thread's first turn (reading rule 15)
    starts_late: bool = False
    #: last row of the run's events was reached: False where the last stream is cut
    complete: bool = True
    notes: list[str] = field(default_factory=list)
    #: what brings a time of the telemetry to the clock of the events (ns); None where one side has no times
    clock_offset: int | None = None

    @property
    def histories(self) -> list[MessageList]:
        """Every list that stands for a history: also those that telemetry shows models and agents were given."""
        return [*self.lists, *(items for items in self.told if items.whole and not items.output)]

    @property
    def has_snapshots(self) -> bool:
        """A MESSAGES_SNAPSHOT with messages was seen."""
        return any(items.place == "snapshot" for items in self.lists)
