"""One HAR entry: its request, and the events of its response, wherever the producer put them."""

from __future__ import annotations

import base64
import re
from functools import cached_property
from typing import Any, Protocol

from workbench.readers import protobuf, protocol, requests, times, tolerant
from workbench.readers.agui import EventWriter
from workbench.readers.content import Content, MemoryBytes
from workbench.readers.limits import Limits
from workbench.readers.payloads import answers, dialects
from workbench.readers.reading import Reading
from workbench.readers.records import NO_TIME
from workbench.readers.registry import read_content
from workbench.readers.sniff import Sniff
from workbench.readers.sse import SseReader

#: also padding, which stands at the end only
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/]")
_LIMITS = Limits()
#: Bodies that nobody needs to look into
_OTHER_MEDIA = re.compile(
    r"(image|font|video|audio)/|text/(css|html|javascript)|application/(javascript|wasm)"
)
_DATA_LINE = re.compile(rb"(?:\A|[\r\n])data:")


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[dict[str, Any]]:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


class Attached(Protocol):
    """Bodies that the HAR names and that stand elsewhere (`_file`)."""

    def load(self, name: str, limit: int | None = None) -> bytes | None:
        """A body, or its first `limit` bytes; None where there is none of that name.

        A limit of 0 says that the body belongs to an entry, and reads nothing.
        """


class Entry:
    """An entry by what matters here; whatever is missing or of a wrong type counts as absent."""

    def __init__(
        self,
        name: str,
        value: dict[str, Any],
        offset: int,
        *,
        damaged: bool = False,
        attached: Attached | None = None,
    ) -> None:
        self.name = name
        self.offset = offset
        self.damaged = damaged
        self._attached = attached
        request, response = _dict(value.get("request")), _dict(value.get("response"))
        content = _dict(response.get("content"))
        self.url = str(request.get("url") or "")
        posted = _dict(request.get("postData"))
        post = posted.get("text")
        self.post = post if isinstance(post, str) else ""
        if not self.post and attached is not None and isinstance(posted.get("_file"), str):
            self.post = (attached.load(posted["_file"]) or b"").decode("utf-8", "replace")
        status = response.get("status")
        self.status = status if isinstance(status, int) and status > 0 else None
        started = value.get("startedDateTime")
        self.time = times.from_iso(started) if isinstance(started, str) else None
        self.order = 0
        self.mime = str(content.get("mimeType") or "")
        text = content.get("text")
        self.text = text if isinstance(text, str) else None
        self.encoding = content.get("encoding")
        self.file = content.get("_file")
        if attached is not None and isinstance(self.file, str):
            attached.load(self.file, 0)
        self.messages = _list(value.get("_eventSourceMessages"))
        self.socket = _list(value.get("_webSocketMessages"))

    @cached_property
    def posted(self) -> Any:
        """What was posted, decoded; None where it is no JSON."""
        return tolerant.decode(self.post.encode("utf-8", "replace")).value if self.post else None

    @cached_property
    def body(self) -> dict[str, Any] | None:
        """The RunAgentInput that was posted."""
        return requests.decode(self.post.encode("utf-8", "replace")) if self.post[:1] else None

    @cached_property
    def bad_base64(self) -> bool:
        """Whether the body is base64 with characters that are none."""
        return (
            self.text is not None
            and self.encoding == "base64"
            and bool(_NOT_BASE64.search(self.text.rstrip("=")))
        )

    @cached_property
    def response(self) -> bytes:
        """The decoded body of the response."""
        if self.text is None:
            return self._from_file()
        if self.encoding != "base64":
            return self.text.encode("utf-8", "replace")
        # A damaged character costs its own three bytes and not the alignment of all that follow.
        data = _NOT_BASE64.sub("A", self.text.rstrip("=")).encode()
        if len(data) % 4 == 1:
            data += b"A"  # one character alone holds no byte
        return base64.b64decode(data + b"=" * (-len(data) % 4))

    @cached_property
    def is_stream(self) -> bool:
        """Whether the response is an event stream or holds AG-UI events."""
        if "event-stream" in self.mime or protobuf.MEDIA_TYPE in self.mime:
            return True
        if _OTHER_MEDIA.match(self.mime):
            return False
        data = self.response[:65536] if self.text is not None else self._from_file(65536)
        return b'"type"' in data and Sniff(Content(MemoryBytes(data)), _LIMITS).has_types

    def _from_file(self, limit: int | None = None) -> bytes:
        if self._attached is None or not isinstance(self.file, str):
            return b""
        return self._attached.load(self.file, limit) or b""

    @property
    def has_messages(self) -> bool:
        """Whether the producer kept messages that look like AG-UI."""
        if self.messages:
            return True
        texts = [str(message.get("data") or "") for message in self.socket[:50]]
        return any(known for text in texts for known in _types(text)) or any(
            requests.decode(text.encode("utf-8", "replace")) for text in texts if "threadId" in text
        )

    @cached_property
    def message_times(self) -> list[int | None]:
        """Arrival times of the event stream's messages."""
        return [times.guess(message.get("time")) for message in self.messages]


def _types(text: str) -> list[str]:
    return [name for name in re.findall(r'"type"\s*:\s*"([A-Za-z_]+)"', text) if protocol.known_type(name)]


def read_entry(reading: Reading, entry: Entry) -> None:
    """Read request and response of one exchange with an agent."""
    request: int | None = None
    if entry.post:
        request = _read_post(reading, entry)
    if entry.socket:
        _read_socket(reading, entry)
        return
    stream = reading.new_stream(request=request, time=entry.time, status=entry.status)
    if entry.damaged:
        reading.records.streams[stream].complete = False
    texts = [message.get("data") for message in entry.messages]
    kept = sum(isinstance(text, str) for text in texts)
    body = entry.response
    framed = len(_DATA_LINE.findall(body))
    if kept and (framed < kept or (framed == kept and not body.endswith((b"\n", b"\r")))):
        if not body:
            reading.cut("exported while a stream was open: events are from _eventSourceMessages")
        else:
            reading.note("a body is cut: events are from _eventSourceMessages")
        reading.records.streams[stream].complete = False
        _read_messages(reading, entry, stream)
    elif body:
        _read_body(reading, entry, stream, framed)
    elif request is None and "event-stream" not in entry.mime:
        reading.ignore("other HTTP entries")
    elif "event-stream" in entry.mime or entry.status not in (None, 204):
        where = f"; it is in the file {entry.file[:80]}" if isinstance(entry.file, str) else ""
        reading.problem(
            f"{entry.name}: the body of the response is not in the HAR{where}", offset=entry.offset
        )
        reading.cut("response bodies omitted")
        reading.records.streams[stream].complete = False
        reading.records.streams[stream].note = "the body of the response is not in the HAR"
    else:
        # Nothing came back: the run is known by its request alone.
        reading.records.streams[stream].complete = False


def read_payload(reading: Reading, entry: Entry) -> None:
    """The messages that were sent to a model provider, and what it answered."""
    text = entry.post.encode("utf-8", "replace")
    member = reading.new_member(f"{entry.name}.request", Content(MemoryBytes(text)))
    history = dialects.read_body(entry.posted, entry.url)
    assert history is not None
    answer = answers.read(entry.status, entry.response.decode("utf-8", "replace"))
    reading.payload(
        entry.posted, history=history, answer=answer, line=1, offset=0, length=len(text), member=member,
        time=entry.time, status=entry.status, url=entry.url,
    )  # fmt: skip


def _read_post(reading: Reading, entry: Entry) -> int | None:
    text = entry.post.encode("utf-8", "replace")
    member = reading.new_member(f"{entry.name}.request", Content(MemoryBytes(text)))
    if entry.body is None:
        if entry.is_stream and text.strip()[:1] in (b"{", b"["):
            reading.problem("the posted body is no RunAgentInput", line=1, offset=0, data=text, member=member)
        return None
    return reading.request(
        entry.body,
        line=1,
        offset=0,
        length=len(text),
        member=member,
        time=entry.time,
        status=entry.status,
        url=entry.url,
    )


def _read_body(reading: Reading, entry: Entry, stream: int, framed: int) -> None:
    """Events from the text of the response, with the times of the messages where they match."""
    content = Content(MemoryBytes(entry.response))
    inner = reading.inside(content, reading.new_member(f"{entry.name}.response", content), passes_on=False)
    inner.status = entry.status
    if entry.bad_base64:
        inner.remark("damaged base64: the bytes around it are not those of the response")
    if protobuf.MEDIA_TYPE in entry.mime:
        protobuf.read_frames(inner, inner.writer(stream))
        return
    if not framed and entry.response.strip()[:1] in (b"{", b"["):
        _read_document(inner, entry, stream)
        return
    matches = len(entry.messages) == framed
    if entry.response.startswith(b"\xef\xbb\xbf"):
        inner.content = content.view(3)
    SseReader(inner, inner.writer(stream), entry.message_times if matches else ()).read()


def _read_document(inner: Reading, entry: Entry, stream: int) -> None:
    """A response that is JSON: events of some other format, or the words of a refusal."""
    streams = inner.records.streams
    if not Sniff(inner.content, inner.limits).has_types:
        inner.ignore("responses without events")
        streams[stream].complete = False
        streams[stream].note = entry.response[:200].decode("utf-8", "replace")
        return
    request = streams[stream].request
    made = len(streams)
    kept = inner.counts.format
    read_content(inner)
    inner.counts.format = kept
    if len(streams) > made and request is not None:
        streams[stream].request = None
        inner.join(request, made)
    for new in streams[made:]:
        new.time, new.status = entry.time, entry.status


def _read_messages(reading: Reading, entry: Entry, stream: int) -> None:
    """Events from `_eventSourceMessages`; the member is their data, one after another."""
    texts = [str(message.get("data") or "") for message in entry.messages]
    writer, member = _texts_member(reading, f"{entry.name}._eventSourceMessages", texts, stream)
    offset, line = 0, 1
    for text, arrival in zip(texts, entry.message_times, strict=True):
        data = text.encode("utf-8", "replace")
        if not data.strip():
            reading.ignore("frames with empty data")
        elif data.strip().upper() == b"[DONE]":
            reading.ignore("end marks")
        else:
            _event(reading, writer, data, line, offset, arrival, member)
        offset += len(data) + 1
        line += 1 + data.count(b"\n")


def _read_socket(reading: Reading, entry: Entry) -> None:
    """WebSocket messages: what was sent are requests, each begins a stream of what was received."""
    texts = [str(message.get("data") or "") for message in entry.socket]
    stream = reading.new_stream(time=entry.time, status=entry.status)
    name = f"{entry.name}._webSocketMessages"
    writer, member = _texts_member(reading, name, texts, stream)
    offset, line = 0, 1
    for message, text in zip(entry.socket, texts, strict=True):
        data = text.encode("utf-8", "replace")
        arrival = times.guess(message.get("time"))
        if message.get("opcode", 1) != 1:
            reading.ignore("WebSocket messages that are no text")
        elif message.get("type") == "send":
            body = requests.decode(data)
            if body is None:
                reading.ignore("messages sent that are no request")
            else:
                request = reading.request(
                    body,
                    line=line,
                    offset=offset,
                    length=len(data),
                    member=member,
                    time=arrival,
                    url=entry.url,
                )
                if reading.records.streams[stream].request is not None:
                    stream = reading.new_stream(time=arrival, status=entry.status)
                    writer = reading.writer(stream, member)
                reading.join(request, stream)
        elif not data.strip():
            reading.ignore("frames with empty data")
        else:
            _event(reading, writer, data, line, offset, arrival, member)
        offset += len(data) + 1
        line += 1 + data.count(b"\n")


def _texts_member(reading: Reading, name: str, texts: list[str], stream: int) -> tuple[EventWriter, int]:
    joined = "\n".join(texts).encode("utf-8", "replace")
    member = reading.new_member(name, Content(MemoryBytes(joined)))
    return reading.writer(stream, member), member


def _event(
    reading: Reading,
    writer: EventWriter,
    data: bytes,
    line: int,
    offset: int,
    arrival: int | None,
    member: int,
) -> None:
    when = NO_TIME if arrival is None else arrival
    why = writer.add(data, reading.counts.records, line, offset, len(data), when)
    if why:
        reading.problem(why, line=line, offset=offset, data=data, member=member)
        writer.lost()
    else:
        reading.row()
