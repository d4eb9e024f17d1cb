"""The loop of the guest: commands come as JSON lines on standard input, answers go the same way.

Standard output belongs to the protocol alone: whatever else is printed, also by C code, goes to
standard error. When the host goes away, so does the guest.

| command | answer |
|---|---|
| `{"do": "begin", "spec": …, "folder": …, "home": …}` | the steps to come, functions that could not be watched |
| `{"do": "step"}` | what came of the step |
| `{"do": "batch", "arms": [{"spec", "folder", "home"}], "jobs": n, "timeout": s, "alike": false}` | one answer per arm, each in a process of its own |
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import seeds

DOES_NOT_FIT = "does-not-fit"


def main() -> None:
    """Take over standard input and output, import the framework, and serve."""
    commands = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    seeds.plant()
    places = json.loads(commands.readline())

    def tell(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

    try:
        # the long part, once for all arms of a batch
        if importlib.util.find_spec("ag_ui_agentspec"):
            from . import agent_spec

            agent_spec.prepare()
        else:
            import agent_framework_ag_ui  # noqa: F401
    except Exception as problem:  # noqa: BLE001 - told to the host
        tell({"error": _said(problem), "trace": traceback.format_exc()})
        return
    gc.collect()
    tell({"ready": True})
    Guest(commands, tell, places).serve()


class Guest:
    """Serves one host."""

    def __init__(self, commands: Any, tell: Any, places: dict[str, str]) -> None:
        self._commands = commands
        self._tell = tell
        self._places = places
        self._host = os.getppid()
        self._stage: Any = None
        self._loop: Any = None
        #: modules that an arm has imported late, and that were imported here since
        self._tried: set[str] = set()

    def serve(self) -> None:
        """Carry out commands until the host closes the line."""
        for line in self._commands:
            command = json.loads(line)
            try:
                self._tell(getattr(self, f"do_{command.pop('do')}")(**command))
            except Exception as problem:  # noqa: BLE001 - told to the host
                self._tell({"error": _said(problem), "kind": _kind(problem), "trace": traceback.format_exc()})

    def do_begin(self, spec: dict[str, Any], folder: str, home: str) -> dict[str, Any]:
        """Build an arm; the process is its own from here on."""
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._leave_with(self._host)
        self._stage = _stage(spec, folder, home, self._places)
        return {"left": self._stage.left, "unwatched": self._stage.unwatched}

    def do_step(self) -> dict[str, Any]:
        """Do the next step of the arm."""
        result: dict[str, Any] = self._loop.run_until_complete(self._stage.step())
        return result

    @staticmethod
    def _leave_with(parent: int) -> None:
        """End this process when its parent is gone, even in the middle of a step."""

        def watch() -> None:
            while os.getppid() == parent:
                time.sleep(0.5)
            os._exit(1)

        if os.name == "posix":
            threading.Thread(target=watch, daemon=True).start()

    def do_batch(
        self, arms: list[dict[str, Any]], jobs: int, timeout: float, *, alike: bool = False
    ) -> dict[str, Any]:
        """Run arms to their ends, each in a fork of this process, a few at a time.

        Where they are `alike`, those that are waiting when one takes too long would take as long, and are left out.
        """
        from . import models

        models.prepare({arm["spec"]["model"]["client"] for arm in arms})
        gc.collect()
        gc.freeze()
        waiting = list(enumerate(arms))
        running: dict[int, tuple[int, float]] = {}
        answers: list[Any] = [None] * len(arms)
        while waiting or running:
            while waiting and len(running) < jobs:
                number, arm = waiting.pop(0)
                sys.stderr.flush()
                zygote = os.getpid()
                process = os.fork()
                if process == 0:
                    self._leave_with(zygote)
                    self._child(arm)
                running[process] = (number, time.monotonic() + timeout)
            for process, (number, deadline) in list(running.items()):
                done, status = os.waitpid(process, os.WNOHANG)
                if done:
                    answers[number] = _outcome(arms[number], status)
                elif time.monotonic() > deadline:
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)
                    answers[number] = {"error": f"not done after {timeout:g} s", "kind": "timeout"}
                    if alike:
                        for other, _ in waiting:
                            answers[other] = {
                                "error": "not begun, because one like it took too long",
                                "kind": "timeout",
                            }
                        waiting = []
                else:
                    continue
                del running[process]
                self._import_what(arms[number])
            if os.getppid() != self._host:
                os._exit(1)  # the children notice it themselves
            time.sleep(0.002)
        return {"arms": answers}

    def _import_what(self, arm: dict[str, Any]) -> None:
        """Import what an arm has imported late, once for all that are still to come."""
        file = _modules_file(arm)
        new = set(json.loads(file.read_text(encoding="utf-8"))) - self._tried if file.exists() else set()
        if not new:
            return
        self._tried |= new
        for name in sorted(new):
            with suppress(Exception):  # a module that only its importer can import
                importlib.import_module(name)
        gc.collect()
        gc.freeze()

    def _child(self, arm: dict[str, Any]) -> None:
        code = 0
        known = set(sys.modules)
        try:
            asyncio.run(_all_steps(arm, self._places))
            late = [
                name for name in sys.modules if name not in known and not name.startswith(("_patch_", "__"))
            ]
            _modules_file(arm).write_text(json.dumps(late), encoding="utf-8")
        except BaseException as problem:  # noqa: BLE001 - told to the host by a file, because memory is not shared
            told = {"error": _said(problem), "kind": _kind(problem), "trace": traceback.format_exc()}
            _error_file(arm).write_text(json.dumps(told), encoding="utf-8")
            code = 1
        finally:
            sys.stderr.flush()
            os._exit(code)


async def _all_steps(arm: dict[str, Any], places: dict[str, str]) -> None:
    stage = _stage(arm["spec"], arm["folder"], arm["home"], places)
    while stage.left:
        await stage.step()


def _stage(spec: dict[str, Any], folder: str, home: str, places: dict[str, str]) -> Any:
    from .stage import Stage

    os.chdir(home)
    return Stage(spec, Path(folder), Path(home), places)


def _error_file(arm: dict[str, Any]) -> Path:
    return Path(arm["home"]) / ".error.json"


def _modules_file(arm: dict[str, Any]) -> Path:
    return Path(arm["home"]) / ".modules.json"


def _outcome(arm: dict[str, Any], status: int) -> dict[str, Any]:
    if status == 0:
        return {}
    file = _error_file(arm)
    if file.exists():
        told: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return told
    return {"error": f"the process ended with {os.waitstatus_to_exitcode(status)}", "kind": "crash"}


def _kind(problem: BaseException) -> str:
    return DOES_NOT_FIT if type(problem).__name__ == "DoesNotFitError" else "guest"


def _said(problem: BaseException) -> str:
    return str(problem) if _kind(problem) == DOES_NOT_FIT else f"{type(problem).__name__}: {problem}"
