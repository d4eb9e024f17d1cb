"""mitmproxy's own flow files (`mitmdump -w`): requests with their responses, and WebSocket messages."""

from __future__ import annotations

import re
import zlib
from typing import Any

from workbench.readers import times, tnetstring
from workbench.readers.har import read_entries
from workbench.readers.har_entry import Entry
from workbench.readers.json_events import too_large
from workbench.readers.reading import Reading
from workbench.readers.registry import Format

#: A map whose first key is text
_FLOW = re.compile(rb"\d{1,12}:\d{1,3}:[a-z_]+[;,]")


class _Bodies:
    """The bodies of one flow, under the names that its entry gives them."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    def load(self, name: str, limit: int | None = None) -> bytes | None:
        body = self.bodies.get(name)
        return None if body is None else body[:limit]


def read(reading: Reading) -> None:
    """Read every flow with HTTP in it as an exchange, as HAR entries are."""
    if too_large(reading):
        return
    content = reading.content
    data = content.whole()
    entries: list[Entry] = []
    at = index = 0
    while at < len(data):
        try:
            flow, end = tnetstring.value(data, at, len(data))
            why = "" if isinstance(flow, dict) else "no flow"
        except (ValueError, RecursionError) as problem:
            flow, end, why = None, _behind(data, at), f"a damaged flow: {problem}"
        if why:
            reading.problem(why, offset=content.start + at, data=data[at:end])
            if end == len(data):
                reading.cut("the last flow is damaged or ends early")
        elif not isinstance(flow.get("request"), dict):
            reading.ignore(f"{str(flow.get('type'))[:20]} flows")
        else:
            entries.append(_entry(reading, flow, index, content.start + at))
        index += 1
        at = end
    read_entries(reading, entries)


def _behind(data: bytes, at: int) -> int:
    """Where to go on behind a damaged flow: at the end that it names, else at the next beginning of one."""
    try:
        _, stop, _ = tnetstring.element(data, at, len(data))
    except ValueError:
        stop = -1
    if stop >= 0 and (stop + 1 == len(data) or _begins(data, stop + 1)):
        return stop + 1
    for found in _FLOW.finditer(data, at + 1):
        start = found.start()
        if data[start - 1 : start] == b"}" and _begins(data, start):
            return start
    return len(data)


def _begins(data: bytes, at: int) -> bool:
    """Whether a map begins at `at` whose end is where it says."""
    if _FLOW.match(data, at) is None:
        return False
    try:
        return tnetstring.element(data, at, len(data))[2] == ord("}")
    except ValueError:
        return False


def _entry(reading: Reading, flow: dict[str, Any], index: int, offset: int) -> Entry:
    """A flow in the form of a HAR entry; bodies stay bytes."""
    name = f"flow[{index}]"
    request, response = flow["request"], flow.get("response")
    response = response if isinstance(response, dict) else {}
    bodies = _Bodies()
    value: dict[str, Any] = {
        "request": {"url": _url(request), "postData": {"_file": "request"}},
        "response": {
            "status": response.get("status_code"),
            "content": {"mimeType": _header(response, "content-type"), "_file": "response"},
        },
    }
    for key, part in (("request", request), ("response", response)):
        body, fault = _body(part, reading.limits.max_json_document)
        if fault:
            reading.remark(f"{name}.{key} {fault}", offset=offset)
            reading.cut("a body could not be unpacked")
        if body:
            bodies.bodies[key] = body
    socket = flow.get("websocket")
    if isinstance(socket, dict):
        value["_webSocketMessages"] = [
            {
                "opcode": message[0],
                "type": "send" if message[1] else "receive",
                "data": message[2].decode("utf-8", "replace") if isinstance(message[2], bytes) else "",
                "time": message[3],
            }
            for message in socket.get("messages") or ()
            if isinstance(message, list) and len(message) >= 4
        ]
    entry = Entry(name, value, offset, attached=bodies)
    entry.time = times.guess(request.get("timestamp_start"))
    return entry


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _url(request: dict[str, Any]) -> str:
    host = _text(request.get("authority")) or f"{_text(request.get('host'))}:{_text(request.get('port'))}"
    return f"{_text(request.get('scheme'))}://{host}{_text(request.get('path'))}"


def _header(part: dict[str, Any], name: str) -> str:
    headers = part.get("headers")
    for pair in headers if isinstance(headers, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and _text(pair[0]).lower() == name:
            return _text(pair[1])
    return ""


def _body(part: dict[str, Any], limit: int) -> tuple[bytes, str]:
    """The body as it was before its transfer, and why it is not."""
    raw = part.get("content")
    if not isinstance(raw, bytes) or not raw:
        return b"", ""
    encoding = _header(part, "content-encoding").strip().lower()
    if encoding in ("", "identity"):
        return raw, ""
    if encoding not in ("gzip", "x-gzip", "deflate"):
        return (
            b"",
            f"is packed with {encoding[:20]}; convert it with: mitmdump -nr FILE --set hardump=out.har",
        )
    unpack = zlib.decompressobj(wbits=47 if raw[:1] != b"\x1f" else 31)
    try:
        body = unpack.decompress(raw, limit)
    except zlib.error as problem:
        return b"", f"is damaged: {problem}"
    if unpack.unconsumed_tail:
        return body, f"unpacks to more than {limit:,} bytes; the rest was left out"
    return body, "" if unpack.eof else "ends early"


FORMAT = Format(
    name="mitmproxy",
    title="mitmproxy flows (mitmdump -w)",
    recognised_by="a typed netstring: a size, a colon and a map",
    extensions=(".flow", ".mitm", ".dump"),
    recognise=lambda sniff: _FLOW.match(sniff.head) is not None,
    read=read,
)
