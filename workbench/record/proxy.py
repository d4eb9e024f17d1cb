"""A reverse proxy that records: to an AG-UI endpoint, or from a server to its model provider.

httpx speaks to the upstream, Starlette to the client. One chunk is in flight at a time: the next is read from
the upstream when the client's socket has taken the last, so that a slow client slows the upstream and nothing
piles up in between.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.record.exchange import Exchange, Observer
from workbench.record.journal import Recording

if TYPE_CHECKING:
    import httpx
    from starlette.requests import Request

    from workbench.record.middleware import App, Message, Receive, Scope, Send

#: Headers of one connection (RFC 9110, 7.6.1), which a proxy does not pass on
_HOP = frozenset(
    "connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer "
    "transfer-encoding upgrade".split()
)


class Proxy:
    """An ASGI app that forwards every request to `upstream` and records it as an exchange of a kind.

    Raises `ValueError` for an address that is none.
    """

    def __init__(
        self, upstream: str, recording: Recording, kind: type[Exchange], *, timeout: float | None = None
    ) -> None:
        import httpx

        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{upstream!r} is no address like http://127.0.0.1:8000")
        if parts.query or parts.fragment:
            raise ValueError("an upstream has no query and no fragment")
        recording.secrets.learn(url=upstream)
        self.upstream = upstream.rstrip("/")
        self.recording = recording
        self.kind = kind
        self.client = httpx.AsyncClient(
            # a model may think for minutes; whoever waits decides how long
            timeout=httpx.Timeout(timeout, connect=30.0),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            follow_redirects=False,
            trust_env=False,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            from starlette.requests import Request

            await self._forward(Request(scope, receive), send)
        else:  # the transport of AG-UI is HTTP
            await send({"type": "websocket.close", "code": 1003, "reason": "WebSockets are not forwarded"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            else:
                await self.client.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _forward(self, request: Request, send: Send) -> None:
        import anyio
        from starlette.requests import ClientDisconnect

        url = self._address(request)
        exchange = Observer(self.kind, self.recording, request.method, url, request.headers.items())
        why = "the recorder stopped"
        try:
            async with anyio.create_task_group() as both:

                async def forward() -> None:
                    nonlocal why
                    why = await self._answer(request, url, exchange, send, uploaded)
                    both.cancel_scope.cancel()

                async def listen() -> None:
                    """Stop as soon as the client goes away, also while the upstream says nothing."""
                    nonlocal why
                    await uploaded.wait()
                    while (await request.receive())["type"] != "http.disconnect":
                        pass
                    why = "the client went away"
                    both.cancel_scope.cancel()

                uploaded = anyio.Event()
                both.start_soon(forward)
                both.start_soon(listen)
        except* (ClientDisconnect, OSError):
            why = "the client went away"
        finally:
            exchange.tell("end", why)

    async def _answer(
        self, request: Request, url: str, exchange: Observer, send: Send, uploaded: Any
    ) -> str:
        """Forward a request and its answer; "" or why the answer is not whole."""
        import httpx

        started = False
        try:
            body = _body(request, exchange, uploaded)
            if not {"content-length", "transfer-encoding"} & set(request.headers):
                async for _ in body:  # there is none; httpx would announce one
                    pass
                body = None
            asked = self.client.build_request(request.method, url, headers=_onward(request), content=body)
            answer = await self.client.send(asked, stream=True)
            try:
                raw = self._back(answer)
                exchange.tell("response", answer.status_code, answer.headers.multi_items())
                await send({"type": "http.response.start", "status": answer.status_code, "headers": raw})
                started = True
                async for chunk in answer.aiter_raw():
                    exchange.tell("chunk", chunk)
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            finally:
                await answer.aclose()
        except httpx.HTTPError as problem:
            why = f"the upstream {_in_words(problem)}"
            if started:
                # The end of the body is not sent, so that the client sees the cut as well.
                return why
            await _refuse(send, exchange, 502, f"workbench record: {self._named()}: {_in_words(problem)}")
            return why
        await send({"type": "http.response.body", "body": b"", "more_body": False})
        return ""

    def _address(self, request: Request) -> str:
        """Where a request goes: the path behind the upstream's own, which stands for `/` itself."""
        path = (request.scope.get("raw_path") or request.url.path.encode()).partition(b"?")[0].decode("latin-1")
        if path == "/" and urlsplit(self.upstream).path:
            path = ""
        return self.upstream + path + (f"?{request.url.query}" if request.url.query else "")

    def _back(self, answer: httpx.Response) -> list[tuple[bytes, bytes]]:
        """Headers for the client. A redirect within the upstream stays behind the proxy."""
        dropped = _HOP | _connection_names(answer.headers.get("connection", ""))
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.upstream)).encode()
        return [
            (name, value.removeprefix(origin) if name.lower() == b"location" else value)
            for name, value in answer.headers.raw
            if name.decode("latin-1").lower() not in dropped
        ]

    def _named(self) -> str:
        from workbench.record.secrets import bare_url

        return bare_url(self.upstream)


def _onward(request: Request) -> list[tuple[bytes, bytes]]:
    """Headers for the upstream. What is recorded is read, so the answer shall not be compressed."""
    named = _connection_names(request.headers.get("connection", ""))
    kept = [
        (name, value)
        for name, value in request.headers.raw
        if name.decode("latin-1").lower() not in (*_HOP, *named, "host", "accept-encoding")
    ]
    return [*kept, (b"accept-encoding", b"identity")]


def _connection_names(value: str) -> frozenset[str]:
    """Headers that a Connection header names."""
    return frozenset(name.strip().lower() for name in value.split(",") if name.strip())


async def _body(request: Request, exchange: Observer, uploaded: Any) -> AsyncIterator[bytes]:
    """The body of the request, as it arrives."""
    async for chunk in request.stream():
        if chunk:
            exchange.tell("request", chunk)
            yield chunk
    exchange.tell("sent")
    uploaded.set()


async def _refuse(send: Send, exchange: Observer, status: int, words: str) -> None:
    """Answer in the place of an upstream that does not."""
    body = words.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    exchange.tell("response", status, [("content-type", "text/plain")])
    exchange.tell("chunk", body)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _in_words(problem: httpx.HTTPError) -> str:
    import httpx

    if isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout):
        return "cannot be reached"
    if isinstance(problem, httpx.TimeoutException):
        return "took too long"
    return "broke off"
