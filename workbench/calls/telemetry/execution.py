"""What telemetry shows of a tool at work."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.calls.conversation import At, Run, Short


@dataclass(slots=True, eq=False, repr=False)
class Execution(Short):
    """A tool span, or a framework's log line where no span tells: the tool ran, or it only paused to ask.

    `cls` is ok or error, by the recorded result or else by the status of the span. `joined` is
    `call id`, or `inferred` where telemetry names none and only one call fits. `nested` is the
    execution of which this is another view (two instrumentations that watch one tool).
    """

    at: At
    run: Run
    sequence: int
    tool: str
    call_id: str = ""
    trace: str = ""
    #: UTC ns, on the clock of the telemetry
    start: int | None = None
    end: int | None = None
    cls: str = "ok"
    #: as written
    arguments: str | None = None
    result: str | None = None
    error: str = ""
    #: what told that it only paused: the name of an exception, or a state
    pause: str = ""
    joined: str = "call id"
    nested: Execution | None = None
    #: False where only the order of things tells that it was in this run: a line of a log without trace and time
    located: bool = True

    @property
    def ran(self) -> bool:
        """The tool was carried out, as far as telemetry tells."""
        return not self.pause and self.nested is None
