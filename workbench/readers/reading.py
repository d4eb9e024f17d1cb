"""What a reader is given: the content to read, and the ways to record what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from workbench.readers.agui import EventWriter, excerpt
from workbench.readers.content import Content
from workbench.readers.limits import Limits
from workbench.readers.payloads.answers import Answer
from workbench.readers.payloads.history import History
from workbench.readers.records import (
    Member,
    PayloadRecord,
    Problem,
    Records,
    RequestRecord,
    Source,
    Stream,
)


class Reading:
    """One content on its way into `Records`.

    Every unit that a reader finds is a record and ends in exactly one of `row`, `ignore` and
    `problem`, so that the counts of a source always add up.
    """

    def __init__(
        self,
        records: Records,
        carried: list[RequestRecord],
        source: int,
        content: Content,
        limits: Limits,
        *,
        member: int | None = None,
        depth: int = 0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.records = records
        self.carried = carried
        self.source = source
        self.content = content
        self.limits = limits
        self.depth = depth
        self.progress = progress
        #: HTTP status that came with the content, for the stream made of it
        self.status: int | None = None
        self.member = self.new_member("", content) if member is None else member

    @property
    def counts(self) -> Source:
        """The source, whose counts this reading adds to."""
        return self.records.sources[self.source]

    # -------------------------------------------------------------- what a unit became

    def row(self) -> int:
        """Count a record that becomes a row; its number."""
        counts = self.counts
        counts.rows += 1
        counts.records += 1
        return counts.records - 1

    def ignore(self, reason: str, count: int = 1) -> None:
        """Count records that carry nothing."""
        counts = self.counts
        counts.ignored[reason] += count
        counts.records += count

    def duplicate(self, count: int = 1) -> None:
        """Count records that say again what another one has said."""
        counts = self.counts
        counts.duplicates += count
        counts.records += count

    def problem(
        self,
        reason: str,
        *,
        line: int | None = None,
        offset: int | None = None,
        data: bytes = b"",
        member: int | None = None,
    ) -> None:
        """Count a record that cannot be used, and say why."""
        counts = self.counts
        counts.problems += 1
        counts.records += 1
        self.remark(reason, record=counts.records - 1, line=line, offset=offset, data=data, member=member)

    def remark(
        self,
        reason: str,
        *,
        record: int | None = None,
        line: int | None = None,
        offset: int | None = None,
        data: bytes = b"",
        member: int | None = None,
    ) -> None:
        """A row of `problems` that costs no record: about the content, or a part of a record that is kept."""
        name = self.records.members[self.member if member is None else member].name
        self.records.problems.append(Problem(self.source, reason, record, line, offset, excerpt(data), name))

    def note(self, text: str) -> None:
        """Something to know about the source, once."""
        if text not in self.counts.notes:
            self.counts.notes.append(text)

    def cut(self, text: str) -> None:
        """The capture ends too early or is lossy."""
        self.counts.complete = False
        self.note(text)

    # -------------------------------------------------------------- members, streams, requests

    def new_member(self, name: str, content: Content) -> int:
        """Decoded bytes that offsets count in; the number of the member."""
        self.records.members.append(Member(self.source, name, content.data.read))
        return len(self.records.members) - 1

    def new_stream(
        self, *, request: int | None = None, time: int | None = None, status: int | None = None
    ) -> int:
        """One response or connection; the number of the stream."""
        streams = self.records.streams
        streams.append(Stream(self.source, request, time, status=self.status if status is None else status))
        if request is not None:
            self.records.requests[request].stream = len(streams) - 1
        return len(streams) - 1

    def writer(self, stream: int, member: int | None = None) -> EventWriter:
        """What appends events to a stream."""
        return EventWriter(
            self.records, self.carried, self.source, self.member if member is None else member, stream
        )

    def request(
        self,
        body: dict[str, Any],
        *,
        line: int | None = None,
        offset: int | None = None,
        length: int | None = None,
        member: int | None = None,
        time: int | None = None,
        status: int | None = None,
        url: str = "",
    ) -> int:
        """A record that is a RunAgentInput; the number of the request."""
        made = self._body(body, line, offset, length, member, time, status, url)
        self.records.requests.append(made)
        return len(self.records.requests) - 1

    def payload(
        self,
        body: dict[str, Any],
        *,
        history: History,
        place: Literal["payload", "history"] = "payload",
        answer: Answer | None = None,
        line: int | None = None,
        offset: int | None = None,
        length: int | None = None,
        member: int | None = None,
        time: int | None = None,
        status: int | None = None,
        url: str = "",
    ) -> int:
        """A record that is a request to a model provider, or a framework's message list; its number."""
        plain = self._body(body, line, offset, length, member, time, status, url)
        facts = (plain.source, body, plain.record, line, offset, length, plain.member, time, status, url)
        self.records.payloads.append(PayloadRecord(*facts, history=history, place=place, answer=answer))
        return len(self.records.payloads) - 1

    def _body(
        self,
        body: dict[str, Any],
        line: int | None,
        offset: int | None,
        length: int | None,
        member: int | None,
        time: int | None,
        status: int | None,
        url: str,
    ) -> RequestRecord:
        return RequestRecord(
            self.source,
            body,
            self.row(),
            line,
            offset,
            length,
            self.member if member is None else member,
            time,
            status,
            url,
        )

    def join(self, request: int, stream: int) -> None:
        """The request was answered by the stream."""
        self.records.streams[stream].request = request
        self.records.requests[request].stream = stream

    # -------------------------------------------------------------- contents inside contents

    def inside(self, content: Content, member: int | None = None, *, passes_on: bool = True) -> Reading:
        """A reading of a part of this one, counted in the same source.

        Without `passes_on` its bytes were already reported as progress.
        """
        inner = Reading(
            self.records,
            self.carried,
            self.source,
            content,
            self.limits,
            member=self.member if member is None else member,
            depth=self.depth + 1,
            progress=self.progress if passes_on else None,
        )
        inner.status = self.status
        return inner
