"""`workbench record`: record running apps into a folder."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from workbench.record.server import Served

_NEEDED = ("httpx", "starlette", "uvicorn", "opentelemetry.proto")


def record(
    upstream: Annotated[
        str, typer.Option(metavar="URL", help="AG-UI endpoint or server to record.", show_default=False)
    ] = "",
    provider_upstream: Annotated[
        str,
        typer.Option(
            metavar="URL", help="Model provider to record, as in https://api.openai.com.", show_default=False
        ),
    ] = "",
    otlp: Annotated[bool, typer.Option("--otlp", help="Receive telemetry (OTLP over HTTP).")] = False,
    folder: Annotated[
        Path, typer.Option("--folder", "-o", metavar="FOLDER", help="Where to record to.")
    ] = Path("recording"),
    port: Annotated[int, typer.Option(metavar="PORT", help="Port for the clients of --upstream.")] = 8100,
    provider_port: Annotated[
        int, typer.Option(metavar="PORT", help="Port for the server that calls --provider-upstream.")
    ] = 8101,
    otlp_port: Annotated[int, typer.Option(metavar="PORT", help="Port for telemetry.")] = 4318,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen at.")] = "127.0.0.1",
    expose: Annotated[
        bool, typer.Option("--expose", help="Allow an address that other machines can reach.")
    ] = False,
) -> None:
    """Record a running app: a proxy before it, one before its model provider, a receiver of its telemetry."""
    if not (upstream or provider_upstream or otlp):
        _refuse("nothing to record: give --upstream, --provider-upstream or --otlp")
    from workbench.record.server import is_loopback, serve

    if not is_loopback(host):
        meaning = (
            "everyone who can reach this machine can then use the upstream with whatever access it gives, "
            "and write into the recording"
        )
        if not expose:
            _refuse(f"{host} is no loopback address: {meaning}; if that is wanted, add --expose")
        print(f"workbench: listening at {host}: {meaning}", file=sys.stderr)
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        _refuse(
            f"{', '.join(missing)} is missing; it comes with the extra `record`: pip install 'agui-workbench[record]'"
        )
    try:
        served = _listen(
            upstream, provider_upstream, folder, host, (port, provider_port, otlp_port), otlp=otlp
        )
    except ValueError as error:
        _refuse(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _refuse(f"{where}{error.strerror or error}")

    def ready() -> None:
        for one in served:
            print(f"workbench: {one.name}: {one.url}", file=sys.stderr)
        print(f"workbench: recording into {folder}; Ctrl-C ends it", file=sys.stderr, flush=True)

    serve(served, ready)
    print(f"workbench: recorded into {folder}; open it with: workbench check {folder}", file=sys.stderr)


def _listen(
    upstream: str, provider: str, folder: Path, host: str, ports: tuple[int, int, int], *, otlp: bool
) -> list[Served]:
    """Take the ports before anything is served, so that a port that is taken is said at once."""
    from workbench.record.exchange import AgentExchange, ProviderExchange
    from workbench.record.journal import Recording
    from workbench.record.otlp import receiver
    from workbench.record.proxy import Proxy
    from workbench.record.secrets import bare_url
    from workbench.record.server import listen

    recording = Recording(folder)
    wanted: list[tuple[str, object, int]] = []
    if upstream:
        wanted.append((f"proxy of {bare_url(upstream)}", Proxy(upstream, recording, AgentExchange), ports[0]))
    if provider:
        proxy = Proxy(provider, recording, ProviderExchange)
        wanted.append((f"proxy of {bare_url(provider)}", proxy, ports[1]))
    if otlp:
        wanted.append(("OTLP over HTTP (OTEL_EXPORTER_OTLP_ENDPOINT)", receiver(recording), ports[2]))
    served: list[Served] = []
    for name, app, number in wanted:
        try:
            served.append(listen(name, app, host, number))
        except (OSError, OverflowError) as error:
            for one in served:
                one.socket.close()
            said = getattr(error, "strerror", None) or str(error)
            raise ValueError(f"port {number} at {host}: {said}") from error
    return served


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _refuse(reason: str) -> NoReturn:
    from workbench.report.plain import plain

    print(f"workbench: {plain(reason, 1000)}", file=sys.stderr)
    raise typer.Exit(2)
