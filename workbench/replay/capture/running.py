"""Run specs on releases: a folder and a process for each, those of one release from one import."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from workbench.replay.capture import findings, normal
from workbench.replay.capture.exchanges import Exchange
from workbench.replay.engine import environments
from workbench.replay.engine.errors import GuestError
from workbench.replay.engine.guest import Guest
from workbench.replay.recordings import Step, steps
from workbench.trace import Trace, load

#: ids of a run must not be those of a recording that was made with the first seed
_OURS = {"telemetry": False, "seed": 1}


@dataclass(frozen=True)
class Run:
    """What came of one spec on one release. `error` where it could not be carried out at all."""

    release: str
    spec: dict[str, Any]
    folder: Path
    error: str = ""

    @cached_property
    def steps(self) -> list[Step]:
        """The steps that were done."""
        return steps(self.folder)

    @cached_property
    def trace(self) -> Trace:
        """What was recorded of it; empty where nothing could be sent."""
        return load(*(file for step in self.steps if step.exchanges for file in step.files))

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """Its exchanges, read from the files at once: what we wrote ourselves needs no tolerant reader."""
        made: list[Exchange] = []
        row = 0
        for request, status, text in (run for step in self.steps for run in step.runs):
            events = [json.loads(line[5:]) for line in text.split("\n") if line.startswith("data:")]
            made.append(Exchange(request, status, events, list(range(row, row + len(events)))))
            row += len(events)
        return made

    @cached_property
    def exact(self) -> list[list[str]]:
        """Its events without passing ids."""
        return normal.exact(self.exchanges, self.spec["calls"])

    @cached_property
    def skeleton(self) -> list[list[str]]:
        """The shape of its events."""
        return normal.skeleton(self.exchanges)

    @cached_property
    def findings(self) -> list[findings.Seen]:
        """What the rules say about it."""
        return findings.seen(self.trace) if self.exchanges else []

    @property
    def diverged(self) -> str:
        """Why it left the recorded course of events; "" where it did not."""
        return str(self.steps[-1].told.get("diverged", "")) if self.steps else self.error

    @property
    def inputs(self) -> list[list[dict[str, Any]]]:
        """For each step and call of the model: results by call, and why a provider would refuse it."""
        return [list(step.told["model"]) for step in self.steps]


class Workshop:
    """Guests by release, kept for as long as there is work; a context manager."""

    def __init__(
        self,
        *,
        python: str | None = None,
        timeout: float = 120,
        jobs: int | None = None,
        progress: environments.Progress | None = None,
    ) -> None:
        self._python = python
        self._timeout = timeout
        self._jobs = jobs or min(4, os.cpu_count() or 1)
        self._progress = progress
        self._guests: dict[str, Guest] = {}
        self._environments: dict[str, environments.Environment] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-capture-", ignore_cleanup_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all guests; what was recorded goes away."""
        for guest in self._guests.values():
            guest.close()
        self._folder.cleanup()

    def leave(self, release: str) -> None:
        """End the guest of a release, which may be started again."""
        guest = self._guests.pop(release, None)
        if guest is not None:
            guest.close()

    def run(self, release: str, specs: Sequence[dict[str, Any]]) -> list[Run]:
        """Run specs to their ends on a release, in their order."""
        if not specs:
            return []
        if release not in self._environments:
            self._environments[release] = environments.build(
                release, python=self._python, progress=self._progress
            )
        folders = [Path(tempfile.mkdtemp(dir=self._folder.name)) for _ in specs]
        told = [self._told(spec, release) for spec in specs]
        errors = (self._batch if hasattr(os, "fork") else self._one_by_one)(release, told, folders)
        return [
            Run(release, spec, folder, error)
            for spec, folder, error in zip(specs, folders, errors, strict=True)
        ]

    def _told(self, spec: dict[str, Any], release: str) -> dict[str, Any]:
        arm = {"scenario": "recorded", "release": release, "name": "recorded", "patches": [], "options": {}}
        # through JSON, so that specs can share parts
        made: dict[str, Any] = json.loads(json.dumps({"patches": [], **spec, "arm": arm, **_OURS}))
        return made

    def _batch(self, release: str, told: list[dict[str, Any]], folders: list[Path]) -> list[str]:
        guest = self._guests.get(release)
        if guest is None:
            guest = self._guests[release] = Guest(self._environments[release], timeout=self._timeout)
        arms = [
            {"spec": spec, "folder": str(folder), "home": str(guest.home())}
            for spec, folder in zip(told, folders, strict=True)
        ]
        try:
            return [str(answer.get("error", "")) for answer in guest.batch(arms, jobs=self._jobs, alike=True)]
        except GuestError:
            # it is gone; the next batch has one of its own
            self._guests.pop(release).close()
            raise

    def _one_by_one(self, release: str, told: list[dict[str, Any]], folders: list[Path]) -> list[str]:
        errors = []
        for spec, folder in zip(told, folders, strict=True):
            begun = time.monotonic()
            try:
                with Guest(self._environments[release], timeout=self._timeout) as guest:
                    left = guest.do("begin", spec=spec, folder=str(folder), home=str(guest.home()))["left"]
                    while left:
                        left = guest.do("step")["left"]
                errors.append("")
            except GuestError as problem:
                errors.append(str(problem))
                if time.monotonic() - begun > self._timeout:
                    errors += ["not begun, because one like it took too long"] * (len(told) - len(errors))
                    break
        return errors
