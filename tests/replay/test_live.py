"""Real packages in real environments: the same bytes everywhere, and nothing hangs or stays behind.

These tests build environments; where no registry can be reached and none is built yet, they are skipped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from workbench.replay import recordings, specs
from workbench.replay.arms import replay, run_all
from workbench.replay.capture.running import Workshop
from workbench.replay.engine import environments, interpreters
from workbench.replay.engine.errors import BuildError, DoesNotFitError, GuestError, ReplayError
from workbench.replay.engine.guest import Guest
from workbench.replay.scenarios import family

pytestmark = pytest.mark.slow

NAME, RELEASE = "duplicate-tool-call-start", "1.5.0"
QUICK = {"model": "scripted"}


def content(step: recordings.Step) -> dict[str, object]:
    """What has to be the same everywhere: all but the version of Python."""
    told = dict(step.told)
    told["arm"] = {key: value for key, value in told["arm"].items() if key != "python"}
    return {"told": told, "exchanges": step.exchanges}


@pytest.mark.parametrize("python", ["3.11", "3.13"])  # the recording was made by 3.12
def test_the_bytes_are_those_of_the_recording(python, environment, tmp_path, monkeypatch):
    """Two runs, the first in the same process as other arms, with a cache folder of their own, on each Python."""
    if python not in interpreters.found():
        pytest.skip(f"no Python {python} here")
    environment(RELEASE, python)  # skips where it cannot be built
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    wanted = [
        specs.arm(NAME, arm=arm, options=QUICK if arm == "unpatched" else {})
        for arm in ("unpatched", "start-once")
    ]
    for number in (1, 2):
        assert not run_all(wanted, tmp_path / str(number), python=python)
    for arm in wanted:
        bundled = recordings.recorded(None, arm)
        first, second = (recordings.recorded(tmp_path / number, arm) for number in ("1", "2"))
        assert [content(step) for step in first] == [content(step) for step in bundled]
        for one, two in zip(first, second, strict=True):
            assert one.path.read_bytes() == two.path.read_bytes()


OTHERS = [
    ("provider-tool-approval", "unpatched", {"model": "scripted"}),
    ("local-approval-as-mcp", "unpatched", {}),
    ("resume-replays-transcript", "unpatched", {}),
    # two tools in one answer, which the runtime starts side by side
    ("agent-spec-multi-turn", "unpatched", {"case": "two"}),
    ("agent-spec-multi-turn", "by-call", {"case": "two"}),
]


@pytest.mark.parametrize(("name", "arm", "options"), OTHERS, ids=[f"{name}-{arm}" for name, arm, _ in OTHERS])
def test_two_runs_give_the_same_bytes(name, arm, options, environment, tmp_path):
    """Ids, times, threads and checkpoints: nothing of a run is in its recording."""
    wanted = specs.arm(name, arm=arm, options=options)
    environment(wanted.release, family=family(name))
    for number in ("1", "2"):
        assert not run_all([wanted], tmp_path / number)
    first, second = (recordings.recorded(tmp_path / number, wanted) for number in ("1", "2"))
    assert len(first) > 1
    assert [step.path.read_bytes() for step in first] == [step.path.read_bytes() for step in second]
    bundled = recordings.recorded(None, wanted)
    minor = [step.told["arm"]["python"].rpartition(".")[0] for step in (first[0], bundled[0])]
    # a server that sends a traceback sends the lines of its Python
    if minor[0] == minor[1] or name != "agent-spec-multi-turn":
        assert [content(step) for step in first] == [content(step) for step in bundled]


def normal(line: str) -> object:
    """A line of telemetry without times and ids."""

    def clean(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: clean(item)
                for key, item in value.items()
                if not key.endswith("UnixNano") and key not in ("traceId", "spanId", "parentSpanId")
            }
        if isinstance(value, list):
            kept = [
                item
                for item in value
                if not (isinstance(item, dict) and "duration" in str(item.get("key", "")))
            ]
            return [clean(item) for item in kept]
        return value

    return clean(json.loads(line))


def test_telemetry_is_the_same_but_for_times_and_ids(environment, tmp_path):
    environment(RELEASE)
    told = []
    for number in ("1", "2"):
        with replay(NAME, folder=tmp_path / number, **QUICK).run() as arm:
            files = [file for step in arm.steps for file in step.files if file.endswith(".jsonl")]
            assert len(arm.trace.spans)
            assert len(arm.trace.logs)
            assert not len(arm.trace.problems)
        told.append(
            [normal(line) for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
        )
    assert told[0] == told[1]


def test_step_by_step_is_the_same_as_in_a_batch(environment):
    environment(RELEASE)
    with replay(NAME, telemetry=False, **QUICK) as arm:
        assert arm.left == 2
        first = arm.step()
        assert (first.name, arm.left) == ("ask", 1)
        assert [finding.rule for finding in arm.findings if finding.severity == "error"] == [
            *["call-start-duplicated"] * 2,
            *["call-duplicated"] * 2,
        ]
        arm.step()
        with pytest.raises(IndexError):
            arm.step()
        bundled = recordings.recorded(None, arm.arm)
        assert [content(step) for step in arm.steps] == [content(step) for step in bundled]


def test_without_fork_it_is_the_same(environment, tmp_path, monkeypatch):
    environment(RELEASE)
    monkeypatch.delattr(os, "fork")
    arms = [specs.arm(NAME, options=QUICK), specs.arm(NAME, patches=["gather-provider-tools"])]
    failed = run_all(arms, tmp_path)
    assert list(failed) == [f"{RELEASE}/gather-provider-tools"]
    told = [content(step) for step in recordings.recorded(tmp_path, arms[0])]
    assert told == [content(step) for step in recordings.recorded(None, arms[0])]


def patch(folder: Path, *lines: str, name: str = "mine") -> str:
    """A patch of one's own that spoils something."""
    body = "\n".join(f"    {line}" for line in lines)
    file = folder / f"{name}.py"
    file.write_text(f"import os, sys, time\n\ndef apply(tools):\n{body}\n", encoding="utf-8")
    return str(file)


def alive(process: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_patch_that_does_nothing_gives_the_bytes_of_no_patch(environment, tmp_path):
    environment(RELEASE)
    told = []
    for number, patches in enumerate(([], [patch(tmp_path, "pass")])):
        with replay(
            NAME, patches=patches, folder=tmp_path / str(number), telemetry=False, **QUICK
        ).run() as arm:
            told.append([[step.exchanges, step.executions, step.seen] for step in arm.steps])
    assert told[0] == told[1]


def test_a_patch_for_another_release_says_so(environment):
    environment(RELEASE)
    with pytest.raises(
        DoesNotFitError, match=r"gather-provider-tools: .* does not contain .* not written for that"
    ):
        replay(NAME, patches=["gather-provider-tools"])


def test_a_patch_is_not_put_on_its_own_fix(environment):
    environment("1.7.0")
    with pytest.raises(DoesNotFitError, match=r"keep-local-approvals-home: .* which is its own fix"):
        replay("local-approval-as-mcp", release="1.7.0", patches=["keep-local-approvals-home"])


def test_patches_can_be_applied_together(environment):
    environment(RELEASE)
    both = ["make-known-calls-current", "start-unknown-ids-only"]
    with replay(NAME, patches=both, telemetry=False, **QUICK).run() as arm:
        assert not arm.findings.at_least("error")


def test_a_noisy_guest_is_understood(environment, tmp_path):
    environment(RELEASE)
    noise = patch(tmp_path, "print('{\"ready\": true}')", "os.write(1, b'noise\\n')", "sys.stdout.flush()")
    with replay(NAME, patches=[noise], telemetry=False, **QUICK).run() as arm:
        assert len(arm.steps) == 2


def test_a_guest_that_crashes_is_reported(environment, tmp_path):
    environment(RELEASE)
    crash = patch(tmp_path, "sys.stderr.write('last words\\n')", "sys.stderr.flush()", "os._exit(7)")
    with pytest.raises(GuestError, match=r"ended with 7 (?s:.*)last words"):
        replay(NAME, patches=[crash])


def test_a_guest_that_raises_is_reported_with_its_traceback(environment, tmp_path):
    environment(RELEASE)
    with pytest.raises(GuestError, match=r"ZeroDivisionError(?s:.*)mine\.py"):
        replay(NAME, patches=[patch(tmp_path, "1 / 0")])


def test_a_guest_that_hangs_is_ended(environment, tmp_path):
    built = environment(RELEASE)
    hang = patch(tmp_path, "time.sleep(600)")
    with Guest(built, timeout=60) as guest:
        process = guest._process.pid
        spec = specs.spec(specs.arm(NAME, patches=[hang]), telemetry=False)
        with pytest.raises(GuestError, match="took more than 2 s to begin, and was ended"):
            guest.do("begin", waits=2, spec=spec, folder=str(tmp_path), home=str(guest.home()))
        assert not alive(process)


def test_one_arm_of_a_batch_that_fails_costs_no_other(environment, tmp_path):
    environment(RELEASE)
    bad = patch(tmp_path, "os._exit(3)", name="bad")
    stuck = patch(tmp_path, "time.sleep(600)", name="stuck")
    arms = [specs.arm(NAME, patches=patches, options=QUICK) for patches in ([bad], [stuck], None)]
    failed = run_all(arms, tmp_path, timeout=15)
    assert "ended with 3" in failed[f"{RELEASE}/bad,model=scripted"]
    assert "not done after 15 s" in failed[f"{RELEASE}/stuck,model=scripted"]
    assert len(failed) == 2
    assert len(recordings.recorded(tmp_path, arms[2])) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended in another way there")
def test_no_guest_outlives_a_killed_kernel(environment, tmp_path):
    environment(RELEASE)
    hang = patch(
        tmp_path,
        "("
        + repr(tmp_path.as_posix())
        + ", open("
        + repr((tmp_path / "pid").as_posix())
        + ", 'w').write(str(os.getpid())))",
        "time.sleep(600)",
    )
    code = f"from workbench.replay.arms import replay; replay({NAME!r}, patches=[{hang!r}])"
    kernel = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.1)
        guest = int((tmp_path / "pid").read_text())
        assert alive(guest)
    finally:
        kernel.kill()
        kernel.wait()
    deadline = time.monotonic() + 20
    while alive(guest) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(guest)


def building(cache: Path, **settings: str) -> subprocess.Popen[str]:
    """A process that builds an environment into a cache."""
    code = f"from workbench.replay.engine.environments import build; print(build({RELEASE!r}).folder)"
    environment = {**os.environ, "WORKBENCH_CACHE": str(cache), **settings}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


def test_a_build_that_was_killed_is_begun_again(environment, tmp_path):
    environment(RELEASE)
    first = building(tmp_path)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "environments").glob("*.part")) and first.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    again = building(tmp_path)
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    folder = Path(out.strip())
    assert (folder / "workbench.json").exists()
    assert not list(folder.parent.glob("*.part"))


def test_two_that_build_at_once_get_the_same(environment, tmp_path):
    environment(RELEASE)
    both = [building(tmp_path) for _ in range(2)]
    told = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert told[0][0] == told[1][0]


def test_a_cache_that_lost_files_is_built_again(environment, tmp_path, monkeypatch):
    environment(RELEASE)
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    folder = environments.build(RELEASE).folder
    next(folder.rglob("_run_common.py")).unlink()
    assert next(environments.build(RELEASE).folder.rglob("_run_common.py")).exists()


def test_without_a_network_it_says_so_and_works_later(environment, tmp_path):
    environment(RELEASE)
    cut = {"UV_CACHE_DIR": str(tmp_path / "uv"), "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_INDEX": "",
           "UV_FIND_LINKS": "", "UV_HTTP_RETRIES": "0"}  # fmt: skip
    process = building(tmp_path / "cache", **cut)
    _, err = process.communicate(timeout=120)
    assert process.returncode
    assert "could not be built" in err
    assert "127.0.0.1:9" in err
    assert "run it again when the cause is gone" in err
    again = building(tmp_path / "cache")
    out, err = again.communicate(timeout=120)
    assert again.returncode == 0, err
    assert Path(out.strip()).is_dir()


def test_once_built_it_needs_no_network(environment, monkeypatch):
    built = environment(RELEASE)
    monkeypatch.setattr(environments.uv, "run", lambda *_: pytest.fail("uv was run"))
    assert environments.build(RELEASE).folder == built.folder


def test_a_checkout_takes_the_place_of_a_release(environment, tmp_path):
    """The installed package as a checkout of one's own, with a change in it."""
    built = environment(RELEASE)
    source = next(built.folder.rglob("agent_framework_ag_ui"))
    package = tmp_path / "mine"
    (package / "agent_framework_ag_ui").mkdir(parents=True)
    for file in source.rglob("*.py"):
        target = package / "agent_framework_ag_ui" / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text(encoding="utf-8")
        target.write_text(
            text.replace("tool_call_id != flow.tool_call_id:", "tool_call_id not in flow.tool_calls_by_id:"),
            encoding="utf-8",
        )
    (package / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "agent-framework-ag-ui"\nversion = "1.5.0+mine"\n'
    )
    try:
        arm = replay(NAME, packages={"agent-framework-ag-ui": str(package)}, telemetry=False, **QUICK)
    except BuildError as problem:
        pytest.skip(str(problem)[:200])
    with arm.run():
        assert arm.versions["agent-framework-ag-ui"] == "1.5.0+mine"
        assert not arm.findings.at_least("error")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("nothing.whl", "is not there"),
        (".", "has no pyproject.toml"),
        ("x.zip", "neither a folder nor a wheel"),
    ],
)
def test_what_is_no_package_is_refused(place, said, tmp_path):
    with pytest.raises(ReplayError, match=said):
        environments.build(RELEASE, replaced={"agent-framework-ag-ui": str(tmp_path / place)})


def test_an_interpreter_that_is_not_here():
    with pytest.raises(ReplayError, match=r"Python 3\.7 is needed .* there are: 3\."):
        environments.build(RELEASE, python="3.7")


def test_of_arms_that_are_alike_none_begins_after_one_took_too_long(environment, tmp_path):
    """A conversation whose replay hangs is not tried in all its readings, one time-out after the other."""
    environment(RELEASE)
    patch = tmp_path / "sleeps.py"
    patch.write_text("import time\n\n\ndef apply(tools):\n    time.sleep(600)\n")
    body = {"threadId": "t", "runId": "r", "messages": [{"id": "u", "role": "user", "content": "q"}]}
    spec = {
        "agent": {"kind": "plain"}, "endpoint": {}, "tools": [], "packages": [], "calls": {}, "patches": [str(patch)],
        "model": {"client": "recorded", "turns": [[]]}, "steps": [{"name": "step-1", "request": body}],
    }  # fmt: skip
    begun = time.monotonic()
    with Workshop(timeout=20, jobs=1) as workshop:
        runs = workshop.run(RELEASE, [spec] * 12)
    assert time.monotonic() - begun < 100
    assert runs[0].error == "not done after 20 s"
    assert {run.error for run in runs[1:]} == {"not begun, because one like it took too long"}
