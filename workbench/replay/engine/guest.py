"""A guest process: started in an environment, spoken to in JSON lines, ended in any case."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from workbench.replay.engine.environments import Environment
from workbench.replay.engine.errors import DoesNotFitError, GuestError

_HOME = Path(__file__).resolve().parents[1]
_START = "import sys; sys.path.append(sys.argv[1]); from guest.main import main; main()"
#: what a guest may see of this process's environment
_PASSED = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH")


class Guest:
    """One guest. As a context manager it is ended on the way out."""

    def __init__(self, environment: Environment, *, timeout: float = 120) -> None:
        self._timeout = timeout
        self._folder = tempfile.TemporaryDirectory(prefix="workbench-replay-", ignore_cleanup_errors=True)
        home = self.home()
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        settings = {
            "HOME": str(home), "USERPROFILE": str(home), "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0",
            "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1",
        }  # fmt: skip
        self._errors = (Path(self._folder.name) / "stderr").open("w+b")
        self._process = subprocess.Popen(  # noqa: S603 - an interpreter that was built here
            [str(environment.python), "-s", "-P", "-B", "-c", _START, str(_HOME)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, cwd=home,
            env={**passed, **settings}, start_new_session=True,
        )  # fmt: skip
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self._send({str(environment.folder): "<env>", sys.base_prefix: "<python>"})
        self._receive("to import the framework")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def home(self) -> Path:
        """A new folder for an arm to live in; it goes away with the guest."""
        return Path(tempfile.mkdtemp(prefix="home-", dir=self._folder.name))

    def do(self, command: str, *, waits: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Carry out a command of `guest.main` and give its answer.

        Raises `GuestError` where the guest fails, ends or does not answer within `waits` seconds, and
        `DoesNotFitError` where a patch does not fit; after the first two it is gone.
        """
        self._send({"do": command, **arguments})
        return self._receive(f"to {command}", waits)

    def batch(
        self, arms: Sequence[Mapping[str, Any]], *, jobs: int, alike: bool = False
    ) -> list[dict[str, Any]]:
        """Run arms to their ends, each in a process of its own; an answer with `error` for one that failed.

        Of arms that are `alike` none is begun after one was not done in time.
        """
        answer = self.do(
            "batch", arms=list(arms), jobs=jobs, timeout=self._timeout, alike=alike,
            waits=self._timeout * (len(arms) + 1),
        )  # fmt: skip
        return list(answer["arms"])

    def close(self) -> None:
        """End the guest and everything it started."""
        if self._process.poll() is None:
            if os.name == "posix":
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._folder.cleanup()

    def _send(self, command: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError) as problem:
            raise self._gone("before it was told anything") from problem

    def _receive(self, purpose: str, waits: float | None = None) -> dict[str, Any]:
        waits = waits or self._timeout
        try:
            line = self._lines.get(timeout=waits)
        except queue.Empty:
            said = self._said()
            self.close()
            raise GuestError(f"the guest took more than {waits:g} s {purpose}, and was ended{said}") from None
        if line is None:
            raise self._gone(f"when it was {purpose}")
        answer: dict[str, Any] = json.loads(line)
        raise_for(answer)
        return answer

    def _gone(self, when: str) -> GuestError:
        code = self._process.wait()
        said = self._said()
        self.close()
        return GuestError(f"the guest ended with {code} {when}{said}")

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in self._process.stdout:
                self._lines.put(line)
        except (OSError, ValueError):
            pass
        self._lines.put(None)

    def _said(self) -> str:
        """The last lines of its standard error."""
        try:
            self._errors.flush()
            text = Path(self._errors.name).read_text(encoding="utf-8", errors="replace").strip()
        except (OSError, ValueError):
            return ""
        return "; it said:\n" + "\n".join(text.splitlines()[-12:]) if text else ""


def raise_for(answer: Mapping[str, Any]) -> None:
    """Raise what an answer tells of a failure."""
    if "error" not in answer:
        return
    if answer.get("kind") == "does-not-fit":
        raise DoesNotFitError(str(answer["error"]))
    trace = answer.get("trace", "")
    raise GuestError(f"{answer['error']}\n{trace}".rstrip())
