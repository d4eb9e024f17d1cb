"""An OTLP/HTTP receiver: exports of spans and log records, in protobuf or JSON, become lines of OTLP JSON."""

from __future__ import annotations

import base64
import re
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from workbench.record.journal import Recording
from workbench.record.secrets import bare_text, is_secret_attribute

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

#: The largest export, unpacked. As a line of JSON it has to stay below the limit of the readers.
MAX_EXPORT = 16 * 1024 * 1024
#: The lists in which the signals stand
SIGNALS = {"traces": "resourceSpans", "logs": "resourceLogs", "metrics": "resourceMetrics"}
_IDS = ("traceId", "spanId", "parentSpanId")
#: Attributes in which addresses are no part of the conversation
_TECHNICAL = re.compile(r"\A(http|url|exception|error|server|client|rpc|net|network|peer)\b")
REMOVED = "[removed]"


class RefusedError(Exception):
    """An export that cannot be taken; the status that says so, and the words."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def receiver(recording: Recording) -> Starlette:
    """An ASGI app with `/v1/traces`, `/v1/logs` and `/v1/metrics`, as exporters expect them."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    async def take(request: Request) -> Response:
        signal = request.path_params["signal"]
        mime = request.headers.get("content-type", "").partition(";")[0].strip()
        try:
            if signal not in SIGNALS:
                raise RefusedError(404, "there are /v1/traces, /v1/logs and /v1/metrics")  # noqa: TRY301 - one place answers
            recording.secrets.learn(request.headers.items(), str(request.url))
            data = await _body(request)
            if mime == "application/json":
                export = _json(data)
            elif mime in ("application/x-protobuf", "application/protobuf"):
                export = _protobuf(data, signal)
            else:
                raise RefusedError(415, "an export is application/x-protobuf or application/json")  # noqa: TRY301
        except RefusedError as refused:
            return JSONResponse({"code": 3, "message": str(refused)}, refused.status)
        if signal != "metrics":  # nothing reads them
            cleaned = cleared(export)
            if cleaned.get(SIGNALS[signal]):
                recording.journal("otlp").write(cleaned)
        if mime == "application/json":
            return JSONResponse({})
        return Response(b"", media_type=mime)

    return Starlette(routes=[Route("/v1/{signal}", take, methods=["POST"])])


async def _body(request: Request) -> bytes:
    """The body, unpacked; raises `RefusedError` where it is too large or has an unknown encoding."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_EXPORT:
            raise RefusedError(413, f"an export of more than {MAX_EXPORT:,} bytes")
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding == "identity":
        return bytes(data)
    if encoding not in ("gzip", "deflate"):
        raise RefusedError(415, "an export is packed with gzip, deflate or not at all")
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        made = unpack.decompress(bytes(data), MAX_EXPORT)
    except zlib.error as problem:
        raise RefusedError(400, "the export is damaged: it cannot be unpacked") from problem
    if not unpack.eof and not unpack.unconsumed_tail:
        raise RefusedError(400, "the export is damaged: it ends early")
    if not unpack.eof:
        raise RefusedError(413, f"an export of more than {MAX_EXPORT:,} bytes")
    return made


def _json(data: bytes) -> dict[str, Any]:
    try:
        export = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise RefusedError(400, "the export is no JSON") from problem
    if not isinstance(export, dict):
        raise RefusedError(400, "the export is no object")
    return export


def _protobuf(data: bytes, signal: str) -> dict[str, Any]:
    """An export as OTLP's JSON has it."""
    from google.protobuf import json_format
    from google.protobuf.message import DecodeError

    message: Any
    if signal == "traces":
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        message = ExportTraceServiceRequest()
    elif signal == "logs":
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

        message = ExportLogsServiceRequest()
    else:
        return {}
    try:
        message.ParseFromString(data)
        export: dict[str, Any] = json_format.MessageToDict(message, use_integers_for_enums=True)
    except (DecodeError, ValueError, RecursionError) as problem:
        raise RefusedError(400, "the export is no protobuf of this signal") from problem
    _hexadecimal(export)
    return export


def _hexadecimal(value: Any) -> None:
    """Ids, which protobuf's own JSON has in base64, as OTLP's JSON has them. They stand outside of attributes."""
    if isinstance(value, list):
        for item in value:
            _hexadecimal(item)
        return
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key in _IDS and isinstance(item, str):
            value[key] = base64.b64decode(item).hex()
        elif key not in ("attributes", "body"):
            _hexadecimal(item)


def cleared(value: Any, key: str = "") -> Any:
    """An export without the attributes that hold secrets, and with bare addresses in technical ones."""
    if isinstance(value, list):
        return [cleared(item, key) for item in value]
    if isinstance(value, str):
        # the message of a status, the body of a log record
        return bare_text(value) if key in ("message", "body") or _TECHNICAL.match(key) else value
    if not isinstance(value, dict):
        return value
    name = value.get("key")
    if isinstance(name, str) and "value" in value:
        if is_secret_attribute(name):
            return {**value, "value": {"stringValue": REMOVED}}
        return {**value, "value": cleared(value["value"], name)}
    inherits = ("stringValue", "arrayValue", "values")
    return {
        inner: cleared(item, key if inner in inherits else inner) if key[:7] != "gen_ai." else item
        for inner, item in value.items()
    }
