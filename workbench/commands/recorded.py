"""`workbench replay --from CAPTURE` and `workbench replay FILE.json`: a recorded conversation on other releases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.replay.capture.running import Workshop
    from workbench.trace import Trace

#: problems of a capture that are told
_PROBLEMS = 5


def replay_capture(
    captured: Sequence[Path], *, recorded_on: str, thread: str, override: Sequence[str], releases: Sequence[str],
    python: str, output: Path | None, expect: str, fails: bool,
) -> int:  # fmt: skip
    """Derive, calibrate, judge and keep; 2 where the recording is not reproduced, so that nothing can be said."""
    from workbench.replay.capture import file, told
    from workbench.replay.capture.calibrate import calibrate, uncalibrated
    from workbench.replay.capture.derive import scenario_from
    from workbench.replay.capture.verdicts import SAME
    from workbench.trace import load

    file.expected(expect)
    trace = load(*map(str, captured))
    _unread(trace)
    scenario = scenario_from(trace, thread or None, overrides=overrides(override))
    _print(told.scenario(scenario))
    recorded_on = recorded_on or scenario.versions.get("agent-framework-ag-ui", "")
    with _workshop(python) as workshop:
        if not recorded_on:
            for release in releases:
                _print(
                    [
                        f"on {release}, by the default reading:",
                        *told.gate(uncalibrated(scenario, release, workshop)),
                    ]
                )
            if not releases:
                _say(
                    "say with --recorded-on which release of agent-framework-ag-ui the capture is of; "
                    "`--recorded-on any` tries all"
                )
            return 2
        kept = calibrate(scenario, recorded_on, workshop)
        _print(told.gate(kept))
        if not kept.reproduced:
            return 2
        if output is not None:
            kept.save(output, expect)
            _say(f"kept in {output}; run it with `workbench replay {output} --release VERSION`")
        there = 0
        for release in releases:
            judged = kept.on(release, workshop)
            _print(["", *told.judged(judged)])
            there += sum(verdict.word == SAME for verdict in judged.verdicts)
    return 1 if fails and there else 0


def replay_file(path: Path, releases: Sequence[str], *, python: str) -> int:
    """Run a kept scenario: 1 where a finding is against what is expected, 2 where none could be decided."""
    from workbench.replay.capture import file, told
    from workbench.replay.capture.verdicts import GONE, SAME
    from workbench.replay.engine.errors import ReplayError

    kept, expected = file.read(path)
    if not releases:
        raise ReplayError("say with --release which releases to run it on")
    against = {"absent": SAME, "present": GONE}
    wrong, decided, asked = 0, 0, 0
    with _workshop(python) as workshop:
        for release in releases:
            judged = kept.on(release, workshop)
            _print(told.judged(judged))
            for verdict in judged.verdicts:
                expect = expected[verdict.finding.key]
                if expect in against:
                    asked += 1
                    decided += verdict.word in (SAME, GONE)
                    if verdict.word == against[expect]:
                        wrong += 1
                        _print(
                            [f"against expectation on {release}: {verdict.finding.rule} is expected {expect}"]
                        )
    if wrong:
        return 1
    if asked and not decided:
        _say("nothing that is expected could be decided")
        return 2
    return 0


def overrides(items: Sequence[str]) -> dict[str, Any]:
    """`tools.NAME.origin=provider` and the like as the dictionary that `scenario_from` takes."""
    from workbench.replay.engine.errors import ReplayError

    made: dict[str, Any] = {}
    for item in items:
        path, equals, value = item.partition("=")
        part, _, rest = path.strip().partition(".")
        # names of tools and ids of calls may have dots in them
        name, key, call = rest, "", ""
        if part == "tools":
            name, _, key = rest.rpartition(".")
            if ".calls." in rest:
                name, _, call = rest.partition(".calls.")
                key = "calls"
        if not equals or not rest or (part == "tools" and not key):
            raise ReplayError(
                f"{item!r} is not of the form --override WHAT=VALUE, as in tools.NAME.origin=provider"
            )
        said: Any = {"true": True, "false": False}.get(value.lower(), value) if not call else value
        if part != "tools":
            made.setdefault(part, {})[name] = said
        elif call:
            made.setdefault(part, {}).setdefault(name, {}).setdefault(key, {})[call] = said
        else:
            made.setdefault(part, {}).setdefault(name, {})[key] = said
    return made


def _workshop(python: str) -> Workshop:
    from workbench.replay.capture.running import Workshop

    return Workshop(python=python or None, progress=_say if sys.stderr.isatty() else None)


def _unread(trace: Trace) -> None:
    """Say what of a capture could not be read: it may be why a request is missing."""
    from workbench.report.plain import plain

    problems = trace.records.problems
    for problem in problems[:_PROBLEMS]:
        path = trace.records.sources[problem.source].path
        _say(f"workbench: {plain(path)}: {plain(problem.reason, 300)}")
    if len(problems) > _PROBLEMS:
        _say(f"workbench: and {len(problems) - _PROBLEMS} more places that could not be read")


def _print(lines: Sequence[str]) -> None:
    from workbench.report.plain import plain

    for line in lines:
        print(plain(line, 1000))


def _say(words: str) -> None:
    print(words, file=sys.stderr)
