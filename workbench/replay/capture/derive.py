"""A scenario from a trace: `workbench.scenario_from`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.replay.capture import client, findings, from_recorder, from_telemetry, model, normal, tools
from workbench.replay.capture.assumptions import Assumption
from workbench.replay.capture.exchanges import Exchange, agui_only, conversation, exchanges
from workbench.replay.capture.hints import Hints
from workbench.replay.capture.questions import questions
from workbench.replay.capture.readings import KINDS, ORIGINS
from workbench.replay.engine.errors import ReplayError
from workbench.trace import Trace

if TYPE_CHECKING:
    from workbench.replay.capture.calibrate import Calibrated
    from workbench.replay.capture.running import Workshop

PACKAGES = ("agent-framework-ag-ui", "agent-framework-core", "ag-ui-protocol")


@dataclass(frozen=True)
class Scenario:
    """A recorded conversation as something that can be run.

    `spec` is what a guest carries out, `events` are the recorded ones without passing ids, `findings` those of the
    recording. `open` names for each tool what the capture leaves open. Before `calibrate` has run it, nothing
    is known of whether it says what was recorded.
    """

    thread: str
    spec: dict[str, Any]
    events: list[list[str]]
    shape: list[list[str]]
    findings: list[findings.Seen]
    open: dict[str, list[str]]
    assumptions: list[Assumption] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        steps, calls = len(self.spec["steps"]), len(self.spec["calls"])
        return (
            f"<Scenario of {self.thread}: {steps} steps, {calls} calls, {len(self.assumptions)} assumptions>"
        )

    def calibrate(self, recorded_on: str, workshop: Workshop | None = None) -> Calibrated:
        """Put it through the gate: which readings of it give the recorded events on that release.

        `recorded_on` may be several, with commas, or `any`: those that fit are named.
        """
        from workbench.replay.capture.calibrate import calibrate

        return calibrate(self, recorded_on, workshop)


def scenario_from(
    trace: Trace, thread: str | None = None, *, overrides: Mapping[str, Any] | None = None
) -> Scenario:
    """Derive from a recorded agent-framework conversation what is needed to run it again.

        scenario = wb.scenario_from(wb.load("capture.har"))
        scenario.assumptions                    # each with its evidence, and how to say otherwise
        kept = scenario.calibrate("1.5.0")      # runs it on the release it was recorded on
        print(kept.on("1.7.0"))                 # and on another

    `thread` may be left out where there is only one. `overrides` say what the capture leaves open:
    `{"tools": {name: {"origin": "provider", "gated": True, "calls": {id: "result"}}}, "agent": {"kind": "harness"}}`.
    Raises `ReplayError` where the requests are missing, or the thread has to be chosen.
    """
    said_otherwise = _checked(overrides or {})
    chosen = conversation(trace, thread)
    made = exchanges(trace, chosen)
    told = Hints()
    from_recorder.learn(trace, told)
    from_telemetry.learn(trace.records, chosen, told)
    said = model.said(made)
    own = tools.tools(made, said, told, said_otherwise.get("tools"))
    unknown = set(said_otherwise.get("tools", {})) - set(said.calls.values())
    if unknown:
        raise ReplayError(f"no tool of the capture is called {', '.join(sorted(unknown))}")
    sent = client.sent(made)
    agent, about_agent = _agent(said_otherwise, told.agent)
    assumptions = [*about_agent, *own.assumptions, *sent.assumptions]
    named = {call: said.calls[call] for call in own.invented}
    assumptions += [tools.invention(call, tool) for call, tool in named.items()]
    assumptions += [
        Assumption("events", f"{kind} is not said again", "a recorded model cannot say it") for kind in sorted(said.untold)
    ]  # fmt: skip
    endpoint, about_endpoint = _endpoint(made, said_otherwise, told)
    assumptions += about_endpoint
    spec = {
        "agent": agent, "endpoint": endpoint, "tools": own.made,
        "packages": list(PACKAGES), "model": {"client": "recorded", "turns": said.steps},
        "steps": sent.steps, "calls": said.calls,
    }  # fmt: skip
    open_ = {name: keys for name, keys in own.open.items() if keys}
    if "kind" not in said_otherwise.get("agent", {}) and "kind" not in told.agent:
        open_["agent"] = ["kind"]
    return Scenario(
        thread=chosen.thread_id, spec=spec, events=normal.exact(made, said.calls), shape=normal.skeleton(made),
        findings=findings.seen(agui_only(trace), chosen.thread_id), open=open_, assumptions=assumptions, versions=told.versions,
    )  # fmt: skip


def _endpoint(
    made: list[Exchange], said: Mapping[str, Any], told: Hints
) -> tuple[dict[str, Any], list[Assumption]]:
    """Whether it asks by `confirm_changes` as well, where that is not by default; whether it keeps threads, if said."""
    asked = [exchange for exchange in made if questions(exchange)]
    confirms: tuple[Any, str] | None = told.endpoint.get("require_confirmation")
    if confirms is None and asked and not any(q.confirm for e in asked for q in questions(e).values()):
        confirms = (False, "questions came without confirm_changes")
    stored = (False, "only thought of where nothing else gives the recorded events")
    given = dict(said.get("endpoint", {}))
    about = []
    for name, assumed in (("require_confirmation", confirms), ("snapshots", stored)):
        known = (given[name], "as you said") if name in given else assumed
        if known is not None:
            about.append(Assumption(f"endpoint, {name}", str(known[0]), known[1], f"endpoint.{name}=…"))
    endpoint = {} if confirms is None else {"require_confirmation": confirms[0]}
    return {**endpoint, **given}, about


def _agent(
    said: Mapping[str, Any], known: Mapping[str, tuple[Any, str]]
) -> tuple[dict[str, Any], list[Assumption]]:
    given = dict(said.get("agent", {}))
    if "kind" in given:
        kind, evidence = given["kind"], "as you said"
    else:
        kind, evidence = known.get("kind", ("plain", "nothing in a capture of the wire tells"))
    return {**given, "kind": kind}, [Assumption("agent, kind", kind, evidence, "agent.kind=…")]


_KNOWN: dict[str, Any] = {
    "tools": {"origin", "gated", "calls"}, "agent": {"kind"}, "endpoint": {"require_confirmation", "snapshots"},
}  # fmt: skip
_SWITCHES = ("gated", "require_confirmation", "snapshots")


def _checked(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides that say what can be said; `ReplayError` names the word that cannot."""
    for part, content in overrides.items():
        if part not in _KNOWN:
            raise ReplayError(f"nothing is called {part!r} here; there are: {', '.join(_KNOWN)}")
        for said in _objects(content, part).values() if part == "tools" else (content,):
            for key, value in _objects(said, part).items():
                if key not in _KNOWN[part]:
                    raise ReplayError(
                        f"{part} have no {key!r} to be said; there are: {', '.join(sorted(_KNOWN[part]))}"
                    )
                for name, words in (("origin", ORIGINS), ("kind", KINDS)):
                    if key == name and value not in words:
                        raise ReplayError(f"{name} is one of {', '.join(words)}, not {value!r}")
                if key in _SWITCHES and not isinstance(value, bool):
                    raise ReplayError(f"{key} is true or false, not {value!r}")
                if key == "calls" and not isinstance(value, Mapping):
                    raise ReplayError(
                        f"calls are said one by one, as in tools.NAME.calls.ID=the result, not {value!r}"
                    )
    return dict(overrides)


def _objects(said: Any, part: str) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise ReplayError(f"what is said of {part} is a mapping of names to values, not {said!r}")
    return said
