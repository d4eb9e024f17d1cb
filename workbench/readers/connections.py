"""How the connections of a recording went, as the lines beside its events tell: status, words, end.

`workbench record` and `workbench.record` write them into AG-UI DevTools captures: a line `response` where an
answer begins, `damaged` for what was no event, `end` where it is over, and why it was cut.
"""

from __future__ import annotations

from typing import Any

from workbench.readers.reading import Reading

OPEN = "the recording ended while the stream was open"


class Connections:
    """The connections of one file. Nothing is said about files of other tools, which have no `end`."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._own = False
        self._status: dict[str, int] = {}
        self._words: dict[str, str] = {}
        self._ends: dict[str, str] = {}

    def header(self, line: dict[str, Any]) -> None:
        """The first line of a file."""
        self._own = str(line.get("tool") or "").startswith("agui-workbench@")

    def take(self, kind: str, name: str, line: dict[str, Any]) -> str | None:
        """A line of a connection: "" if it was used, else what is wrong with it; None for other kinds."""
        if not self._own:
            return None
        if kind == "response":
            if line.get("status") in range(1000):
                self._status[name] = line["status"]
            if isinstance(line.get("text"), str):
                self._words[name] = line["text"][:200]
            self.reading.ignore("responses")
            return ""
        if kind == "end":
            self._ends[name] = "" if line.get("complete") else str(line.get("why") or "cut")
            self.reading.ignore("ends of streams")
            return ""
        return "what arrived was no event" if kind == "damaged" else None

    def settle(self, requests: dict[str, int], streams: dict[str, int]) -> None:
        """Tell streams and requests, by the names of their connections, how they went."""
        if not self._own:
            return
        records = self.reading.records
        for name in {**requests, **streams}:
            request = requests.get(name)
            stream = streams.get(name)
            if stream is None:
                # nothing came back: the run is known by its request alone
                time = None if request is None else records.requests[request].time
                stream = self.reading.new_stream(request=request, time=time)
                records.streams[stream].complete = False
                records.streams[stream].note = self._words.get(name, "")
            found = records.streams[stream]
            found.status = self._status.get(name, found.status)
            if request is not None:
                records.requests[request].status = found.status
            why = self._ends.get(name, OPEN)
            if why:
                found.complete = False
                found.note = found.note or why
        if any(name not in self._ends for name in {**requests, **streams}):
            self.reading.cut(OPEN)
        for why in sorted({why for why in self._ends.values() if why}):
            self.reading.cut(why)
