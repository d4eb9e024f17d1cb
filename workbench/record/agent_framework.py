"""A recorder inside of an agent-framework agent: what a replay needs and no wire shows.

It is three pieces of middleware (around a run, a model call, a tool) that look and change nothing. For the
current release; docs/recording.md lists the lines that it writes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from workbench.record import scope
from workbench.record.exchange import MAX_WORDS
from workbench.record.journal import Journal, Recording, as_recording, say
from workbench.record.secrets import bare_text

#: What of the options of a model call is written; the rest may hold keys, or objects of no form
OPTIONS = (
    "allow_multiple_tool_calls", "conversation_id", "frequency_penalty", "instructions",
    "max_tokens", "model", "model_id",
    "presence_penalty", "reasoning", "response_format", "seed", "stop", "store", "temperature", "tool_choice",
    "top_p",
)  # fmt: skip
Agent = TypeVar("Agent")
Next = Callable[[], Awaitable[None]]


def recorder(folder: str | os.PathLike[str] | Recording = "recording") -> AgentRecorder:
    """A recorder for agents of agent-framework, into the folder that `workbench.record` may use, too.

        agent = wb.recorder("recording").attach(agent)
        agent = Agent(client=…, tools=…, middleware=[*mine, *wb.recorder("recording")])

    Raises `OSError` where the folder cannot be made, `ImportError` where agent-framework is missing.
    """
    return AgentRecorder(as_recording(folder))


class AgentRecorder:
    """Middleware for one agent or several, as an iterable; `attach` adds it to an agent that is there."""

    def __init__(self, recording: Recording) -> None:
        from agent_framework import AgentMiddleware as RunMiddleware
        from agent_framework import ChatMiddleware, FunctionMiddleware

        self.recording = recording
        notes = _Notes(recording)

        class AgentRecording(RunMiddleware):  # type: ignore[misc, unused-ignore]
            """Describes the agent at its first run."""

            async def process(self, context: Any, call_next: Next) -> None:
                notes.quietly(notes.agent, context.agent)
                await call_next()

        class ModelRecording(ChatMiddleware):  # type: ignore[misc, unused-ignore]
            """Writes what a model is sent and what it streams."""

            async def process(self, context: Any, call_next: Next) -> None:
                await notes.model_call(context, call_next)

        class ToolRecording(FunctionMiddleware):  # type: ignore[misc, unused-ignore]
            """Writes that a tool is executed, and what came of it."""

            async def process(self, context: Any, call_next: Next) -> None:
                await notes.execution(context, call_next)

        self._notes = notes
        self._middleware = (AgentRecording(), ModelRecording(), ToolRecording())

    def __iter__(self) -> Iterator[Any]:
        return iter(self._middleware)

    def attach(self, agent: Agent) -> Agent:
        """Add the recorder to an agent, innermost, where the model and the tools are; gives the agent back.

        Takes the AG-UI wrapper of an agent as well, and then knows its `require_confirmation`. Attaching it twice
        changes nothing. Raises `TypeError` for what has no middleware (a workflow: attach it to its agents).
        """
        inner = getattr(agent, "agent", agent)
        if not hasattr(inner, "middleware"):
            raise TypeError(
                f"{type(agent).__name__} takes no middleware; in a workflow, attach the recorder to its agents"
            )
        config = getattr(agent, "config", None)
        if config is not None:
            self._notes.confirmation[id(inner)] = (inner, getattr(config, "require_confirmation", None))
        present = list(inner.middleware or ())
        inner.middleware = [*present, *(m for m in self._middleware if m not in present)]
        return agent


class _Notes:
    """Writes lines. Nothing that goes wrong here reaches the agent."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        #: by identity, which holds as long as the agent is kept beside it
        self.confirmation: dict[int, tuple[Any, bool | None]] = {}
        self._known: dict[bytes, str] = {}
        self._said: set[str] = set()

    def quietly(self, write: Callable[..., Any], *arguments: Any) -> Any:
        """Call what writes; say once for each kind of failure that something is not recorded."""
        try:
            return write(*arguments)
        except Exception as problem:  # noqa: BLE001 - a recorder must not break what it records
            said = f"{getattr(write, '__name__', 'recorder')}: {type(problem).__name__}"
            if said not in self._said:
                self._said.add(said)
                say(f"not recorded: {said}")
            return None

    @property
    def journal(self) -> Journal:
        """The file; a forked process has its own, and describes everything anew in it."""
        journal = self._recording.journal("agent")
        if journal.path is None and self._known:
            self._known.clear()
        return journal

    def agent(self, agent: Any) -> None:
        """Versions, and the agent, where it is new or was changed."""
        self._once("versions", {"packages": _versions(), "python": sys.version.split()[0]})
        options = getattr(agent, "default_options", None)
        tools = options.get("tools") if isinstance(options, Mapping) else None
        self._once(
            "agent",
            {
                "name": getattr(agent, "name", None),
                "class": _class(agent),
                "client": _class(getattr(agent, "client", None)),
                "tools": [_tool(tool) for tool in tools or () if tool is not None],
                "mcpTools": [_tool(tool) for tool in getattr(agent, "mcp_tools", None) or ()],
                "middleware": [_class(m) for m in getattr(agent, "middleware", None) or () if not _is_own(m)],
                "providers": [_class(p) for p in getattr(agent, "context_providers", None) or ()],
                "requireConfirmation": self.confirmation.get(id(agent), (agent, None))[1],
            },
        )

    def _once(self, kind: str, content: dict[str, Any]) -> str:
        """Write a description unless the same was written before; its number."""
        journal = self.journal
        key = kind.encode() + _json(content)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = f"{kind[0]}{journal.number()}"
            journal.add([_json({"kind": kind, "id": number, "tMs": journal.passed(), **content})])
        return number

    # -------------------------------------------------------------- model calls

    async def model_call(self, context: Any, call_next: Next) -> None:
        """One call of a model. A stream is written while it is consumed, in the pieces that came."""
        number = self.quietly(self._asked, context)
        if number is None:
            await call_next()
            return
        counted = 0

        def piece(update: Any) -> Any:
            nonlocal counted
            self.quietly(self._piece, number, counted, update)
            counted += 1
            return update

        def over() -> None:
            # called while an exception is handled if the stream broke off
            problem = sys.exception()
            self.quietly(
                self._answered, number, None, None if isinstance(problem, StopAsyncIteration) else problem
            )

        if context.stream:
            context.stream_transform_hooks.append(piece)
            context.stream_cleanup_hooks.append(over)
        try:
            await call_next()
        except BaseException as problem:
            self.quietly(self._answered, number, None, problem)
            raise
        if not context.stream:
            self.quietly(self._answered, number, context.result, None)

    def _asked(self, context: Any) -> str:
        options = context.options or {}
        offered = options.get("tools") or ()
        offered = offered if isinstance(offered, list | tuple) else (offered,)
        toolset = self._once("tools", {"tools": [_tool(tool) for tool in offered]})
        number = f"m{self.journal.number()}"
        self._write(
            "model-call",
            number,
            time=self.journal.now(),
            client=_class(context.client),
            model=options.get("model") or options.get("model_id") or getattr(context.client, "model", None),
            stream=bool(context.stream),
            toolset=toolset,
            options={key: options[key] for key in OPTIONS if options.get(key) is not None},
            messages=[message.to_dict() for message in context.messages],
            **_place(context),
        )
        return number

    def _piece(self, number: str, sequence: int, update: Any) -> None:
        self._write("model-update", number, seq=sequence, update=update.to_dict())

    def _answered(self, number: str, response: Any, problem: BaseException | None) -> None:
        more: dict[str, Any] = {"complete": problem is None}
        if problem is not None:
            more["exception"] = _exception(problem)
        if response is not None:
            more["messages"] = [message.to_dict() for message in response.messages]
        self._write("model-end", number, time=self.journal.now(), **more)

    # -------------------------------------------------------------- executions

    async def execution(self, context: Any, call_next: Next) -> None:
        """One execution of a tool."""
        number = self.quietly(self._begun, context)
        start = time.perf_counter_ns()
        try:
            await call_next()
        except BaseException as problem:
            if number is not None:
                self.quietly(self._done, number, context, start, problem)
            raise
        if number is not None:
            self.quietly(self._done, number, context, start, None)

    def _begun(self, context: Any) -> str:
        number = f"x{self.journal.number()}"
        arguments = context.arguments
        if callable(getattr(arguments, "model_dump", None)):
            arguments = arguments.model_dump(mode="json")
        answer = context.metadata.get("approval_response")
        self._write(
            "execution",
            number,
            time=self.journal.now(),
            callId=context.metadata.get("call_id"),
            tool=context.function.name,
            arguments=dict(arguments) if isinstance(arguments, Mapping) else arguments,
            approved=getattr(answer, "approved", None),
            **_place(context),
        )
        return number

    def _done(self, number: str, context: Any, start: int, problem: BaseException | None) -> None:
        more: dict[str, Any] = {}
        if problem is not None:
            more["exception"] = _exception(problem)
        else:
            result = context.result
            more["result"] = [_plain(item) for item in result] if isinstance(result, list) else _plain(result)
        self._write(
            "execution-end",
            number,
            time=self.journal.now(),
            callId=context.metadata.get("call_id"),
            durationMs=(time.perf_counter_ns() - start) // 1000 / 1000,
            **more,
        )

    def _write(self, kind: str, number: str, **more: Any) -> None:
        journal = self.journal
        journal.add([_json({"kind": kind, "id": number, "tMs": journal.passed(), **more})])


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """A value of a form that JSON has."""
    for method in ("to_dict", "model_dump"):
        if callable(getattr(value, method, None)) and not isinstance(value, type):
            return getattr(value, method)()
    if isinstance(value, Mapping):
        return dict(value)
    if value is None or isinstance(value, str | int | float | list | tuple):
        return value
    return _class(value) if isinstance(value, type) else str(value)[:MAX_WORDS]


def _exception(problem: BaseException) -> dict[str, str]:
    """An exception by its class and words. The addresses in it lose their queries."""
    return {"type": type(problem).__qualname__, "message": bare_text(str(problem))[:MAX_WORDS]}


def _class(value: Any) -> str | None:
    if value is None:
        return None
    kind = value if isinstance(value, type) or hasattr(value, "__code__") else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_own(middleware: Any) -> bool:
    return type(middleware).__module__ == __name__


def _tool(tool: Any) -> dict[str, Any]:
    """A tool as it is declared. Hosted ones are dictionaries, and have no approval mode of ours."""
    if isinstance(tool, Mapping):
        return {"kind": "hosted", "definition": dict(tool)}
    parameters = getattr(tool, "parameters", None)
    return {
        "kind": _class(tool),
        "name": getattr(tool, "name", None),
        "description": getattr(tool, "description", None),
        "parameters": parameters() if callable(parameters) else None,
        "approvalMode": getattr(tool, "approval_mode", None),
        "declarationOnly": getattr(tool, "declaration_only", None),
    }


def _place(context: Any) -> dict[str, str | None]:
    """Thread and run, where something tells them: the middleware of the app, else agent-framework's telemetry."""
    thread, run = scope.current()
    if thread is None:
        from agent_framework import observability

        variable = getattr(observability, "_TELEMETRY_CONVERSATION_ID", None)
        thread = variable.get() if variable is not None else None
    session = getattr(context.session, "session_id", None) if context.session is not None else None
    return {"threadId": thread, "runId": run, "sessionId": session}


def _versions() -> dict[str, str]:
    """Every distribution that belongs to the agent or its protocol."""
    from importlib import metadata

    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = str(distribution.metadata["Name"] or "").lower()
        wanted = (
            "agent-framework",
            "ag-ui",
            "opentelemetry",
            "openai",
            "anthropic",
            "pydantic",
            "fastapi",
            "mcp",
        )
        if name.startswith(wanted):
            found[name] = distribution.version
    return dict(sorted(found.items()))
