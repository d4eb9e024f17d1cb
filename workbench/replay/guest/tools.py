"""Tools of an arm: stubs with a result that the spec gives, on the agent or from a context provider."""

from __future__ import annotations

import functools
import inspect
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from .recorder import Recorder

#: id of the call that is carried out
_CALL: ContextVar[str | None] = ContextVar("call", default=None)


def stub(tool: dict[str, Any]) -> Any:
    """A tool of the framework that gives its result, raises its error, or is only declared.

    `calls` may have a result or error of its own for a call id.
    """
    import agent_framework as af

    schema = tool.get("parameters") or {"type": "object", "properties": {}}
    described = {"name": tool["name"], "description": tool.get("description", "")}
    if tool.get("declared"):
        return af.FunctionTool(func=None, input_model=schema, **described)

    def run(**_: Any) -> str:
        told = tool.get("calls", {}).get(_CALL.get(), tool)
        if "error" in told:
            raise RuntimeError(told["error"])
        return str(told["result"])

    mode = "always_require" if tool.get("gated") else "never_require"
    return af.tool(run, schema=schema, approval_mode=mode, **described)


def own_provider(tools: list[dict[str, Any]]) -> Any:
    """A context provider of a few lines that adds tools in `before_run`, as applications write them."""
    import agent_framework as af

    base = getattr(af, "ContextProvider", None) or getattr(af, "BaseContextProvider", None)

    class OwnProvider(base):  # type: ignore[misc,valid-type]
        async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
            context.extend_tools(self.source_id, [stub(tool) for tool in tools])

    return OwnProvider("own_provider")


def file_access(folder: Path, options: dict[str, Any]) -> Any:
    """The framework's own `FileAccessProvider` on a folder; options that a release does not have are left out."""
    import agent_framework as af

    known = inspect.signature(af.FileAccessProvider).parameters
    given = {name: value for name, value in options.items() if name in known}
    return af.FileAccessProvider(af.FileSystemAgentFileStore(folder), **given)


def skills(skills: list[dict[str, str]]) -> Any:
    """The framework's own `SkillsProvider` with skills given as texts."""
    import agent_framework as af

    made = [
        af.InlineSkill(
            frontmatter=af.SkillFrontmatter(name=skill["name"], description=skill["description"]),
            instructions=skill["content"],
        )
        for skill in skills
    ]
    return af.SkillsProvider(made)


def count_executions(recorder: Recorder) -> None:
    """Note every execution of any tool, with what came back or was raised."""
    import agent_framework as af

    original = af.FunctionTool.invoke

    @functools.wraps(original)
    async def invoke(self: Any, *, arguments: Any = None, **named: Any) -> Any:
        given = arguments.model_dump() if hasattr(arguments, "model_dump") else dict(arguments or {})
        told: dict[str, Any] = {"tool": self.name, "call": named.get("tool_call_id"), "arguments": given}
        recorder.executions.append(told)
        _CALL.set(told["call"])
        try:
            result = await original(self, arguments=arguments, **named)
        except Exception as problem:
            told["error"] = f"{type(problem).__name__}: {problem}"
            raise
        texts = (
            [str(getattr(part, "text", part)) for part in result]
            if isinstance(result, list)
            else [str(result)]
        )
        told["result"] = "".join(texts)
        return result

    af.FunctionTool.invoke = invoke


def files(folder: Path) -> dict[str, str]:
    """The files of a folder with their texts."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
