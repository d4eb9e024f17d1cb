"""Several recording servers in one process, until they are told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.record.middleware import App

#: How long streams that are open may go on when the recorder is told to stop, seconds
GRACE = 1


@dataclass(frozen=True, slots=True)
class Served:
    """An app and the socket that it is served on."""

    name: str
    app: App | Any
    socket: socket.socket

    @property
    def url(self) -> str:
        """The address of the server."""
        host, port = self.socket.getsockname()[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach a server at this address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(name: str, app: Any, host: str, port: int) -> Served:
    """Take a port (0: a free one). Raises `OSError` where it is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, port), family=family)
    # Connections inherit it. asyncio would set it only where the socket names its protocol, and small events
    # would wait 40 ms for the acknowledgement of the ones before.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Served(name, app, listener)


def serve(served: Sequence[Served], ready: Callable[[], None] = lambda: None) -> None:
    """Serve all of them until SIGINT or SIGTERM; `ready` is called when all answer."""
    asyncio.run(_serve(served, ready))


async def _serve(served: Sequence[Served], ready: Callable[[], None]) -> None:
    import uvicorn

    class Server(uvicorn.Server):
        """Leaves the signals to those who run several."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    servers = [
        Server(
            uvicorn.Config(
                one.app,
                log_level="error",
                access_log=False,  # it would show query strings
                lifespan="auto",
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=GRACE,
            )
        )
        for one in served
    ]

    def stop(*_: object) -> None:
        for server in servers:
            server.force_exit = server.should_exit
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, stop)
    tasks = [
        asyncio.create_task(server.serve(sockets=[one.socket]))
        for server, one in zip(servers, served, strict=True)
    ]
    while not all(server.started for server in servers) and not any(task.done() for task in tasks):  # noqa: ASYNC110 - uvicorn has no event for it
        await asyncio.sleep(0.01)
    if all(server.started for server in servers):
        ready()
    await asyncio.gather(*tasks)
