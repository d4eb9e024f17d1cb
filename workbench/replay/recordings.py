"""Recordings of arms: a folder each, with a HAR file for every step and the telemetry beside it.

The bundled ones are small and lie inside the package; a folder of one's own is written by
`workbench replay … -o FOLDER` or `make record`. Any of them opens with `workbench.load`.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from workbench.replay.engine.errors import ReplayError
from workbench.replay.specs import Arm
from workbench.trace import Trace, load

BUNDLED = Path(__file__).resolve().parent / "recordings"


def root() -> Path:
    """Where recordings are looked for: the bundled ones, or the folder that `WORKBENCH_RECORDINGS` names."""
    chosen = os.environ.get("WORKBENCH_RECORDINGS")
    return Path(chosen) if chosen else BUNDLED


@dataclass(frozen=True)
class Step:
    """One recorded step of an arm."""

    path: Path
    #: what has to live as long as the file is wanted: a temporary folder
    keeps: object = field(default=None, compare=False, repr=False)

    @cached_property
    def told(self) -> dict[str, Any]:
        """What stands in `log._replay`: form of the answer, executions, files, what functions saw."""
        told: dict[str, Any] = self._log["_replay"]
        return told

    @cached_property
    def _log(self) -> dict[str, Any]:
        log: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))["log"]
        return log

    @property
    def name(self) -> str:
        """The step's name."""
        return str(self.told["step"])

    @property
    def exchanges(self) -> list[dict[str, Any]]:
        """The exchanges of the step, AG-UI and provider, as entries of a HAR."""
        return list(self._log["entries"])

    @property
    def executions(self) -> list[dict[str, Any]]:
        """Executions of tools in this step: tool, call id, arguments, result or error."""
        return list(self.told["executions"])

    @property
    def seen(self) -> list[dict[str, Any]]:
        """What the watched functions saw in this step, in order."""
        return list(self.told["seen"])

    @cached_property
    def trace(self) -> Trace:
        """This step alone."""
        return load(*self.files)

    @property
    def files(self) -> list[str]:
        """The files of the step: HAR and telemetry."""
        stem = self.path.name.removesuffix(".har")
        return [str(path) for path in sorted(self.path.parent.glob(f"{stem}.*"))]

    @property
    def payloads(self) -> list[tuple[dict[str, Any], int, str]]:
        """What the model provider was sent, and its answer: request, status, text."""
        return [_decoded(entry) for entry in self.exchanges if "//model.invalid" in entry["request"]["url"]]

    @property
    def runs(self) -> list[tuple[dict[str, Any], int, str]]:
        """The AG-UI exchanges: request, status, raw stream."""
        return [_decoded(entry) for entry in self.exchanges if "//agent.invalid" in entry["request"]["url"]]

    def __repr__(self) -> str:
        runs = self.runs
        status = f", HTTP {runs[0][1]}" if runs else ""
        return f"<Step {self.told['number']} {self.name}{status}, {len(self.executions)} executions>"


def _decoded(entry: dict[str, Any]) -> tuple[dict[str, Any], int, str]:
    response = entry["response"]
    return json.loads(entry["request"]["postData"]["text"]), response["status"], response["content"]["text"]


def steps(folder: Path, keeps: object = None) -> list[Step]:
    """The steps of a recorded arm, in order."""
    found = [(path.name.partition("-")[0], path) for path in folder.glob("[0-9][0-9]*-*.har")]
    # a conversation of a hundred turns has a step of three digits
    return [
        Step(path, keeps) for number, path in sorted(found, key=lambda f: (len(f[0]), f)) if number.isdigit()
    ]


def folders(name: str) -> list[Path]:
    """The folders of all recorded arms of a scenario."""
    return sorted({file.parent for file in (root() / name).glob("*/*/*.har")})


def place(below: Path, arm: Arm) -> Path:
    """The folder of an arm below a folder of recordings."""
    return below / arm.scenario / arm.release / arm.label


def recorded(given: Path | None, arm: Arm) -> list[Step]:
    """The recorded steps of an arm; `ReplayError` where it was not recorded."""
    folder = place(given or root(), arm)
    found = steps(folder)
    if not found:
        raise ReplayError(
            f"there is no recording of {arm.scenario} {arm.label} on {arm.release} in {given or root()}; "
            "run it live, or record it with `workbench replay … -o FOLDER`"
        )
    return found
