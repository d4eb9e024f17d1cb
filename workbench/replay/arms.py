"""Run an arm step by step, or look at its recording: one object for both."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbench.findings import Findings
from workbench.replay import recordings, specs
from workbench.replay.engine import environments
from workbench.replay.engine.errors import DoesNotFitError, GuestError, ReplayError
from workbench.replay.engine.guest import Guest
from workbench.replay.recordings import Step
from workbench.replay.scenarios import family
from workbench.replay.specs import Arm
from workbench.rules import check
from workbench.trace import Trace, load

MODES = ("live", "recorded")


def replay(
    name: str,
    *,
    arm: str = "unpatched",
    release: str | None = None,
    patches: Sequence[str] | None = None,
    packages: Mapping[str, str] | None = None,
    python: str | None = None,
    mode: str = "live",
    folder: str | Path | None = None,
    telemetry: bool = True,
    progress: environments.Progress | None = None,
    timeout: float = 120,
    **options: str,
) -> Replay:
    """Prepare one arm of a reported bug; `.step()` runs its next step, `.run()` all that are left.

    `arm` is a name of the scenario, or `patches` says itself which to apply (names, or paths of files of
    one's own). `packages` puts local checkouts or wheels in place of released packages. `options` are the
    scenario's (`agent="harness"`, `form="resume"`). In the mode `recorded` nothing is run: the bundled
    recording is looked at, or that below `folder`; in the mode `live` the recording is written below it.

    Raises `ReplayError`, or one of its kinds, with what is known and what to do.
    """
    if mode not in MODES:
        raise ReplayError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
    chosen = specs.arm(name, arm=arm, release=release, patches=patches, options=options)
    root = Path(folder) if folder is not None else None
    if mode == "recorded":
        return Replay(chosen, root)
    environment = environments.build(
        chosen.release, family=family(name), python=python, replaced=packages, progress=progress
    )
    return LiveReplay(chosen, root, environment, telemetry=telemetry, timeout=timeout)


class Replay:
    """A recorded arm, shown a step at a time. As a context manager it is closed on the way out."""

    mode = "recorded"

    def __init__(self, arm: Arm, root: Path | None) -> None:
        self.arm = arm
        self._recorded = recordings.recorded(root, arm)
        self._shown = 0

    def __repr__(self) -> str:
        done = f"{len(self.steps)} of {len(self.steps) + self.left} steps"
        return f"<Replay {self.arm.scenario} {self.arm.label} on {self.arm.release}, {self.mode}: {done}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def steps(self) -> list[Step]:
        """The steps done so far."""
        return self._recorded[: self._shown]

    @property
    def left(self) -> int:
        """How many steps are still to come."""
        return len(self._recorded) - self._shown

    def step(self) -> Step:
        """Do the next step; `IndexError` where none is left."""
        if not self.left:
            raise IndexError(f"all {len(self.steps)} steps are done")
        self._next()
        self._forget()
        return self.steps[-1]

    def run(self) -> Self:
        """Do all steps that are left, and close."""
        while self.left:
            self.step()
        self.close()
        return self

    def close(self) -> None:
        """End what is still running; what was recorded stays to be looked at."""

    def _next(self) -> None:
        self._shown += 1

    def _forget(self) -> None:
        for name in ("trace", "findings"):
            self.__dict__.pop(name, None)

    @cached_property
    def trace(self) -> Trace:
        """Everything up to the last step done."""
        return load(*(file for step in self.steps for file in step.files))

    @cached_property
    def findings(self) -> Findings:
        """What the rules say about it."""
        return check(self.trace)

    @property
    def effects(self) -> list[dict[str, Any]]:
        """Every execution of a tool up to here: step, tool, call id, arguments, result or error."""
        return [{"step": step.name, **told} for step in self.steps for told in step.executions]

    @property
    def files(self) -> dict[str, str]:
        """The files that the agent has written, with their texts."""
        return dict(self.steps[-1].told["files"]) if self.steps else {}

    @property
    def seen(self) -> list[dict[str, Any]]:
        """What the watched functions of the framework saw, in order, with the step."""
        return [{"step": step.name, **told} for step in self.steps for told in step.seen]

    @property
    def versions(self) -> dict[str, str]:
        """The versions that ran."""
        return dict(self.steps[0].told["arm"]["versions"]) if self.steps else {}


class LiveReplay(Replay):
    """An arm that runs in a process of its own, in an environment of released packages."""

    mode = "live"

    def __init__(
        self,
        arm: Arm,
        root: Path | None,
        environment: environments.Environment,
        *,
        telemetry: bool,
        timeout: float,
    ) -> None:
        self.arm = arm
        self._temporary = tempfile.TemporaryDirectory(prefix="workbench-arm-") if root is None else None
        self._folder = (
            Path(self._temporary.name) if self._temporary else recordings.place(Path(str(root)), arm)
        )
        empty(self._folder)
        self._guest = Guest(environment, timeout=timeout)
        try:
            home = self._guest.home()
            begun = self._guest.do(
                "begin", spec=specs.spec(arm, telemetry=telemetry), folder=str(self._folder), home=str(home)
            )
        except BaseException:
            self._guest.close()
            raise
        self._left = int(begun["left"])
        #: functions that this release does not have, so that they could not be watched
        self.unwatched: list[str] = list(begun["unwatched"])

    @property
    def steps(self) -> list[Step]:
        """The steps done so far."""
        return recordings.steps(self._folder, self._temporary)

    @property
    def left(self) -> int:
        """How many steps are still to come."""
        return self._left

    def _next(self) -> None:
        try:
            self._left = int(self._guest.do("step")["left"])
        except GuestError:
            self._left = 0
            raise

    def close(self) -> None:
        """End the guest."""
        self._guest.close()


def empty(folder: Path) -> None:
    """Make the folder, without the steps of an earlier run."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.suffix in (".har", ".jsonl", ".part"):
            old.unlink()


def run_all(
    arms: Sequence[Arm],
    folder: Path,
    *,
    python: str | None = None,
    packages: Mapping[str, str] | None = None,
    telemetry: bool = False,
    jobs: int = 2,
    timeout: float = 120,
    progress: environments.Progress | None = None,
) -> dict[str, str]:
    """Run many arms to their ends and record them below `folder`; why, for each that could not be run.

    The keys are `release/label`. Each arm has a process of its own; those of one release share the time
    it takes to import the framework.
    """
    failed: dict[str, str] = {}
    for release, leading in dict.fromkeys((arm.release, family(arm.scenario)) for arm in arms):
        mine = [arm for arm in arms if (arm.release, family(arm.scenario)) == (release, leading)]
        environment = environments.build(
            release, family=leading, python=python, replaced=packages, progress=progress
        )
        if progress:
            progress(f"running {len(mine)} arms on {release}")
        if not hasattr(os, "fork"):
            failed |= _one_by_one(mine, folder, environment, telemetry=telemetry, timeout=timeout)
            continue
        with Guest(environment, timeout=timeout) as guest:
            wanted = []
            for arm in mine:
                place = recordings.place(folder, arm)
                empty(place)
                spec = specs.spec(arm, telemetry=telemetry)
                wanted.append({"spec": spec, "folder": str(place), "home": str(guest.home())})
            for arm, answer in zip(mine, guest.batch(wanted, jobs=jobs), strict=True):
                if "error" in answer:
                    failed[f"{release}/{arm.label}"] = str(answer["error"])
    return failed


def _one_by_one(
    arms: Sequence[Arm],
    folder: Path,
    environment: environments.Environment,
    *,
    telemetry: bool,
    timeout: float,
) -> dict[str, str]:
    """The same where a process cannot be forked: each arm imports the framework for itself."""
    failed = {}
    for arm in arms:
        try:
            with LiveReplay(arm, folder, environment, telemetry=telemetry, timeout=timeout) as running:
                running.run()
        except ReplayError as problem:
            failed[f"{arm.release}/{arm.label}"] = str(problem)
    return failed


__all__ = ["DoesNotFitError", "LiveReplay", "Replay", "replay", "run_all"]
