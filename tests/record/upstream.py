"""A server to be recorded, as a process of its own: `python upstream.py`, which prints its port.

It has an agent of agent-framework, streams of every kind of trouble, and something like a model provider.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Mount, Route

NOTES = Path(os.environ.get("UPSTREAM_NOTES", os.devnull))


def note(**facts):
    with NOTES.open("a") as file:
        file.write(json.dumps(facts) + "\n")


def sse(event):
    return f"data: {json.dumps(event)}\n\n".encode()


def delta(number, **more):
    return sse({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": f"word{number} ", **more})


async def opened(request):
    body = await request.json()
    ids = {"threadId": body["threadId"], "runId": body["runId"]}
    return ids, [sse({"type": "RUN_STARTED", **ids}), sse({"type": "TEXT_MESSAGE_START", "messageId": "m"})]


async def many(request):
    """As many small events as the query says, each with the time when it was sent; `pause` between them."""
    ids, first = await opened(request)
    count, pause = int(request.query_params["n"]), float(request.query_params.get("pause", 0))

    async def body():
        for piece in first:
            yield piece
        for number in range(count):
            if pause:
                await asyncio.sleep(pause)
            yield delta(number, sent=time.time_ns())
        yield sse({"type": "TEXT_MESSAGE_END", "messageId": "m"})
        yield sse({"type": "RUN_FINISHED", **ids})

    return StreamingResponse(body(), media_type="text/event-stream")


async def flood(request):
    """Megabytes, as fast as they are taken; notes how many were."""
    _, first = await opened(request)

    async def body():
        sent = 0
        try:
            for piece in first:
                yield piece
            for number in range(4000):
                yield delta(number, filling="x" * 16000)
                sent += 1
                if sent % 50 == 0:
                    note(flood=sent)
        finally:
            note(flood=sent, over=True)

    return StreamingResponse(body(), media_type="text/event-stream")


async def silent(request):
    """Some events, then nothing; notes that the client went away."""
    _, first = await opened(request)

    async def body():
        for piece in first:
            yield piece
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            note(gone=True)
            raise

    return StreamingResponse(body(), media_type="text/event-stream")


async def mute(request):
    """No answer at all."""
    await request.body()
    for _ in range(600):
        await asyncio.sleep(0.1)
        if await request.is_disconnected():
            note(gone=True)
            break
    return PlainTextResponse("late")


async def dies(request):
    """The process ends in the middle of an event."""
    _, first = await opened(request)

    async def body():
        for piece in first:
            yield piece
        yield delta(1)[:20]
        await asyncio.sleep(0.2)
        os._exit(3)

    return StreamingResponse(body(), media_type="text/event-stream")


async def echo(request):
    """Every header and parameter, in an event, in a header and in a cookie."""
    ids, first = await opened(request)
    seen = {**dict(request.headers), **dict(request.query_params)}

    async def body():
        yield first[0]
        yield sse({"type": "CUSTOM", "name": "echo", "value": seen})
        yield sse({"type": "RUN_FINISHED", **ids})

    headers = {"set-cookie": "sid=cookie-of-the-server-77; Path=/", "x-api-key": "key-of-the-server-88"}
    return StreamingResponse(body(), media_type="text/event-stream", headers=headers)


async def refuse(request):
    key = request.headers.get("authorization", "")
    return JSONResponse({"detail": f"the key {key} is not known"}, 401)


async def complete(request):
    """Chat Completions, streamed."""
    await request.json()

    async def body():
        for word in ("Once ", "upon ", "a time"):
            chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": word}}]}
            yield sse(chunk)
            await asyncio.sleep(0.01)
        yield b"data: [DONE]\n\n"

    return StreamingResponse(body(), media_type="text/event-stream")


class Late:
    """The app with the agent, made when it is asked for: its framework takes seconds to import."""

    app = None

    async def __call__(self, scope, receive, send):
        if self.app is None:
            sys.path.insert(0, str(Path(__file__).parent))
            import scripted

            turns = [turn for number in range(50)
                     for turn in ([scripted.text("Well,"), scripted.call(f"c{number}", "deploy", target="prod")],
                                  [scripted.text("Done.")])]  # fmt: skip
            self.app = scripted.app(scripted.agent(turns))
        await self.app(scope, receive, send)


routes = [
    *(Route(f"/{f.__name__}", f, methods=["POST"]) for f in (many, flood, silent, mute, dies, echo, refuse)),
    Route("/v1/chat/completions", complete, methods=["POST"]),
    Route("/v1/models", lambda request: JSONResponse({"data": []})),
    Route("/health", lambda request: PlainTextResponse("ok")),
    Mount("/", Late()),
]

if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(Starlette(routes=routes), log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])
