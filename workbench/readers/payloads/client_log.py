"""The debug log of the OpenAI and Anthropic clients for Python: what was sent, as a printed dictionary.

    … DEBUG Request options: {'method': 'post', 'url': '/responses', 'json_data': {'input': […], 'model': …}}
    … INFO HTTP Request: POST https://api.openai.com/v1/responses "HTTP/1.1 400 Bad Request"
    … Error code: 400 - {'error': {'message': …}}

Also as people paste it: without what stands before `json_data`, wrapped, and shortened with dots.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import Any

from workbench.readers import python_value
from workbench.readers.json_events import too_large
from workbench.readers.payloads import answers, dialects
from workbench.readers.payloads.find import Found
from workbench.readers.payloads.formats import add
from workbench.readers.payloads.history import History
from workbench.readers.reading import Reading
from workbench.readers.registry import Format

_MARK = re.compile(r"""['"]?json_data['"]?\s{0,4}[:=]\s{0,80}(?=\{)""")
_URL = re.compile(r"""['"]url['"]\s*:\s*['"]([^'"\s]{1,2000})['"]""")
_HTTP = re.compile(
    r"""HTTP Re(?:quest|sponse): [A-Z]{3,7} (\S{1,2000}) "(?:HTTP/[\d.]+ )?(\d{3})\b"""
    r"""|Error code: (\d{3})(?: - (?=\{))?"""
)
_SNIFF = re.compile(rb"""['"]json_data['"]\s{0,4}:\s{0,80}\{\s*['"]""")
_NO_UTF8 = re.compile("[\udc80-\udcff]")
#: how far before a mark its address is looked for
_BEFORE = 20_000
#: what a log writes at the beginning of a line; a line without it goes on with the one before
_HEAD = re.compile(
    r"\n(?=\[?\d{4}-\d\d-\d\d[ T]|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\b|HTTP Re(?:quest|sponse):)"
)


@dataclass(slots=True)
class _Sent:
    """A request on its way to its answer."""

    body: dict[str, Any]
    url: str
    start: int
    end: int
    whole: bool
    status: int | None = None
    said: Any = None


def read(reading: Reading) -> None:
    """Read every request; each gets the answer that follows it where no other waits for one."""
    if too_large(reading):
        return
    places = Places(reading)
    raw = places.text
    requests = _requests(reading, raw)
    _answered(reading, raw, requests)
    used = 0
    for sent in requests:
        history = dialects.read_body(sent.body, sent.url)
        line, offset = places(sent.start)
        length = places.length(sent.start, sent.end)
        if history is None:
            piece = raw[sent.start : sent.end].encode("utf-8", "replace")
            why = "a request without a list of messages" if sent.body else "an empty request"
            reading.problem(why, line=line, offset=offset, data=piece)
            continue
        history.whole = history.whole and sent.whole
        _ids_in_full(history)
        made = Found("payload", history, sent.body, answers.read(sent.status, sent.said), sent.url)
        add(reading, made, line=line, offset=offset, length=length)
        used += raw.count("\n", sent.start, sent.end) + 1
        if not sent.whole:
            reading.note(f"the request at line {line} is shortened or cut: what is left out is not judged")
    lines = sum(1 for line in raw.split("\n") if line.strip())
    for _ in range(max(0, lines - used)):
        reading.ignore("other log lines")


class Places:
    """The text of a content, and where its characters stand in the file."""

    def __init__(self, reading: Reading) -> None:
        self._content = reading.content
        self._raw = reading.content.whole().decode("utf-8", "surrogateescape")
        #: without the bytes that are no UTF-8
        self.text = _NO_UTF8.sub("\ufffd", self._raw)
        self._breaks = [found.start() for found in re.finditer("\n", self._raw)]
        self._known = (0, 0)

    def __call__(self, index: int) -> tuple[int, int]:
        """Line and byte offset; asked for in rising order."""
        at, offset = self._known if self._known[0] <= index else (0, 0)
        self._known = (index, offset + self.length(at, index))
        line = self._content.first_line + bisect.bisect_left(self._breaks, index)
        return line, self._content.start + self._known[1]

    def length(self, start: int, end: int) -> int:
        """Bytes between two characters."""
        return len(self._raw[start:end].encode("utf-8", "surrogateescape"))


def _requests(reading: Reading, raw: str) -> list[_Sent]:
    made: list[_Sent] = []
    at = 0
    while mark := _MARK.search(raw, at):
        start = mark.end()
        following = _MARK.search(raw, start)
        stop = following.start() if following else len(raw)
        if following is None or "\n" in raw[start:stop]:
            # the next entry of the log ends a value that was cut
            head = _HEAD.search(raw, start, stop)
            stop = head.start() if head else stop
        found = python_value.read(raw, start, stop)
        url = _URL.findall(raw, max(at, start - _BEFORE), start)
        behind = _URL.search(raw, found.end, min(stop, found.end + 2000))
        address = url[-1] if url else behind[1] if behind else ""
        body = found.value
        if found.cut:
            reading.cut("a request ends before its last bracket")
        made.append(
            _Sent(body if isinstance(body, dict) else {}, address, start, max(found.end, start + 1),
                  not (found.cut or found.elided))
        )  # fmt: skip
        at = max(found.end, start + 1)
    return made


def _answered(reading: Reading, raw: str, requests: list[_Sent]) -> None:
    """Give each request its status and error, in the order of the log."""
    waiting: list[_Sent] = []
    last: _Sent | None = None
    following = 0
    mixed = False
    for found in _HTTP.finditer(raw):
        while following < len(requests) and requests[following].start < found.start():
            waiting.append(requests[following])
            following += 1
        inside = any(sent.start <= found.start() < sent.end for sent in requests)
        if inside:
            continue
        address, status = found[1] or "", int(found[2] or found[3])
        if last is not None and last.status == status and not waiting:
            pass  # said again, in another logger's words
        elif len(waiting) == 1:
            last = waiting.pop()
            last.status = status
        elif waiting:
            mixed = True
            waiting.clear()
            last = None
        if last is None:
            continue
        last.url = address if "://" in address else last.url
        if found[3] and raw[found.end() : found.end() + 1] == "{":
            last.said = python_value.read(raw, found.end()).value
    if mixed:
        reading.note(
            "requests that were under way at the same time have no answer: the log does not tell whose is which"
        )


def _ids_in_full(history: History) -> None:
    """Ids that were shortened with dots, where only one id of the request begins so."""
    full = {b.call_id for b in history.blocks("call", "result") if b.call_id and not _short(b.call_id)}
    for block in history.blocks("call", "result", "approval-request", "approval-response"):
        block.call_id = lengthened(block.call_id, full)
        block.approval_id = lengthened(block.approval_id, full)


def _short(text: str) -> str:
    """What stands before the dots of a shortened id; "" for one that is whole."""
    for dots in ("…", "..."):
        if text.endswith(dots) and len(text) > len(dots) + 3:
            return text[: -len(dots)]
    return ""


def lengthened(text: str, full: set[str]) -> str:
    """An id that was shortened with dots, as the one that begins so; itself where none or several do."""
    begins = _short(text)
    fits = [one for one in full if one.startswith(begins)] if begins else []
    return fits[0] if len(fits) == 1 else text


FORMAT = Format(
    name="client-log",
    title="Debug log of the OpenAI or Anthropic client for Python",
    recognised_by="`'json_data': {…}` in text",
    extensions=(".log", ".txt"),
    recognise=lambda sniff: (
        _SNIFF.search(sniff.head) is not None
        and not sniff.has_data_lines
        and not sniff.has_types
        and b'"startedDateTime"' not in sniff.head
    ),
    read=read,
)
