"""A reverse proxy that records: to an AG-UI endpoint, or from a server to its model provider.

httpx speaks to the upstream, Starlette to the client. One chunk is in flight at a time: the next is read from
the upstream when the client's socket has taken the last, so that a slow client slows the upstream and nothing
piles up in between.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from workbench.record.exchange import Exchange, Observer
from workbench.record.journal import Recording
from workbench.record.secrets import bare_url

if TYPE_CHECKING:
    import httpx
    from starlette.requests import Request

    from workbench.record.middleware import Receive, Scope, Send

#: Headers of one connection (RFC 9110, 7.6.1), which a proxy does not pass on
_HOP = frozenset(
    [
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    ]
)
GONE = "the client went away"


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

        url = self._address(request)
        exchange = Observer(self.kind, self.recording, request.method, url, request.headers.items())
        passage = _Passage(self, request, url, exchange, send)
        try:
            async with anyio.create_task_group() as both:

                async def forward() -> None:
                    await passage.answer()
                    both.cancel_scope.cancel()

                async def listen() -> None:
                    await passage.gone()
                    both.cancel_scope.cancel()

                both.start_soon(forward)
                both.start_soon(listen)
        finally:
            exchange.tell("end", passage.why)

    def _address(self, request: Request) -> str:
        """Where a request goes: the path behind the upstream's own, which stands for `/` itself."""
        path = (
            (request.scope.get("raw_path") or request.url.path.encode()).partition(b"?")[0].decode("latin-1")
        )
        if path == "/" and urlsplit(self.upstream).path:
            path = ""
        return self.upstream + path + (f"?{request.url.query}" if request.url.query else "")

    def back(self, answer: httpx.Response) -> list[tuple[bytes, bytes]]:
        """Headers for the client. A redirect within the upstream stays behind the proxy."""
        dropped = _HOP | _connection_names(answer.headers.get("connection", ""))
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(self.upstream)).encode()
        return [
            (name, value.removeprefix(origin) if name.lower() == b"location" else value)
            for name, value in answer.headers.raw
            if name.decode("latin-1").lower() not in dropped
        ]


class _Passage:
    """One request on its way through; `why` says what cut its answer short, "" once it is whole."""

    def __init__(self, proxy: Proxy, request: Request, url: str, exchange: Observer, send: Send) -> None:
        import anyio

        self.proxy = proxy
        self.request = request
        self.url = url
        self.exchange = exchange
        self.send = send
        self.why = "the recorder stopped"
        self._uploaded = anyio.Event()

    async def gone(self) -> None:
        """Wait for the client to go away, also while the upstream says nothing."""
        await self._uploaded.wait()
        while (await self.request.receive())["type"] != "http.disconnect":
            pass
        if self.why:  # else it is told that the answer is over
            self.why = GONE

    async def answer(self) -> None:
        """Forward the request and its answer."""
        import httpx
        from starlette.requests import ClientDisconnect

        try:
            await self._pass()
        except httpx.HTTPError as problem:
            self.why = f"the upstream {_in_words(problem)}"
        except (ClientDisconnect, OSError):
            self.why = GONE

    async def _pass(self) -> None:
        import httpx
        from starlette.requests import ClientDisconnect

        body: AsyncIterator[bytes] | None = self._body()
        if not {"content-length", "transfer-encoding"} & set(self.request.headers):
            async for _ in self._body():  # there is none; httpx would announce one
                pass
            body = None
        client = self.proxy.client
        asked = client.build_request(
            self.request.method, self.url, headers=_onward(self.request), content=body
        )
        try:
            answer = await client.send(asked, stream=True)
        except httpx.HTTPError as problem:
            with contextlib.suppress(ClientDisconnect, RuntimeError):
                async for _ in self._body():  # what was to be sent is worth knowing all the same
                    pass
            await self._refuse(
                502, f"workbench record: {bare_url(self.url)}: the upstream {_in_words(problem)}"
            )
            raise
        try:
            self.exchange.tell("response", answer.status_code, answer.headers.multi_items())
            start = {"status": answer.status_code, "headers": self.proxy.back(answer)}
            await self.send({"type": "http.response.start", **start})
            # Where this breaks off the end of the body is not sent, so that the client sees the cut as well.
            async for chunk in answer.aiter_raw():
                self.exchange.tell("chunk", chunk)
                await self.send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            await answer.aclose()
        self.why = ""
        await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _body(self) -> AsyncIterator[bytes]:
        """The body of the request, as it arrives."""
        async for chunk in self.request.stream():
            if chunk:
                self.exchange.tell("request", chunk)
                yield chunk
        self.exchange.tell("sent")
        self._uploaded.set()

    async def _refuse(self, status: int, words: str) -> None:
        """Answer in the place of an upstream that does not."""
        body = words.encode()
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", b"%d" % len(body))]
        self.exchange.tell("response", status, [("content-type", "text/plain")])
        self.exchange.tell("chunk", body)
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


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


def _in_words(problem: httpx.HTTPError) -> str:
    import httpx

    if isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout):
        return "cannot be reached"
    if isinstance(problem, httpx.TimeoutException):
        return "took too long"
    return "broke off"
