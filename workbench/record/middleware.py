"""Recording inside of a server: ASGI middleware around an app with AG-UI endpoints."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from workbench.record import scope as serving
from workbench.record.exchange import AgentExchange, Observer
from workbench.record.journal import Recording, as_recording

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class RecordingMiddleware:
    """Passes everything on as it is, and writes what agents are asked and answer into a folder.

    As `app.add_middleware(RecordingMiddleware, folder="recording")`, or by `workbench.record(app)`. Attributes
    of the app (`app.state`, `app.routes`) stay reachable.
    """

    def __init__(self, app: App, folder: str | os.PathLike[str] | Recording = "recording") -> None:
        self.app = app
        self.recording = as_recording(folder)

    def __getattr__(self, name: str) -> Any:
        if name in ("app", "recording"):  # not set yet: the constructor failed, or a copy is being made
            raise AttributeError(name)
        return getattr(self.app, name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in scope.get("headers", ())]
        exchange = Observer(AgentExchange, self.recording, scope["method"], _url(scope, headers), headers)
        sent = gone = over = False
        place = serving.enter()

        async def received() -> Message:
            nonlocal sent, gone
            message = await receive()
            if message["type"] == "http.request" and not sent:
                exchange.tell("request", message.get("body", b""))
                if not message.get("more_body", False):
                    sent = True
                    exchange.tell("sent", place)
            elif message["type"] == "http.disconnect":
                gone = True
            return message

        async def passed(message: Message) -> None:
            nonlocal over
            if message["type"] == "http.response.start":
                named = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in message.get("headers", ())]
                exchange.tell("response", message["status"], named)
            elif message["type"] == "http.response.body":
                exchange.tell("chunk", message.get("body", b""))
                over = not message.get("more_body", False)
            await send(message)

        why = "the server stopped in the middle"
        try:
            await self.app(scope, received, passed)
            why = "" if over else "the client went away" if gone else why
        except BaseException as problem:
            if not over:
                gone = gone or isinstance(problem, OSError)
                why = "the client went away" if gone else f"the server failed: {type(problem).__name__}"
            else:
                why = ""
            raise
        finally:
            exchange.tell("end", why)


def record(app: App, folder: str | os.PathLike[str] | Recording = "recording") -> RecordingMiddleware:
    """An ASGI app (FastAPI, Starlette, …) that does what `app` does and records its AG-UI endpoints.

        app = wb.record(app)                       # then serve it as before
        trace = wb.load("recording")               # at any time, also while it runs

    Requests and event streams go into `folder` as `agui-….agui.jsonl`; headers are never written, and of query
    strings only the names. Raises `OSError` where the folder cannot be made.
    """
    return RecordingMiddleware(app, folder)


def _url(scope: Scope, headers: list[tuple[str, str]]) -> str:
    """The address as the client wrote it."""
    host = next((value for name, value in headers if name.lower() == "host"), "")
    if not host and scope.get("server"):
        name, port = scope["server"]
        host = f"{name}:{port}" if port else str(name)
    path = scope.get("raw_path") or scope["path"].encode()
    query = scope.get("query_string") or b""
    return f"{scope.get('scheme', 'http')}://{host}{path.partition(b'?')[0].decode('latin-1')}" + (
        f"?{query.decode('latin-1')}" if query else ""
    )
