"""Build what an arm is about from its spec: agent, endpoint, model, tools, patches, spies."""

from __future__ import annotations

import inspect
import json
import logging
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

from . import agent_spec, direct, models, patching, seeds, source, spies, tools
from .client import Client
from .conversation import Conversation, NobodyAskedError
from .recorder import Recorder
from .script import Script
from .telemetry import Telemetry
from .turns import Turns

URL = "http://agent.invalid/run"
#: switches of a harness for what a conversation about approvals does not need, as releases name them
_ASIDE = ("disable_todo", "disable_mode", "disable_file_memory", "disable_memory")


class Stage:
    """One arm, from its first step to its last."""

    def __init__(self, spec: dict[str, Any], folder: Path, home: Path, places: dict[str, str]) -> None:
        seeds.plant(spec.get("seed", 0))
        self._steps = list(spec["steps"])
        self._number = 0
        self._spec = spec
        self._files = home / "files"
        self._files.mkdir(parents=True, exist_ok=True)
        arm = {**spec["arm"], "versions": versions(spec["packages"]), "python": platform.python_version()}
        self.recorder = Recorder(folder, {str(home): "<home>", **places}, arm)
        self.telemetry = Telemetry() if spec.get("telemetry", True) else None
        if self.telemetry is not None:
            self.telemetry.start()
        patching.apply(spec.get("patches", []), spec)
        if spec["agent"]["kind"] == agent_spec.KIND:
            agent_spec.watch_calls()
            logging.getLogger("ag_ui_agentspec").addHandler(agent_spec.Warnings(self.recorder))
        else:
            tools.count_executions(self.recorder)
        self.unwatched = spies.watch(spec.get("spies", []), self._seen)
        model = spec["model"]
        self._recorded = model["client"] == "recorded"
        self.script: Any = Turns(model["turns"]) if self._recorded else Script(model["answers"])
        client_tools = [
            {
                "name": t["name"],
                "description": t.get("description", ""),
                "parameters": t.get("parameters", {}),
            }
            for t in spec["tools"]
            if t["origin"] == "client"
        ]
        self.client: Any = Conversation() if self._recorded else Client(client_tools)
        self._app = self._built()

    def _built(self) -> Any:
        """The application; built again it knows nothing of what was before."""
        if self._spec["agent"]["kind"] == agent_spec.KIND:
            return agent_spec.endpoint(self._spec, self.script, self.recorder)
        return self._endpoint(self._agent(self._spec), self._spec)

    def _seen(self, told: dict[str, Any]) -> None:
        self.recorder.seen.append(told)

    def _agent(self, spec: dict[str, Any]) -> Any:
        import agent_framework as af

        chat = models.make(spec["model"]["client"], self.script, self.recorder)
        static = [tools.stub(tool) for tool in spec["tools"] if tool["origin"] == "static"]
        provided = [tool for tool in spec["tools"] if tool["origin"] == "provider"]
        agent, providers = spec["agent"], []
        if provided:
            providers.append(tools.own_provider(provided))
        if "file-access" in spec.get("providers", ()) and agent["kind"] != "harness":
            providers.append(tools.file_access(self._files, spec.get("file_access", {})))
        if spec.get("skills"):
            providers.append(tools.skills(spec["skills"]))
        middleware = list(agent.get("middleware", ()))
        options = {"default_options": agent["options"]} if "options" in agent else {}
        if agent["kind"] == "harness":
            given: dict[str, Any] = {"disable_web_search": True, "disable_compaction": True}
            if agent.get("lean"):
                given |= dict.fromkeys(_ASIDE, True)
            if "file-access" in spec.get("providers", ()):
                given["file_access_store"] = af.FileSystemAgentFileStore(self._files)
                given |= {f"file_access_{name}": value for name, value in spec.get("file_access", {}).items()}
            else:
                given["disable_file_access"] = True
            known = inspect.signature(af.create_harness_agent).parameters
            given = {name: value for name, value in given.items() if name in known}
            return af.create_harness_agent(
                chat,
                name="agent",
                tools=static,
                context_providers=providers,
                middleware=middleware,
                **given,
                **options,
            )
        if agent["kind"] == "approval-middleware":
            middleware.append(af.ToolApprovalMiddleware())
        return af.Agent(
            chat, name="agent", tools=static, context_providers=providers, middleware=middleware, **options
        )

    def _endpoint(self, agent: Any, spec: dict[str, Any]) -> Any:
        from agent_framework_ag_ui import AgentFrameworkAgent, add_agent_framework_fastapi_endpoint
        from fastapi import FastAPI

        app = FastAPI()
        if "require_confirmation" in spec.get("endpoint", {}):
            agent = AgentFrameworkAgent(agent, require_confirmation=spec["endpoint"]["require_confirmation"])
        options: dict[str, Any] = {}
        if "single_user" in inspect.signature(add_agent_framework_fastapi_endpoint).parameters:
            options["single_user"] = True
        if spec.get("endpoint", {}).get("snapshots"):
            from agent_framework_ag_ui import InMemoryAGUIThreadSnapshotStore

            options["snapshot_store"] = InMemoryAGUIThreadSnapshotStore()
            options["snapshot_scope_resolver"] = lambda request: "everyone"
            options.pop("single_user", None)  # the scope says who it is; releases refuse both
        add_agent_framework_fastapi_endpoint(app, agent, "/run", **options)
        return app

    @property
    def left(self) -> int:
        """How many steps are still to come."""
        return len(self._steps) - self._number

    async def step(self) -> dict[str, Any]:
        """Do the next step and record it; what came of it in a few words."""
        step = self._steps[self._number]
        self._number += 1
        if self._spec["agent"]["kind"] == agent_spec.KIND:
            agent_spec.in_turn()
        form = ""
        if "unit" in step:
            outcome: dict[str, Any] = {"unit": _unit(step["unit"])}
        elif "source" in step:
            outcome = {"source": {module: source.look(module, **at) for module, at in step["source"].items()}}
        elif self._recorded:
            form, outcome = await self._again(step)
        elif "messages" in step:
            outcome = await self._direct(step)
        else:
            if step.get("restart"):
                self._app = self._built()
            if step.get("rename"):
                self.client.rename(drop=step["rename"] == "none")
            form, request = self._request(step)
            outcome = await self._send(request)
        told = {
            "step": step["name"], "number": self._number, "form": form, **outcome,
            "files": tools.files(self._files), "model": self.script.log,
        }  # fmt: skip
        self.script.log = []
        telemetry = self.telemetry.take() if self.telemetry is not None else []
        stem = f"{self._number:02}-{step['name']}"
        self.recorder.write(stem, told, telemetry)
        return {**told, "left": self.left}

    def _request(self, step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        if "approve" in step and self.client.cards:
            form, request = self.client.decide(step["approve"], step.get("form", "auto"))
            return form, self.client.beside(request, step.get("beside", "transcript"), step["say"])
        if step.get("refresh"):
            return "", self.client.refresh()
        if step.get("retry"):
            return "", self.client.retry()
        if "results" in step and any(tool in step["results"] for tool in self.client.calls.values()):
            return "", self.client.results(step["results"])
        if "late" in step:
            return "", self.client.late(step["late"])
        return "", self.client.say(step["say"])

    async def _again(self, step: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Do a step of a recorded conversation, which is over where it takes another course."""
        self.script.begin()
        try:
            form, request = self.client.again(step)
        except NobodyAskedError as problem:
            self._steps = self._steps[: self._number]
            return "", {"diverged": str(problem), "sent": False, "cards": []}
        outcome = await self._send(request)
        self.script.end()
        if self.script.diverged:
            self._steps = self._steps[: self._number]
        return form, {**outcome, "diverged": self.script.diverged}

    async def _direct(self, step: dict[str, Any]) -> dict[str, Any]:
        """Hand a list of messages to the arm's connector, without agent and endpoint."""
        kind, raw = self._spec["model"]["client"], step.get("raw", False)
        client = models.make(kind, self.script, self.recorder, raw=raw)
        stubs = [tools.stub(tool) for tool in self._spec["tools"] if tool["origin"] == "static"]
        options = {**self._spec["agent"].get("options", {}), **({} if raw else {"tools": stubs})}
        return await direct.send(client, step["messages"], options, kept=step.get("history", False))

    async def _send(self, request: dict[str, Any]) -> dict[str, Any]:
        import httpx

        body = json.dumps(request, ensure_ascii=False)
        entry = self.recorder.begin(URL, body)
        transport = httpx.ASGITransport(app=self._app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport) as http:
            response = await http.post(
                URL, content=body.encode(), headers={"content-type": "application/json"}
            )
        self.recorder.end(
            entry, response.status_code, response.headers.get("content-type", ""), response.text
        )
        events = [json.loads(line[5:]) for line in response.text.split("\n") if line.startswith("data:")]
        if self._recorded:
            self.client.follow(request, events)
        else:
            self.client.take(events)
        return {
            "status": response.status_code,
            "events": len(events),
            "cards": [card.call for card in self.client.cards],
        }


def versions(packages: list[str]) -> dict[str, str]:
    """The installed versions of the packages that an arm is about."""
    told = {}
    for name in packages:
        try:
            told[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return told


def _unit(code: str) -> dict[str, Any]:
    """Run a snippet that a report brings along; what it leaves in `told`."""
    scope: dict[str, Any] = {}
    try:
        exec(compile(code, "<snippet>", "exec"), scope)  # noqa: S102 - a snippet of the scenario
    except Exception as problem:  # noqa: BLE001 - releases differ in what they have
        return {"error": f"{type(problem).__name__}: {problem}"}
    told: dict[str, Any] = scope["told"]
    return told
