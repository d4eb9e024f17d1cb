"""What a report states, sentence by sentence, and what the arms say to it.

Claims are functions in `scenarios/<name>/claims.py`: they are given the arms and return a verdict. What is
expected of them stands apart, in `expectations.json`, and `gate` fails where the two differ.
"""

from __future__ import annotations

import importlib
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.replay import specs
from workbench.replay.arms import Replay, run_all
from workbench.replay.engine.environments import Progress
from workbench.replay.engine.errors import ReplayError
from workbench.replay.outcome import Outcome, outcome
from workbench.replay.recordings import root
from workbench.replay.scenarios import expectations, scenario
from workbench.replay.specs import Arm

HOLDS = "holds"
NOT = "does not hold"
ONLY = "holds only when"
UNSEEN = "not replayed"
WORDS = (HOLDS, NOT, ONLY, UNSEEN)

#: when arms were recorded, by which Python, and which could not be run and why
_NOTE = "recorded.json"

#: an arm as a scenario lists it: its name, the options that differ from the default, and perhaps a `release`
Listed = tuple[str, Mapping[str, str]]


@dataclass(frozen=True)
class Verdict:
    """One of `WORDS`, with the condition or the evidence, and the arms it rests on."""

    word: str
    because: str
    arms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement of a report about behaviour, in our words, and how it is judged."""

    name: str
    where: str
    text: str
    judge: Callable[[Arms], Verdict]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict and the expected one."""

    claim: Claim
    verdict: Verdict
    expected: str

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.verdict.word == self.expected


class Claims:
    """The claims of one scenario, collected by a decorator, in the order of the report."""

    def __init__(self, *made: Claim) -> None:
        self.all = list(made)

    def __call__(self, name: str, where: str, text: str) -> Callable[[Callable[[Arms], Verdict]], None]:
        """Add the function below as a claim."""

        def add(judge: Callable[[Arms], Verdict]) -> None:
            self.all.append(Claim(name, where, text, judge))

        return add


class Arms:
    """The arms of a scenario, run or recorded, each read once."""

    def __init__(
        self, name: str, folder: Path | None, release: str, failed: Mapping[str, str] | None = None
    ) -> None:
        self.scenario = name
        self.release = release
        self.used: list[str] = []
        #: why arms could not be run, by `release/label`
        self.failed = dict(failed or {})
        self._folder = folder
        self._read: dict[Arm, Replay] = {}
        self._outcomes: dict[Arm, Outcome] = {}

    def chosen(self, arm: str = "unpatched", *, release: str | None = None, **options: str) -> Arm:
        """The arm of that name and those options."""
        return specs.arm(self.scenario, arm=arm, release=release or self.release, options=options)

    def __call__(self, arm: str = "unpatched", *, release: str | None = None, **options: str) -> Replay:
        """An arm, run to its end; `ReplayError` where it was not run."""
        chosen = self.chosen(arm, release=release, **options)
        self.used.append(chosen.label)
        if chosen not in self._read:
            why = self.failed.get(f"{chosen.release}/{chosen.label}")
            if why:
                raise ReplayError(why)
            self._read[chosen] = Replay(chosen, self._folder).run()
        return self._read[chosen]

    def outcome(self, arm: str = "unpatched", *, release: str | None = None, **options: str) -> Outcome:
        """What became of an arm; `not applicable` where its patch does not fit the release."""
        chosen = self.chosen(arm, release=release, **options)
        if chosen not in self._outcomes:
            why = self.failed.get(f"{chosen.release}/{chosen.label}", "")
            if why.startswith("patch "):
                self._outcomes[chosen] = Outcome("not applicable", {}, 0, 0)
            else:
                self._outcomes[chosen] = outcome(self(arm, release=release, **options))
        else:
            self.used.append(chosen.label)
        return self._outcomes[chosen]


def _module(name: str) -> Any:
    return importlib.import_module(f"workbench.replay.scenarios.{name.replace('-', '_')}.claims")


def survey_of(name: str) -> list[Listed]:
    """What a scenario is run with on every release."""
    return list(_module(name).SURVEY)


def listed(name: str, releases: Sequence[str] = (), only: Sequence[str] = ()) -> list[Arm]:
    """All arms that the claims of a scenario rest on, and those of the table over `releases`."""
    module, declared = _module(name), scenario(name)
    wanted = [
        specs.arm(
            name,
            arm=arm,
            release=options.get("release"),
            options={axis: value for axis, value in options.items() if axis != "release"},
        )
        for arm, options in module.ARMS
    ]
    for release in releases:
        if release != declared["release"]:
            wanted += [
                specs.arm(name, arm=arm, release=release, options=options) for arm, options in module.SURVEY
            ]
    kept = [arm for arm in wanted if not only or arm.name in only]
    return list(dict.fromkeys(kept))


def gather(
    name: str,
    *,
    mode: str = "recorded",
    releases: Sequence[str] = (),
    only: Sequence[str] = (),
    folder: Path | None = None,
    python: str | None = None,
    telemetry: bool = False,
    progress: Progress | None = None,
) -> Arms:
    """The arms of a scenario: recorded ones, or run now and recorded below `folder`.

    `only` keeps arms of these names. Raises `ReplayError` where an arm could not be run for another reason
    than that its patch does not fit.
    """
    if mode == "recorded":
        return Arms(name, folder, scenario(name)["release"], recorded_failures(name, folder))
    if folder is None:
        raise ReplayError("a live run needs a folder to record into")
    failed = run_all(
        listed(name, releases, only), folder, python=python, telemetry=telemetry, progress=progress
    )
    broken = {label: why for label, why in failed.items() if not why.startswith("patch ")}
    if broken:
        told = "\n".join(f"- {label}: {why}" for label, why in broken.items())
        raise ReplayError(f"{len(broken)} arms of {name} could not be run:\n{told}")
    note = {
        "date": datetime.now(UTC).date().isoformat(),
        "system": platform.system(),
        "failed": dict(sorted(failed.items())),
    }
    file = folder / name / _NOTE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")
    return Arms(name, folder, scenario(name)["release"], failed)


def recorded_failures(name: str, folder: Path | None) -> dict[str, str]:
    """Patches that did not fit when the recordings were made."""
    return dict(recorded_note(name, folder).get("failed", {}))


def recorded_note(name: str, folder: Path | None = None) -> dict[str, Any]:
    """When and where arms were recorded: `date`, `system`, and those that could not be run."""
    file = (folder or root()) / name / _NOTE
    told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return told


def judge(name: str, arms: Arms, only: Sequence[str] = ()) -> list[Judged]:
    """Judge the claims of a scenario; with `only`, those that rest on arms of these names alone."""
    expected = expectations(name)["claims"]
    judged = []
    for claim in _module(name).CLAIMS.all:
        arms.used.clear()
        try:
            verdict = claim.judge(arms)
        except ReplayError:
            if only:
                continue  # an arm that was left out
            raise
        rests = tuple(dict.fromkeys(verdict.arms or arms.used))
        if only and any(label.partition(",")[0] not in only for label in rests):
            continue
        judged.append(
            Judged(claim, Verdict(verdict.word, verdict.because, rests), expected.get(claim.name, ""))
        )
    return judged


def survey(
    name: str, arms: Arms, releases: Sequence[str], only: Sequence[str] = ()
) -> dict[tuple[str, str], Outcome]:
    """Outcomes by arm and release, for the arms of the scenario's survey."""
    return {
        (arms.chosen(arm, **options).label, release): arms.outcome(arm, release=release, **options)
        for arm, options in _module(name).SURVEY
        if not only or arm in only
        for release in releases
    }


def gate(
    name: str, judged: Sequence[Judged], surveyed: Mapping[tuple[str, str], Outcome] | None = None
) -> None:
    """Raise `AssertionError` where a verdict or an outcome differs from what is expected of it."""
    wrong = [
        f"{item.claim.name}: {item.verdict.word} ({item.verdict.because}), expected: {item.expected or 'nothing'}"
        for item in judged
        if not item.as_expected
    ]
    known = expectations(name)["outcomes"]
    for (label, release), found in (surveyed or {}).items():
        wanted = known.get(release, {}).get(label)
        if wanted is not None and wanted != found.word:
            wrong.append(f"{label} on {release}: {found.word}, expected: {wanted}")
    if not judged:
        wrong.append("no claim was judged")
    if wrong:
        raise AssertionError(
            f"{name} differs from what is expected:\n" + "\n".join(f"- {line}" for line in wrong)
        )
