"""One HTTP exchange on its way into a recording, told piece by piece while it happens.

What is seen here never changes what is passed on, and whatever goes wrong here stays here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from workbench.readers import protobuf, requests
from workbench.record import scope
from workbench.record.framing import Frame, ProtoFrames, SseFrames, Text, Unpacked
from workbench.record.journal import Journal, Recording, say
from workbench.record.secrets import bare_url

#: Larger bodies are passed on, and not kept
MAX_BODY = 32 * 1024 * 1024
#: How much is kept of an answer that is no stream of events
MAX_WORDS = 4096
#: Pieces of a provider's answer are gathered up to this, so that single tokens do not cost a line each
GATHERED = 16 * 1024

Headers = Iterable[tuple[str, str]]


def header(headers: Headers, name: str) -> str:
    """The value of a header; "" where there is none."""
    return next((value for key, value in headers if key.lower() == name), "")


class Exchange:
    """A request and its response: `request`, `sent`, `response`, `chunk`…, `end`, in that order."""

    kind = ""

    def __init__(self, recording: Recording, method: str, url: str, headers: Headers) -> None:
        headers = list(headers)
        recording.secrets.learn(headers, url)
        self.secrets = recording.secrets
        self.journal: Journal = recording.journal(self.kind)
        self.method = method
        self.url = bare_url(url)
        self.unpack = Unpacked(header(headers, "content-encoding"))
        self.status = 0
        self.mime = ""
        self._body = bytearray()
        self._whole = True
        self._ended = False

    def request(self, chunk: bytes) -> None:
        """Some of the body of the request."""
        if len(self._body) + len(chunk) > MAX_BODY:
            self._whole = False
        if self._whole:
            self._body += chunk

    def sent(self, place: scope.Place | None = None) -> None:
        """The body of the request is whole. `place` is told which thread and run it is for."""

    def response(self, status: int, headers: Headers) -> None:
        """The response begins."""
        headers = list(headers)
        self.secrets.learn(headers)
        self.status = status
        self.mime = header(headers, "content-type")
        self.unpack = Unpacked(header(headers, "content-encoding"))

    def chunk(self, data: bytes) -> None:
        """Some of the body of the response."""

    def end(self, why: str = "") -> None:
        """The exchange is over; `why` says what cut it short."""

    def posted(self) -> bytes:
        """The body of the request, unpacked; empty where it is too large to be kept."""
        return self.unpack.feed(bytes(self._body)) if self._whole else b""


class AgentExchange(Exchange):
    """An exchange with an AG-UI agent. Any other exchange (a page, a health check) leaves nothing."""

    kind = "agui"

    def __init__(self, recording: Recording, method: str, url: str, headers: Headers) -> None:
        super().__init__(recording, method, url, headers)
        self._connection = ""
        self._sequence = 0
        self._frames: SseFrames | ProtoFrames | None = None
        self._words = b""

    def sent(self, place: scope.Place | None = None) -> None:
        """Write the request at once if it is a RunAgentInput: the server may never answer."""
        body = self.posted()
        self.unpack = Unpacked("")
        self._body = bytearray(body)
        decoded = requests.decode(body) if self.method == "POST" and body else None
        if decoded is None:
            return
        if place is not None:
            place["thread"], place["run"] = requests.key(decoded)
        self._begin(body)

    def response(self, status: int, headers: Headers) -> None:
        """A stream of events makes an exchange one with an agent, whatever was posted."""
        super().response(status, headers)
        streams = "event-stream" in self.mime or protobuf.MEDIA_TYPE in self.mime
        if streams and not self._connection and self.method in ("POST", "GET"):
            self._begin(bytes(self._body) if self._whole else b"")
        if not self._connection:
            return
        self.journal.write(self._record("response", status=status, mime=self.mime.partition(";")[0].strip()))
        if protobuf.MEDIA_TYPE in self.mime:
            self._frames = ProtoFrames()
        elif streams or status < 300:
            self._frames = SseFrames()  # some servers stream events as text/plain
        if not self.unpack.readable:
            self._damaged([b"the body has an encoding that is not read"])

    def chunk(self, data: bytes) -> None:
        """Write the events that are whole."""
        if not self._connection:
            return
        data = self.unpack.feed(data)
        if self._sequence == 0 and len(self._words) < MAX_WORDS:
            self._words += data[: MAX_WORDS - len(self._words)]
        if self._frames is not None:
            self._write(self._frames.feed(data))

    def end(self, why: str = "") -> None:
        """Write what is left, and that this is all."""
        if not self._connection or self._ended:
            return
        self._ended = True
        if self._frames is not None:
            self._write(self._frames.end())
        if not self._sequence and self._words.strip():
            # the words of a refusal
            self.journal.write(self._record("response", text=self._words.decode("utf-8", "replace")))
        self.journal.write(self._record("end", complete=not why, why=why))

    def _begin(self, body: bytes) -> None:
        self._connection = f"c{self.journal.number()}"
        record = self._record("request", method=self.method, url=self.url)
        self.journal.add([_with_body(record, "input", body, whole=self._whole)])

    def _record(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "connId": self._connection, "tMs": self.journal.passed(), **more}

    def _write(self, frames: list[Frame]) -> None:
        lines = []
        for kind, data in frames:
            if kind == "comment":
                lines.append(
                    msgspec.json.encode(self._record("keepalive", comment=data.decode("utf-8", "replace")))
                )
            elif kind == "event" and data.strip() and data.strip().upper() != b"[DONE]":
                lines.append(self._event(data))
            elif kind == "damaged":
                lines.append(self._broken(data))
        self.journal.add(lines)

    def _event(self, data: bytes) -> bytes:
        """The line of an event, whose JSON stays as it is, letter by letter."""
        if not isinstance(_decoded(data), dict):
            return self._broken(data)
        record = self._record("event", seq=self._sequence)
        self._sequence += 1
        return _with_json(record, "event", data)

    def _broken(self, data: bytes) -> bytes:
        self._sequence += 1
        return msgspec.json.encode(self._record("damaged", text=data[:MAX_WORDS].decode("utf-8", "replace")))

    def _damaged(self, texts: list[bytes]) -> None:
        self.journal.add([self._broken(text) for text in texts])


class ProviderExchange(Exchange):
    """An exchange with a model provider: the request whole, the answer as text in the pieces it came in."""

    kind = "provider"

    def __init__(self, recording: Recording, method: str, url: str, headers: Headers) -> None:
        super().__init__(recording, method, url, headers)
        self._name = ""
        self._text = Text()
        self._gathered = ""
        self._written = 0

    def sent(self, place: scope.Place | None = None) -> None:  # noqa: ARG002 - providers know no threads
        """Write the request."""
        body = self.posted()
        self._body.clear()
        if self.method not in ("POST", "PUT"):
            return  # lists of models and the like
        self._name = f"p{self.journal.number()}"
        record = self._record("request", method=self.method, url=self.url, time=self.journal.now())
        self.journal.add([_with_body(record, "body", body, whole=self._whole)])

    def response(self, status: int, headers: Headers) -> None:
        """Write how the response begins."""
        super().response(status, headers)
        if self._name:
            self.journal.write(
                self._record("response", status=status, mime=self.mime, time=self.journal.now())
            )

    def chunk(self, data: bytes) -> None:
        """Gather the text of the answer. It is written by whole lines, so that no secret is cut in two."""
        if not self._name or self._written > MAX_BODY:
            return
        piece = self._text.feed(self.unpack.feed(data))
        if self._written + len(self._gathered) + len(piece) > MAX_BODY:
            self._written = MAX_BODY + 1
            self._gathered = ""
            return
        self._gathered += piece
        if "\n" not in piece:
            return
        recent = self._gathered[-len(piece) - 3 :]
        if len(self._gathered) >= GATHERED or "\n\n" in recent or "\r\n\r\n" in recent:
            self._flush(self._gathered.rfind("\n") + 1)

    def end(self, why: str = "") -> None:
        """Write what is left, and that this is all."""
        if not self._name or self._ended:
            return
        self._ended = True
        self._gathered += self._text.feed(b"", final=True)
        self._flush(len(self._gathered))
        if self._written > MAX_BODY:
            why = why or f"the answer has more than {MAX_BODY:,} characters; the rest was not kept"
        self.journal.write(self._record("end", complete=not why, why=why, time=self.journal.now()))

    def _flush(self, length: int) -> None:
        text, self._gathered = self._gathered[:length], self._gathered[length:]
        if text:
            self._written += len(text)
            self.journal.write(self._record("chunk", text=text))

    def _record(self, kind: str, **more: Any) -> dict[str, Any]:
        return {"kind": kind, "exchange": self._name, "tMs": self.journal.passed(), **more}


def _decoded(text: bytes) -> Any:
    """Some JSON, also with what only tolerant decoders take (NaN, lone surrogates); None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return None


def _with_json(record: dict[str, Any], key: str, text: bytes) -> bytes:
    """A line with some JSON under a key, letter by letter: only its line ends, which are blanks, go."""
    text = text.replace(b"\r", b" ").replace(b"\n", b" ").strip()
    return b'%b,"%b":%b}' % (msgspec.json.encode(record)[:-1], key.encode(), text)


def _with_body(record: dict[str, Any], key: str, body: bytes, *, whole: bool) -> bytes:
    """A line with the body of a request, or why it has none."""
    if not whole:
        record["note"] = f"the body has more than {MAX_BODY:,} bytes and was not kept"
    elif body:
        if _decoded(body) is not None:
            return _with_json(record, key, body)
        record["text"] = body[:MAX_WORDS].decode("utf-8", "replace")
    return msgspec.json.encode(record)


class Observer:
    """Tells an exchange what happens, and keeps what goes wrong in it away from those who talk."""

    def __init__(
        self, kind: type[Exchange], recording: Recording, method: str, url: str, headers: Headers
    ) -> None:
        self._exchange: Exchange | None = None
        try:
            self._exchange = kind(recording, method, url, headers)
        except Exception as problem:  # noqa: BLE001 - a recorder must not break what it records
            _say(problem)

    def tell(self, what: str, *arguments: Any) -> None:
        """Call a method of the exchange; after a failure it is told nothing more."""
        if self._exchange is None:
            return
        try:
            getattr(self._exchange, what)(*arguments)
        except Exception as problem:  # noqa: BLE001 - as above
            self._exchange = None
            _say(problem)


def _say(problem: Exception) -> None:
    # not the message, which may quote what was sent
    say(f"an exchange is not recorded any further: {type(problem).__name__}")
